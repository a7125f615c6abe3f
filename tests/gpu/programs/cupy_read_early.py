# expect: SC202 action=stalled kind=pinned certainty=observed
"""a.get(blocking=False) is read before anything has waited for it."""

from support.common import finish, hold, require

cp, np = require("cupy", "numpy")


def read_early(stream, count):
    result = np.frombuffer(cp.cuda.alloc_pinned_memory(count * 4), np.float32, count)
    result[:] = 0
    with stream:
        device = cp.full((count,), 17, dtype=cp.float32)
        stream.synchronize()
        hold(stream.ptr)
        device.get(stream=stream, blocking=False, out=result)
    right = bool((result == 17).all())
    stream.synchronize()
    return right


def main():
    stream = cp.cuda.Stream(non_blocking=True)
    finish(all([read_early(stream, 1 << 22), read_early(stream, 1000)]))


if __name__ == "__main__":
    main()
