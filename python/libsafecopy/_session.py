"""What the reports of a session say, test by test: hazards, and what counts as unknown.

Hazards are read here, as they come. Whether a report tells all is for the command (_doubts.py):
once its process has ended, and at the end again if the file has changed since. What processes have
noted in the roll (_roll.py) has to be in the reports. What is found belongs to the test in
which the report came.
"""

import os
from typing import NamedTuple, Optional

import libsafecopy
from libsafecopy import (_descriptors, _doubts, _fields, _folders, _hazards, _processes,
                         _reports, _roll)

GONE = "is not there any more"


class Doubt(NamedTuple):
    owner: Optional[str]  # a test; None: none
    text: str


def counts_latent(options):
    """As the last entry of SAFECOPY_OPTIONS has it."""
    values = [entry[len("certainty="):] for entry in options.split(":")
              if entry.startswith("certainty=")]
    return values[-1:] != ["observed"]


class Reports:
    """Those of this process and of its children: all that is in the folder, and what the roll
    names besides."""

    def __init__(self, folder):
        self.folder = folder
        self.known = {}   # by name in the folder, or by path
        self.counted = 0  # hazards of this process
        self.label = None    # of now
        self.told = {}       # a label, and the hazards that lines of this process have told, by key
        self.owner = None
        self.killing = set()  # tests that kill processes by other means than Python's
        self.is_last = False  # whatever still runs is not waited for
        self.living = set()   # at the end
        self.roll = _roll.Roll()
        self.noted = {}       # process: the owner and the words of its notes
        self.said = set()
        self.doubts = []
        with folder.opened() as opened:
            self.old = set(_folders.names_of_reports(opened))  # on another host there may be some

    def own_name(self):
        """Of this process's report, a path if CUDA was used before pytest began."""
        return self.name_of(libsafecopy.report_path())

    def name_of(self, path):
        inside = os.path.dirname(path) == str(self.folder.path)
        return os.path.basename(path) if inside else path

    def path_of(self, name):
        return os.path.join(self.folder.path, name)

    # Hazards

    def new_hazards(self, owner):
        """The new lines; how many hazards of this process there are of which none tells, since not
        every one of equal hazards has a line; and those that these are equal to."""
        self.owner = owner
        counts = libsafecopy.counts()  # waits until what was found is in the report
        self.take_notes()
        hazards = self.new_of_all()
        self.judge_notes()
        report = self.known.get(self.own_name())
        counted = counts["hazards" if not report or not report.run or report.run.counts_latent
                         else "observed"]
        own = hazards.pop(self.own_name(), [])
        for hazard in own:
            self.told.setdefault(hazard.label, {}).setdefault(hazard.key, hazard)
        known = self.told.get(self.label, {})
        own, untold = _hazards.settle(own, counted - self.counted, known)
        self.counted = counted
        return (own + [hazard for found in hazards.values() for hazard in found], untold,
                list(known.values()))

    def last_hazards(self, owner):
        """Also what reports say whose processes still run."""
        libsafecopy.counts()
        libsafecopy.dump()  # so that the report of this process has a summary
        self.is_last = True
        return self.new_hazards(owner)

    def new_of_all(self):
        """By the names of the reports."""
        hazards = {}
        if libsafecopy.report_path():
            self.report(self.own_name())
        try:
            with self.folder.opened() as folder:
                for name in _folders.names_of_reports(folder):
                    if name not in self.old:
                        self.report(name)
                for name in sorted(self.known):
                    hazards[name] = self.new_of(name, folder)
        except OSError as error:
            self.doubt(self.owner, self.folder.path, f"cannot be looked into: {error.strerror}")
        return hazards

    def report(self, name):
        return self.known.setdefault(name, _reports.Report(self.owner))

    def new_of(self, name, folder):
        report = self.known[name]
        try:
            if report.judged and report.judged == self.state_of(name, folder):
                return []
            with _reports.open_file(name, folder) as stream:
                hazards = list(self.report_of(name, stream).new_hazards(stream))
                self.judge(name, stream, folder)
                return hazards
        except OSError as error:
            if not os.path.isabs(name):  # elsewhere is the program's choice
                is_gone = isinstance(error, FileNotFoundError)
                self.doubt(report.owner, name,
                           GONE if is_gone else f"cannot be read: {error.strerror}")
        return []

    @staticmethod
    def state_of(name, folder):
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        return (*_descriptors.identity(status), status.st_size, status.st_mtime_ns)

    def report_of(self, name, stream):
        """Another process may have been given the number, and its report the name."""
        report, status = self.known[name], os.fstat(stream.fileno())
        identity = _descriptors.identity(status)
        is_other = report.identity not in (None, identity)
        if is_other and not report.judged:
            self.doubt(report.owner, name, "was replaced before it was whole")
        if is_other or status.st_size < report.offset:
            report = self.known[name] = _reports.Report(report.owner)
        report.identity = identity
        return report

    # Doubts

    def doubt(self, owner, name, reason):
        self.doubt_words(owner, f"{self.path_of(name)} {reason}")

    def doubt_words(self, owner, text):
        if text not in self.said:
            self.said.add(text)
            self.doubts.append(Doubt(owner, _fields.shown(text)))

    def new_doubts(self):
        if self.roll.is_lost:
            self.doubt_words(self.owner, "a test has closed the plugin's descriptor, through which "
                                         "processes say of themselves whether they had hazards")
        new, self.doubts = self.doubts, []
        return new

    def judge(self, name, stream, folder):
        """Once nobody writes to it any more; at the end in any case."""
        report = self.known[name]
        is_own = name == self.own_name()
        lives = not is_own and _processes.may_write(report.run, stream)
        if not self.is_last and (lives or is_own):
            return
        if lives:
            self.living.add(self.path_of(name))
        report.judged = self.state_of(name, folder)
        may_lack_end = lives or report.owner in self.killing or self.is_killed(report.run)
        reasons = _doubts.of(stream, may_lack_end)
        if report.bad_lines and not reasons:
            reasons = [_doubts.having(report.bad_lines)]
        for reason in reasons:
            self.doubt(report.owner, name, reason)

    # Notes

    def take_notes(self):
        for note in self.roll.new_notes():
            _, words = self.noted.setdefault(note.process, (self.owner, set()))
            words.add(note.word)
            if note.word == _roll.REPORT and note.path:
                self.report(self.name_of(note.path))

    def is_killed(self, run):
        return bool(run) and _roll.KILLED in self.noted.get(run.process, (None, ()))[1]

    def judge_notes(self):
        told = {process for report in self.known.values() for process in report.told}
        counted = {_roll.OBSERVED}
        if counts_latent(os.environ.get("SAFECOPY_OPTIONS", "")):
            counted.add(_roll.LATENT)
        for process, (owner, words) in self.noted.items():
            pid, started = process
            is_untold = words & counted and process not in told
            if is_untold and (self.is_last or _processes.start_of(pid) != started):
                self.doubt_words(owner, f"process {pid} had a hazard of which no report tells")
