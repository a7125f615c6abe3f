#!/usr/bin/env python3
"""Runs a suite of benchmarks without a preload and with libsafecopy in its ways, and prints a table
of medians last: `calls` (out/bench/bench: what each call costs), `guard` (out/bench/guard and
training.py: what guarding the buffers of correct programs costs), `graphs` (out/bench/graphs:
launches of graphs with host memory, and their capture) or `python` (python_copies.py: copies of
Python programs).

    tests/bench/run.py [--suite calls|guard|graphs|python] [--rounds N | --quick] [--only BENCHMARK]...
                       [--out FILE] [--sim]

The ways take turns in every round, so that drift of the machine hits all alike. Targets are
those of the mode `fix`. Nothing is asserted: the status is 0 unless a run failed. Without a GPU, or with
--sim, the simulated one stands in and the table's title says so.
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

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUDGET_S = 220     # no round is begun that would end later
RUN_LIMIT_S = 180  # one run of the program
STRICT_EXIT = 66   # two benchmarks free memory in flight: under strict=1 that is the exit status

FIGURE = re.compile(r"([a-z]\w*) (-?[0-9.]+) (\w+)$")
REMARK = re.compile(r"# (\w+): (.*)$")

# way: the library preloaded or None, its options, and arguments of the program. The report is really
# written.
CALL_WAYS = {
    "none": (None, "", ()),
    "nop": ("libsafecopy-nop.so", "", ()),
    "fix": ("libsafecopy.so", "mode=fix", ()),
    "report": ("libsafecopy.so", "mode=report", ()),
    "strict": ("libsafecopy.so", "mode=fix:strict=1", ()),
    "cupti": ("libsafecopy.so", "mode=fix:cupti=require", ()),
    "timeline": ("libsafecopy.so", "mode=fix:timeline=1", ()),
}
GUARD_WAYS = {
    "none": (None, "", ()),
    "sync": (None, "", ("--sync-each",)),
    "off": ("libsafecopy.so", "guard=off:snapshot_max=0", ()),
    "fix": ("libsafecopy.so", "mode=fix", ()),
    "driver": ("libsafecopy.so", "pinned=driver", ()),
    "strict": ("libsafecopy.so", "mode=fix:strict=1", ()),
}

GRAPH_WAYS = {way: CALL_WAYS[way] for way in ("none", "nop", "fix", "report")}
PYTHON_WAYS = {
    "none": (None, "", ()),
    "nop": ("libsafecopy-nop.so", "", ()),
    "native": ("libsafecopy.so", "python=0", ()),
    "site": ("libsafecopy.so", "stacks=site", ()),
    "fix": ("libsafecopy.so", "mode=fix", ()),
}

# Registering 100,000 ranges takes seconds, so two rounds of it must do.
SLOW, SLOW_ROUNDS = {"copy_ranges"}, 2

# A stream's queue holds about 1,000 operations, and by default all streams share 8 queues (driver
# 580). These need as many in flight as can be, and a fresh heap, so they run by themselves.
DEEP, DEEP_ENVIRONMENT = {"bytes_per_operation", "copy_inflight"}, {
    "CUDA_DEVICE_MAX_CONNECTIONS": "32"}

# What is held against the limit: `ratio` fix/none; `flat` how fix has grown since the first figure
# of its family, the driver's own growth taken out; `added` fix - none; `value` fix itself.
CALL_TARGETS = [
    ("issue_htod_4k", "added", 600),  # with its snapshot
    ("kernel_launch", "ratio", 1.02),
    ("malloc_free_idle", "ratio", 1.15),
    ("malloc_free_registered", "ratio", 1.5),
    ("malloc_free_pinned", "ratio", 1.5),
    ("lock_unlock", "added", 3),
    ("lock_unlock_pinned", "added", 15),
    ("copy_inflight_", "flat", 1.5),
    ("copy_streams_", "flat", 1.5),
    ("copy_ranges_", "flat", 1.5),
    ("copy_threads_", "ratio", 1.5),
    ("bytes_per_operation", "added", 256),
    ("free_host_busy", "value", 50),
]
GUARD_TARGETS = [
    ("issue_4k", "added", 0.6),
    *((f"produce_{size}", "ratio", 1.05) for size in ("1m", "16m", "64m")),
    *((f"pipeline_{size}", "ratio", 1.02) for size in ("1m", "16m", "64m")),
    *((f"alloc_{size}", "ratio", 1.0) for size in ("4k", "64k", "1m", "16m", "64m")),
    ("training_step", "ratio", 1.01),
]
GRAPH_TARGETS = [
    ("launch_", "ratio", 1.05),
    ("capture", "ratio", 1.10),
]
LEGEND = """Medians over interleaved runs; `ratio` is fix/none. Targets hold for fix: a plain
number bounds the ratio; `flat` bounds the growth since the family's first row, divided by the
growth without preload where that is above 1; `added` bounds fix - none; a unit bounds the value."""


# Set by main from the suite that was asked for.
PROGRAM, WAYS, TARGETS = "bench", CALL_WAYS, CALL_TARGETS
TRAINING = "training"
NOT_HERE = 77


class RunFailed(Exception):
    pass


# --- running --------------------------------------------------------------------------------------


def environment(way, simulated, folder):
    library, options, _ = WAYS[way]
    kept = {name: value for name, value in os.environ.items()
            if name not in ("SAFECOPY_OPTIONS", "LD_PRELOAD", "SIM_GPU")}
    if simulated:
        kept["LD_LIBRARY_PATH"] = str(ROOT / "out" / "sim")
        kept["SIM_GPU"] = "delay=0"
    if library:
        kept["LD_PRELOAD"] = str(ROOT / "out" / library)
    if options:
        kept["SAFECOPY_OPTIONS"] = f"{options}:verbosity=0:report_path={folder}/%p.jsonl"
    return kept


def status_in_words(status):
    return f"exit status {status}" if status >= 0 else signal.Signals(-status).name


def program():
    """The command of the suite's program."""
    if PROGRAM.endswith(".py"):
        return [sys.executable, ROOT / "tests" / "bench" / PROGRAM]
    return [ROOT / "out" / "bench" / PROGRAM]


def command_of(way, names, quick):
    if names == [TRAINING]:
        return [sys.executable, ROOT / "tests" / "bench" / "training.py"]
    return [*program(), *(["--quick"] if quick else []), *WAYS[way][2],
            *names]


def run_once(way, names, more_environment, quick, simulated):
    """({figure: (value, unit)}, {figure: remark}) of one run."""
    command = command_of(way, names, quick)
    with tempfile.TemporaryDirectory(prefix="safecopy-bench-") as folder:
        try:
            run = subprocess.run(command, text=True, capture_output=True, timeout=RUN_LIMIT_S,
                                 stdin=subprocess.DEVNULL,
                                 env=environment(way, simulated, folder) | more_environment)
        except subprocess.TimeoutExpired:
            raise RunFailed(f"{way}: still running after {RUN_LIMIT_S} s") from None
    if names == [TRAINING] and run.returncode == NOT_HERE:
        return {}, {}
    if run.returncode not in ((0, STRICT_EXIT) if way == "strict" else (0,)):
        raise RunFailed(f"{way}: {status_in_words(run.returncode)}\n{run.stderr[-2000:]}")
    figures, remarks = {}, {}
    for line in run.stdout.splitlines():
        if match := FIGURE.match(line):
            figures[match[1]] = (float(match[2]), match[3])
        elif match := REMARK.match(line):
            remarks[match[1]] = match[2]
    return figures, remarks


class Results:
    def __init__(self):
        self.values = {}    # {figure: {way: [value]}}
        self.units = {}     # {figure: unit}
        self.remarks = {}   # {(figure, remark): the ways that made it, in order}
        self.failures = []
        self.rounds = 0

    def add(self, way, figures, remarks):
        for figure, (value, unit) in figures.items():
            self.values.setdefault(figure, {}).setdefault(way, []).append(value)
            self.units[figure] = unit
        for remark in remarks.items():
            self.remarks.setdefault(remark, {})[way] = True

    def median(self, figure, way):
        values = self.values.get(figure, {}).get(way)
        return statistics.median(values) if values else None


def benchmark_names(simulated):
    listing = subprocess.run([*program(), "--list"], text=True, check=True,
                             capture_output=True, env=environment("none", simulated, ""))
    more = [TRAINING] if PROGRAM == "guard" and not simulated else []
    return listing.stdout.split() + more


def run_round(results, ways, names, quick, simulated):
    for way in ways:
        began = time.monotonic()
        deep = [name for name in names if name in DEEP]
        alone = [name for name in names if name == TRAINING and not WAYS[way][2]]
        rest = [name for name in names if name not in DEEP and name != TRAINING]
        for chosen, more in ((deep, DEEP_ENVIRONMENT), (rest, {}), (alone, {})):
            try:
                if chosen:
                    results.add(way, *run_once(way, chosen, more, quick, simulated))
            except (RunFailed, OSError) as failure:
                results.failures.append(str(failure))
        print(f"  round {results.rounds + 1} {way}: {time.monotonic() - began:.1f} s",
              file=sys.stderr, flush=True)
    results.rounds += 1


def run_all(given, names, simulated):
    ways = [way for way, (library, _, _) in WAYS.items()
            if library is None or (ROOT / "out" / library).exists()]
    results, began, longest_s = Results(), time.monotonic(), 0
    while results.rounds < given.rounds:
        if results.rounds >= SLOW_ROUNDS:
            names = [name for name in names if name not in SLOW]
        round_began = time.monotonic()
        if not names or round_began - began + longest_s > BUDGET_S:
            break
        run_round(results, ways, names, given.quick, simulated)
        longest_s = max(longest_s, time.monotonic() - round_began)
    return results


# --- the table ------------------------------------------------------------------------------------


def number(value):
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def ratio(above, below):
    return above / below if above is not None and below else None


def growth(results, figure, way):
    """How the figure compares with the first of its family, `copy_streams_` for example."""
    family = figure.rsplit("_", 1)[0]
    first = next(other for other in results.values if other.rsplit("_", 1)[0] == family)
    return ratio(results.median(figure, way), results.median(first, way))


def measured(results, figure, kind):
    """What is held against the target's limit, or None where a way is missing."""
    none, fix = (results.median(figure, way) for way in ("none", "fix"))
    if fix is None or (none is None and kind != "value"):
        return None
    if kind == "ratio":
        return ratio(fix, none)
    if kind == "flat":
        own, driver = (growth(results, figure, way) for way in ("fix", "none"))
        return own / max(1, driver) if own and driver else None
    return fix - none if kind == "added" else fix


def target_of(figure):
    return next((target for target in TARGETS if figure == target[0] or
                 (target[0].endswith("_") and figure.startswith(target[0]))), None)


def verdict(results, figure, simulated):
    """(target, met or missed) as words."""
    target = target_of(figure)
    if target is None:
        return "", ""
    _, kind, limit = target
    unit = results.units[figure]
    said = {"ratio": f"{limit:.2f}", "flat": f"flat {limit}", "added": f"added {limit} {unit}",
            "value": f"{limit} {unit}"}[kind]
    found = measured(results, figure, kind)
    if found is None:
        return said, ""
    if simulated and kind == "ratio" and not figure.startswith("malloc"):
        return said, "not judged"  # the simulated driver's calls take a tenth of the real one's
    shown = f" ({found:.3g})" if kind in ("flat", "added") else ""
    return said, ("met" if found <= limit else "missed") + shown


def table(results, simulated):
    rows = [["benchmark", "unit", *WAYS, "ratio", "target", ""]]
    for figure in results.values:
        medians = [results.median(figure, way) for way in WAYS]
        by_none = ratio(results.median(figure, "fix"), medians[0])
        rows.append([figure, results.units[figure], *map(number, medians),
                     f"{by_none:.2f}" if by_none else "", *verdict(results, figure, simulated)])
    widths = [max(map(len, column)) for column in zip(*rows)]
    rows.insert(1, ["-" * width for width in widths])
    return ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |"
            for row in rows]


def where_it_goes(results, simulated):
    """For each missed ratio: what standing in the way costs, and what the library adds."""
    for figure in results.values:
        target, result = verdict(results, figure, simulated)
        none, nop, fix = (results.median(figure, way) for way in ("none", "nop", "fix"))
        if result.startswith("missed") and nop is not None:
            unit = results.units[figure]
            yield (f"- {figure}: {number(fix - none)} {unit} more than none, of which "
                   f"interposition {number(nop - none)}, the library itself {number(fix - nop)}.")


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


def document(results, simulated):
    lines = [title(simulated), "", f"{results.rounds} rounds. " + LEGEND, "",
             *where_it_goes(results, simulated)]
    for (figure, remark), ways in results.remarks.items():
        lines.append(f"- {figure} ({', '.join(ways)}): {remark}.")
    for failure in results.failures:
        lines.append(f"- FAILED {failure}")
    return "\n".join([*lines, "", *table(results, simulated), ""])


# --- the command ----------------------------------------------------------------------------------


def has_gpu():
    return subprocess.run([ROOT / "scripts" / "gpus"], capture_output=True).returncode == 0


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", choices=("calls", "guard", "graphs", "python"),
                        default="calls")
    parser.add_argument("--rounds", type=int, help="5, or 2 with --quick")
    parser.add_argument("--quick", action="store_true", help="shorter loops, fewer rounds")
    parser.add_argument("--only", action="append", default=[], metavar="BENCHMARK",
                        help="what its name begins with; may be repeated")
    parser.add_argument("--out", type=pathlib.Path, metavar="FILE", help="also written there")
    parser.add_argument("--sim", action="store_true", help="even if there is a GPU")
    given = parser.parse_args()
    given.rounds = given.rounds or (2 if given.quick else 5)
    return given


def choose_suite(suite):
    global PROGRAM, WAYS, TARGETS
    if suite == "guard":
        PROGRAM, WAYS, TARGETS = "guard", GUARD_WAYS, GUARD_TARGETS
    elif suite == "graphs":
        PROGRAM, WAYS, TARGETS = "graphs", GRAPH_WAYS, GRAPH_TARGETS
    elif suite == "python":
        PROGRAM, WAYS, TARGETS = "python_copies.py", PYTHON_WAYS, []


def main():
    given = parse()
    choose_suite(given.suite)
    simulated = given.sim or not has_gpu()
    names = [name for name in benchmark_names(simulated)
             if not given.only or name.startswith(tuple(given.only))]
    if not names:
        sys.exit(f"no benchmark begins with {' or '.join(given.only)}")
    results = run_all(given, names, simulated)
    text = document(results, simulated)
    if given.out:
        given.out.write_text(text)
    print(text, end="")
    return 1 if results.failures else 0


if __name__ == "__main__":
    sys.exit(main())
