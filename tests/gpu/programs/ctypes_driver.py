"""The driver through ctypes, which finds each function with dlsym: pinned copies, waited for."""

import ctypes

from support.common import checksum
from support.ctypes_calls import call, device_block, download, pinned_block, start, upload

SIZE = 1 << 16


def main():
    print("ctypes", ctypes.__version__)
    stream = start()
    device = device_block(SIZE)
    source, result = pinned_block(SIZE), pinned_block(SIZE)
    for step in range(10):
        ctypes.memset(source, 17 + step, SIZE)
        upload(device, source, SIZE, stream)
        download(result, device, SIZE, stream)
        call("cuStreamSynchronize", stream)
        print(step, checksum((ctypes.c_ubyte * SIZE).from_address(result.value)))

    registered = (ctypes.c_ubyte * SIZE)(*range(256))
    call("cuMemHostRegister_v2", registered, ctypes.c_size_t(SIZE), 0)
    upload(device, registered, SIZE, stream)
    call("cuStreamSynchronize", stream)
    call("cuMemHostUnregister", registered)
    del registered

    call("cuMemFreeHost", source)
    call("cuMemFreeHost", result)
    call("cuMemFree_v2", device)
    call("cuStreamDestroy_v2", stream)
    print("done")


if __name__ == "__main__":
    main()
