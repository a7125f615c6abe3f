# expect: SC201 action=stalled kind=pinned certainty=observed
"""A pinned block goes back to CuPy's pool while its upload waits; the pool hands it out again at
once, and the next owner fills it. No CUDA call is made in between."""

from support.common import finish, hold, require

cp, np = require("cupy", "numpy")

COUNT = 1 << 20  # bytes


def main():
    runtime = cp.cuda.runtime
    stream = cp.cuda.Stream(non_blocking=True)
    device = cp.zeros((COUNT,), dtype=cp.uint8)
    cp.cuda.Device().synchronize()

    block = cp.cuda.alloc_pinned_memory(COUNT)
    np.frombuffer(block, np.uint8, COUNT)[:] = 17
    hold(stream.ptr)
    runtime.memcpyAsync(device.data.ptr, block.ptr, COUNT, runtime.memcpyHostToDevice, stream.ptr)
    address = block.ptr
    del block
    owners = [cp.cuda.alloc_pinned_memory(COUNT) for _ in range(2)]
    for owner in owners:
        np.frombuffer(owner, np.uint8, COUNT)[:] = 99

    stream.synchronize()
    finish(address in [owner.ptr for owner in owners] and
           bool((cp.asnumpy(device) == 17).all()))


if __name__ == "__main__":
    main()
