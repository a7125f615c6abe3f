"""Whether a process still runs, also one of another container, and which ones a test has killed."""

import contextlib
import fcntl
import os
import sys


PF_EXITING = 0x4  # <linux/sched.h>: of each thread, before its files are closed


def fields_of(pid):
    """Those of /proc/PID/stat behind the second, a name in brackets, which may hold anything
    (report/path.c reads it alike)."""
    with open(f"/proc/{pid}/stat", "rb") as stream:
        return stream.read().rpartition(b")")[2].split()


def is_ending(pid):
    """Has the process begun to end, or is there none any more?"""
    try:
        return bool(int(fields_of(pid)[6]) & PF_EXITING)
    except (OSError, IndexError, ValueError):
        return True


def start_of(pid):
    """When the process began; 0: there is none."""
    try:
        fields = fields_of(pid)
        is_over = fields[0] in (b"Z", b"X") and int(fields[17]) <= 1
        return 0 if is_over else int(fields[19])
    except (OSError, IndexError, ValueError):
        return 0


def all_pids():
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


# --- writers --------------------------------------------------------------------------------------


def is_open(file):
    """Has a process its report open? The library locks it for so long (report/place.h), which is
    seen from other containers, too. A descriptor of the file, of which nobody else has a copy."""
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        fcntl.flock(file, fcntl.LOCK_UN)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks
        pass
    return False


def may_write(run, file):
    """May the process of the report still run, also in another container? `run` may be None."""
    return bool(run and run.lives()) or is_open(file)


# --- killing --------------------------------------------------------------------------------------

listeners = []  # told the pid of each process that this one sends a signal
is_hearing = False


def group_of(number):
    """The pids of a process group."""
    members = []
    for pid in all_pids():
        with contextlib.suppress(OSError):
            if os.getpgid(pid) == number:
                members.append(pid)
    return members


def hear(event, arguments):
    """Popen.kill, Process.terminate and all else that kills from Python comes by these two."""
    if event not in ("os.kill", "os.killpg") or not listeners:
        return
    with contextlib.suppress(Exception):  # the signal is sent in any case
        pid, number = int(arguments[0]), int(arguments[1])
        group = pid if event == "os.killpg" else -pid if pid < -1 else None
        for tell in listeners if number else ():
            for one in [pid] if group is None else group_of(group):
                tell(one)


def listen(tell):
    """A hook of audit stays for as long as Python runs."""
    global is_hearing  # pylint: disable=global-statement
    listeners.append(tell)
    if not is_hearing:
        sys.addaudithook(hear)
    is_hearing = True
