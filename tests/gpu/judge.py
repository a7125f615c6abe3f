"""Makes the checks of tests/gpu/run.py within a budget of time, and tells what became of them: a
line for each suite, each failure with the end of what the program printed, and last a table in
Markdown. With OUT=FOLDER in the environment, check-gpu.md there is the table and check-gpu.log
has every failure in full.
"""

import concurrent.futures
import os
import pathlib
import time

from programs import Failure, Skip

# Nothing new is begun after so many seconds; what has begun then may take a little longer.
BUDGET_S = float(os.environ.get("CHECK_GPU_BUDGET_S", "400"))
GRACE_S = 60
BEGUN = time.monotonic()
# More failures of one suite than this are only named: the first ones say what is wrong.
SHOWN = 6


def left_s():
    return BUDGET_S - (time.monotonic() - BEGUN)


def patience_s():
    """The longest that a program may still take."""
    return max(left_s() + GRACE_S, 5)


class Suite:
    """`cases` gives (name, check) pairs, or raises Skip or Failure for all of them. `width` checks
    run at a time; `rows`: each check has a line of its own in the table."""

    def __init__(self, title, cases, width=8, rows=False):
        self.title, self.cases, self.rows = title, cases, rows
        self.width = min(width, os.cpu_count())


class Result:
    """What became of one check: `state` is passed, failed, skipped or "not reached"."""

    def __init__(self, name, state, detail="", again=False):
        self.name, self.state, self.detail, self.again = name, state, detail or "", again


def make(name, check):
    try:
        if left_s() <= 0:
            return Result(name, "not reached", f"{BUDGET_S:.0f} s were over")
        return Result(name, "passed", check())
    except Skip as skip:
        return Result(name, "skipped", str(skip))
    except Failure as failure:
        return Result(name, "failed", str(failure))
    except Exception as error:  # a broken check must not hide the others
        return Result(name, "failed", f"{type(error).__name__}: {error}")


def make_again(result, check):
    """A check that failed beside others is made once more, alone: a loaded machine may be at
    fault. The table says so."""
    second = make(result.name, check)
    if second.state != "passed":
        return result
    return Result(result.name, "passed", second.detail, again=True)


def run_suite(suite):
    cases = []
    whole = make(suite.title, lambda: cases.extend(suite.cases()))
    if whole.state != "passed":
        return [whole]
    with concurrent.futures.ThreadPoolExecutor(max_workers=suite.width) as pool:
        results = list(pool.map(lambda case: make(*case), cases))
    # Many failures are no accident, and programs that take long are not worth the time.
    failed = [index for index, result in enumerate(results) if result.state == "failed"]
    if len(cases) > 1 and len(failed) <= SHOWN and not suite.rows:
        for index in failed:
            results[index] = make_again(results[index], cases[index][1])
    return results


def shortened(text, head=2, tail=14, width=220):
    lines = [line[:width] for line in text.splitlines()]
    if len(lines) > head + tail:
        lines[head:-tail] = ["  [...]"]
    return "\n".join(lines)


def count_states(results):
    counts = {}
    for result in results:
        counts[result.state] = counts.get(result.state, 0) + 1
    return counts


def table_rows(suite, results, took_s):
    """(name, result, detail) for each row that the suite has in the table."""
    if suite.rows or len(results) == 1:
        return [(f"{suite.title}: {result.name}" if suite.rows else suite.title, result.state,
                 result.detail.partition("\n")[0]) for result in results]
    counts = count_states(results)
    order = ("failed", "not reached", "passed", "skipped")
    state = next((state for state in order if state in counts), "nothing to run")
    detail = ", ".join(f"{count} {name}" for name, count in counts.items()) + f"; {took_s:.0f} s"
    again = [result.name for result in results if result.again]
    failed = [result.name for result in results if result.state == "failed"]
    if again:
        detail += f"; passed only when run alone: {', '.join(again)}"
    if failed:
        detail += f"; failed: {', '.join(failed[:8])}{' ...' if len(failed) > 8 else ''}"
    return [(suite.title, state, detail)]


class Log:
    """Standard output, and check-gpu.log in $OUT in full."""

    def __init__(self):
        self.folder = pathlib.Path(os.environ["OUT"]) if os.environ.get("OUT") else None
        if self.folder:
            self.folder.mkdir(parents=True, exist_ok=True)
        self.file = open(self.folder / "check-gpu.log", "w") if self.folder else None

    def say(self, text, in_full=None):
        print(text, flush=True)
        if self.file:
            print(in_full or text, file=self.file, flush=True)

    def tell(self, suite, results, took_s):
        counts = ", ".join(f"{count} {name}" for name, count in count_states(results).items())
        self.say(f"{suite.title}: {counts} in {took_s:.1f} s")
        reasons = {}
        for result in results:
            if result.state == "skipped":
                reasons.setdefault(result.detail, []).append(result.name)
        for reason, names in reasons.items():
            self.say(f"  skipped {names[0]}{f' and {len(names) - 1} more' if names[1:] else ''}:"
                     f" {reason}")
        failed = [result for result in results if result.state == "failed"]
        for number, result in enumerate(failed):
            self.say(f"  FAILED {result.name}" +
                     (f": {shortened(result.detail)}" if number < SHOWN else ""),
                     f"  FAILED {result.name}: {result.detail}")

    def table(self, machine, rows):
        lines = [f"{machine}, {time.strftime('%Y-%m-%d', time.gmtime())}, "
                 f"{time.monotonic() - BEGUN:.0f} s", "", "| check | result | detail |",
                 "| --- | --- | --- |"]
        lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
                  for row in rows]
        text = "\n".join(lines)
        self.say("\n" + text)
        if self.folder:
            (self.folder / "check-gpu.md").write_text(text + "\n")


def run_suites(available, names, machine):
    log = Log()
    rows = []
    for name in names or available:
        suite = available[name]
        begun = time.monotonic()
        results = run_suite(suite)
        took_s = time.monotonic() - begun
        log.tell(suite, results, took_s)
        rows += table_rows(suite, results, took_s)
    log.table(machine, rows)
    return 1 if any(state in ("failed", "not reached") for _, state, _ in rows) else 0
