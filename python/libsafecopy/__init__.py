"""What a Python program may ask of libsafecopy, and tell it: include/safecopy.h by ctypes.

Where the library is not preloaded, every function does nothing, and all counts are 0.
"""

import contextlib
import ctypes
import os

_PROCESS = ctypes.CDLL(None)


class _Counts(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64)
                for name in ("hazards", "observed", "latent", "suppressed", "operations")]


def _find(name, result, *arguments):
    function = getattr(_PROCESS, name, None)
    if function is None:
        return lambda *_: 0
    function.restype, function.argtypes = result, arguments
    return function


_get_counts = _find("safecopy_get_counts", ctypes.c_uint64, ctypes.POINTER(_Counts),
                    ctypes.c_size_t)
_get_report_path = _find("safecopy_get_report_path", ctypes.c_size_t, ctypes.c_char_p,
                         ctypes.c_size_t)
_set_label = _find("safecopy_set_label", None, ctypes.c_char_p)
_set_thread_label = _find("safecopy_set_thread_label", None, ctypes.c_char_p)
_ignore_begin = _find("safecopy_ignore_begin", None, ctypes.c_char_p)
_ignore_end = _find("safecopy_ignore_end", None)

version = _find("safecopy_version", ctypes.c_int)  # 0: not preloaded, or mode=off
is_watching = _find("safecopy_is_watching", ctypes.c_int)
dump = _find("safecopy_dump", None)
release = _find("safecopy_release", None)


def counts():
    """Hazards of this process so far, by their kind. What was found before is in the report."""
    counted = _Counts()
    _get_counts(ctypes.byref(counted), ctypes.sizeof(counted))
    return {name: getattr(counted, name) for name, _ in _Counts._fields_}


def report_path():
    """The path of this process's report, "" where there is none (yet)."""
    path = ctypes.create_string_buffer(8192)
    _get_report_path(path, len(path))
    return os.fsdecode(path.value)


def _encoded(text):
    return None if text is None else os.fsencode(text)


def set_label(label):
    """Hazards from now on have this label; None takes it away."""
    _set_label(_encoded(label))


def set_thread_label(label):
    """The same for the calling thread alone."""
    _set_thread_label(_encoded(label))


@contextlib.contextmanager
def ignore(reason):
    """Hazards whose event is on this thread within the block are suppressed."""
    _ignore_begin(_encoded(reason))
    try:
        yield
    finally:
        _ignore_end()
