"""CuPy's pinned pool, streams, events, and copies that block and that do not."""

from support.common import checksum, require

cp, np, cupyx = require("cupy", "numpy", "cupyx")

COUNT = 1 << 18


def main():
    stream = cp.cuda.Stream(non_blocking=True)
    other = cp.cuda.Stream(non_blocking=True)
    pinned = cupyx.empty_pinned((COUNT,), dtype=np.float32)
    result = cupyx.empty_pinned((COUNT,), dtype=np.float32)
    device = cp.empty((COUNT,), dtype=cp.float32)
    cp.cuda.Device().synchronize()

    for step in range(20):
        pinned[:] = np.arange(COUNT, dtype=np.float32) + step
        device.set(pinned, stream=stream)
        with stream:
            doubled = device * 2
        uploaded = stream.record()
        other.wait_event(uploaded)
        doubled.get(stream=other, out=result, blocking=False)
        done = cp.cuda.Event()
        done.record(other)
        done.synchronize()
        if step % 5 == 0:
            print(step, checksum(result))

    pageable = np.arange(COUNT, dtype=np.float32)
    print("asarray", checksum(cp.asnumpy(cp.asarray(pageable) + 1)))
    print("on a stream", checksum(cp.asnumpy(device, stream=stream)))

    # Blocks that go back to the pool and come out of it again, each after its stream is done.
    for step in range(50):
        block = cp.cuda.alloc_pinned_memory(COUNT * 4)
        host = np.frombuffer(block, np.float32, COUNT)
        host[:] = step
        device.set(host, stream=stream)
        stream.synchronize()
        del host, block
    print("pool", float(device.sum()) == 49.0 * COUNT)
    cp.get_default_pinned_memory_pool().free_all_blocks()
    cp.cuda.Device().synchronize()


if __name__ == "__main__":
    main()
