"""Numba: pinned arrays, a registered array, streams and a kernel."""

import warnings

from support.common import checksum, require, skip

numba, np, cuda = require("numba", "numpy", "numba.cuda")

COUNT = 1 << 16

# Names that NumPy 2.5 has removed and that older Numbas look up while they are loaded.
for gone, now in {"row_stack": "vstack", "in1d": "isin", "trapz": "trapezoid"}.items():
    if not hasattr(np, gone):
        setattr(np, gone, getattr(np, now))


def add_one(values):
    index = cuda.grid(1)
    if index < values.size:
        values[index] += 1


def main():
    warnings.simplefilter("ignore")
    try:
        stream = cuda.stream()
        kernel = cuda.jit(add_one)
        kernel[1, 32, stream](cuda.to_device(np.zeros(32, dtype=np.float32), stream=stream))
        stream.synchronize()
    except Exception as error:  # its compiler's libraries are often not there
        skip(f"Numba runs no kernel here: {type(error).__name__}: {error}".splitlines()[0])

    pinned = cuda.pinned_array((COUNT,), dtype=np.float32)
    result = cuda.pinned_array((COUNT,), dtype=np.float32)
    for step in range(10):
        pinned[:] = np.arange(COUNT, dtype=np.float32) + step
        device = cuda.to_device(pinned, stream=stream)
        kernel[COUNT // 256, 256, stream](device)
        device.copy_to_host(result, stream=stream)
        stream.synchronize()
        print(step, checksum(result))

    heap = np.arange(COUNT, dtype=np.float32)
    with cuda.pinned(heap):
        device = cuda.to_device(heap, stream=stream)
        kernel[COUNT // 256, 256, stream](device)
        device.copy_to_host(heap, stream=stream)
        stream.synchronize()
    print("registered", checksum(heap))
    cuda.synchronize()


if __name__ == "__main__":
    main()
