#!/usr/bin/env python3
"""Runs the tests that need no GPU: tests/run.py [SUITE...], after `make tests`. Without one it
runs what `make check` does; `ci` stands for what CI runs (lots.py), and `all` for every check that
there is (`make check-all`).

The checks of a suite run on all cores, and several to a core where they wait for the simulated GPU or
for processes (AT_A_TIME). A suite begins when the one before it has no check left to begin, and those
that only wait (BESIDE) run beside all others. Each suite is one line, with its seconds, each failure is
shown with what the program printed, and the last line is the one that CI reads:
`N passed, N failed`, with `, N skipped` if there are any. Exit status 1 if anything failed.

A check that failed while the machine stood still (stalls.py) is run once more when its suite is
over, and counts by that; both failures are shown, and the suite's line has how many there were.

    STRESS_SECONDS=120   how long the suite `stress` takes; in a lot, what is of it in `debug`
    STRESS_SEED=N        what it begins with; a failure names it
    EVERYWHERE='K=V:K=V' options for every program, before its own: EVERYWHERE=device=1
    ONLY='PATTERN...'    only the checks with such names, as the shell would match them: 'sc101_* demo'
    SHARD=2/5            every fifth of those, from the second on: five machines run them all
    JOBS=N               so many checks at a time, and one suite
    LIST=1               the names of the checks, none of which runs
    TIMES=FILE           the seconds of each check are added to FILE
"""

import concurrent.futures
import fnmatch
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time

import elsewhere
import debug_build
import emulated
import languages
import lots
import memcheck
import nvtx_tool
import older_drivers
import programs
import python_frames
import runtimes
import sanitized_programs
import stalls
from programs import Failure, Machine, ROOT, Run, Skip

CHECK_LINE = re.compile(rb"^\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)", re.M)
RAN_LINE = re.compile(rb"^Ran (\d+) tests? in", re.M)
BAD_COUNT = re.compile(rb"(?:failures|errors)=(\d+)")
SKIPPED = 77
AT_A_TIME = {  # checks to a core, where that is not one
    **dict.fromkeys(("twins", "in-place", "behind-copies", "ways", "alone"), 6),
    **dict.fromkeys(("unit", "mprotect", "full-kind", "pinned", "cupti", "drivers", "languages"), 4),
    **dict.fromkeys(("sim", "survival", "python", "nvtx", "debug"), 2)}
BESIDE = {"conformance", "soak"}  # run beside all others: long, and of little work
TOLD_EVERY_S = 20
MOST_AGAIN = 20  # more failures of one suite are not the machine's
NEVER_AGAIN = {"stress"}  # compares no times, and what it finds is rare


class Tally:
    """Checks that passed, failed and were skipped."""

    def __init__(self, passed=0, failed=0, skipped=0):
        self.passed, self.failed, self.skipped = passed, failed, skipped

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed" + (
            f", {self.skipped} skipped" if self.skipped else "")


# --- suites: each gives (name, check) pairs; a check returns None or a Tally ----------------------


def script(name, *arguments, timeout_s=120, **environment):
    def check():
        run = Run([ROOT / "scripts" / name, *arguments], {**os.environ, **environment}, timeout_s)
        if run.status == SKIPPED:
            raise Skip(run.stdout.decode().strip())
        run.expect_status(0)
    return check


def demo():
    """Where it lies, and from a path with a blank and a colon, from which the loader takes nothing.
    One after the other: both write into out/demo."""
    with tempfile.TemporaryDirectory() as folder:
        odd = pathlib.Path(folder) / "a blank:and a colon"
        odd.symlink_to(ROOT)
        for checkout in (ROOT, odd):
            Run([checkout / "scripts" / "demo"], dict(os.environ), 120).expect_status(0)
    return Tally(2)


def unit_check(machine, program):
    def check():
        # Check's own limits are of the clock, and say which test it is that hangs.
        limits = {"CK_DEFAULT_TIMEOUT": "60",
                  "CK_TIMEOUT_MULTIPLIER": f"{4 * programs.slowdown():.0f}"}
        run = machine.run([program], {**os.environ, "CK_VERBOSITY": "normal", **limits}, 300)
        counts = CHECK_LINE.findall(run.stdout)
        total = sum(int(checks) for checks, _, _ in counts)
        bad = sum(int(failures) + int(errors) for _, failures, errors in counts)
        if bad:
            failure = run.failure(f"{bad} of {total} checks failed")
            failure.tally = Tally(total - bad, bad)
            raise failure
        if not counts or run.status != 0:
            raise run.failure(f"{programs.describe_status(run.status)} after {total} checks")
        return Tally(total)
    return check


def python_check(source):
    """A Python test file counts as its unittest cases."""
    def check():
        run = Run([sys.executable, source], {**os.environ, "SAFECOPY_OUT": str(ROOT / "out")}, 600)
        if run.status == SKIPPED:
            raise Skip(run.stdout.decode().strip())
        counts = RAN_LINE.search(run.stderr)
        total = int(counts[1]) if counts else 0
        bad = sum(int(number) for number in BAD_COUNT.findall(run.stderr))
        if run.status != 0 or total == 0:
            failure = run.failure(f"{bad} of {total} tests failed")
            failure.tally = Tally(total - bad, max(bad, 1))
            raise failure
        return Tally(total)
    return check


def can_run_under(source, tool):
    """A unit test may say in its first lines, `not-under: TOOL ...`, what cannot follow it."""
    found = re.search(r"^ \* not-under: ([^(\n]*)", source.read_text(), re.M)
    return not found or tool not in found[1].split()


def units(machine, tool=""):
    return [(source.stem, unit_check(machine, machine.out / "tests" / "unit" / source.stem))
            for source in programs.sources("unit", "test_*") if can_run_under(source, tool)]


def python_units():
    return [(source.name, python_check(source))
            for source in sorted((ROOT / "tests" / "unit").glob("test_*.py"))]


def all_units():
    """Those with the longest sources first, which take longest, so that none of them is left over."""
    sizes = {path.stem if path.suffix == ".c" else path.name: path.stat().st_size
             for path in (ROOT / "tests" / "unit").glob("test_*")}
    return sorted(python_units() + units(Machine()), key=lambda unit: -sizes[unit[0]])


def self_checks(machine, folder, pattern="*", preload=False, built=None):
    """What meets the library by its preload is the same program with every build of it."""
    def check(source):
        where = machine.programs if preload else machine.out / "tests"
        program = (machine.out / built if built else where / folder) / source.stem
        return lambda: programs.self_check(machine, source, program, preload)
    return [(source.stem, check(source)) for source in programs.sources(folder, pattern)]


def simulation():
    machine = Machine()
    return [(source.parent.name, lambda source=source: programs.self_check(
        machine, source, machine.out / "tests" / "sim" / source.parent.name))
        for source in sorted((ROOT / "tests" / "sim").glob("*/selftest.c"))]


def fuzz():
    return self_checks(Machine(), "fuzz", "fuzz_*") + random_programs(Machine())


def random_programs(machine, names="random_*"):
    """Programs made at random, against an oracle."""
    return self_checks(machine, "fuzz", names, preload=True)


def stress(machine=None):
    """STRESS_SECONDS of correct programs made at random, two minutes if not set."""
    seconds = float(os.environ.get("STRESS_SECONDS") or 120)
    return programs.Stress(machine or Machine(), seconds, os.cpu_count()).checks()


def full_kind():
    """What touches guarded pages, random programs and stress, by pages that the kernel waits for.
    KNOWN: the library's own read of a page in flight is a touch there, and lets the page go, so that
    random_programs finds less than its oracle."""
    machine = programs.full_kind()
    if not machine:
        return [("all", skipped("a userfaultfd of the full kind is for root, or "
                                "vm.unprivileged_userfaultfd"))]
    return programs.guarded(machine) + random_programs(machine, "random_[!p]*") + stress(machine)


def sanitizers():
    """Units and fuzzers under every sanitizer (`address` is built with `undefined` as well), twins
    under the one that needs no preload order."""
    found = []
    for name in ("thread", "address", "undefined"):  # the slowest first
        machine = Machine(f"out/{name}", wrapper=fixed_addresses() if name == "thread" else ())
        found += [(f"{name}/{case}", check) for case, check in instrumented(machine, name)]
    return found


def instrumented(machine, name):
    if name != "undefined":
        return units(machine, name) + self_checks(machine, "fuzz", "fuzz_*")
    # strict=1 heals as /healed does, and goes the ways that /fixed goes
    twins = [twin for twin in programs.twins(machine) if twin[0].endswith(("/strict", "/reported"))]
    return twins + programs.settled("cupti", machine)


def valgrind():
    """Units and chosen programs under memcheck, and counts of instructions under callgrind."""
    missing = memcheck.unusable()
    if missing:
        return [("memcheck", skipped(missing))]
    machine = memcheck.SlowMachine()
    return (units(machine, "memcheck") + memcheck.checks(machine) +
            [("instructions", instructions)])


def instructions():
    """The calls that programs make most take no more instructions than they did."""
    Run([ROOT / "scripts" / "instructions", "--check"], dict(os.environ), 300).expect_status(0)
    return Tally(1)


def emulation():
    """Another processor's programs, by an emulator."""
    missing = emulated.unusable()
    if missing:
        return [("qemu", skipped(missing))]
    return emulated.checks(emulated.EmulatedMachine(), units,
                           lambda source: can_run_under(source, "qemu"))


def skipped(why):
    def check():
        raise Skip(why)
    return check


def fixed_addresses():
    """What ThreadSanitizer's programs are run by: its shadow has no room for the addresses that a
    kernel with much randomisation hands out."""
    try:
        allowed = subprocess.run(["setarch", "-R", "true"], capture_output=True).returncode == 0
    except OSError:
        allowed = False
    return ("setarch", "-R") if allowed else ()


SUITES = {
    "arrows": lambda: [("arrows", script("check-arrows")), ("limits", script("check-limits"))],
    "format": lambda: [("format", script("check-format")), ("dialect", script("check-dialect")),
                       ("docs", script("check-docs")), ("terms", script("check-terms"))],
    "unit": all_units,
    "sim": simulation,
    "conformance": lambda: self_checks(Machine(), "gpu", "conformance*", built="gpu"),
    "twins": lambda: programs.twins(Machine()),
    "cupti": lambda: programs.settled("cupti", Machine()),
    "in-place": programs.in_place,
    "behind-copies": programs.behind_copies,
    "ways": programs.ways,
    "alone": lambda: programs.alone(Machine()),
    "mprotect": programs.by_mprotect,
    "full-kind": full_kind,
    "nvtx": lambda: nvtx_tool.checks(Machine()),
    "drivers": older_drivers.checks,
    "runtime": runtimes.checks,
    "survival": lambda: programs.survivors(Machine()),
    "pinned": lambda: programs.pinned(Machine()),
    "python": lambda: python_frames.checks(Machine()) or [("python", skipped("no CPython"))],
    "languages": languages.checks,
    "demo": lambda: [("demo", demo)],
    "nvcc": lambda: [("build", script("check-gpu", "nvcc", CHECK_GPU_SIM="1"))],
    "fuzz": fuzz,
    "sanitizers": sanitizers,
    "sanitized-programs": lambda: sanitized_programs.checks(fixed_addresses()),
    "valgrind": valgrind,
    "aarch64": emulation,
    "stress": stress,
    "debug": lambda: debug_build.checks(),
    "soak": lambda: self_checks(Machine(), "bench", "soak", preload=True, built="bench"),
    "more-languages": languages.more_checks,
}


# --- running --------------------------------------------------------------------------------------


def run_check(name, check):
    """(tally, what to print or None)."""
    try:
        return check() or Tally(1), None
    except Skip as skip:
        return Tally(skipped=1), f"skipped {name}: {skip}"
    except Failure as failure:
        return getattr(failure, "tally", Tally(failed=1)), f"FAILED {name}: {failure}"
    except Exception as error:  # a broken check must not hide the others
        return Tally(failed=1), f"FAILED {name}: {type(error).__name__}: {error}"


def run_watched(name, check, watch):
    """run_check's answer, and if it is a failure, how the machine was held up meanwhile."""
    moment = watch.now()
    tally, message = run_check(name, check)
    if os.environ.get("TIMES"):
        with open(os.environ["TIMES"], "a", encoding="utf-8") as times:
            times.write(f"{time.monotonic() - moment[0]:.2f} {name}\n")
    return tally, message, watch.since(moment) if tally.failed else None


def processor_s():
    """What this process and its children have had of processors."""
    return sum(used.ru_utime + used.ru_stime for used in
               map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


PRINTING = threading.Lock()


def say(text):
    with PRINTING:
        print(text, flush=True)


def run_suite(name, checks, all_begun=threading.Event()):
    """Its Tally. `all_begun` is set when each of the checks has begun."""
    begun = time.monotonic()
    total = Tally()
    again = []
    named = [(f"{name}: {case}", check) for case, check in checks]
    workers = int(os.environ.get("JOBS") or
                  AT_A_TIME.get(name, 1) * os.cpu_count())
    told = begun
    last = len(named) - 1
    with (stalls.Watch() as watch,
          concurrent.futures.ThreadPoolExecutor(max_workers=workers) as pool):
        def run_one(at):
            if at == last:
                all_begun.set()
            return run_watched(*named[at], watch)
        for done, (tally, message, held_up) in enumerate(pool.map(run_one, range(len(named)))):
            if message:
                say(message)
            if time.monotonic() - told > TOLD_EVERY_S:
                told = time.monotonic()
                say(f"  {name}: {done} of {len(named)}")
            if held_up and len(again) < MOST_AGAIN and name not in NEVER_AGAIN:
                again.append((*named[done], held_up))
            else:
                total.add(tally)
    for case, check, held_up in again:
        tally, message = run_check(case, check)
        say(f"{case}: the machine {held_up} in that time; run again: {message or 'passed'}")
        total.add(tally)
    rerun = f", {len(again)} of them run again" if again else ""
    say(f"{name:<11} {total}{rerun} in {time.monotonic() - begun:.1f} s")
    return total


def nothing_found():
    raise Failure("the suite has no check: are its sources elsewhere?")


def shard():
    """(which, of how many), as SHARD has it, or None where that is no such thing."""
    which, _, count = (os.environ.get("SHARD") or "1/1").partition("/")
    if not (which.isdecimal() and count.isdecimal() and 1 <= int(which) <= int(count)):
        return None
    return int(which), int(count)


def chosen(suites, name, lot):
    """The checks of a suite that are in the lot, or all, and that ONLY and SHARD leave."""
    which, count = shard()
    only = (os.environ.get("ONLY") or "*").split()
    checks = suites[name]() or [("nothing", nothing_found)]
    if lot:
        wanted = set(lots.wanted(lot, name, [case for case, _ in checks]))
        checks = [(case, check) for case, check in checks if case in wanted]
    checks = [(case, check) for case, check in checks
              if any(fnmatch.fnmatchcase(case, pattern) for pattern in only)]
    return checks[which - 1::count]


def run_suites(suites, names, lot=None):
    """Runs the named suites, or all, or what a lot has of them; the exit status."""
    unknown = [name for name in names if name not in suites]
    if unknown:
        print(f"no suite {unknown[0]}; there are {', '.join(suites)}", file=sys.stderr)
        return 2
    if not shard():
        print(f"SHARD must be like 2/5, not {os.environ['SHARD']}", file=sys.stderr)
        return 2
    only = (os.environ.get("ONLY") or "*").split()
    found = [(name, chosen(suites, name, lot)) for name in names or suites]
    if only != ["*"] and not any(checks for _, checks in found):
        print(f"no check is called {' or '.join(only)}", file=sys.stderr)
        return 2
    if os.environ.get("LIST"):
        print("".join(f"{name}: {case}\n" for name, checks in found for case, _ in checks), end="")
        return 0
    begun, used_s = time.monotonic(), processor_s()
    total = Tally()
    with concurrent.futures.ThreadPoolExecutor(max_workers=len(found)) as pool:
        running = []
        for name, checks in sorted(found, key=lambda each: each[0] not in BESIDE):
            all_begun = threading.Event()
            running.append(pool.submit(run_suite, name, checks, all_begun))
            running[-1].add_done_callback(lambda _, all_begun=all_begun: all_begun.set())
            if os.environ.get("JOBS"):
                running[-1].result()
            elif name not in BESIDE:
                all_begun.wait()
        for suite in running:
            total.add(suite.result())
    say(f"{time.monotonic() - begun:.0f} s, {processor_s() - used_s:.0f} s of processors")
    say(total)
    return 1 if total.failed else 0


def main(names):
    # A shell starts a background job with these ignored, and programs of the tests inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    if elsewhere.is_needed():
        return elsewhere.run(names)
    lot = "".join(names) or "check"
    if lot in lots.LOTS:
        os.environ.setdefault("STRESS_SECONDS", str(lots.STRESS_SECONDS[lot]))
        return run_suites(SUITES, [name for name in SUITES if name in lots.LOTS[lot]], lot)
    return run_suites(SUITES, list(SUITES) if names == ["all"] else names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
