"""Reports as the pytest plugin reads them, while they grow. Whatever a file holds, reading it
neither blocks nor raises: a line that is not as the library writes it is counted, and said."""

import errno
import os
import stat

from libsafecopy import _hazards, _processes
from libsafecopy._fields import Malformed, field, parsed

LINE_MAX_BYTES = 4 << 20  # as the command has it (report/command/input.h)
TYPES = ("run", "modules", "hazard", "timing", "coverage", "cupti", "postmortem", "oom",
         "memory", "summary")
BEGINNING = b'{"type":"'


# --- files ----------------------------------------------------------------------------------------


def open_file(name, folder=None):
    """A stream of a regular file. What is anything else, a link too, is not opened: OSError."""
    if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        raise OSError(errno.EINVAL, "is no regular file", name)
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    stream = os.fdopen(os.open(name, flags, dir_fd=folder), "rb")
    if stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        return stream
    stream.close()
    raise OSError(errno.EINVAL, "is no regular file", name)


# --- runs -----------------------------------------------------------------------------------------


class Run:
    """The first line of a report: which process wrote it, and what it counts."""

    def __init__(self, line):
        if line.get("type") != "run":
            raise Malformed("type")
        field(line, "schema", int)
        self.pid = field(line, "pid", int)
        self.host, started = line.get("host"), line.get("started")
        self.started = started if isinstance(started, int) else 0
        self.counts_latent = field(line, "options", dict).get("certainty") != "observed"

    @property
    def process(self):
        return self.pid, self.started

    def lives(self):
        """Does the process still run, on this host? As report/place.c asks."""
        own_host = os.uname().nodename or "localhost"
        return (self.host == own_host and bool(self.started) and
                _processes.start_of(self.pid) == self.started)


def run_of(stream):
    """The run that the report in the stream begins with. Malformed: it is no report."""
    return Run(parsed(stream.readline(LINE_MAX_BYTES)))


def is_of_library(line):
    """A process that was killed may have left its last line cut."""
    is_whole = line.endswith(b"\n")
    if not is_whole:
        return line.startswith(BEGINNING) and len(line) < LINE_MAX_BYTES
    return line.startswith(BEGINNING) and parsed(line).get("type") in TYPES


def has_strangers(stream):
    """Are there lines behind the first that the library has not written?"""
    try:
        return not all(map(is_of_library, iter(lambda: stream.readline(LINE_MAX_BYTES), b"")))
    except Malformed:
        return True


# --- growing --------------------------------------------------------------------------------------


class Report:
    """One file, read as it grows."""

    def __init__(self, owner=None):
        self.owner = owner        # the test in which it came; None: none
        self.run = None
        self.told = set()         # processes of which hazards were told
        self.offset = 0
        self.is_stranger = False  # its first line is no run line
        self.is_within = False    # a line that is too long
        self.bad_lines = 0
        self.identity = None
        self.judged = None        # the state in which it was judged last

    def new_hazards(self, stream):
        stream.seek(self.offset)
        last = {}
        for line in self.new_lines(stream):
            try:
                yield from self.hazards_in(line, last)
            except Malformed:
                self.bad_lines += 1
                self.is_stranger = self.run is None
            if self.is_stranger:
                return

    def new_lines(self, stream):
        """A line whose end is not there yet is left for the next time."""
        while not self.is_stranger:
            line = stream.readline(LINE_MAX_BYTES)
            is_whole = line.endswith(b"\n")
            if not is_whole and len(line) < LINE_MAX_BYTES:
                return
            self.offset += len(line)
            is_end, self.is_within = self.is_within, not is_whole
            if not is_end:
                yield line

    def hazards_in(self, line, last):
        line = parsed(line)
        if self.run is None or line.get("type") == "run":
            self.run = Run(line)
        if line.get("type") == "hazard" and line.get("advisory") is not True:
            hazard = _hazards.Hazard(line)
            hazard.count_from(last)
            self.told.add(self.run.process)
            if self.run.counts_latent or hazard.certainty == "observed":
                yield hazard
