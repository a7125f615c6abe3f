"""What a Python program may ask of libsafecopy, and tell it: include/safecopy.h by ctypes.

    safecopy run -- python train.py          # or: python -m libsafecopy run -- python train.py

    libsafecopy.hazards()                    # found in this process so far
    libsafecopy.label("step 3")              # for the hazards from now on
    with libsafecopy.ignore("the reason"):   # for those of this thread that are known

Where the library is not preloaded, every function does nothing, and all counts are 0.
"""

import atexit
import contextlib
import ctypes
import json
import os
import pathlib
from typing import Any, Callable, Dict, Iterator, Optional

from . import _pools

__all__ = ["__version__", "version", "is_watching", "hazards", "counts", "report_path", "label",
           "set_label", "set_thread_label", "ignore", "dump", "memory", "set_pool", "release", "library_path",
           "command_path", "include_path"]

_HERE = pathlib.Path(__file__).resolve().parent
_PROCESS = ctypes.CDLL(None)


_KINDS = ("hazards", "observed", "latent", "suppressed", "operations")


class _Counts(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in _KINDS]


def _find(name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
    function = getattr(_PROCESS, name, None)
    if function is None:
        return lambda *_: 0
    function.restype, function.argtypes = result, arguments
    return function  # type: ignore[no-any-return]


_version = _find("safecopy_version", ctypes.c_int)
_is_watching = _find("safecopy_is_watching", ctypes.c_int)
_get_counts = _find("safecopy_get_counts", ctypes.c_uint64, ctypes.POINTER(_Counts),
                    ctypes.c_size_t)
_get_report_path = _find("safecopy_get_report_path", ctypes.c_size_t, ctypes.c_char_p,
                         ctypes.c_size_t)
_set_label = _find("safecopy_set_label", None, ctypes.c_char_p)
_set_thread_label = _find("safecopy_set_thread_label", None, ctypes.c_char_p)
_ignore_begin = _find("safecopy_ignore_begin", None, ctypes.c_char_p)
_ignore_end = _find("safecopy_ignore_end", None)
_dump = _find("safecopy_dump", None)
_get_memory = _find("safecopy_get_memory", ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t)
_set_pool = _find("safecopy_set_pool", None, ctypes.c_char_p, ctypes.c_int, ctypes.c_uint64,
                  ctypes.c_uint64, ctypes.c_char_p)
_release = _find("safecopy_release", None)


def version() -> int:
    """Of the library that is preloaded, 10000 * major + 100 * minor + patch; 0: none is, or
    mode=off."""
    return int(_version())


def is_watching() -> bool:
    """Has this process used CUDA, so that it is watched? Before, all counts are 0."""
    return bool(_is_watching())


def counts() -> Dict[str, int]:
    """Hazards of this process so far, by their kind. What was found before is in the report."""
    counted = _Counts()
    _get_counts(ctypes.byref(counted), ctypes.sizeof(counted))
    return {name: int(getattr(counted, name)) for name in _KINDS}


def hazards() -> int:
    """How many there were in this process so far, observed and latent."""
    return counts()["hazards"]


def report_path() -> str:
    """The path of this process's report, "" where there is none (yet)."""
    path = ctypes.create_string_buffer(8192)
    _get_report_path(path, len(path))
    return os.fsdecode(path.value)


def _encoded(text: Optional[str]) -> Optional[bytes]:
    """As UTF-8, whatever the locale is. A label is no reason to fail for."""
    try:
        return None if text is None else text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return str(text).encode("utf-8", "backslashreplace")


def set_label(text: Optional[str]) -> None:
    """Hazards from now on have this label; None takes it away."""
    label(text)


def set_thread_label(text: Optional[str]) -> None:
    """The same for the calling thread alone."""
    _set_thread_label(_encoded(text))


class label:
    """Hazards of the process have this label from now on, or within the block of a `with`:

        libsafecopy.label(f"step {step}")
        with libsafecopy.label("validation"): ...
    """

    _now: Optional[str] = os.environ.get("SAFECOPY_LABEL")

    def __init__(self, text: Optional[str]) -> None:
        self._before = label._now
        self._set(text)

    @staticmethod
    def _set(text: Optional[str]) -> None:
        _set_label(_encoded(text))
        label._now = text

    def __enter__(self) -> "label":
        return self

    def __exit__(self, *_: object) -> None:
        self._set(self._before)


@contextlib.contextmanager
def ignore(reason: str) -> Iterator[None]:
    """Hazards whose event is on this thread within the block are suppressed."""
    _ignore_begin(_encoded(reason))
    try:
        yield
    finally:
        _ignore_end()


def dump() -> None:
    """Writes a summary line as of now to the report."""
    _dump()


def set_pool(owner: str, device: Optional[int], reserved: int, used: int,
             given_back_by: Optional[str] = None) -> None:
    """Tells what a pool of the program's own has taken of the device (None: of page-locked memory),
    and how much of that is in use: the report has it below the owner."""
    _set_pool(_encoded(owner), -1 if device is None else device, reserved, used,
              _encoded(given_back_by))


def _tell_pools() -> None:
    for pool in _pools.found():
        set_pool(*pool)


if getattr(_PROCESS, "safecopy_set_pool", None) is not None:
    atexit.register(_tell_pools)


def memory() -> Dict[str, Any]:
    """What this process holds of GPU memory and of page-locked memory, and who asked for it, as
    docs/report.md has it; {} where that is not known. PyTorch, CuPy and RMM are asked what their
    pools have."""
    _tell_pools()
    text = ctypes.create_string_buffer(1 << 18)
    length = _get_memory(text, len(text))
    return dict(json.loads(text.raw[:length])["memory"]) if length else {}


def release() -> None:
    """Gives back held memory whose copies are complete, instead of a moment later."""
    _release()


# --- where the files are ---------------------------------------------------------------------------


def _place(in_package: str, in_tree: str) -> str:
    """A file of the installed package or, where this is the source tree, of what was built in it."""
    tree = _HERE.parent.parent
    for path in (_HERE / in_package, tree / in_tree):
        if path.exists():
            return str(path)
    raise FileNotFoundError(f"neither {_HERE / in_package} nor {tree / in_tree} is there: install "
                            "the wheel, or run make")


def library_path() -> str:
    """What LD_PRELOAD or CUDA_INJECTION64_PATH is to name."""
    return _place("lib/libsafecopy.so", "out/libsafecopy.so")


def command_path() -> str:
    """The command `safecopy`."""
    return _place("bin/safecopy", "out/safecopy")


def include_path() -> str:
    """The folder of safecopy.h."""
    return os.path.dirname(_place("include/safecopy.h", "include/safecopy.h"))


def _own_version() -> str:
    """As include/safecopy.h has it, which the package has beside it."""
    with open(os.path.join(include_path(), "safecopy.h"), encoding="utf-8") as header:
        words = [line.split() for line in header if line.startswith("#define SAFECOPY_VERSION_")]
    return ".".join(row[2] for row in words[:3])


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _own_version()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
