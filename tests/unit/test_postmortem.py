#!/usr/bin/env python3
"""The `postmortem` line of programs that lose their context (tests/survival/postmortem_*.c), on the
simulated GPU, or where SAFECOPY_DRIVER names the folders of a CUDA runtime on the real one."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import programs  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT", ROOT / "out")).resolve()
SURVIVORS = ROOT / "out" / "tests" / "survival"
ENVIRONMENT = {**{name: value for name, value in os.environ.items()
                  if not name.startswith(("SAFECOPY_", "LD_", "CUDA_", "GITHUB_"))},
               "LD_LIBRARY_PATH": os.environ.get("SAFECOPY_DRIVER", str(OUT / "sim")),
               "SIM_GPU": "late=1"}


class Postmortem(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.path = self.folder / "r.jsonl"

    def start(self, name, options=""):
        """The lines of all reports: a child's would lie beside the parent's."""
        self.run = subprocess.run(
            [SURVIVORS / name], cwd=self.folder, check=False, capture_output=True, text=True, timeout=300,
            env={**ENVIRONMENT, "LD_PRELOAD": str(OUT / "libsafecopy.so"),
                 "SAFECOPY_OPTIONS": f"report_path={self.path}{options}"})
        lines = [json.loads(line) for path in self.folder.glob("*.jsonl")
                 for line in path.read_text().splitlines()]
        self.assertIsNone(programs.schema_problem(lines))
        return lines

    def postmortems(self, name, options=""):
        return [line for line in self.start(name, options) if line["type"] == "postmortem"]

    def stack_is_of(self, line, record, program):
        frames = line["stacks"][record["stack"]]["stack"]
        self.assertEqual(pathlib.Path(frames[0]["module"]).name, program)

    def test_it_says_what_was_in_flight_and_given_back(self):
        line, = self.postmortems("postmortem_fault")
        self.assertEqual(line["error"], {"code": 719, "name": "CUDA_ERROR_LAUNCH_FAILED"})
        self.assertEqual(line["call"]["api"], "cuStreamSynchronize")
        self.stack_is_of(line, line["call"], "postmortem_fault")
        self.assertEqual(line["in_flight"], 4)
        failing, done = line["streams"]
        self.assertEqual([(o["api"], o["direction"], o.get("size"), o.get("in_flight"))
                          for o in failing["operations"]],
                         [("cuMemcpyDtoHAsync_v2", "D2H", 256, True),
                          ("cuMemFreeAsync", "none", None, True),
                          ("cuLaunchKernel", "none", None, True),
                          ("cuMemcpyHtoDAsync_v2", "H2D", 65536, True)])
        back, freed_in_order, _, up = failing["operations"]
        self.assertEqual(back["source"], up["address"])
        self.assertEqual(len(done["operations"]), 64)
        self.assertEqual([o["direction"] for o in done["operations"][:3]], ["memset", "D2D", "H2D"])
        self.assertFalse(any("in_flight" in o for o in done["operations"]))
        times = [o["time_ns"] for o in done["operations"]]
        self.assertEqual(times, sorted(times, reverse=True))
        for stream in (failing, done):
            for operation in stream["operations"]:
                self.stack_is_of(line, operation, "postmortem_fault")
        ordered, pinned, device = line["frees"]
        self.assertEqual((ordered["api"], ordered["address"]),
                         ("cuMemFreeAsync", freed_in_order["address"]))
        self.assertEqual((pinned["api"], pinned["size"]), ("cuMemFreeHost", 65536))
        self.assertEqual((device["api"], device["address"]),
                         ("cuMemFree_v2", done["operations"][0]["address"]))
        for freed in (ordered, pinned, device):
            self.stack_is_of(line, freed, "postmortem_fault")
        self.assertLess(pinned["age_ns"], device["age_ns"] + 1)

    def test_the_line_comes_before_the_end(self):
        kinds = [line["type"] for line in self.start("postmortem_fault")]
        self.assertEqual(kinds, ["run", "postmortem", "summary"])

    def test_the_summary_says_it_in_a_few_lines(self):
        self.start("postmortem_fault")
        lines = self.run.stderr.splitlines()
        first = next(i for i, line in enumerate(lines) if "the context was lost" in line)
        self.assertIn("CUDA_ERROR_LAUNCH_FAILED (719), first returned by cuStreamSynchronize at main",
                      lines[first])
        self.assertIn("in flight: 4 operations on 1 stream; the latest cuMemcpyDtoHAsync_v2",
                      lines[first + 1])
        self.assertIn("memory given back before: 3 blocks; the latest 0x", lines[first + 2])

    def test_the_command_says_it(self):
        self.start("postmortem_fault")
        told = subprocess.run([OUT / "safecopy", "report", self.path], check=False, env=ENVIRONMENT,
                              capture_output=True, text=True)
        self.assertEqual(told.returncode, 0)
        self.assertIn("    the context was lost: CUDA_ERROR_LAUNCH_FAILED (719), first returned by "
                      "cuStreamSynchronize\n      #0 main", told.stdout)
        self.assertEqual(told.stdout.count("    in flight on stream 0x"), 4)
        self.assertEqual(told.stdout.count("    given back: 0x"), 3)

    def test_two_threads_write_one_line(self):
        for _ in range(10):
            line, = self.postmortems("postmortem_threads")
            self.assertEqual(line["in_flight"], 2)
            self.path.unlink()

    def test_the_loss_is_not_the_childs(self):
        line, = self.postmortems("postmortem_fork")
        self.assertEqual(line["call"]["thread"], line["streams"][0]["operations"][0]["thread"])
        self.assertEqual(len(list(self.folder.glob("*.jsonl"))), 1)

    def test_other_errors_leave_no_line(self):
        self.assertEqual(self.postmortems("postmortem_none"), [])

    def test_it_can_be_turned_off(self):
        self.assertEqual(self.postmortems("postmortem_fault", ":postmortem=0"), [])
        self.assertNotIn("the context was lost", self.run.stderr)

    def test_nothing_changes_in_mode_report(self):
        line, = self.postmortems("postmortem_fault", ":mode=report")
        self.assertEqual(line["in_flight"], 4)

    def test_without_stacks(self):
        line, = self.postmortems("postmortem_fault", ":stacks=none")
        self.assertEqual(line["in_flight"], 4)

    def test_an_abort_leaves_one(self):
        line, = self.postmortems("abort")
        self.assertEqual(line["error"], {"code": 0, "name": "SIGABRT"})
        self.assertEqual(line["call"]["api"], "abort")
        self.stack_is_of(line, line["call"], "abort")
        self.assertEqual(line["in_flight"], 0)
        self.assertEqual(self.run.stderr, "")

    def test_who_aborts_for_a_lost_context_is_told_on_stderr(self):
        line, = self.postmortems("postmortem_abort")
        self.assertEqual(line["call"]["api"], "cuStreamSynchronize")
        self.assertEqual(self.run.returncode, -6)
        self.assertEqual(self.run.stderr.count("\n"), 4)
        self.assertIn("the context was lost: CUDA_ERROR_LAUNCH_FAILED (719)", self.run.stderr)
        self.assertIn(f"report: {self.path}", self.run.stderr)

    def test_to_halt_at_a_hazard_is_no_abort_of_the_programs(self):
        program = pathlib.Path("..") / "hazard" / "sc101_free_h2d.racy"
        kinds = [line["type"] for line in self.start(program, ":halt_on_error=1")]
        self.assertEqual(kinds, ["run", "hazard"])


if __name__ == "__main__":
    unittest.main()
