"""The few driver calls that the ctypes programs make, each checked."""

import ctypes

from support.common import check, driver

_driver = driver()


def call(name, *arguments):
    check(getattr(_driver, name)(*arguments), name)


def start():
    """The primary context of device 0, and a non-blocking stream in it."""
    device, context, stream = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)
    call("cuStreamCreate", ctypes.byref(stream), 1)
    return stream


def device_block(size_bytes):
    address = ctypes.c_uint64()
    call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size_bytes))
    return address


def pinned_block(size_bytes):
    address = ctypes.c_void_p()
    call("cuMemHostAlloc", ctypes.byref(address), ctypes.c_size_t(size_bytes), 0)
    return address


def upload(device, host, size_bytes, stream):
    call("cuMemcpyHtoDAsync_v2", device, host, ctypes.c_size_t(size_bytes), stream)


def download(host, device, size_bytes, stream):
    call("cuMemcpyDtoHAsync_v2", host, device, ctypes.c_size_t(size_bytes), stream)
