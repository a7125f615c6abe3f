"""What the pytest plugin tells of a hazard: both calls with their places, those in the test's own
file as well, how often it came, and what to do."""

import copy
import json
import os
import re
from typing import NamedTuple, Optional

from libsafecopy import _doubts
from libsafecopy._fields import NONE, Malformed, field, shown

# Frames of these say how the program got into the driver or the allocator, not where it went wrong.
LIBRARIES = ("libsafecopy", "libcuda", "libcupti", "libc.so", "libc-", "libstdc++", "libpthread",
             "libgcc_s", "ld-linux", "libunwind", "libffi", "_ctypes", "libpython", "python")
COUNT = re.compile(r", (?:at least )?\d+ times?$", re.M)


# --- places ---------------------------------------------------------------------------------------


def is_telling(frame):
    if "file" in frame:
        file = field(frame, "file", str)
        return "site-packages" not in file and "/_pytest/" not in file
    return not os.path.basename(field(frame, "module", str, NONE) or "").startswith(LIBRARIES)


def is_of(frame, test_file):
    """Names of tests have their file below the root of the tests, stacks have whole paths."""
    return "file" in frame and f"/{field(frame, 'file', str)}".endswith(f"/{test_file}")


def line_of(frame, file):
    number = field(frame, "line", int, NONE)
    return (f"{file}{'' if number is None else f':{number}'} "
            f"({field(frame, 'function', str)})")


def place_of(frame):
    if "file" in frame:
        return line_of(frame, field(frame, "file", str))
    where = f"{field(frame, 'module', str, NONE) or ''}+{field(frame, 'offset', str)}"
    symbol = field(frame, "symbol", str, NONE)
    return f"{symbol} ({where})" if symbol else where


def place(stack, test_file):
    """The innermost line of Python that is the user's, else the innermost telling function; and the
    innermost line of the test's own file, if that is another one."""
    if not all(isinstance(frame, dict) for frame in stack):
        raise Malformed("stack")
    if not stack:
        return "an unknown place"
    telling = [frame for frame in stack if is_telling(frame)]
    python = [frame for frame in telling if "file" in frame]
    frame = (python or telling or stack)[0]
    tests = [own for own in stack if test_file and is_of(own, test_file)][:1]
    called_by = "".join(f", from {line_of(own, test_file)}" for own in tests if own is not frame)
    return f"{place_of(frame)}{called_by}"


def called(of):
    """What the program called: the runtime's function, if CUPTI has told it or the stack tells, and
    the driver's in brackets."""
    api, runtime = field(of, "api", str), field(of, "runtime_api", str, NONE)
    for frame in field(of, "stack", list):
        symbol = field(frame, "symbol", str, NONE) if "file" not in frame else None
        if runtime or is_telling(frame) or not api.startswith("cu"):
            break
        if symbol and re.match("cuda[A-Z]", symbol):
            runtime = symbol
    return f"{runtime} ({api})" if runtime else api


def side(of, test_file=""):
    where = place(field(of, "stack", list), test_file)
    return shown(f"{called(of)} at {where}")


# --- one line of a report -------------------------------------------------------------------------


class Hazard:
    """Equal hazards are lines again when their count has doubled, or under another label."""

    def __init__(self, line):
        self.label = field(line, "label", str, NONE)
        self.certainty = field(line, "certainty", str)
        self.sides = field(line, "event", dict), field(line, "copy", dict)
        self.code = field(line, "code", str)
        self.head = shown(f"{self.code} {field(line, 'name', str)}, {self.certainty}, "
                          f"{field(line, 'action', str)}")
        self.count = field(line, "count", int)
        self.times = 1         # since the line before, as far as that is known
        self.is_least = False  # there may have been more
        self.key = json.dumps([self.code, *(field(of, "stack", list) for of in self.sides)])
        self.text()            # raises what is wrong

    def count_from(self, last):
        """`last` has the lines before, of one reading, by their key."""
        before = last.get(self.key)
        if before and before.label == self.label:
            self.times = max(1, self.count - before.count)
            self.is_least = True  # from the second line on, lines skip some
        last[self.key] = self

    def again(self, times):
        """The same once more, of which there is no line."""
        other = copy.copy(self)
        other.times, other.is_least = times, False
        return other

    def text(self, nodeid=None):
        """In whose test's file it may have lines; None: in nobody's."""
        test_file = re.sub(r"^(\.\./)+", "", (nodeid or "").split("::")[0])
        lines = [side(of, test_file) for of in self.sides]
        remedy = _doubts.remedy(self.code)
        return "\n  ".join([self.head, *lines, *([remedy] if remedy else [])])


def settle(hazards, counted, known):
    """`hazards` are the new lines of a process that has counted so many, and `known` all hazards
    that lines have told under the label of now, by their key. What has no line is equal to one of
    these. Returns the hazards, and how many of the known ones there were besides."""
    lacking = max(0, counted - sum(hazard.times for hazard in hazards))
    is_one = len(known) == 1 and all((hazard.label, hazard.key) == (one.label, one.key)
                                     for one in known.values() for hazard in hazards)
    if is_one and lacking and hazards:
        hazards[-1].times += lacking
    elif is_one and lacking:
        return [one.again(lacking) for one in known.values()], 0
    for hazard in hazards:
        hazard.is_least = bool(lacking) and not is_one
    return hazards, 0 if hazards else lacking


# --- in words -------------------------------------------------------------------------------------


class Told(NamedTuple):
    owner: Optional[str]  # a test; None: none
    text: str
    times: int = 1
    is_least: bool = False

    @property
    def words(self):
        if self.times == 1 and not self.is_least:
            return self.text
        least, plural = "at least " if self.is_least else "", "" if self.times == 1 else "s"
        head, *rest = self.text.split("\n", 1)
        return "\n".join([f"{head}, {least}{self.times} time{plural}", *rest])


def told(owner, hazard):
    return Told(owner, hazard.text(owner), hazard.times, hazard.is_least)


def merged(those):
    """What reads alike is told once."""
    found = {}
    for one in those:
        key = one.owner, one.text
        before = found.get(key)
        found[key] = one if not before else before._replace(
            times=before.times + one.times, is_least=before.is_least or one.is_least)
    return list(found.values())


def untold(owner, count, known):
    """So many have no line of their own, and are equal to some of the known ones."""
    codes = " or ".join(sorted({hazard.code for hazard in known}))
    if not known:
        return Told(owner, f"{count} more, which are not in the report")
    return Told(owner, "\n  ".join([f"{codes}, {count} more, each of them one of these:",
                                    *(hazard.text(owner) for hazard in known)]))


def where(owners):
    """Of the hazards that were found."""
    tests = len(set(owners) - {None})
    outside = ["outside of tests"] if None in owners else []
    words = [] if outside and not tests else [f"in {tests} test{'' if tests == 1 else 's'}"]
    return "hazards " + " and ".join(words + outside)


def has_told(words, text):
    """Do the words tell of it, however often?"""
    return text in COUNT.sub("", words)
