"""CuPy over several streams with the driver's own pool, pinned blocks that come again, managed
memory, a matrix product, a Fourier transform and a sort."""

from support.common import checksum, require

cupy, np = require("cupy", "numpy")

COUNT, ROUNDS = 1 << 14, 18


def pinned(count):
    memory = cupy.cuda.alloc_pinned_memory(count * 4)
    return np.frombuffer(memory, dtype=np.float32, count=count)


def one_round(index, stream, other):
    source = pinned(COUNT)
    source[:] = np.arange(COUNT) % 17 + index
    result = pinned(COUNT)
    with stream:
        values = cupy.empty(COUNT, dtype=cupy.float32)
        values.set(source, stream=stream)
        square = values.reshape(128, 128) @ cupy.eye(128, dtype=cupy.float32)
        waves = cupy.abs(cupy.fft.fft(square.ravel()))
        ready = stream.record()
    other.wait_event(ready)
    with other:
        ordered = cupy.sort(cupy.rint(waves / 64)) + square.sum()
        ordered.get(stream=other, out=result, blocking=False)
        done = other.record()
    return source, result, done, (values, square, waves, ordered)


def managed():
    cupy.cuda.set_allocator(cupy.cuda.MemoryPool(cupy.cuda.malloc_managed).malloc)
    array = cupy.arange(COUNT, dtype=cupy.int32)
    array += 1
    cupy.cuda.Device().synchronize()
    print("managed", int(array.sum()))


def main():
    streams = [cupy.cuda.Stream(non_blocking=index % 2 == 0) for index in range(4)]
    cupy.cuda.set_allocator(cupy.cuda.MemoryAsyncPool().malloc)
    pending = []
    for index in range(ROUNDS):
        pending.append(one_round(index, streams[index % 4], streams[(index + 1) % 4]))
        if len(pending) > 5:
            _, result, done, _ = pending.pop(0)
            done.synchronize()
            print(index, checksum(result))
    for stream in streams:
        stream.synchronize()
    del pending
    managed()


if __name__ == "__main__":
    main()
