#!/usr/bin/env python3
"""The benchmarks' targets: what a figure of a way is held against, and what the table says."""

import pathlib
import sys
import unittest

BENCH = pathlib.Path(__file__).resolve().parents[1] / "bench"
sys.path.insert(0, str(BENCH))
import run  # noqa: E402
import suites  # noqa: E402
import tables  # noqa: E402


def results_of(**ways):
    """Of one figure, `step`, by one round."""
    results = run.Results()
    for way, value in ways.items():
        results.add(way, {"step": (value, "us")}, {})
    return results


class Limits(unittest.TestCase):
    suite = suites.Suite("program", suites.WORKER_WAYS,
                         limits=suites.ratios_to_none({"step": 1.5}, strict={"step": 1.75}))

    def cell(self, way, **ways):
        return tables.ratio_cell(self.suite, results_of(**ways), "step", way, simulated=False)

    def test_a_ratio_is_held_against_its_own_limit(self):
        self.assertEqual(self.cell("fix", none=10, fix=15), "1.50 (1.50-1.50), 1.50 met")
        self.assertEqual(self.cell("fix", none=10, fix=16), "1.60 (1.60-1.60), 1.50 missed")
        self.assertEqual(self.cell("strict", none=10, strict=17), "1.70 (1.70-1.70), 1.75 met")

    def test_report_is_held_against_twice_what_fix_takes(self):
        self.assertEqual(self.cell("report", none=10, fix=12, report=24),
                         "2.40 (2.40-2.40), 2.40 met")
        self.assertEqual(self.cell("report", none=10, fix=12, report=25),
                         "2.50 (2.50-2.50), 2.40 missed")

    def test_a_way_without_a_limit_is_not_judged(self):
        self.assertEqual(self.cell("mprotect", none=10, mprotect=90), "9.00 (9.00-9.00)")
        self.assertEqual(self.cell("report", none=10, report=25), "2.50 (2.50-2.50)")

    def test_limits_are_of_ways_that_the_suite_has(self):
        for name, suite in suites.SUITES.items():
            for figure, limits in suite.limits.items():
                self.assertLessEqual(set(limits), set(suite.ways), f"{name}: {figure}")


if __name__ == "__main__":
    unittest.main()
