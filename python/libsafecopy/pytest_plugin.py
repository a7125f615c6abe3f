"""A verdict per test: the test in which a hazard happens fails, alone (docs/ci.md).

    safecopy run -- python -m pytest -p libsafecopy.pytest_plugin --safecopy=fail

Each test is a label. After each phase of a test (setup, call, teardown) the plugin reads what is
new in the reports of this process and of its children, which lie in a folder of the run's own. A
hazard under the label of an earlier test comes too late for its verdict: it fails the session.
"""

import hashlib
import json
import os
import pathlib
import shutil
import sys
import tempfile

import pytest

import libsafecopy

LABEL_MAX_BYTES = 255
TITLE = "safecopy"
NOT_PRELOADED = ("libsafecopy is not preloaded (or mode=off), so no hazard can be found: start "
                 "pytest by `safecopy run -- python -m pytest ...`, or with --safecopy=off")
UNTOLD = "equal to hazards that the reports have, or not written to them"
# Frames of these say how the program got into the driver or the allocator, not where it went wrong.
LIBRARIES = ("libsafecopy", "libcuda", "libcupti", "libc.so", "libc-", "libstdc++", "libpthread",
             "libgcc_s", "ld-linux", "libunwind", "libffi", "_ctypes", "libpython", "python")


def pytest_addoption(parser):
    group = parser.getgroup("safecopy", "libsafecopy: unsafe asynchronous CUDA copies")
    group.addoption("--safecopy", choices=("fail", "warn", "off"),
                    help="what becomes of a test with a hazard; fail, if the plugin was asked for")
    group.addoption("--safecopy-reports", metavar="DIR",
                    help="where reports go and stay; else they are kept if there is a hazard")


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


# --- what a hazard says ---------------------------------------------------------------------------


def is_telling(frame):
    if "file" in frame:
        return "site-packages" not in frame["file"] and "/_pytest/" not in frame["file"]
    return not os.path.basename(frame["module"] or "").startswith(LIBRARIES)


def place(stack):
    """The innermost line of Python that is the user's, else the innermost telling function."""
    telling = [frame for frame in stack if is_telling(frame)]
    python = [frame for frame in telling if "file" in frame]
    if not stack:
        return "an unknown place"
    frame = (python or telling or stack)[0]
    if "file" in frame:
        line = "" if frame["line"] is None else f":{frame['line']}"
        return f"{frame['file']}{line} ({frame['function']})"
    where = f"{frame['module'] or ''}+{frame['offset']}"
    return f"{frame['symbol']} ({where})" if frame["symbol"] else where


def shown(text):
    """Names of files steer no terminal, and forge no line."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def describe(hazard):
    copy, event = hazard["copy"], hazard["event"]
    return (f"{hazard['code']} {hazard['name']}, {hazard['certainty']}, {hazard['action']}\n"
            f"  {event['api']} at {shown(place(event['stack']))}\n"
            f"  {copy.get('runtime_api') or copy['api']} at {shown(place(copy['stack']))}")


# --- reports --------------------------------------------------------------------------------------


class Report:
    """One file, read as it grows."""

    def __init__(self, path):
        self.path = path
        self.offset = 0
        self.counts_latent = True

    def new_hazards(self):
        with open(self.path, "rb") as stream:
            stream.seek(self.offset)
            text = stream.read()
        whole = text[:text.rfind(b"\n") + 1]
        self.offset += len(whole)
        for line in whole.splitlines():
            try:
                line = json.loads(line)
            except ValueError:
                continue
            if line.get("type") == "run":
                self.counts_latent = line["options"].get("certainty") != "observed"
            if line.get("type") == "hazard" and (self.counts_latent or
                                                 line["certainty"] == "observed"):
                yield line


class Reports:
    """Those of this process and of its children: all that is in the folder."""

    def __init__(self, folder):
        self.folder = folder
        self.known = {}
        self.counted = 0  # hazards of this process

    def paths(self):
        own = libsafecopy.report_path()  # elsewhere, if CUDA was used before pytest began
        return sorted({str(path) for path in self.folder.glob("*.jsonl*")} |
                      ({own} if own else set()))

    def new_hazards(self):
        """The new lines, and how many hazards of this process there are if no line tells of them:
        not every one of equal hazards has a line."""
        counts = libsafecopy.counts()  # waits until what was found is in the report
        hazards = []
        for path in self.paths():
            try:
                hazards += self.known.setdefault(path, Report(path)).new_hazards()
            except OSError:
                continue
        own = self.known.get(libsafecopy.report_path())
        counted = counts["hazards" if not own or own.counts_latent else "observed"]
        untold = 0 if hazards else max(0, counted - self.counted)
        self.counted = counted
        return hazards, untold


# --- verdicts -------------------------------------------------------------------------------------


def label_of(nodeid):
    """A string that environment variables can have and the report gives back as it is."""
    text = nodeid.encode(errors="backslashreplace").replace(b"\0", b"\\0")
    if len(text) <= LABEL_MAX_BYTES:
        return text.decode()
    head = text[:LABEL_MAX_BYTES - 20].decode(errors="ignore")
    return f"{head}...{hashlib.sha256(text).hexdigest()[:16]}"


class Plugin:
    def __init__(self, config, mode):
        self.config = config
        self.mode = mode
        self.worker = getattr(config, "workerinput", None)  # of xdist
        self.folder = self.make_folder()
        self.own_folder = self.folder / (self.worker["workerid"] if self.worker else "main")
        self.reports = Reports(self.own_folder)
        self.hazardous = {}  # a test that has hazards, and what they say
        self.labels = {}     # of tests that have begun
        self.late = []       # what belongs to no test whose verdict is still to come
        self.set_report_path()

    # Reports

    def make_folder(self):
        if self.worker:
            return pathlib.Path(self.worker["safecopy_folder"])
        wanted = self.config.getoption("--safecopy-reports")
        if not wanted:
            return pathlib.Path(tempfile.mkdtemp(prefix="safecopy-"))
        if ":" in wanted or "%" in wanted:
            raise pytest.UsageError("--safecopy-reports: the path can contain neither : nor %")
        folder = pathlib.Path(wanted).absolute()
        for old in folder.glob("*/*.jsonl*"):
            old.unlink()
        return folder

    def set_report_path(self):
        """The later of two entries wins. Children have the variable too."""
        try:
            self.own_folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise pytest.UsageError(f"reports cannot be kept: {error}") from error
        given = os.environ.get("SAFECOPY_OPTIONS")
        own = f"report_path={self.own_folder}/%e.%p.jsonl"
        os.environ["SAFECOPY_OPTIONS"] = f"{given}:{own}" if given else own

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node):
        node.workerinput["safecopy_folder"] = str(self.folder)

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
        new = [(self.labels.get(hazard.get("label"), nodeid), describe(hazard))
               for hazard in hazards]
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
        self.late += getattr(node, "workeroutput", {}).get("safecopy_late", [])

    def pytest_sessionfinish(self, session):
        self.take(None)
        if self.worker:
            self.config.workeroutput["safecopy_late"] = self.late
        elif self.late and self.mode == "fail" and session.exitstatus in (
                pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def verdict(self):
        if not libsafecopy.version():
            return NOT_PRELOADED
        watched = len(list(self.folder.glob("*/*.jsonl*"))) or libsafecopy.is_watching()
        if not watched:
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
        if self.hazardous or self.late:
            terminalreporter.line(f"reports: {self.folder}")

    def pytest_unconfigure(self):
        kept = self.worker or self.hazardous or self.late
        if not kept and not self.config.getoption("--safecopy-reports"):
            shutil.rmtree(self.folder, ignore_errors=True)
