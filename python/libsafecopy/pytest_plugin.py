"""A verdict per test: the test in which a hazard happens fails, alone (docs/ci.md).

    safecopy run -- python -m pytest -p libsafecopy.pytest_plugin --safecopy=fail

Each test is a label. After each phase of a test (setup, call, teardown) the plugin reads what is
new in the reports of this process and of its children, which lie in a folder of the run's own
(_folders.py). A hazard under the label of an earlier test comes too late for its verdict: it fails
the session.
"""

import hashlib
import os
import sys
import tempfile

import pytest

import libsafecopy
from libsafecopy import _folders, _reports

LABEL_MAX_BYTES = 255
TITLE = "safecopy"
SHOWN = 5  # of what is in the way
NOT_PRELOADED = ("libsafecopy is not preloaded (or mode=off), so no hazard can be found: start "
                 "pytest by `safecopy run -- python -m pytest ...`, or with --safecopy=off")
UNTOLD = "equal to hazards that the reports have, or not written to them"


def pytest_addoption(parser):
    group = parser.getgroup("safecopy", "libsafecopy: unsafe asynchronous CUDA copies")
    group.addoption("--safecopy", choices=("fail", "warn", "off"),
                    help="what becomes of a test with a hazard; fail, if the plugin was asked for")
    group.addoption("--safecopy-reports", metavar="DIR",
                    help="where reports go and stay (DIR/main, DIR/gw0 ...; those of an earlier "
                         "session go); else they are kept if there is a hazard")


def pytest_configure(config):
    mode = config.getoption("--safecopy") or ("off" if comes_by_itself(config) else "fail")
    if mode == "fail" and not libsafecopy.version():
        raise pytest.UsageError(NOT_PRELOADED)
    if mode != "off":
        config.pluginmanager.register(Plugin(config, mode), "safecopy-verdicts")


def comes_by_itself(config):
    """An installed plugin is loaded in every run, whether anybody wants it or not."""
    installed = any(plugin is sys.modules[__name__]
                    for plugin, _ in config.pluginmanager.list_plugin_distinfo())
    return installed and not libsafecopy.version()


# --- reports --------------------------------------------------------------------------------------


class Reports:
    """Those of this process and of its children: all that is in the folder."""

    def __init__(self, folder):
        self.folder = folder
        self.known = {}   # by name in the folder, or by path
        self.failed = {}  # what cannot be read, and why
        self.counted = 0  # hazards of this process
        with folder.opened() as opened:
            self.old = set(_folders.names_of_reports(opened))  # on another host there may be some

    def own_name(self):
        """Of this process's report, a path if CUDA was used before pytest began."""
        path = libsafecopy.report_path()
        inside = os.path.dirname(path) == str(self.folder.path)
        return os.path.basename(path) if inside else path

    def new_hazards(self):
        """The new lines, and how many hazards of this process there are if no line tells of them:
        not every one of equal hazards has a line."""
        counts = libsafecopy.counts()  # waits until what was found is in the report
        hazards = self.new_of_folder()
        own_name = self.own_name()
        if os.path.isabs(own_name):
            hazards += self.new_of(own_name)
        own = self.known.get(own_name)
        counts_latent = not own or not own.run or own.run.counts_latent
        counted = counts["hazards" if counts_latent else "observed"]
        untold = 0 if hazards else max(0, counted - self.counted)
        self.counted = counted
        return hazards, untold

    def new_of_folder(self):
        hazards = []
        try:
            with self.folder.opened() as folder:
                for name in _folders.names_of_reports(folder):
                    hazards += self.new_of(name, folder) if name not in self.old else []
        except OSError as error:
            self.failed[str(self.folder.path)] = error.strerror
        return hazards

    def new_of(self, name, folder=None):
        report = self.known.setdefault(name, _reports.Report())
        try:
            with _reports.open_file(name, folder) as stream:
                return list(report.new_hazards(stream))
        except FileNotFoundError:
            pass
        except OSError as error:
            self.failed[os.path.join(self.folder.path, name)] = error.strerror
        return []

    def unreadable(self):
        """A line for each thing."""
        reports = {os.path.join(self.folder.path, name): report.unreadable
                   for name, report in self.known.items()}
        return [f"{path}: {reason}" for path, reason in {**reports, **self.failed}.items()
                if reason]


# --- verdicts -------------------------------------------------------------------------------------


def label_of(nodeid):
    """A string that environment variables can have and the report gives back as it is."""
    text = nodeid.encode(errors="backslashreplace").replace(b"\0", b"\\0")
    if len(text) <= LABEL_MAX_BYTES:
        return text.decode()
    head = text[:LABEL_MAX_BYTES - 20].decode(errors="ignore")
    return f"{head}...{hashlib.sha256(text).hexdigest()[:16]}"


def cannot_keep(reason):
    return pytest.UsageError(f"reports cannot be kept: {reason}: name another folder in "
                             "--safecopy-reports or TMPDIR")


class Plugin:
    def __init__(self, config, mode):
        self.config = config
        self.mode = mode
        self.worker = getattr(config, "workerinput", None)  # of xdist
        self.folders = None if self.worker else self.make_folders()
        self.reports = self.make_reports()
        self.unreadable = []  # what workers could not read
        self.hazardous = {}  # a test that has hazards, and what they say
        self.labels = {}     # of tests that have begun
        self.late = []       # what belongs to no test whose verdict is still to come
        self.set_report_path()

    # Reports

    def make_folders(self):
        wanted = self.config.getoption("--safecopy-reports")
        try:
            path = os.path.realpath(wanted or tempfile.gettempdir())
            if ":" in path or "%" in path:
                raise cannot_keep(f"{path} contains : or %")
            if wanted:
                os.makedirs(path, exist_ok=True)
            else:
                path = tempfile.mkdtemp(prefix="safecopy-", dir=path)
            return _folders.SessionFolders(path, not wanted)
        except OSError as error:
            raise cannot_keep(error) from error

    def make_reports(self):
        """The folder of a worker is there, unless the worker is on another host."""
        try:
            if not self.worker:
                return Reports(self.folders.add("main"))
            os.makedirs(self.worker["safecopy_folder"], exist_ok=True)
            return Reports(_folders.Folder(self.worker["safecopy_folder"]))
        except OSError as error:
            raise cannot_keep(error) from error

    def set_report_path(self):
        """The later of two entries wins. Children have the variable too."""
        given = os.environ.get("SAFECOPY_OPTIONS")
        own = f"report_path={self.reports.folder.path}/%e.%p.jsonl"
        os.environ["SAFECOPY_OPTIONS"] = f"{given}:{own}" if given else own

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node):
        folder = self.folders.add(node.workerinput["workerid"])
        node.workerinput["safecopy_folder"] = str(folder.path)

    # Tests

    def pytest_runtest_logstart(self, nodeid):
        self.take(None)
        self.label(label_of(nodeid))
        self.labels[label_of(nodeid)] = nodeid

    def pytest_runtest_logfinish(self, nodeid):
        self.label(None)

    def label(self, label):
        libsafecopy.set_label(label)
        if label is None:
            os.environ.pop("SAFECOPY_LABEL", None)
        else:
            os.environ["SAFECOPY_LABEL"] = label  # for children

    def take(self, nodeid):
        """What is new and belongs to the test; the rest is late."""
        hazards, untold = self.reports.new_hazards()
        new = [(self.labels.get(hazard.label, nodeid), hazard.text) for hazard in hazards]
        if untold:
            new.append((nodeid, f"{untold} more: {UNTOLD}"))
        found = [text for owner, text in new if owner == nodeid] if nodeid else []
        self.late += [f"{owner or 'outside of tests'}: {text}" for owner, text in new
                      if (owner is None or owner != nodeid) and not self.has_told(owner, text)]
        return found

    def has_told(self, nodeid, text):
        """Has a forked process judged the test by it?"""
        return any(text in told for told in self.hazardous.get(nodeid, ()))

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item):
        outcome = yield
        found = self.take(item.nodeid)
        if not found:
            return
        report = outcome.get_result()
        text = "\n".join(found)
        report.user_properties.append((TITLE, text))
        if self.mode == "fail" and not report.failed:
            report.outcome = "failed"
            report.longrepr = text  # its first line is what the short summary shows
            vars(report).pop("wasxfail", None)
        else:
            report.sections.append((TITLE, text))

    # The end

    def pytest_runtest_logreport(self, report):
        for title, text in report.user_properties:
            if title == TITLE:
                self.hazardous.setdefault(report.nodeid, []).append(text)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        told = getattr(node, "workeroutput", {})
        self.late += told.get("safecopy_late", [])
        self.unreadable += told.get("safecopy_unreadable", [])

    def pytest_sessionfinish(self, session):
        self.take(None)
        if self.worker:
            self.config.workeroutput["safecopy_late"] = self.late
            self.config.workeroutput["safecopy_unreadable"] = self.reports.unreadable()
        elif self.late and self.mode == "fail" and session.exitstatus in (
                pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def verdict(self):
        if not libsafecopy.version():
            return NOT_PRELOADED
        if not self.folders.have_reports() and not libsafecopy.is_watching():
            return "no process used CUDA: nothing was looked for"
        tests = len(self.hazardous)
        return f"hazards in {tests} test{'' if tests == 1 else 's'}"

    def pytest_terminal_summary(self, terminalreporter):
        terminalreporter.section(TITLE)
        for nodeid, texts in self.hazardous.items() if self.mode == "warn" else ():
            terminalreporter.line(f"{nodeid}: " + "\n".join(texts))
        for text in self.late:
            terminalreporter.line(f"found too late, {text}")
        terminalreporter.line(self.verdict())
        for text in self.unreadable + self.reports.unreadable():
            terminalreporter.line(f"cannot be read, {_reports.shown(text)}")
        self.name_what_stays(terminalreporter.line, self.folders.in_the_way)
        if self.hazardous or self.late:
            terminalreporter.line(f"reports: {self.folders.folder.path}")

    @staticmethod
    def name_what_stays(say, stays):
        for path, reason in stays[:SHOWN]:
            say(_reports.shown(f"left alone: {path} {reason}"))
        if len(stays) > SHOWN:
            say(f"left alone: {len(stays) - SHOWN} more")

    def pytest_unconfigure(self, config):
        if self.worker:
            return
        # `safecopy run --format` reads them when all is over (report/ledger.h).
        if self.hazardous or self.late or os.environ.get("SAFECOPY_RUN"):
            self.folders.release()
            return
        reporter = config.pluginmanager.getplugin("terminalreporter")
        say = reporter.line if reporter else lambda line: print(line, file=sys.stderr)
        self.name_what_stays(say, self.folders.remove())
