"""Stands for CuPy: what its default pool says (tests/unit/test_memory.py)."""

import ctypes
import types

used = 48 << 20
cuda = types.SimpleNamespace(runtime=types.SimpleNamespace(getDevice=lambda: 0))


def get_default_memory_pool():
    return types.SimpleNamespace(total_bytes=lambda: 64 << 20, used_bytes=lambda: used)


def take(cuda):
    assert cuda.cuMemAlloc_v2(ctypes.byref(ctypes.c_uint64()), ctypes.c_size_t(64 << 20)) == 0
