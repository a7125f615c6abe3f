# expect: SC101 action=deferred kind=pageable
"""An array is handed to a device buffer on a stream and forgotten, as if the call had copied it. It
does where the stream is the default one, which it waits for."""

from support.common import finish, hold, require, shipped

shipped("rmm")
rmm, np = require("rmm", "numpy")

COUNT = 4 << 20


def main():
    stream = rmm.pylibrmm.stream.Stream()
    source = np.full(COUNT, 17, dtype=np.uint8)
    hold(stream.__cuda_stream__()[1])
    own = rmm.DeviceBuffer.to_device(source, stream=stream)
    del source
    owner = np.full(COUNT, 99, dtype=np.uint8)

    stream.synchronize()
    result = own.copy_to_host(stream=stream)
    stream.synchronize()
    finish(bool((result == 17).all()) and int(owner[0]) == 99)


if __name__ == "__main__":
    main()
