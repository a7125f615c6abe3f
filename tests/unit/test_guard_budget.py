#!/usr/bin/env python3
"""guard_budget: a hot call site is guarded in turn, a race that it begins to make late is found, and the
report, each of its formats and strict=1 say that not all was guarded."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import programs  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT", ROOT / "out"))
SAFECOPY = str(OUT / "safecopy")
PROGRAM = str(OUT / "tests" / "survival" / "budget_late_race")
ENVIRONMENT = {**{name: value for name, value in os.environ.items()
                  if not name.startswith(("SAFECOPY_", "LD_", "CUDA_"))},
               "LD_LIBRARY_PATH": str((OUT / "sim").resolve()), "SIM_GPU": "late=1"}
FIRST, ROUNDS = 32, 3000  # operations of a site that are always guarded, rounds without a mistake


class Budget(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.report = pathlib.Path(temporary.name) / "report.jsonl"

    def run_with(self, options, *arguments):
        self.report.unlink(missing_ok=True)
        ran = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False,
                             timeout=600,
                             env={**ENVIRONMENT, "LD_PRELOAD": str(OUT.resolve() / "libsafecopy.so"),
                                  "SAFECOPY_OPTIONS": f"{options}:snapshot_max=0:report_path={self.report}"})
        lines = [json.loads(line) for line in self.report.read_text(encoding="utf-8").splitlines()]
        self.assertIsNone(programs.schema_problem(lines))
        self.summary = lines[-1]
        return ran

    def shown(self, kind):
        return subprocess.run([SAFECOPY, "report", "--format", kind, self.report], check=False, text=True,
                              capture_output=True).stdout

    def test_a_late_race_of_a_hot_site_is_found(self):
        ran = self.run_with("guard_budget=0.1%", "race")
        self.assertEqual((ran.returncode, ran.stdout), (0, "clean to here\nfound\n"), ran.stderr)
        self.assertEqual(self.summary["by_code"], {"SC202": 1})
        budget = self.summary["guard"]["budget"]
        self.assertEqual(budget["share"], "0.1%")
        self.assertEqual(budget["operations"], self.summary["operations"])
        left_out = budget["operations"] - budget["guarded"]
        self.assertEqual(self.summary["unguarded"]["by_reason"]["budget"]["operations"], left_out)
        self.assertGreater(left_out, ROUNDS)
        self.assertEqual(len(budget["sites"]), 2)
        for site in budget["sites"]:
            self.assertGreaterEqual(site["operations"], ROUNDS)
            self.assertGreaterEqual(site["guarded"], FIRST)
            self.assertEqual(site["stack"][0]["symbol"], "cudaMemcpyAsync")
        for count in ("operations", "guarded"):
            self.assertEqual(sum(site[count] for site in budget["sites"]), budget[count])
        said = f"guard_budget=0.1%: {budget['guarded']} of {budget['operations']} operations guarded"
        for kind in ("text", "markdown", "html", "junit", "sarif"):
            self.assertIn(said, self.shown(kind), kind)
        text = self.shown("text")
        site = budget["sites"][0]
        self.assertIn(f"of these {site['guarded']} of {site['operations']} guarded of this call", text)
        self.assertRegex(text, r" at tests/survival/budget_late_race\.c:\d+\n")
        run, = json.loads(self.shown("json"))["runs"]
        self.assertEqual(run["summary"]["guard"]["budget"]["guarded"], budget["guarded"])

    def test_strict_says_that_it_was_not_all(self):
        ran = self.run_with("guard_budget=0.1%:strict=1")
        self.assertEqual((ran.returncode, ran.stdout), (0, "clean to here\nnothing\n"), ran.stderr)
        left_out = self.summary["unguarded"]["operations"]
        self.assertGreater(left_out, 0)
        for words in (f"    {left_out} operations: no time left for them (guard_budget)\n",
                      f"  strict: passed, {left_out} operations not watched\n"):
            self.assertIn(words, ran.stderr)
        self.assertTrue(re.search(r"  guard_budget: \d+ of 6000 operations guarded\n"
                                  r"    \d+ of 3000 at .*\n    \d+ of 3000 at .*\n", ran.stderr), ran.stderr)

    def test_without_it_all_is_guarded(self):
        ran = self.run_with("strict=1")
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "clean to here\nnothing\n", ""))
        self.assertNotIn("budget", self.summary["guard"])
        self.assertEqual(self.summary["unguarded"]["operations"], 0)

    def test_what_fits_is_guarded(self):
        ran = self.run_with("guard_budget=100%")
        self.assertEqual((ran.returncode, ran.stdout), (0, "clean to here\nnothing\n"), ran.stderr)
        budget = self.summary["guard"]["budget"]
        self.assertEqual(budget["operations"], 2 * ROUNDS)
        self.assertGreater(budget["guarded"], ROUNDS)


if __name__ == "__main__":
    unittest.main()
