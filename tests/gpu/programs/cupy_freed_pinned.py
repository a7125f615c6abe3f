# expect: SC105 action=deferred kind=pinned certainty=observed
"""Pinned memory without a pool is dropped, and so given to cudaFreeHost, while its copy waits."""

from support.common import finish, hold, require

cp, np = require("cupy", "numpy")

COUNT = 1 << 16


def main():
    runtime = cp.cuda.runtime
    cp.cuda.set_pinned_memory_allocator(None)
    stream = cp.cuda.Stream(non_blocking=True)
    device = cp.zeros((COUNT,), dtype=cp.uint8)
    block = cp.cuda.alloc_pinned_memory(COUNT)
    np.frombuffer(block, np.uint8, COUNT)[:] = 17
    cp.cuda.Device().synchronize()

    hold(stream.ptr)
    runtime.memcpyAsync(device.data.ptr, block.ptr, COUNT, runtime.memcpyHostToDevice, stream.ptr)
    del block
    owner = cp.cuda.alloc_pinned_memory(COUNT)
    np.frombuffer(owner, np.uint8, COUNT)[:] = 99

    cp.cuda.Device().synchronize()
    finish(bool((cp.asnumpy(device) == 17).all()))


if __name__ == "__main__":
    main()
