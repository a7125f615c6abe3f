#!/usr/bin/env python3
"""What a small copy costs a Python program, by the number of Python frames that it is called from:
prints `copy_depth_N VALUE ns`, of which the most is ctypes. tests/bench/run.py --suite python runs
it; the difference of its ways tells.

    python_copies.py [--list] [--quick] [BENCHMARK]...
"""

import ctypes
import sys
import time

DEPTHS = (2, 10, 40)
BYTES, COPIES, BATCHES = 64, 400, 60

driver = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    status = getattr(driver, name)(*arguments)
    if status:
        raise SystemExit(f"{name}: {status}")


def start():
    context, stream, device, source = (ctypes.c_void_p() for _ in range(4))
    call("cuInit", 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    call("cuCtxSetCurrent", context)
    call("cuStreamCreate", ctypes.byref(stream), 1)
    call("cuMemAlloc_v2", ctypes.byref(device), ctypes.c_size_t(BYTES))
    call("cuMemAllocHost_v2", ctypes.byref(source), ctypes.c_size_t(BYTES))
    return device, source, ctypes.c_size_t(BYTES), stream


def batch(arguments):
    copy = driver.cuMemcpyHtoDAsync_v2
    begin = time.perf_counter_ns()
    for _ in range(COPIES):
        copy(*arguments)
    end = time.perf_counter_ns()
    call("cuStreamSynchronize", arguments[-1])
    return (end - begin) / COPIES


def measured(depth, arguments, batches):
    """Behind `depth` frames: what disturbs a batch only ever adds to it."""
    if depth > 2:
        return measured(depth - 1, arguments, batches)
    return min(batch(arguments) for _ in range(batches))


def main():
    names = {f"copy_depth_{depth}": depth for depth in DEPTHS}
    if "--list" in sys.argv:
        print(*names, sep="\n")
        return
    arguments = start()
    for name in [name for name in sys.argv[1:] if name in names] or names:
        quick = "--quick" in sys.argv
        print(name, f"{measured(names[name], arguments, BATCHES // (5 if quick else 1)):.1f}", "ns")


if __name__ == "__main__":
    main()
