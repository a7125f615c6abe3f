#!/usr/bin/env python3
"""What `safecopy report` costs on reports of a large job: processor time and memory by format.

report_scale.py [--hazards N] [--ranks N] [--keep FOLDER] [CASE...]
report_scale.py --merged

The reports have N different hazards in all. Their stacks go through a program, its libraries and
CUDA's, and a third of them through Python. `many` is all hazards in the report of one process,
`ranks` the same in reports of as many processes, `lines` 1 GB in which few hazards differ. --merged
has 100 and 10,000 reports of ranks with the same 20 hazards and of each what it holds of memory, with
--merged of the command and without it (`make bench` has these rows). Without CASE all are run; the names are in the table that is printed. The times are those of the processor,
so that other work on the machine counts little; what the kernel took is among them.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "unit"))
import many_hazards  # noqa: E402  (found by the path above)
import memory_reports  # noqa: E402

COMMAND = pathlib.Path(os.environ.get("SAFECOPY_OUT", ROOT / "out")) / "safecopy"
FORMATS = ("text", "json", "html", "sarif", "junit", "github", "markdown", "perfetto")
LIMIT_S, LIMIT_MB = 10, 300
FEW_HAZARDS, LINES_BYTES = 50, 1 << 30
MANY_RANKS, PLACES = (100, 10_000), 20
# A report with more hazards than a process tells apart may lack some: a comparison says so.
MAY_LACK = 2
DRIVER = "/usr/lib/x86_64-linux-gnu/libcuda.so.575.57.08"
RUNTIME = "/usr/local/cuda/lib64/libcudart.so.13.0.48"
LIBRARIES = [f"/opt/venv/lib/python3.12/site-packages/torch/lib/lib{name}.so"
             for name in ("c10_cuda", "torch_cuda", "torch_cpu", "torch_python")]
OWN = [f"/srv/training/build/lib{name}.so" for name in ("loader", "model", "exchange")]
PYTHON = "/usr/local/bin/python3.12"


def native(module, place):
    """The frame of one place of a module; the driver and the interpreter have no names."""
    symbol = None if module in (DRIVER, PYTHON) else \
        f"_ZN8training6worker5stageILi{place}EE3runERKNS_5BatchEm"
    return {"module": module, "offset": hex(0x12000 + place * 0x40), "symbol": symbol}


def python(place):
    return {"file": f"/srv/training/src/training/part{place % 40}.py", "line": 10 + place,
            "function": f"Trainer.step{place}.<locals>.inner"}


def stack(draw):
    """From the call outwards: CUDA's frames, a library's, the program's, of a third Python's."""
    frames = [native(DRIVER, draw.randrange(300)), native(RUNTIME, draw.randrange(300))]
    frames += [native(draw.choice(LIBRARIES), draw.randrange(400)) for _ in range(4)]
    if draw.randrange(3) == 0:
        frames += [python(draw.randrange(800)) for _ in range(4)]
        frames += [native(PYTHON, draw.randrange(100)) for _ in range(2)]
    else:
        frames += [native(draw.choice(OWN), draw.randrange(900)) for _ in range(6)]
    return frames


def hazard_line(number):
    draw = random.Random(number)
    line = many_hazards.hazard_line(number, 0, 0, False)
    line["copy"].update(stack=stack(draw), stream=hex(0x5000 + number % 16), time_ns=number * 1000)
    line["event"].update(stack=stack(draw), time_ns=number * 1000 + 700)
    line["certainty"] = draw.choice(("observed", "latent"))
    return json.dumps(line, separators=(",", ":")) + "\n"


def run_line(rank):
    modules = [{"path": path, "base": "0x7f0000000000", "build_id": None}
               for path in (DRIVER, RUNTIME, PYTHON, *LIBRARIES, *OWN)]
    line = {**many_hazards.run_line(), "pid": 4000 + rank, "rank": str(rank), "modules": modules}
    return json.dumps(line, separators=(",", ":")) + "\n"


def summary_line(count):
    return json.dumps({"type": "summary", "hazards": count, "observed": count, "latent": 0,
                       "suppressed": 0, "operations": 10 * count,
                       "by_code": {"SC101": count}, "exit_status": 0}) + "\n"


def write_reports(folder, hazards, ranks):
    with open(folder / "many.jsonl", "w", encoding="utf-8") as many:
        many.write(run_line(0))
        many.writelines(map(hazard_line, range(hazards)))
        many.write(summary_line(hazards))
    for rank in range(ranks):
        with open(folder / f"rank{rank}.jsonl", "w", encoding="utf-8") as report:
            report.write(run_line(rank))
            report.writelines(map(hazard_line, range(rank, hazards, ranks)))
            report.write(summary_line(len(range(rank, hazards, ranks))))


def write_lines(folder):
    lines = "".join(map(hazard_line, range(FEW_HAZARDS)))
    with open(folder / "lines.jsonl", "w", encoding="utf-8") as report:
        report.write(run_line(0))
        for _ in range(LINES_BYTES // len(lines)):
            report.write(lines)


def memory_of(rank):
    """As of a rank of a large program: some 20 KB of accounts."""
    draw = random.Random(rank)
    accounts = [memory_reports.account(draw.randrange(1 << 30), device=0, owner="PyTorch",
                                       stack=stack(random.Random(number)))
                for number in range(12)]
    return memory_reports.memory(accounts)


def write_many_ranks(folder, ranks):
    """A report each, with the hazards that all have."""
    hazards = "".join(map(hazard_line, range(PLACES)))
    for rank in range(ranks):
        summary = {**json.loads(summary_line(PLACES)), "memory": memory_of(rank)}
        (folder / f"rank{rank}.jsonl").write_text(run_line(rank) + hazards + json.dumps(summary) + "\n")


def print_merged(folder):
    """Returns whether the memory of 10,000 ranks is that of 100, but for the names of the files."""
    rows = {}
    for ranks in MANY_RANKS:
        below = folder / f"{ranks}"
        below.mkdir()
        write_many_ranks(below, ranks)
        files = [str(below / f"rank{rank}.jsonl") for rank in range(ranks)]
        rows[f"{ranks} ranks, merged"] = ["--merged", *files]
        rows[f"{ranks} ranks"] = files
    return print_table(rows)


def write_suppressions(folder, count=1000):
    """Entries of which none takes a hazard, so that all are asked for each."""
    (folder / "suppressions").write_text("".join(
        f"{{\n name: n{i}\n code: SC1*\n reason: known\n"
        f" copy: ... fun:*stageILi{i + 5000}E* ... obj:*/libnone.so\n}}\n" for i in range(count)))


def cases(folder, ranks):
    """The cases by name: the arguments, and what is to be there before."""
    many, old = str(folder / "many.jsonl"), str(folder / "many.json")
    all_ranks = [str(folder / f"rank{rank}.jsonl") for rank in range(ranks)]
    rows = {name: ["--format", name, many] for name in FORMATS}
    rows["filter"] = ["--filter", "file=part7.py,!function=*step3*", many]
    rows["suppressions"] = ["--suppressions", str(folder / "suppressions"), many]
    rows["suggest"] = ["--suggest-suppressions", many]
    rows["baseline-report"] = ["--baseline", many, many]
    rows["baseline-json"] = ["--baseline", old, many]
    rows["ranks"] = all_ranks
    rows["lines"] = [str(folder / "lines.jsonl")]
    return rows


def measure(arguments):
    """Seconds of the processor, seconds of the clock, MB at most, the status. The kernel counts as
    memory of a program what the one had that started it: this one's 17 MB, or time's 1 MB."""
    start = time.monotonic()
    with tempfile.NamedTemporaryFile("r") as told:
        between = ["time", "-q", "-f", "%M", "-o", told.name] if shutil.which("time") else []
        with subprocess.Popen([*between, COMMAND, "report", *arguments],
                              stdout=subprocess.DEVNULL) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        kilobytes = int(told.read()) if between else usage.ru_maxrss
    return (usage.ru_utime + usage.ru_stime, time.monotonic() - start, kilobytes / 1024,
            process.returncode)


def print_table(rows):
    """Returns whether all keep to the limits."""
    print("| case | processor, s | clock, s | memory, MB | status |\n| --- | --- | --- | --- | --- |")
    keeps = True
    for name, arguments in rows.items():
        used, passed, megabytes, status = measure(arguments)
        right = (MAY_LACK,) if "--baseline" in arguments else (0, 1)
        is_kept = name.startswith(str(MANY_RANKS[-1])) and "--merged" not in arguments
        keeps = keeps and (is_kept or (used < LIMIT_S and megabytes < LIMIT_MB and status in right))
        print(f"| {name} | {used:.1f} | {passed:.1f} | {megabytes:.1f} | {status} |", flush=True)
    return keeps


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hazards", type=int, default=100_000)
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER",
                        help="keep the reports in a folder of their own (scripts/own-folder)")
    parser.add_argument("--merged", action="store_true", help="many ranks, and nothing else")
    parser.add_argument("case", nargs="*")
    asked = parser.parse_args()
    if asked.keep and subprocess.run([ROOT / "scripts" / "own-folder", asked.keep]).returncode:
        sys.exit(2)
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.keep or pathlib.Path(temporary)
        if asked.merged:
            sys.exit(not print_merged(folder))
        rows = cases(folder, asked.ranks)
        rows = {name: rows[name] for name in asked.case or rows}
        write_reports(folder, asked.hazards, asked.ranks)
        write_suppressions(folder)
        if "lines" in rows:
            write_lines(folder)
        if "baseline-json" in rows:
            subprocess.run([COMMAND, "report", "--json", "-o", folder / "many.json",
                            folder / "many.jsonl"], check=False)
        sys.exit(not print_table(rows))


if __name__ == "__main__":
    main()
