"""Stands for RMM: a pool below what counts (tests/unit/test_memory.py)."""

import ctypes
import types

used = 48 << 20


class _Pool:
    def pool_size(self):
        return 64 << 20


class _Statistics:
    upstream_mr = _Pool()

    @property
    def allocation_counts(self):
        return types.SimpleNamespace(current_bytes=used)


mr = types.SimpleNamespace(_per_device_resources={0: _Statistics()})


def take(cuda):
    assert cuda.cuMemAlloc_v2(ctypes.byref(ctypes.c_uint64()), ctypes.c_size_t(64 << 20)) == 0
