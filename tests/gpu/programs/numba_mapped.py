"""Numba with mapped arrays, which kernels read and write in host memory, and with events between two
streams."""

import warnings

from support.common import checksum, require, skip

numba, np, cuda = require("numba", "numpy", "numba.cuda")

COUNT = 1 << 14

for gone, now in {"row_stack": "vstack", "in1d": "isin", "trapz": "trapezoid"}.items():
    if not hasattr(np, gone):
        setattr(np, gone, getattr(np, now))


def add(target, values):
    index = cuda.grid(1)
    if index < target.size:
        target[index] += values[index]


def main():
    warnings.simplefilter("ignore")
    try:
        kernel = cuda.jit(add)
        kernel[1, 32](cuda.to_device(np.zeros(32)), cuda.to_device(np.zeros(32)))
        cuda.synchronize()
    except Exception as error:  # its compiler's libraries are often not there
        skip(f"Numba runs no kernel here: {type(error).__name__}: {error}".splitlines()[0])
    first, second = cuda.stream(), cuda.stream()
    mapped = cuda.mapped_array((COUNT,), dtype=np.float32)
    pinned = cuda.pinned_array((COUNT,), dtype=np.float32)
    mapped[:] = 0
    for step in range(8):
        pinned[:] = np.arange(COUNT, dtype=np.float32) + step
        with cuda.defer_cleanup():
            device = cuda.to_device(pinned, stream=first)
            ready = cuda.event()
            ready.record(first)
            ready.wait(second)
            kernel[COUNT // 256, 256, second](mapped, device)
            second.synchronize()
        print(step, checksum(mapped))
    cuda.synchronize()


if __name__ == "__main__":
    main()
