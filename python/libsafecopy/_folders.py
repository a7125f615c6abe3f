"""The folders in which the pytest plugin keeps reports, and what it may take away.

DIR is the user's. A session has a folder in it for each of its processes, `main` and with xdist
`gw0`, `gw1` and so on, and each of these has a mark (MARK). The mark is locked while the session
lives. The next session takes the reports out of folders that have a mark, and nothing else:

    a file is removed if it is a regular file, of this user, without another name (hard link), whose
    first line is a run line, whose other lines are the library's as well, whose name is the one
    that the library gives to a report of that process, and if that process does not run any more,
    on this host or in another container

What else is there stays, and is named; a folder that has it is not used, `main.1` is instead. So
whatever is read of a session's own folder is new. A link below DIR is not followed: folders are
opened by descriptors, and what is removed is removed by its name in such a descriptor.
"""

import contextlib
import errno
import fcntl
import os
import pathlib
import re
import stat

from libsafecopy import _descriptors, _fields, _processes, _reports
from libsafecopy._descriptors import identity

MARK = ".safecopy-reports"
MARK_TEXT = (b"The pytest plugin of libsafecopy made this folder. A later session removes from it "
             b"the reports of sessions that have ended, and nothing else.\n")
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
NUMBERS = 100  # of folders beside one that cannot be used


class InTheWay(Exception):
    """Something is not ours, and stays; the words say why."""


# --- reports --------------------------------------------------------------------------------------


def is_named_by_library(name, pid):
    """By %e.%p.jsonl, or PATH.PID where that was taken."""
    return name.endswith((f".{pid}.jsonl", f".{pid}.jsonl.{pid}"))


def names_of_reports(folder):
    return sorted(name for name in os.listdir(folder) if ".jsonl" in name)


def check_report(name, run, stream):
    """The stream is behind the first line."""
    if not is_named_by_library(name, run.pid):
        raise InTheWay("has another name than the library gave it")
    if _reports.has_strangers(stream):
        raise InTheWay("has lines that the library did not write")


def remove_report(folder, name, own_pid=None):
    """Removes an old report from the folder that the descriptor has open. InTheWay: it is none."""
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if stat.S_ISLNK(status.st_mode):
        raise InTheWay("is a link")
    if not stat.S_ISREG(status.st_mode):
        raise InTheWay("is no file")
    if status.st_uid != os.geteuid():
        raise InTheWay("is another user's")
    if status.st_nlink != 1:
        raise InTheWay("has another name as well")
    with _reports.open_file(name, folder) as stream:
        try:
            run = _reports.run_of(stream)
        except _fields.Malformed as error:
            raise InTheWay("is no report") from error
        check_report(name, run, stream)
        if run.pid != own_pid and _processes.may_write(run, stream):
            raise InTheWay("is the report of a process that still runs")
        opened = os.fstat(stream.fileno())
    if identity(opened) != identity(os.stat(name, dir_fd=folder, follow_symlinks=False)):
        raise InTheWay("has changed just now")
    os.unlink(name, dir_fd=folder)


def remove_reports(folder, own_pid=None):
    """(name, reason) of each thing in the open folder that is no old report, and stays."""
    for name in sorted(os.listdir(folder)):
        try:
            if name != MARK:
                remove_report(folder, name, own_pid)
        except InTheWay as reason:
            yield name, str(reason)
        except FileNotFoundError:
            pass
        except OSError as error:
            yield name, f"cannot be removed ({error.strerror})"


# --- marks ----------------------------------------------------------------------------------------


def open_mark(folder):
    """The mark, which is made where nothing is in the folder."""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    if not os.listdir(folder):
        with contextlib.suppress(FileExistsError):
            return os.open(MARK, flags | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=folder)
    try:
        return os.open(MARK, flags, dir_fd=folder)
    except FileNotFoundError as error:
        raise InTheWay("has no mark of the plugin's") from error
    except OSError as error:
        raise InTheWay(f"has a mark that cannot be opened ({error.strerror})") from error


def check_mark(mark):
    status = os.fstat(mark)
    is_own = status.st_uid == os.geteuid() and status.st_nlink == 1
    if not stat.S_ISREG(status.st_mode) or not is_own:
        raise InTheWay("has a mark that is not this user's alone")
    said = os.pread(mark, len(MARK_TEXT) + 1, 0)
    if said and said != MARK_TEXT:
        raise InTheWay("has a mark that the plugin did not write")
    if not said:
        os.pwrite(mark, MARK_TEXT, 0)


def lock_mark(mark):
    """Locks of the file and not of the process: those of other hosts and containers count, and so
    does a forked child. A file system may have none."""
    try:
        fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise InTheWay("is of a session that still runs") from error
    except OSError:
        pass


# --- folders --------------------------------------------------------------------------------------


class Folder:
    """A folder that is known again, also where its name leads elsewhere by now."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.identity = identity(os.lstat(path))

    @contextlib.contextmanager
    def opened(self):
        folder = os.open(self.path, FOLDER | os.O_NOFOLLOW)
        try:
            if identity(os.fstat(folder)) != self.identity:
                raise OSError(errno.ESTALE, "is another folder by now", str(self.path))
            yield folder
        finally:
            os.close(folder)


class OwnFolder(Folder):
    """A folder for the reports of a process of this session, with its mark, empty otherwise."""

    def __init__(self, parent, name):
        super().__init__(parent.path / name)
        self.mark = None
        self.left = []  # what is in the way in it
        try:
            self.take()
        except InTheWay:
            self.release()
            raise

    def take(self):
        status = os.lstat(self.path)
        if stat.S_ISLNK(status.st_mode):
            raise InTheWay("is a link")
        if not stat.S_ISDIR(status.st_mode):
            raise InTheWay("is no folder")
        if status.st_uid != os.geteuid():
            raise InTheWay("is another user's")
        with self.opened() as folder:
            self.mark = _descriptors.take(open_mark(folder))
            check_mark(self.mark.file)
            lock_mark(self.mark.file)
            self.left = [(f"{self.path}/{name}", reason)
                         for name, reason in remove_reports(folder)]

    def release(self):
        """Lets others lock the mark."""
        if self.mark:
            self.mark.close()

    def remove(self):
        """Takes away what the session has written. (path, reason) of what stays."""
        with self.opened() as folder:
            left = [(f"{self.path}/{name}", reason)
                    for name, reason in remove_reports(folder, own_pid=os.getpid())]
            if not left and self.has_mark(folder):
                os.unlink(MARK, dir_fd=folder)
        if not left:
            os.rmdir(self.path)
        return left

    def has_report(self):
        try:
            with self.opened() as folder:
                return bool(names_of_reports(folder))
        except OSError:
            return False

    def has_mark(self, folder):
        try:
            mark = os.stat(MARK, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return identity(mark) == self.mark.identity


# --- a session's ----------------------------------------------------------------------------------


class SessionFolders:
    """DIR, and the folders of this session in it. `in_the_way` has (path, reason) of what was found
    there and stays."""

    def __init__(self, path, is_temporary):
        self.folder = Folder(path)
        self.is_temporary = is_temporary
        self.own = []
        self.in_the_way = []
        self.pid = os.getpid()
        if not is_temporary:
            self.clean()

    def clean(self):
        """Old sessions may have had more processes than this one will."""
        for entry in sorted(os.scandir(self.folder.path), key=lambda entry: entry.name):
            if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                self.clean_folder(entry)

    def clean_folder(self, entry):
        if not os.path.lexists(os.path.join(entry.path, MARK)):
            self.note_strangers(entry)
            return
        try:
            old = OwnFolder(self.folder, entry.name)
        except InTheWay as reason:
            self.in_the_way.append((entry.path, str(reason)))
            return
        except OSError as error:
            self.in_the_way.append((entry.path, f"cannot be cleaned ({error.strerror})"))
            return
        self.in_the_way += old.left
        old.release()

    def note_strangers(self, entry):
        """Whoever reads DIR/*/*.jsonl* reads these as well."""
        with contextlib.suppress(OSError):
            self.in_the_way += [(f"{entry.path}/{name}", "is in a folder without the plugin's mark")
                                for name in sorted(os.listdir(entry.path)) if ".jsonl" in name]

    def add(self, process):
        """A folder for a process's reports, or OSError."""
        name = re.sub(r"[^\w-]", "_", process, flags=re.ASCII)
        for number in range(NUMBERS):
            folder = self.try_to_add(f"{name}.{number}" if number else name)
            if folder:
                self.own.append(folder)
                return folder
        raise OSError(errno.EEXIST, "too many folders are in the way", str(self.folder.path / name))

    def try_to_add(self, name):
        with self.folder.opened() as parent, contextlib.suppress(FileExistsError):
            os.mkdir(name, 0o777, dir_fd=parent)
        try:
            folder = OwnFolder(self.folder, name)
        except InTheWay as reason:
            self.note(str(self.folder.path / name), str(reason))
            return None
        if not folder.left:
            return folder
        for path, reason in folder.left:
            self.note(path, reason)
        folder.release()
        return None

    def note(self, path, reason):
        if path not in dict(self.in_the_way):
            self.in_the_way.append((path, reason))

    def have_reports(self):
        return any(folder.has_report() for folder in self.own)

    def release(self):
        """Lets the next session have the folders."""
        if os.getpid() == self.pid:
            for folder in self.own:
                folder.release()

    def remove(self):
        """Takes away what the session has written, in a temporary folder. (path, reason) of what
        stays. A forked process that ends as pytest does has nothing to remove."""
        left = []
        self.release()
        if not self.is_temporary or os.getpid() != self.pid:
            return left
        for folder in self.own:
            try:
                left += folder.remove()
            except OSError as error:
                left.append((str(folder.path), f"cannot be removed ({error.strerror})"))
        return left or self.remove_folder()

    def remove_folder(self):
        path = self.folder.path
        try:
            with self.folder.opened() as folder:
                left = [(f"{path}/{name}", "is not the plugin's")
                        for name in sorted(os.listdir(folder))]
            if not left:
                os.rmdir(path)
            return left
        except OSError as error:
            return [(str(path), f"cannot be removed ({error.strerror})")]
