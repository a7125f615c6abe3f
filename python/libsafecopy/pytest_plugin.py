"""A verdict per test: the test in which a hazard happens fails, alone (docs/ci.md).

    safecopy run -- python -m pytest -p libsafecopy.pytest_plugin --safecopy=fail

Each test is a label. After each phase of a test (setup, call, teardown) the plugin reads what is
new in the reports of this process and of its children (_session.py), which lie in a folder of the
run's own (_folders.py). A hazard under the label of an earlier test comes too late for its verdict:
it fails the session. A report that cannot be called clean fails the test in which it came, or else
the session. A test that its process does not survive is told of all the same (_deaths.py).
"""

import hashlib
import os
import sys
import tempfile

import pytest

import libsafecopy
from libsafecopy import _deaths, _doubts, _folders, _hazards, _junit, _session
from libsafecopy._fields import shown

LABEL_MAX_BYTES = 255
TITLE = "safecopy"
UNKNOWN = "safecopy unknown"
KILLS = "safecopy_kills"
SHOWN = 5  # of what is in the way
NOT_PRELOADED = ("libsafecopy is not preloaded (or mode=off), so no hazard can be found: start "
                 "pytest by `safecopy run -- python -m pytest ...`, or with --safecopy=off")
NO_COMMAND = ("the command safecopy, which reads reports, is neither in the package nor beside the "
              "library: install the wheel, or both from one build, or use --safecopy=off")


def pytest_addoption(parser):
    group = parser.getgroup("safecopy", "libsafecopy: unsafe asynchronous CUDA copies")
    group.addoption("--safecopy", choices=("fail", "warn", "off"),
                    help="what becomes of a test with a hazard; fail, if the plugin was asked for")
    group.addoption("--safecopy-reports", metavar="DIR",
                    help="where reports go and stay (DIR/main, DIR/gw0 ...; those of an earlier "
                         "session go); else they are kept if there is a hazard")


def pytest_configure(config):
    config.addinivalue_line("markers", f"{KILLS}: the test has processes killed, whose reports have "
                                       "no end (libsafecopy)")
    mode = config.getoption("--safecopy") or ("off" if comes_by_itself(config) else "fail")
    if mode == "fail" and not libsafecopy.version():
        raise pytest.UsageError(NOT_PRELOADED)
    if mode == "fail" and not _doubts.COMMAND:
        raise pytest.UsageError(NO_COMMAND)
    if mode != "off":
        config.pluginmanager.register(Plugin(config, mode), "safecopy-verdicts")
    elif libsafecopy.version():
        add_options("mode=off")
        config.pluginmanager.register(Off(), "safecopy-off")


class Off:
    """Whoever reads the session must not take it for one without hazards."""

    @staticmethod
    def pytest_report_header():
        return "safecopy: --safecopy=off: nothing is looked for, healed or reported"


def comes_by_itself(config):
    """An installed plugin is loaded in every run, whether anybody wants it or not."""
    named = [*config.getoption("plugins"), *os.environ.get("PYTEST_PLUGINS", "").split(",")]
    installed = any(plugin is sys.modules[__name__]
                    for plugin, _ in config.pluginmanager.list_plugin_distinfo())
    return installed and __name__ not in named and not libsafecopy.version()


def add_options(own):
    """The later of two entries wins. The library reads the variable when it is first needed, and
    children have it too."""
    given = os.environ.get("SAFECOPY_OPTIONS")
    os.environ["SAFECOPY_OPTIONS"] = f"{given}:{own}" if given else own


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
        self.controls = False  # workers of xdist
        self.folders = None if self.worker else self.make_folders()
        self.watcher = None
        self.reports = self.make_reports()
        self.hazardous = {}  # (worker or None, test) that has hazards, and what they say
        self.unknown = {}    # a test, or None for none, and its doubts
        self.labels = {}     # of tests that have begun
        self.late = []       # what is told where no verdict is still to come
        self.late_doubts = []
        self.dying = {}      # a test, or None, and what is told of it in workers that have died
        add_options(f"report_path={self.reports.folder.path}/%e.%p.jsonl")
        if self.folders and libsafecopy.version():
            self.watcher = _deaths.Watcher(self.folders.folder.path)
            self.tell_watcher("folder", str(self.reports.folder.path))

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

    def tell_watcher(self, what, of=None):
        if self.watcher:
            self.watcher.tell(what, of)

    def make_reports(self):
        """The folder of a worker is there, unless the worker is on another host."""
        try:
            if not self.worker:
                return _session.Reports(self.folders.add("main"))
            os.makedirs(self.worker["safecopy_folder"], exist_ok=True)
            return _session.Reports(_folders.Folder(self.worker["safecopy_folder"]))
        except OSError as error:
            raise cannot_keep(error) from error

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node):
        self.reports.roll.close()  # its processes are judged by the worker, which has its own
        self.controls = True
        path = str(self.folders.add(node.workerinput["workerid"]).path)
        node.workerinput["safecopy_folder"] = path
        self.tell_watcher("folder", path)

    # Tests

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item):
        if item.get_closest_marker(KILLS):
            self.reports.killing.add(item.nodeid)

    def pytest_runtest_logstart(self, nodeid):
        self.take(None)
        label = label_of(nodeid)
        self.labels[label] = nodeid
        self.tell_watcher("begin", [label, nodeid])
        self.label(label)

    def pytest_runtest_logfinish(self, nodeid):
        """Of a test that another process has run nothing was taken yet."""
        self.take_late(self.reports.new_hazards(nodeid), nodeid)
        self.tell_watcher("end", nodeid)
        self.label(None)

    def label(self, label):
        if self.controls:  # several tests run, and none of them here
            return
        self.reports.label = label
        libsafecopy.set_label(label)
        if label is None:
            os.environ.pop("SAFECOPY_LABEL", None)
        else:
            os.environ["SAFECOPY_LABEL"] = label  # for children

    def take(self, nodeid):
        """What is new and belongs to the test: hazards, and doubts. The rest is late."""
        return self.sorted_out(self.reports.new_hazards(nodeid), nodeid)

    def take_late(self, new, nodeid=None):
        """There is no verdict to come, but a forked process may have given one."""
        hazards, doubts = self.sorted_out(new, nodeid)
        self.late += [hazard for hazard in hazards if not self.has_told(hazard)]
        self.note_doubts(nodeid, doubts)

    def sorted_out(self, new, nodeid):
        hazards, untold, known = new
        found = [_hazards.told(self.labels.get(hazard.label, nodeid), hazard) for hazard in hazards]
        if untold:
            found.append(_hazards.untold(nodeid, untold, known))
        found = _hazards.merged(found)
        self.late += [hazard for hazard in found if (
            hazard.owner is None or hazard.owner != nodeid) and not self.has_told(hazard)]
        doubts = self.reports.new_doubts()
        for doubt in doubts:
            if doubt.owner is None or doubt.owner != nodeid:
                self.note_doubts(doubt.owner, [doubt.text])
        return ([hazard for hazard in found if nodeid and hazard.owner == nodeid],
                [doubt.text for doubt in doubts if nodeid and doubt.owner == nodeid])

    def has_told(self, hazard, worker=None):
        """Has a forked process judged the test by it, or has the worker?"""
        return any(_hazards.has_told(words, hazard.text)
                   for words in self.hazardous.get((worker, hazard.owner), ()))

    def note_doubts(self, nodeid, texts, is_late=True):
        known = self.unknown.setdefault(nodeid, [])
        new = [text for text in texts if text not in known]
        known += new
        self.late_doubts += [(nodeid, text) for text in new if is_late]

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item):
        outcome = yield
        hazards, doubts = self.take(item.nodeid)
        if not hazards and not doubts:
            return
        report = outcome.get_result()
        words = [hazard.words for hazard in hazards]
        parts = [(TITLE, "\n".join(words)), (UNKNOWN, "\n".join(doubts))]
        report.user_properties += [part for part in parts if part[1]]
        text = "\n".join(words + [f"unknown: {doubt}" for doubt in doubts])
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
                owner = getattr(report, "worker_id", None), report.nodeid
                self.hazardous.setdefault(owner, []).append(text)
            elif title == UNKNOWN:
                self.note_doubts(report.nodeid, text.splitlines(), is_late=False)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node, error):
        told = getattr(node, "workeroutput", {})
        self.late += [_hazards.Told(*row) for row in told.get("safecopy_late", [])]
        for nodeid, text in told.get("safecopy_doubts", []):
            self.note_doubts(nodeid, [text])
        if error and not told:
            self.take_of_dead(node.workerinput["workerid"], node.workerinput["safecopy_folder"])

    def doubts(self):
        return list(dict.fromkeys(f"{nodeid}: {text}" if nodeid else text
                                  for nodeid, texts in self.unknown.items() for text in texts))

    # Workers that have died

    def take_of_dead(self, worker, path):
        """What the worker has not told: of the test that it died in, and of those before."""
        try:
            folder = _folders.Folder(path)
            for hazard in _deaths.hazards_in(folder):
                one = _hazards.told(self.labels.get(hazard.label), hazard)
                if not self.has_told(one, worker):
                    self.dying.setdefault(one.owner, []).append(one)
            doubts = list(_deaths.doubts_in(folder))
        except OSError as error:
            doubts = [f"reports of worker {worker} cannot be read: {error}"]
        self.note_doubts(None, [f"worker {worker} died", *doubts])

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem, report):
        text = "\n".join(one.words for one in _hazards.merged(self.dying.pop(crashitem, [])))
        if text:
            report.user_properties.append((TITLE, text))
            report.longrepr = f"{report.longrepr}\n{text}"

    def take_rest_of_dead(self):
        self.late += [one for those in self.dying.values() for one in those]
        self.dying.clear()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session):
        self.take_rest_of_dead()
        self.take_late(self.reports.last_hazards(None))
        self.late = _hazards.merged(self.late)
        if self.worker:
            self.config.workeroutput["safecopy_late"] = [tuple(one) for one in self.late]
            self.config.workeroutput["safecopy_doubts"] = self.late_doubts
        elif self.mode == "fail":
            self.fail(session)

    def fail(self, session):
        doubts = [(nodeid, f"unknown: {text}") for nodeid, text in self.late_doubts]
        _junit.add(self.config, [(one.owner, one.words) for one in self.late] + doubts)
        if (self.late or self.doubts()) and session.exitstatus in (
                pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def verdict(self):
        if not libsafecopy.version():
            return NOT_PRELOADED
        doubts = len(self.doubts())
        if not (doubts or self.folders.have_reports() or libsafecopy.is_watching()):
            return "no process used CUDA, as far as is known: nothing was looked for"
        known = _hazards.where([*(nodeid for _, nodeid in self.hazardous),
                                *(one.owner for one in self.late)])
        return f"{known}, and there may be more: {doubts} unknown" if doubts else known

    def pytest_terminal_summary(self, terminalreporter):
        terminalreporter.section(TITLE)
        for (_, nodeid), texts in self.hazardous.items() if self.mode == "warn" else ():
            terminalreporter.line(f"{nodeid}: " + "\n".join(texts))
        for one in self.late:
            terminalreporter.line(f"found too late, {one.owner or 'outside of tests'}: {one.words}")
        terminalreporter.line(self.verdict())
        for text in self.doubts():
            terminalreporter.line(f"unknown: {text}")
        for path in sorted(self.reports.living):
            terminalreporter.line(f"still runs, and is judged up to now: {shown(path)}")
        self.name_what_stays(terminalreporter.line, self.folders.in_the_way)
        if self.is_telling():
            terminalreporter.line(f"reports: {self.folders.folder.path}")

    def is_telling(self):
        return bool(self.hazardous or self.late or self.doubts())

    @staticmethod
    def name_what_stays(say, stays):
        for path, reason in stays[:SHOWN]:
            say(shown(f"left alone: {path} {reason}"))
        if len(stays) > SHOWN:
            say(f"left alone: {len(stays) - SHOWN} more")

    def pytest_unconfigure(self, config):
        self.reports.roll.close()
        if self.watcher:
            self.watcher.close()
        if self.worker:
            return
        # `safecopy run` reads them when all is over (report/roll.h).
        if self.is_telling() or os.environ.get("SAFECOPY_RUN"):
            self.folders.release()
            return
        reporter = config.pluginmanager.getplugin("terminalreporter")
        say = reporter.line if reporter else lambda line: print(line, file=sys.stderr)
        self.name_what_stays(say, self.folders.remove())
