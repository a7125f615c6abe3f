# expect: SC201 kind=pinned
"""cp.array(pinned, blocking=False) does not keep its source from being written again: large, which
is guarded, and small."""

from support.common import finish, hold, require

cp, np = require("cupy", "numpy")


def pinned(count):
    return np.frombuffer(cp.cuda.alloc_pinned_memory(count * 4), np.float32, count)


def upload_and_overwrite(stream, count, held):
    source = pinned(count)
    source[:] = 17
    with stream:
        if held:
            hold(stream.ptr)
        device = cp.array(source, blocking=False)
        source[:] = 99
    stream.synchronize()
    return bool((cp.asnumpy(device) == 17).all())


def main():
    stream = cp.cuda.Stream(non_blocking=True)
    finish(all([upload_and_overwrite(stream, 1 << 22, held=True),
                upload_and_overwrite(stream, 1000, held=True),
                upload_and_overwrite(stream, 1000, held=False)]))


if __name__ == "__main__":
    main()
