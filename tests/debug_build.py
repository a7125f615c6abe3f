#!/usr/bin/env python3
"""Suites with the build that checks itself (`make DEBUG=1`, track/checks.h): units in C, fuzzers,
twins, survivors, random programs, stress. A check of the library's that fails ends the program,
which its own check tells of.

    debug_build.py [SUITE...]   ONLY, SHARD and JOBS as tests/run.py has them
"""

import os
import sys

import programs
import run
from programs import Machine

OUT = "out/debug"


def suites():
    machine = Machine(OUT)
    seconds = float(os.environ.get("STRESS_SECONDS") or 60)
    return {
        "unit": lambda: run.units(machine, "debug"),
        "fuzz": lambda: (run.self_checks(machine, "fuzz", "fuzz_*") +
                         run.self_checks(machine, "fuzz", "random_*", preload=True)),
        "twins": lambda: programs.twins(machine),
        "survival": lambda: programs.survivors(machine),
        "cupti": lambda: programs.settled("cupti", machine),
        "stress": lambda: programs.Stress(machine, seconds, os.cpu_count()).checks(),
    }


def checks():
    """All of them, as one suite."""
    if not machine_is_built():
        return [("debug", run.skipped("no build of DEBUG=1 here"))]
    return [(f"{name}/{case}", check)
            for name, suite in suites().items() for case, check in suite()]


def machine_is_built():
    return Machine(OUT).library.exists()


if __name__ == "__main__":
    sys.exit(run.run_suites(suites(), sys.argv[1:]))
