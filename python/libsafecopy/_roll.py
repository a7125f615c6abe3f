"""What the processes that a session starts say of themselves, whatever becomes of their reports.

`safecopy run` has such a roll, and the library knows no other kind (report/roll.h): a
memfd with a mark and seals, which SAFECOPY_RUN names. A session has one of its own, before those
that it was started with. A process that cannot get at it (another user, another machine) notes
nothing. Where no memfd can be had there are no notes.
"""

import contextlib
import fcntl
import os
from typing import NamedTuple, Optional

from libsafecopy import _descriptors, _processes

VARIABLE = "SAFECOPY_RUN"
VALUE_MAX_BYTES = 511
MARK = b"safecopy run, notes 1\0"
ADD_SEALS, SEALS = 1033, 0x1 | 0x2  # F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK
CLOEXEC, ALLOW_SEALING, NOEXEC_SEAL = 0x1, 0x2, 0x8
REPORT, LATENT, OBSERVED, KILLED = "report", "latent", "observed", "killed"


class Note(NamedTuple):
    pid: int
    started: int
    word: str
    path: Optional[str]  # of a report, or of what runs with mode=off

    @property
    def process(self):
        return self.pid, self.started


def note_of(text):
    """None: it is no note."""
    try:
        pid, started, word, *path = os.fsdecode(text).split(" ", 3)
        return Note(int(pid), int(started), word, path[0] if path else None)
    except ValueError:
        return None


def make_memory():
    """Kernels before 6.3 do not know that a memfd is not to be executed."""
    try:
        return os.memfd_create("safecopy pytest", CLOEXEC | ALLOW_SEALING | NOEXEC_SEAL)
    except OSError:
        return os.memfd_create("safecopy pytest", CLOEXEC | ALLOW_SEALING)


def make_file():
    made = make_memory()
    try:
        os.write(made, MARK)
        fcntl.fcntl(made, ADD_SEALS, SEALS)
    except OSError:
        os.close(made)
        raise
    return _descriptors.take(made)


class Roll:
    def __init__(self):
        self.held = None
        self.read = len(MARK)
        self.is_lost = False  # a program has closed it
        self.outer = os.environ.get(VARIABLE)
        with contextlib.suppress(OSError, AttributeError):
            self.held = make_file()
            self.begin()

    def begin(self):
        device, inode = self.held.identity
        name = f"/proc/{os.getpid()}/fd/{self.held.file}:{device}:{inode}"
        both = f"{name},{self.outer}"
        has_room = self.outer and len(os.fsencode(both)) <= VALUE_MAX_BYTES
        os.environ[VARIABLE] = both if has_room else name
        _processes.listen(self.note_killed)

    def is_there(self):
        return bool(self.held) and self.held.is_there()

    def note_killed(self, pid):
        """Forked processes note it here as well."""
        if not self.is_there():
            return
        file = os.open(f"/proc/self/fd/{self.held.file}", os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        try:
            os.write(file, f"{pid} {_processes.start_of(pid)} {KILLED}\0".encode())
        finally:
            os.close(file)

    def new_notes(self):
        if not self.is_there():
            self.is_lost = self.held is not None
            return []
        file = self.held.file
        said = os.pread(file, max(0, os.fstat(file).st_size - self.read), self.read)
        whole = said[:said.rfind(b"\0") + 1]
        self.read += len(whole)
        return [note for note in map(note_of, whole.split(b"\0")) if note]

    def close(self):
        """Children that start from now on note in the outer ones alone."""
        if not self.held:
            return
        with contextlib.suppress(ValueError):
            _processes.listeners.remove(self.note_killed)
        self.held.close()
        self.held = None
        if self.outer is None:
            os.environ.pop(VARIABLE, None)
        else:
            os.environ[VARIABLE] = self.outer
