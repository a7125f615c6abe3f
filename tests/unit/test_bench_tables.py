#!/usr/bin/env python3
"""The benchmarks' targets: what a figure of a way is held against, and what the table says."""

import pathlib
import sys
import unittest

BENCH = pathlib.Path(__file__).resolve().parents[1] / "bench"
sys.path.insert(0, str(BENCH))
import gpus  # noqa: E402
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


class InTurn(unittest.TestCase):
    """Steps in turn with the driver's own functions: each way's figures bear its name."""

    def results(self):
        results = run.Results()
        for way, name in (("fix", "step"), ("blocking", "step_blocking"), ("threads", "step_threads")):
            results.add(way, *run.figures_of(f"{name} 1.25 times\n# {name}: the driver's own 90 ns\n"))
        results.add("fix", {"alone": (1.5, "times")}, {})
        return results

    def test_a_row_has_all_ways_of_a_step(self):
        suite = suites.Suite("in_turn", suites.IN_TURN_WAYS, table="in_turn",
                             limits=suites.ratios_to_none({"step": 1.2, "step_threads": 1.7}))
        head, step, alone = tables.in_turn_rows(suite, self.results(), simulated=False)
        self.assertEqual(head[2:], list(suites.IN_TURN_WAYS))
        self.assertEqual(step, ["step", "90", "1.25, 1.20 missed", "", "1.25", "", "",
                                "1.25, 1.70 met"])
        self.assertEqual(alone, ["alone", "", "1.50", "", "", "", "", ""])

    def test_nothing_is_judged_on_the_simulated_gpu(self):
        _, step, _ = tables.in_turn_rows(suites.SUITES["in_turn"], self.results(), simulated=True)
        self.assertEqual(step[2], "1.25")


class Matched(unittest.TestCase):
    """Steps of several GPUs, by the speed of the spin loop beside them."""

    def results(self, **ways):
        """Each way's rounds, as gpus.py prints them."""
        results = run.Results()
        for way, rounds in ways.items():
            for speeds in rounds:
                results.add(way, *run.figures_of(f"step 26.0 us\n@ step {speeds}\n# step: sum 1\n"))
        return results

    def row(self, **ways):
        return list(tables.spread_rows(None, self.results(**ways), False))[1]

    def test_a_clock_that_moves_changes_no_ratio(self):
        slow, fast, both = "90:46.0:500", "75:26.0:500", "75:26.0:250 90:46.0:250"
        self.assertEqual(self.row(none=[both, slow], again=[slow, both], fix=[fast, both]),
                         ["step", "26", "1.000 (1.000-1.000)", "1.000 (1.000-1.000)", "within"])

    def test_the_library_is_held_against_both_runs_without_it(self):
        row = self.row(none=["75:10.0:100"] * 2, again=["75:10.2:100", "75:9.9:100"],
                       fix=["75:11.0:100"] * 2)
        self.assertEqual(row[2:], ["1.005 (0.990-1.020)", "1.100 (1.078-1.111)", "above"])

    def test_runs_that_have_no_speed_in_common_are_not_compared(self):
        self.assertEqual(self.row(none=["75:10.0:100"], again=["76:10.0:100"],
                                  fix=["75:99.0:5 77:10.0:95"])[2:], ["", "", ""])

    def test_speeds_count_by_the_steps_that_both_runs_have(self):
        above, below = {1: (20, 30), 2: (10, 70)}, {1: (10, 90), 2: (10, 10)}
        self.assertAlmostEqual(tables.matched_ratio(above, below), 2 ** (30 / 40))

    def test_a_run_says_what_its_steps_took_at_each_speed(self):
        speeds = gpus.by_speed([(20, 5), (20.1, 7), (20.2, 6), (36, 9)])
        self.assertEqual(list(speeds.values()), [(6, 3), (9, 1)])


if __name__ == "__main__":
    unittest.main()
