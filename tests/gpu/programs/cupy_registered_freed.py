# expect: SC101 action=deferred kind=registered certainty=observed
"""A NumPy array, registered by hand, is dropped while its copy waits; the next array gets its
memory and overwrites it."""

from support.common import finish, hold, require

cp, np = require("cupy", "numpy")

COUNT = 1 << 16  # bytes; below glibc's threshold for a mapping of its own


def main():
    runtime = cp.cuda.runtime
    stream = cp.cuda.Stream(non_blocking=True)
    device = cp.zeros((COUNT,), dtype=cp.uint8)
    source = np.full((COUNT,), 17, dtype=np.uint8)
    cp.cuda.Device().synchronize()
    runtime.hostRegister(source.ctypes.data, COUNT, 0)

    hold(stream.ptr)
    runtime.memcpyAsync(device.data.ptr, source.ctypes.data, COUNT, runtime.memcpyHostToDevice,
                        stream.ptr)
    del source
    owners = [np.full((COUNT,), 99, dtype=np.uint8) for _ in range(8)]

    cp.cuda.Device().synchronize()
    finish(bool((cp.asnumpy(device) == 17).all()) and all(int(owner[-1]) == 99 for owner in owners))


if __name__ == "__main__":
    main()
