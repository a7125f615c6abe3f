#!/usr/bin/env python3
"""Writes a report with many hazards to stdout, for tests and for measuring the command.

many_hazards.py DIFFERENT [--repeats N] [--frames N] [--timings N] [--shared]

DIFFERENT hazards, each REPEATS times with a count that doubles, with two stacks of FRAMES frames of
which every one differs from those of the other hazards, or with --shared only the innermost. After
them come TIMINGS lines, for the hazards in turn.
"""

import argparse
import json
import sys


def stack(frames, number, shared):
    return [{"module": "/opt/application/lib/libtraining.so",
             "offset": hex(0x1000 + frame * 16 + (0 if shared and frame else number * 4096)),
             "symbol": f"_ZN8training6worker5stageILi{frame}EE3runEv"} for frame in range(frames)]


def run_line():
    return {"type": "run", "schema": 1, "command": ["./train"], "pid": 7, "started": 1,
            "host": "node", "rank": None, "driver_version": 13000, "runtime_version": 13000,
            "devices": ["GPU"], "options": {}, "modules": []}


def hazard_line(number, repeat, frames, shared):
    """The hazard's `repeat`-th line."""
    return {"type": "hazard", "code": "SC101", "name": "source-freed-in-flight",
            "certainty": "observed", "action": "deferred",
            "buffer": {"address": "0x7f0000001000", "size": 4096, "kind": "pinned"},
            "copy": {"api": "cuMemcpyHtoDAsync_v2", "direction": "H2D", "address": "0x7f0000001000",
                     "size": 4096, "stream": "0x5", "device": 0, "seq": number * 64 + repeat,
                     "thread": 9, "time_ns": 12, "stack": stack(frames, number, shared)},
            "event": {"api": "free", "thread": 9, "time_ns": number * 64 + repeat + 1000,
                      "stack": stack(frames, number, shared)},
            "count": 1 << min(repeat, 40)}


def timing_line(hazard, remaining):
    time = hazard["event"]["time_ns"]
    return {"type": "timing", "code": hazard["code"], "stream": hazard["copy"]["stream"],
            "seq": hazard["copy"]["seq"], "correlation_id": 4, "event_time_ns": time,
            "device_start_ns": time - 1, "device_end_ns": time + remaining,
            "remaining_ns": remaining}


def report(different, repeats=1, frames=40, timings=0, shared=False):
    """The lines, as text."""
    yield json.dumps(run_line()) + "\n"
    for repeat in range(repeats):
        for number in range(different):
            yield json.dumps(hazard_line(number, repeat, frames, shared)) + "\n"
    for number in range(timings):
        hazard = hazard_line(number % different, repeats - 1, 0, shared)
        yield json.dumps(timing_line(hazard, number + 1)) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("different", type=int)
    for name, default in (("repeats", 1), ("frames", 40), ("timings", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--shared", action="store_true")
    sys.stdout.writelines(report(**vars(parser.parse_args())))


if __name__ == "__main__":
    main()
