"""A graph that CuPy captures, with copies out of and into pinned memory as its nodes."""

from support.common import checksum, require

cp, np, cupyx = require("cupy", "numpy", "cupyx")

COUNT = 1 << 16


def main():
    runtime = cp.cuda.runtime
    stream = cp.cuda.Stream(non_blocking=True)
    source = cupyx.zeros_pinned((COUNT,), dtype=np.float32)
    result = cupyx.zeros_pinned((COUNT,), dtype=np.float32)
    device_in = cp.zeros((COUNT,), dtype=cp.float32)
    device_out = cp.zeros((COUNT,), dtype=cp.float32)
    cp.add(device_in, device_in, out=device_out)  # compiled before the capture
    cp.cuda.Device().synchronize()

    with stream:
        stream.begin_capture()
        runtime.memcpyAsync(device_in.data.ptr, source.ctypes.data, source.nbytes,
                            runtime.memcpyHostToDevice, stream.ptr)
        cp.add(device_in, device_in, out=device_out)
        runtime.memcpyAsync(result.ctypes.data, device_out.data.ptr, result.nbytes,
                            runtime.memcpyDeviceToHost, stream.ptr)
        graph = stream.end_capture()

    for step in range(10):
        source[:] = np.arange(COUNT, dtype=np.float32) + step
        graph.launch(stream=stream)
        stream.synchronize()
        print(step, checksum(result))


if __name__ == "__main__":
    main()
