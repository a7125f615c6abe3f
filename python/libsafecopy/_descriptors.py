"""Files that the plugin holds open in a process whose programs may do as they like."""

import contextlib
import fcntl
import os


def identity(status):
    return status.st_dev, status.st_ino


class Descriptor:
    """A program may close the number, and open a file of its own by it: that one is left alone."""

    def __init__(self, file):
        self.file = file
        self.identity = identity(os.fstat(file))

    def is_there(self):
        with contextlib.suppress(OSError, TypeError):
            return identity(os.fstat(self.file)) == self.identity
        return False

    def close(self):
        if self.is_there():
            os.close(self.file)
        self.file = None


def take(file):
    """Closes the file, for a copy that is none of the three that pytest may have been started
    without."""
    try:
        return Descriptor(fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, 3))
    finally:
        os.close(file)
