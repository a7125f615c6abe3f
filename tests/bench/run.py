#!/usr/bin/env python3
"""Runs a suite of benchmarks without a preload and with libsafecopy in its ways, and prints a table
of medians last:

- `calls` (out/bench/bench): what each call costs;
- `guard` (out/bench/guard and training.py): what guarding the buffers of correct programs costs;
- `graphs` (out/bench/graphs): launches of graphs with host memory, and their capture;
- `python` (python_copies.py): copies of Python programs;
- `programs` (programs.py): whole programs of PyTorch, CuPy, JAX and C++;
- `gpus` (gpus.py): NCCL, PyTorch's DDP and FSDP, and JAX on several GPUs;
- `patterns` (out/bench/patterns): copies, launches and waits that alternate, by one thread with a
  warm and a cold cache, and by many;
- `in_turn` (out/bench/in_turn): the same, in turn with the driver's own functions in one process;
- `workers` (out/bench/workers): threads that fill, upload, launch, download, synchronise and read;
- `llama` (llama.py): llama.cpp, once scripts/carry-llama has built it;
- `growth` (out/bench/bench): curves of what a copy costs with ever more streams, operations, threads,
  mappings and ranges;
- `parts` (out/bench/patterns): the library's parts added one by one; `graph_parts`,
  `program_parts` and `gpu_parts` are the same of `graphs`, `programs` and `gpus`.

    tests/bench/run.py [--suite SUITE] [--rounds N | --quick] [--only BENCHMARK]...
                       [--library NAME=FILE]... [--out FILE] [--sim]

The ways take turns in every round, so that drift of the machine hits all alike. Nothing is asserted:
the status is 0 unless a run failed. Without a GPU, or with --sim, the simulated one stands in and the
table's title says so. --library adds a way of the suite: another build, as mode=fix.
"""

import argparse
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import tables
from suites import SUITES

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUDGET_S = 220     # no round is begun that would end later
RUN_LIMIT_S = 180  # one run of the program
STRICT_EXIT = 66   # two benchmarks free memory in flight: under strict=1 that is the exit status

FIGURE = re.compile(r"([a-z]\w*) (-?[0-9.]+) (\w+)$")
REMARK = re.compile(r"# (\w+): (.*)$")
SPEEDS = re.compile(r"@ (\w+) (.*)$")

# Registering 100,000 ranges takes seconds, so two rounds of it must do.
SLOW, SLOW_ROUNDS = {"copy_ranges"}, 2

# A stream's queue holds about 1,000 operations, and by default all streams share 8 queues (driver
# 580). These need as many in flight as can be, and a fresh heap, so they run by themselves.
DEEP, DEEP_ENVIRONMENT = {"bytes_per_operation", "copy_inflight"}, {
    "CUDA_DEVICE_MAX_CONNECTIONS": "32"}

TRAINING = "training"
NOT_HERE = 77


class RunFailed(Exception):
    pass


# --- running --------------------------------------------------------------------------------------


class Bench:
    """How one suite is run here."""

    def __init__(self, suite, simulated, quick):
        self.suite, self.simulated, self.quick = suite, simulated, quick

    def environment(self, way, folder):
        library, options, _ = self.suite.ways.get(way, (None, "", ()))
        kept = {name: value for name, value in os.environ.items()
                if name not in ("SAFECOPY_OPTIONS", "LD_PRELOAD", "SIM_GPU")}
        if self.simulated:
            kept["LD_LIBRARY_PATH"] = str(ROOT / "out" / "sim")
            kept["SIM_GPU"] = "delay=0"
        if library:
            kept["LD_PRELOAD"] = str(ROOT / "out" / library)
        if options:
            kept["SAFECOPY_OPTIONS"] = f"{options}:verbosity=0:report_path={folder}/%p.jsonl"
        return kept

    def program(self):
        """The command of the suite's program."""
        if self.suite.program.endswith(".py"):
            return [sys.executable, ROOT / "tests" / "bench" / self.suite.program]
        return [ROOT / "out" / "bench" / self.suite.program]

    def command(self, way, names):
        if names == [TRAINING]:
            return [sys.executable, ROOT / "tests" / "bench" / "training.py"]
        return [*self.program(), *(["--quick"] if self.quick else []), *self.suite.ways[way][2],
                *names]

    def names(self):
        listing = subprocess.run([*self.program(), "--list"], text=True, check=True,
                                 capture_output=True, env=self.environment("none", ""))
        more = [TRAINING] if self.suite.program == "guard" and not self.simulated else []
        return listing.stdout.split() + more

    def run_once(self, way, names, more_environment):
        """({figure: (value, unit)}, {figure: remark}, {figure: {speed: (value, steps)}}) of one run."""
        with tempfile.TemporaryDirectory(prefix="safecopy-bench-") as folder:
            try:
                run = subprocess.run(self.command(way, names), text=True, capture_output=True,
                                     timeout=RUN_LIMIT_S, stdin=subprocess.DEVNULL,
                                     env=self.environment(way, folder) | more_environment)
            except subprocess.TimeoutExpired:
                raise RunFailed(f"{way}: still running after {RUN_LIMIT_S} s") from None
        if names == [TRAINING] and run.returncode == NOT_HERE:
            return {}, {}, {}
        if run.returncode not in ((0, STRICT_EXIT) if way == "strict" else (0,)):
            raise RunFailed(f"{way}: {status_in_words(run.returncode)}\n{run.stderr[-2000:]}")
        return figures_of(run.stdout)

    def run_round(self, results, names):
        for way, (library, _, arguments) in self.suite.ways.items():
            if library and not (ROOT / "out" / library).exists():
                continue
            began = time.monotonic()
            deep = [name for name in names if name in DEEP]
            alone = [name for name in names if name == TRAINING and not arguments]
            rest = [name for name in names if name not in DEEP and name != TRAINING]
            for chosen, more in ((deep, DEEP_ENVIRONMENT), (rest, {}), (alone, {})):
                try:
                    if chosen:
                        results.add(way, *self.run_once(way, chosen, more))
                except (RunFailed, OSError) as failure:
                    results.failures.append(str(failure))
            print(f"  round {results.rounds + 1} {way}: {time.monotonic() - began:.1f} s",
                  file=sys.stderr, flush=True)
        results.rounds += 1

    def run(self, rounds, names):
        results, began, longest_s = Results(), time.monotonic(), 0
        while results.rounds < rounds:
            if results.rounds >= SLOW_ROUNDS:
                names = [name for name in names if name not in SLOW]
            round_began = time.monotonic()
            if not names or round_began - began + longest_s > BUDGET_S:
                break
            self.run_round(results, names)
            longest_s = max(longest_s, time.monotonic() - round_began)
        return results

    def document(self, results):
        lines = [title(self.simulated), "",
                 f"{results.rounds} rounds. " + tables.legend(self.suite), "",
                 *tables.where_it_goes(self.suite, results, self.simulated)]
        for (figure, remark), ways in results.remarks.items():
            lines.append(f"- {figure} ({', '.join(ways)}): {remark}.")
        for failure in results.failures:
            lines.append(f"- FAILED {failure}")
        return "\n".join([*lines, "", *tables.table(self.suite, results, self.simulated), ""])


def status_in_words(status):
    return f"exit status {status}" if status >= 0 else signal.Signals(-status).name


def figures_of(output):
    figures, remarks, speeds = {}, {}, {}
    for line in output.splitlines():
        if match := FIGURE.match(line):
            figures[match[1]] = (float(match[2]), match[3])
        elif match := REMARK.match(line):
            remarks[match[1]] = match[2]
        elif match := SPEEDS.match(line):
            each = (word.split(":") for word in match[2].split())
            speeds[match[1]] = {int(speed): (float(value), int(steps)) for speed, value, steps in each}
    return figures, remarks, speeds


class Results:
    def __init__(self):
        self.values = {}    # {figure: {way: [value]}}
        self.units = {}     # {figure: unit}
        self.speeds = {}    # {figure: {way: [{speed: (value, steps)}]}}
        self.remarks = {}   # {(figure, remark): the ways that made it, in order}
        self.failures = []
        self.rounds = 0

    def add(self, way, figures, remarks, speeds=None):
        for figure, (value, unit) in figures.items():
            self.values.setdefault(figure, {}).setdefault(way, []).append(value)
            self.units[figure] = unit
        for remark in remarks.items():
            self.remarks.setdefault(remark, {})[way] = True
        for figure, by_speed in (speeds or {}).items():
            self.speeds.setdefault(figure, {}).setdefault(way, []).append(by_speed)

    def median(self, figure, way):
        values = self.values.get(figure, {}).get(way)
        return statistics.median(values) if values else None


# --- the command ----------------------------------------------------------------------------------


def has_gpu():
    return subprocess.run([ROOT / "scripts" / "gpus"], capture_output=True).returncode == 0


def title(simulated):
    if simulated:
        return ("# Benchmarks on the SIMULATED GPU\n\nNo GPU was used: the figures are of the "
                "simulation, whose calls cost a tenth of a real driver's.")
    asked = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        answer = subprocess.run(asked, capture_output=True, text=True, timeout=20).stdout
    except (OSError, subprocess.TimeoutExpired):
        answer = ""
    name, _, version = (answer.splitlines() or ["the GPU"])[0].partition(", ")
    return f"# Benchmarks on {name}" + (f", driver {version}" if version else "")


def named_library(text):
    name, equals, file = text.partition("=")
    if not (name and equals and pathlib.Path(file).is_file()):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=FILE of a library that is there")
    return name, str(pathlib.Path(file).resolve())


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", choices=SUITES, default="calls")
    parser.add_argument("--rounds", type=int, help="5, or 2 with --quick")
    parser.add_argument("--quick", action="store_true", help="shorter loops, fewer rounds")
    parser.add_argument("--only", action="append", default=[], metavar="BENCHMARK",
                        help="what its name begins with; may be repeated")
    parser.add_argument("--library", action="append", default=[], metavar="NAME=FILE",
                        type=named_library, help="another build to compare with")
    parser.add_argument("--out", type=pathlib.Path, metavar="FILE", help="also written there")
    parser.add_argument("--sim", action="store_true", help="even if there is a GPU")
    given = parser.parse_args()
    given.rounds = given.rounds or (2 if given.quick else 5)
    return given


def main():
    given = parse()
    suite = SUITES[given.suite]
    for name, file in given.library:
        suite.ways[name] = (file, "mode=fix", ())
    bench = Bench(suite, given.sim or not has_gpu(), given.quick)
    names = [name for name in bench.names()
             if name.startswith(suite.only) and
             (not given.only or name.startswith(tuple(given.only)))]
    if not names:
        sys.exit(f"no benchmark begins with {' or '.join(given.only)}")
    results = bench.run(given.rounds, names)
    text = bench.document(results)
    if given.out:
        given.out.write_text(text)
    print(text, end="")
    return 1 if results.failures else 0


if __name__ == "__main__":
    sys.exit(main())
