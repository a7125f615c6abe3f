"""What is told of a test that its process did not survive: a crash, abort(), a timeout that kills.

Where a worker of xdist dies, the session reads the reports of the worker (hazards_in). Where the
session's own process dies, nothing is left in it that could tell. So a process beside it (watch)
waits for its end, by a socket on which the session says what it does (Watcher), and then writes to
its stderr which test ran, all hazards of the session, and where the reports are.
"""

import contextlib
import json
import os
import pathlib
import select
import socket
import subprocess
import sys

from libsafecopy import _descriptors, _doubts, _folders, _hazards, _processes, _reports
from libsafecopy._fields import shown

WIDTH = 80
READ_BYTES = 1 << 16
# By way of a shell that ends at once, so that no test which waits for its children meets it.
START = ("/bin/sh", "-c", '"$@" &', "sh")
CODE = "import sys; sys.path.append(sys.argv[1]); from libsafecopy import _deaths; _deaths.watch()"
NOT_FOR_IT = ("LD_PRELOAD", "SAFECOPY_OPTIONS", "SAFECOPY_LABEL", "SAFECOPY_RUN")


# --- reports --------------------------------------------------------------------------------------


def reports_in(folder):
    """(path, stream) of each report in the folder. OSError: it cannot be looked into."""
    with folder.opened() as opened:
        for name in _folders.names_of_reports(opened):
            with contextlib.suppress(OSError), _reports.open_file(name, opened) as stream:
                yield str(folder.path / name), stream


def hazards_in(folder):
    for _, stream in reports_in(folder):
        yield from _reports.Report().new_hazards(stream)


def doubts_in(folder):
    """Why reports of the processes, which may all lack their end, cannot be called clean."""
    for path, stream in reports_in(folder):
        for reason in _doubts.of(stream, may_lack_end=True):
            yield shown(f"{path} {reason}")


# --- in the session -------------------------------------------------------------------------------


def process_file():
    """Is ready once this process has ended, also where a forked one has the socket still open."""
    try:
        return os.pidfd_open(os.getpid())
    except (OSError, AttributeError):
        return None


class Watcher:
    """Tells the process beside this one. Without one, nothing is told."""

    def __init__(self, path):
        self.pid = os.getpid()
        self.held = None
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            ours, theirs = socket.socketpair()
            with theirs:
                self.held = _descriptors.take(ours.detach())
                self.start(theirs, path)

    @staticmethod
    def start(theirs, path):
        process = process_file()
        passed = [theirs.fileno()] + ([] if process is None else [process])
        environment = {name: value for name, value in os.environ.items() if name not in NOT_FOR_IT}
        try:
            subprocess.run([*START, str(sys.executable), "-I", "-S", "-c", CODE,
                            pathlib.Path(__file__).resolve().parents[1], path, str(os.getpid()),
                           *map(str, passed)],
                           pass_fds=passed, start_new_session=True, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, env=environment, check=True)
        finally:
            if process is not None:
                os.close(process)

    def tell(self, what, of=None):
        """A forked process that goes on as pytest does is not the one whose end counts."""
        if not self.held or os.getpid() != self.pid or not self.held.is_there():
            return
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(self.held.file)) as stream:
            stream.sendall(json.dumps([what, of]).encode() + b"\n", socket.MSG_NOSIGNAL)

    def close(self):
        self.tell("over")
        if self.held:
            self.held.close()
        self.held = None


# --- beside it ------------------------------------------------------------------------------------


class Told:
    """What the session has said so far."""

    def __init__(self):
        self.labels = {}   # the test of a label
        self.running = {}  # tests, in their order
        self.folders = []
        self.is_over = False

    def take(self, what, of):
        if what == "folder":
            # One that is gone has been read and removed by the session.
            with contextlib.suppress(FileNotFoundError):
                self.folders.append(_folders.Folder(of))
        elif what == "begin":
            label, nodeid = of
            self.labels[label] = nodeid
            self.running[nodeid] = True
        elif what == "end":
            self.running.pop(of, None)
        elif what == "over":
            self.is_over = True


def listen(stream, process):
    """What the session says, in pieces. Once its process has ended, what it has said is all there,
    and a forked process may still have the socket open."""
    stream.setblocking(False)
    poll = select.poll()
    for file in (stream.fileno(), *process):
        poll.register(file, select.POLLIN)
    while True:
        has_ended = any(file != stream.fileno() for file, _ in poll.poll())
        with contextlib.suppress(BlockingIOError):
            while piece := stream.recv(READ_BYTES):
                yield piece
            return
        if has_ended:
            return


def listen_to_the_end(stream, process):
    told, rest = Told(), b""
    for piece in listen(stream, process):
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            told.take(*json.loads(line))
        if told.is_over:
            break
    return told


def lines_of(told, path):
    yield from (f"pytest died in {shown(nodeid)}" for nodeid in told.running)
    if not told.running:
        yield "pytest died outside of tests"
    found = []
    for folder in told.folders:
        with contextlib.suppress(OSError):
            found += [_hazards.told(told.labels.get(hazard.label, hazard.label), hazard)
                      for hazard in hazards_in(folder)]
    for one in _hazards.merged(found):
        yield f"{shown(one.owner or 'outside of tests')}: {one.words}"
    yield f"{_hazards.where([one.owner for one in found])}, and there may be more"
    yield f"reports: {shown(path)}"


def watch():
    """The program that CODE is: arguments are the folder of the package, that of the reports, the
    session's process, the socket, and the process file if there is one."""
    path, pid, file, *process = sys.argv[2:]
    told = listen_to_the_end(socket.socket(fileno=int(file)), map(int, process))
    # It lives on where a test has closed the socket, or where it has become another program.
    if not told.is_over and _processes.is_ending(pid):
        lines = [f"\n{' safecopy ':=^{WIDTH}}", *lines_of(told, path)]
        sys.stderr.write("".join(f"{line}\n" for line in lines))
