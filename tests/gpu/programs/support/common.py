"""What the Python programs of `make check-gpu` share.

Each is one correct program, or with `# expect:` lines one that makes a mistake. It prints what it
computed as words, checksums and rounded numbers, so that two runs can be compared byte for byte;
the first line names the framework and its version. It ends with 77 where that is not installed.
"""

import ctypes
import importlib
import pathlib
import sys
import zlib

SKIPPED = 77

# A host function of the stream: the C library's usleep, which takes its argument in the register
# where a host function has its pointer, and needs no interpreter lock.
_usleep = ctypes.cast(ctypes.CDLL(None).usleep, ctypes.c_void_p)


def skip(why):
    print(why)
    sys.exit(SKIPPED)


def shipped(name):
    """A package that the machine lacks may have been brought along (scripts/carry-wheel)."""
    sys.path.append(str(pathlib.Path(__file__).resolve().parents[4] / "out" / "wheels" / name))


def require(*names):
    """The modules; the first is the framework, whose version is printed."""
    try:
        found = [importlib.import_module(name) for name in names]
    except ImportError as error:
        skip(f"no {error.name or names[0]} here")
    print(names[0], found[0].__version__)
    return found[0] if len(found) == 1 else found


def driver():
    return ctypes.CDLL("libcuda.so.1")


def check(result, call="the driver"):
    if result != 0:
        print(f"{call} returned {result}", file=sys.stderr)
        sys.exit(3)


def hold(stream, milliseconds=400):
    """Keeps the stream (a handle) busy, so that what is issued next on it stays in flight."""
    check(driver().cuLaunchHostFunc(ctypes.c_void_p(stream), _usleep,
                                    ctypes.c_void_p(milliseconds * 1000)), "cuLaunchHostFunc")


def checksum(array):
    """Of anything with the buffer protocol."""
    return f"{zlib.crc32(memoryview(array).cast('B')):08x}"


def finish(right):
    """The last line of a program that makes a mistake."""
    print("data right" if right else "data wrong")
