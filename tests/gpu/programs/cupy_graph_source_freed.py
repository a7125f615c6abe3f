# expect: SC401 action=held certainty=observed
"""A captured copy names a NumPy array that is gone when the graph is launched."""

import gc

from support.common import finish, require

cp, np = require("cupy", "numpy")

COUNT = 8 << 10  # of a size that the heap hands out again at once


def capture(stream, device):
    source = np.full(COUNT, 17, dtype=np.float32)
    stream.begin_capture()
    cp.cuda.runtime.memcpyAsync(device.data.ptr, source.ctypes.data, source.nbytes,
                                cp.cuda.runtime.memcpyHostToDevice, stream.ptr)
    return stream.end_capture()


def main():
    stream = cp.cuda.Stream(non_blocking=True)
    device = cp.zeros(COUNT, dtype=cp.float32)
    cp.cuda.Device().synchronize()
    graph = capture(stream, device)
    gc.collect()
    others = [np.full(COUNT, 99, dtype=np.float32) for _ in range(16)]
    graph.launch(stream=stream)
    stream.synchronize()
    finish(bool((device.get() == 17).all()) and len(others) == 16)


if __name__ == "__main__":
    main()
