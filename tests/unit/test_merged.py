#!/usr/bin/env python3
"""`safecopy report --merged`: many ranks as one run, in every format that knows runs."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import many_hazards
from memory_reports import as_report

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT", ROOT / "out")).resolve()
MERGING = ("text", "json", "html", "sarif", "junit", "github", "markdown")
BY_PROCESS = ("memory", "collapsed", "collapsed-peak", "pprof", "prometheus", "perfetto")
RANKS, KILLED, ODD = 40, 11, 7


def hazard(number):
    return many_hazards.hazard_line(number, 0, 4, False)


def rank_report(rank, ends=True, places=(0,)):
    run = {**many_hazards.run_line(), "pid": 100 + rank, "rank": str(rank), "version": "0.1.0"}
    summary = {"type": "summary", "hazards": len(places), "observed": len(places), "latent": 0,
               "suppressed": 0, "by_code": {"SC101": len(places)} if places else {}, "operations": 5, "exit_status": 0}
    return as_report([run, *map(hazard, places), *([summary] if ends else [])])


class Merged(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def write(self, name="{rank}.jsonl", killed=(KILLED,), ranks=range(RANKS)):
        for rank in ranks:
            (self.folder / name.format(rank=rank)).write_bytes(
                rank_report(rank, rank not in killed, (0, 1) if rank == ODD else (0,)))

    def report(self, *arguments):
        files = sorted(path.name for path in self.folder.glob("*.jsonl"))
        environment = {name: value for name, value in os.environ.items() if name[:7] != "GITHUB_"}
        return subprocess.run([OUT / "safecopy", "report", "--merged", *arguments, *files],
                              cwd=self.folder, capture_output=True, text=True, check=False,
                              env={**environment, "HOME": "/nonexistent"})

    def test_ranks_and_places(self):
        """Files come in the shell's order, 0 1 10 11 ..., and are read in that of the numbers."""
        self.write()
        run = self.report()
        self.assertEqual((run.returncode, run.stderr), (1, ""))
        for words in (f"{RANKS} reports: ./train ({RANKS} runs, ranks 0-{RANKS - 1})",
                      f"1 of {RANKS} runs did not end normally: rank {KILLED}; the report of the first "
                      f"is {KILLED}.jsonl",
                      f"{RANKS} times in {RANKS} runs (ranks 0-{RANKS - 1})",
                      f"1 time (rank {ODD})"):
            self.assertIn(words, run.stdout)

    def test_counts_are_those_without_it(self):
        self.write(killed=())
        hazards = [{key: hazard_[key] for key in ("fingerprint", "count", "runs", "ranks")}
                   for hazard_ in json.loads(self.report("--json").stdout)["hazards"]]
        files = sorted(path.name for path in self.folder.glob("*.jsonl"))
        plain = subprocess.run([OUT / "safecopy", "report", "--json", *files], cwd=self.folder,
                               capture_output=True, text=True, check=False).stdout
        self.assertEqual(hazards, [{key: hazard_[key] for key in hazards[0]}
                                   for hazard_ in json.loads(plain)["hazards"]])

    def test_json_has_the_sums(self):
        self.write(killed=())
        run, = json.loads(self.report("--json").stdout)["runs"]
        self.assertEqual(run["summary"]["operations"], 5 * RANKS)
        self.assertEqual(run["summary"]["by_code"], {"SC101": RANKS + 1})
        self.assertEqual(run["merged"], {
            "runs": RANKS, "ended": RANKS, "operations": 5 * RANKS, "hazards": RANKS + 1,
            "exit_statuses": {"0": RANKS}, "ranks": f"0-{RANKS - 1}"})

    def test_ranks_without_a_report_are_named(self):
        self.write(killed=(), ranks=[rank for rank in range(RANKS) if rank not in (3, 8, 9)])
        self.assertIn("no report here of ranks 3, 8, 9\n", self.report().stdout)

    def test_what_cannot_be_read_is_told_in_each_format(self):
        self.write(killed=())
        with (self.folder / f"{ODD}.jsonl").open("a") as report:
            report.write("no line\n")
        for name in MERGING:
            with self.subTest(name):
                run = self.report("--format", name)
                self.assertEqual(run.returncode, 1)
                self.assertRegex(run.stdout.replace("&#10;", " "), rf"not JSON, in .{{0,3}}{ODD}\.jsonl")
                self.assertIn(f"{ODD}.jsonl:5: not JSON; passed over", run.stderr)

    def test_a_run_that_did_not_end_is_no_clean_one(self):
        for rank in range(3):
            (self.folder / f"{rank}.jsonl").write_bytes(rank_report(rank, rank != 1, ()))
        run = self.report()
        self.assertEqual(run.returncode, 2)
        self.assertIn("a run did not end normally", run.stderr)

    def test_a_baseline_of_merged_runs(self):
        self.write(killed=())
        old = self.report("--json").stdout
        (self.folder / "old.json").write_text(old)
        run = self.report("--baseline", "old.json")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        (self.folder / "new.jsonl").write_bytes(
            rank_report(RANKS).replace(b"8training", b"8streamer"))
        self.assertEqual(self.report("--baseline", "old.json").returncode, 66)

    def test_formats_by_process_refuse_it(self):
        self.write()
        for name in BY_PROCESS:
            run = self.report("--format", name)
            self.assertEqual((run.returncode, run.stdout), (2, ""))
            self.assertIn(f"--format {name} shows each process by itself", run.stderr)


if __name__ == "__main__":
    unittest.main()
