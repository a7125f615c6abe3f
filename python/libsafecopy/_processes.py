"""Whether a process still runs, also one of another container, and which ones a test has killed."""

import contextlib
import errno
import fcntl
import os
import signal
import sys


def start_of(pid):
    """When the process began, as /proc/PID/stat has it; 0: there is none. The second field is a
    name in brackets, which may hold anything (report/path.c reads it alike)."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stream:
            fields = stream.read().rpartition(b")")[2].split()
        is_over = fields[0] in (b"Z", b"X") and int(fields[17]) <= 1
        return 0 if is_over else int(fields[19])
    except (OSError, IndexError, ValueError):
        return 0


def all_pids():
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


# --- writers --------------------------------------------------------------------------------------


def may_have_lease(file):
    """Of a file that a process has open for writing the kernel gives no lease to readers. None: no
    leases are to be had."""
    try:
        fcntl.fcntl(file, fcntl.F_SETSIG, signal.SIGURG)  # which is ignored, should it come
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        return True
    except OSError as error:
        return False if error.errno == errno.EAGAIN else None


def has_leases(folder):
    """NFS refuses them with the same error as a writer. A file without a name has no writer."""
    try:
        written = os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError:
        return False
    try:
        file = os.open(f"/proc/self/fd/{written}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    finally:
        os.close(written)
    try:
        return may_have_lease(file) is True
    finally:
        os.close(file)


def has_writer(file, folder):
    """Has a process the file, which is in the folder, open for writing, in whichever container? The
    library keeps a report open. None: the file system cannot tell."""
    lease = may_have_lease(file)
    if lease is False and not has_leases(folder):
        return None
    return None if lease is None else not lease


def path_of(folder):
    """Of the folder that a descriptor has open, wherever it is."""
    return f"/proc/self/fd/{folder}"


def inner_pid_of(pid):
    """The process's number in its own namespace; 0: there is none."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        with open(f"/proc/{pid}/status", "rb") as stream:
            for line in stream:
                if line.startswith(b"NSpid:"):
                    return int(line.split()[-1])
    return 0


def lives_below(pid, started):
    """Is it a process of a namespace in this one?"""
    return any(start_of(seen) == started and inner_pid_of(seen) == pid for seen in all_pids())


def may_write(run, file, folder):
    """May the process of the report still run, also in another container? `run` may be None."""
    if run and run.lives():
        return True
    is_written = has_writer(file, folder)
    if is_written is None:
        return not run or lives_below(*run.process)
    return is_written


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
