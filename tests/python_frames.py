"""Python frames in the stacks of hazards: tests/python/frames.py, under each interpreter that is
found, has to be told of by the lines that it names itself.

The interpreters are python3 of the path and of /usr/bin, python3.9 to python3.15 and those of pyenv;
SAFECOPY_PYTHONS, a list with `:` between, stands in their stead. One that is older than 3.9 or is
not CPython is left out.
"""

import functools
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import programs
from programs import Directives, Report

HERE = programs.ROOT / "tests" / "python"
ASK = ("import sys; print(sys.implementation.name, *sys.version_info[:2], "
       "getattr(sys, 'abiflags', ''), sys.executable)")
CASES = ("nested", "freed", "generator", "coroutine", "thread", "executed", "callback", "sorting",
         "attribute", "deep", "jump_\u00fcber", "together")
OLDEST, NEWEST = (3, 9), (3, 15)


def candidates():
    named = os.environ.get("SAFECOPY_PYTHONS")
    if named:
        return named.split(":")
    numbered = [f"python3.{minor}{flags}" for minor in range(OLDEST[1], NEWEST[1] + 1)
                for flags in ("", "t")]
    versions = pathlib.Path(os.environ.get("PYENV_ROOT") or pathlib.Path.home() / ".pyenv")
    return ["/usr/bin/python3", "python3", *numbered,
            *map(str, sorted(versions.glob("versions/*/bin/python3")))]


def ask(candidate):
    """(version, the interpreter itself: a shim of pyenv's is a script), or None."""
    path = shutil.which(candidate)
    try:
        run = subprocess.run([path, "-c", ASK], capture_output=True, timeout=60) if path else None
        name, major, minor, *rest = run.stdout.decode().split() if run else [""] * 3
        version = int(major), int(minor)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    if name != "cpython" or not OLDEST <= version <= NEWEST:
        return None
    return version, os.path.realpath(rest[-1])


@functools.cache
def interpreters():
    """Name and path of each; the same one is found by several names."""
    found = {}
    for candidate in candidates():
        answer = ask(candidate)
        if answer and answer[1] not in found.values():
            name = "python{}.{}".format(*answer[0])
            while name in found:
                name += "'"
            found[name] = answer[1]
    return found


class Case:
    def __init__(self, machine, interpreter, case, options="", arguments=()):
        self.machine, self.case, self.options = machine, case, options
        self.command = [interpreter, *arguments, HERE / "frames.py", case]

    def run(self):
        """(the run, its hazards)"""
        with Report() as report:
            options = ":".join(filter(None, (report.option, self.options)))
            environment = self.machine.environment(Directives.none(), True, options)
            environment["PYTHONIOENCODING"] = "utf-8"
            if "SIM_GPU" in environment:  # a touch is to find its copy in flight on a loaded machine too
                environment["SIM_GPU"] += ":late_limit=300ms"
            run = self.machine.run(self.command, environment, 120)
            run.expect_status(0)
            self.pid = report.lines(run)[0]["pid"]
            return run, report.hazards(run)

    def check(self):
        run, hazards = self.run()
        expected = told(run)
        codes = {hazard["code"] for hazard in hazards}
        if codes != {expected["code"]}:
            raise run.failure(f"expected {expected['code']}, found {codes}")
        for side in ("copy", "event"):
            compare(run, side, hazards[0][side]["stack"], expected[side])
        if self.case == "callback" and not has_split_loop(self.command[0]):
            expect_native_between(run, hazards[0]["copy"]["stack"], "compare", "callback")

    def check_with_perf(self):
        """The interpreter runs its loop from code that it makes, and says what it has made."""
        self.pid = None
        try:
            self.check()
        finally:
            remove_map(self.pid)

    def check_without(self):
        """With python=0 there are none."""
        run, hazards = self.run()
        if any("file" in frame for hazard in hazards for frame in hazard["copy"]["stack"]):
            raise run.failure("there are Python frames with python=0")


def remove_map(pid):
    """A process of ours made it, or another one, which had the number before and has ended."""
    path = pathlib.Path(f"/tmp/perf-{pid}.map")
    if pid and not path.is_symlink() and path.is_file() and path.stat().st_uid == os.geteuid():
        path.unlink()


def told(run):
    code, *lines = run.stdout.decode().splitlines()
    expected = {"code": code, "copy": [], "event": []}
    for line in lines:
        side, file, function, number = line.split("\t")
        expected[side].append((file, function, int(number)))
    return expected


def compare(run, side, stack, expected):
    """All frames, but for outer ones that a long stack lacks."""
    found = [(frame["file"], frame["function"], frame["line"]) for frame in stack
             if "file" in frame]
    complete = len(stack) < 64
    if not found or found != expected[:len(found)] or (complete and len(found) != len(expected)):
        raise run.failure(f"frames of {side}: expected {expected[:70]}, found {found}")
    if "file" in stack[0]:
        raise run.failure(f"{side}: the innermost native frame is missing")


def has_split_loop(interpreter):
    """Whether a compiler has moved most of the evaluation loop elsewhere, where its frames are not
    known (docs/limits.md): the loop is as long as dozens of kilobytes."""
    symbols = subprocess.run(["readelf", "--dyn-syms", "-W", interpreter], capture_output=True,
                             text=True).stdout
    sizes = re.findall(r"(\d+) FUNC .* _PyEval_EvalFrameDefault$", symbols, re.MULTILINE)
    return any(0 < int(size) < 8192 for size in sizes)


def expect_native_between(run, stack, inner, outer):
    """A C function called Python code: its frames stand between the two."""
    functions = [frame.get("function") for frame in stack]
    first, last = (next((at for at, name in enumerate(functions) if name and name.endswith(part)),
                        None) for part in (inner, outer))
    if None in (first, last) or None not in functions[first:last]:
        raise run.failure(f"no native frame between {inner} and {outer}: {functions}")


def checks(machine):
    found = []
    for name, path in interpreters().items():
        found += [(f"{name}/{case}", Case(machine, path, case).check) for case in CASES]
        found += [(f"{name}/python=0",
                   Case(machine, path, "nested", "python=0").check_without),
                  (f"{name}/-X perf", Case(machine, path, "nested", "",
                                           ("-X", "perf")).check_with_perf),
                  (f"{name}/stacks=site", SiteCase(machine, path, "nested", "stacks=site").check),
                  (f"{name}/suppressed", SuppressedCase(machine, path, "nested").check)]
    return found


class SiteCase(Case):
    """The innermost Python frame alone."""

    def check(self):
        run, hazards = self.run()
        expected = told(run)
        for side in ("copy", "event"):
            stack = hazards[0][side]["stack"]
            if len(stack) != 2 or (stack[1].get("file"), stack[1].get("function"),
                                   stack[1].get("line")) != expected[side][0]:
                raise run.failure(f"{side}: expected {expected[side][0]} alone, found {stack}")


class SuppressedCase(Case):
    """An entry may name lines and functions of Python code."""

    ENTRY = ("{\n  name: known\n  code: SC201\n  reason: the test's own\n"
             "  copy: ... py:*/frames.py:upload ... py:*frames.py:%s\n"
             "  event: ... src:*/frames.py:%d\n}\n")

    def suppressed(self, function, line):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(self.ENTRY % (function, line))
            file.flush()
            self.options = f"suppressions={file.name}"
            run, hazards = self.run()
            return run, len(hazards)

    def check(self):
        self.options = ""
        expected = told(self.run()[0])
        caller, line = expected["copy"][1][1], expected["event"][0][2]
        for function, number, left in ((caller, line, 0), (caller, line + 1, 1),
                                       ("elsewhere", line, 1)):
            run, found = self.suppressed(function, number)
            if found != left:
                raise run.failure(f"py:{function}, src:{number}: {found} hazards left")
