"""RAPIDS' memory manager as CuPy's allocator, with each of its resources: pools of its own over the
driver's memory, the driver's pool, and managed memory. Arrays are made on one stream and used on
another, which the first waits for before it gives them back."""

from support.common import checksum, require, shipped

shipped("rmm")
rmm, cupy, np = require("rmm", "cupy", "numpy")

COUNT, ROUNDS, STREAMS = 1 << 14, 24, 3
MIB = 1 << 20


def resources():
    plain = rmm.mr.CudaMemoryResource
    return [("plain", plain()),
            ("pool", rmm.mr.PoolMemoryResource(plain(), initial_pool_size=16 * MIB)),
            ("arena", rmm.mr.ArenaMemoryResource(plain(), arena_size=64 * MIB)),
            ("bins", rmm.mr.BinningMemoryResource(plain(), 10, 18)),
            ("asynchronous", rmm.mr.CudaAsyncMemoryResource()),
            ("released", rmm.mr.CudaAsyncMemoryResource(release_threshold=0)),
            ("managed", rmm.mr.PoolMemoryResource(rmm.mr.ManagedMemoryResource(),
                                                  initial_pool_size=16 * MIB)),
            ("counted", rmm.mr.StatisticsResourceAdaptor(rmm.mr.CudaAsyncMemoryResource()))]


def pinned(count):
    return np.frombuffer(cupy.cuda.alloc_pinned_memory(count * 4), dtype=np.float32, count=count)


def one_round(index, first, second):
    """Uploads on the first stream, computes on the second and downloads there."""
    count = COUNT >> index % 5
    source = pinned(count)
    source[:] = np.arange(count) % 13 + index
    result = pinned(count)
    with first:
        values = cupy.empty(count, dtype=cupy.float32)
        values.set(source, stream=first)
        ready = first.record()
    second.wait_event(ready)
    with second:
        sums = cupy.cumsum(values * 2)
        sums.get(stream=second, out=result, blocking=False)
        done = second.record()
    first.wait_event(done)
    del values
    with second:
        del sums
    return source, result, done


def buffers(stream):
    """The manager's own buffers, which grow and are copied."""
    own = rmm.pylibrmm.stream.Stream(obj=stream)
    source = np.arange(3 * MIB, dtype=np.uint8)
    buffer = rmm.DeviceBuffer.to_device(source, stream=own)
    buffer.resize(4 * MIB, stream=own)
    copied = buffer.copy()
    buffer.resize(MIB, stream=own)
    del buffer
    result = copied.copy_to_host(stream=own)
    own.synchronize()
    return checksum(result[:3 * MIB])


def work():
    streams = [cupy.cuda.Stream(non_blocking=index != 1) for index in range(STREAMS)]
    pending, sums = [], []
    for index in range(ROUNDS):
        pending.append(one_round(index, streams[index % STREAMS], streams[(index + 1) % STREAMS]))
        if len(pending) > 4:
            _, result, done = pending.pop(0)
            done.synchronize()
            sums.append(float(result[-1]))
    for _, result, done in pending:
        done.synchronize()
        sums.append(float(result[-1]))
    return sum(sums), buffers(streams[0])


def main():
    from rmm.allocators.cupy import rmm_cupy_allocator
    for name, resource in resources():
        rmm.mr.set_current_device_resource(resource)
        cupy.cuda.set_allocator(rmm_cupy_allocator)
        print(name, *work())
        cupy.cuda.Device().synchronize()
    rmm.mr.set_current_device_resource(rmm.mr.CudaMemoryResource())


if __name__ == "__main__":
    main()
