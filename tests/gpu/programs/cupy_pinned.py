"""CuPy's pinned memory pool, used as it should be: blocks are filled, copied, waited for by event or
stream, given back and handed out again."""

from support.common import checksum, require

cp, np = require("cupy", "numpy")


def main():
    streams = [cp.cuda.Stream(non_blocking=True) for _ in range(2)]
    events = [cp.cuda.Event(disable_timing=True) for _ in range(2)]
    for count in (100, 5000, 1 << 18, 1 << 21):
        total = cp.zeros((count,), dtype=cp.float32)
        cp.cuda.Stream.null.synchronize()  # which the streams do not wait for
        blocks = [np.frombuffer(cp.cuda.alloc_pinned_memory(count * 4), np.float32, count)
                  for _ in range(2)]
        for step in range(12):
            mine, stream, event = (list_[step % 2] for list_ in (blocks, streams, events))
            event.synchronize()
            mine[:] = step + 1
            with stream:
                total_part = cp.array(mine, blocking=False)
                event.record(stream)
                stream.wait_event(event)
                total = total + total_part
            stream.synchronize()
        result = np.frombuffer(cp.cuda.alloc_pinned_memory(count * 4), np.float32, count)
        total.get(stream=streams[0], blocking=False, out=result)
        streams[0].synchronize()
        print(count, float(result[0]), checksum(result))
        del blocks, result


if __name__ == "__main__":
    main()
