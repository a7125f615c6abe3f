# expect: SC101 action=deferred kind=registered certainty=observed
"""A ctypes array, registered, is dropped while its copy waits; the next arrays get its memory and
overwrite it."""

import ctypes

from support.common import finish, hold
from support.ctypes_calls import call, device_block, start, upload

SIZE = 1 << 16  # below glibc's threshold for a mapping of its own


def filled(value):
    array = (ctypes.c_ubyte * SIZE)()
    ctypes.memset(array, value, SIZE)
    return array


def main():
    print("ctypes", ctypes.__version__)
    stream = start()
    device = device_block(SIZE)
    source = filled(17)
    call("cuMemHostRegister_v2", source, ctypes.c_size_t(SIZE), 0)

    hold(stream.value)
    upload(device, source, SIZE, stream)
    del source
    owners = [filled(99) for _ in range(8)]

    call("cuCtxSynchronize")
    result = filled(0)
    call("cuMemcpyDtoH_v2", result, device, ctypes.c_size_t(SIZE))
    finish(set(bytes(result)) == {17} and all(set(bytes(owner)) == {99} for owner in owners))


if __name__ == "__main__":
    main()
