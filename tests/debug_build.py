#!/usr/bin/env python3
"""Suites with the build that checks itself (`make DEBUG=1`, common/checks.h): units in C, fuzzers,
twins, survivors, random programs, stress. A check of the library's that fails ends the program,
which its own check tells of.

    debug_build.py [SUITE...]   ONLY, SHARD, JOBS and STRESS_SECONDS as tests/run.py has them
"""

import os
import sys

import programs
import run
from programs import Machine

OUT = "out/debug"
# How many random programs of each kind: a fifth of what "fuzz" runs, and what takes seconds.
CI = {"random_programs": 4000, "random_batches": 1200, "random_signals": 60}
GATE = {"random_programs": 700, "random_batches": 200, "random_signals": 15}


class CheckedMachine(Machine):
    """The simulated GPU is the release's: the library's checks alone are built in."""

    def environment(self, directives, preload, options):
        environment = super().environment(directives, preload, options)
        environment["LD_LIBRARY_PATH"] = str(programs.ROOT / "out" / "sim")
        return environment


def suites():
    machine = CheckedMachine(OUT)
    seconds = float(os.environ.get("STRESS_SECONDS") or 60)
    return {
        "unit": lambda: run.units(machine, "debug"),
        "fuzz": lambda: (run.self_checks(machine, "fuzz", "fuzz_*") +
                         run.self_checks(machine, "fuzz", "random_*", preload=True)),
        "few": lambda: random_programs(machine, CI),
        "fewer": lambda: random_programs(machine, GATE),
        "twins": lambda: programs.twins(machine),
        "survival": lambda: programs.survivors(machine),
        "cupti": lambda: programs.settled("cupti", machine),
        "stress": lambda: programs.Stress(machine, seconds, os.cpu_count()).checks(),
    }


def random_programs(machine, counts):
    """The first ones of what "fuzz" runs of them."""
    def check(name, count):
        (source,) = programs.chosen("fuzz", [name])
        return lambda: programs.self_check(machine, source, machine.programs / "fuzz" / name, preload=True,
                                           arguments=[count])
    return [(name, check(name, count)) for name, count in counts.items()]


def checks():
    """All of them, as one suite. Without the library: those that need no more of the build, by name."""
    if CheckedMachine(OUT).library.exists():
        return [(f"{name}/{case}", check)
                for name, suite in suites().items() for case, check in suite()]
    missing = run.skipped("no build of DEBUG=1 here (make checked-library)")
    return [(f"{name}/{case}", missing)
            for name in ("few", "fewer", "stress") for case, _ in suites()[name]()]


if __name__ == "__main__":
    sys.exit(run.run_suites(suites(), sys.argv[1:]))
