"""Stands for PyTorch: what its allocator says (tests/unit/test_memory.py)."""

import ctypes
import types

used = 48 << 20
cuda = types.SimpleNamespace(
    is_initialized=lambda: True, device_count=lambda: 2,
    memory_reserved=lambda device: 0 if device else 64 << 20,
    memory_allocated=lambda device: 0 if device else used)


def take(cuda):
    assert cuda.cuMemAlloc_v2(ctypes.byref(ctypes.c_uint64()), ctypes.c_size_t(64 << 20)) == 0
