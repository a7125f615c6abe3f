"""Which checks the runner runs (tests/run.py)."""

import contextlib
import fnmatch
import io
import os
import pathlib
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import lots  # noqa: E402
import run  # noqa: E402


for name in ("LIST", "TIMES"):  # they are for the run around this one
    os.environ.pop(name, None)


def fail():
    raise run.Failure("as it is meant to")


SUITES = {"first": lambda: [("good/healed", lambda: None), ("bad/healed", fail)],
          "second": lambda: [("good_again", lambda: None)]}


class Only(unittest.TestCase):
    def run_suites(self, only, *names, suites=SUITES, **environment):
        said = io.StringIO()
        with (mock.patch.dict("os.environ", {"ONLY": only, "SHARD": "", **environment}),
              contextlib.redirect_stdout(said), contextlib.redirect_stderr(said)):
            return run.run_suites(suites, names), said.getvalue()

    def test_without_a_pattern_everything_runs(self):
        status, said = self.run_suites("")
        self.assertEqual(status, 1)
        self.assertIn("\n2 passed, 1 failed\n", said)

    def test_a_pattern_leaves_the_others_out(self):
        status, said = self.run_suites("good*")
        self.assertEqual(status, 0)
        self.assertIn("\n2 passed, 0 failed\n", said)

    def test_a_pattern_goes_with_names_of_suites(self):
        self.assertIn("\n1 passed, 0 failed\n", self.run_suites("good/*", "first")[1])

    def test_what_any_of_several_patterns_names_runs(self):
        self.assertIn("\n2 passed, 0 failed\n", self.run_suites("good/* *again")[1])
        self.assertIn("no check is called god* or gone", self.run_suites("god* gone")[1])

    def test_a_pattern_that_names_nothing_is_a_mistake(self):
        status, said = self.run_suites("god*")
        self.assertEqual(status, 2)
        self.assertIn("no check is called god*", said)

    def test_shards_together_are_the_suite(self):
        ran = []
        checks = [(f"check{number}", lambda number=number: ran.append(number))
                  for number in range(7)]
        for shard, wanted in (("1/3", [0, 3, 6]), ("2/3", [1, 4]), ("3/3", [2, 5])):
            ran.clear()
            self.run_suites("", suites={"some": lambda: checks}, SHARD=shard)
            self.assertEqual(sorted(ran), wanted)

    def test_no_shard_is_a_mistake(self):
        for shard in ("0/3", "4/3", "2", "a/b", "/"):
            status, said = self.run_suites("", SHARD=shard)
            self.assertEqual(status, 2)
            self.assertIn(f"SHARD must be like 2/5, not {shard}", said)

    def test_so_many_jobs_run_at_a_time(self):
        together = threading.Barrier(5)
        checks = [(f"check{number}", lambda: together.wait(60) and None) for number in range(5)]
        status, _ = self.run_suites("", suites={"some": lambda: checks}, JOBS="5")
        self.assertEqual(status, 0)

    def test_a_failure_is_told_before_the_suite_is_over(self):
        said = io.StringIO()
        told = []

        def look():
            while "FAILED some: bad" not in said.getvalue() and len(told) < 60000:
                told.append(time.sleep(0.001))
        checks = [("bad", fail), ("looks", look)]
        with mock.patch.dict("os.environ", {"JOBS": "1"}), contextlib.redirect_stdout(said):
            run.run_suite("some", checks)
        self.assertLess(len(told), 60000)

    def test_a_suite_without_a_check_fails(self):
        status, said = self.run_suites("", suites={"empty": list})
        self.assertEqual(status, 1)
        self.assertIn("the suite has no check", said)

    def test_names_are_listed_and_nothing_runs(self):
        self.assertEqual(self.run_suites("good*", LIST="1"),
                         (0, "first: good/healed\nsecond: good_again\n"))

    def test_the_seconds_of_each_check_are_written(self):
        with tempfile.NamedTemporaryFile("r") as times:
            self.run_suites("", TIMES=times.name)
            lines = times.read().splitlines()
        self.assertEqual(sorted(line.partition(" ")[2] for line in lines),
                         ["first: bad/healed", "first: good/healed", "second: good_again"])

    def test_a_suite_begins_when_the_one_before_it_has_begun_its_last_check(self):
        together = threading.Barrier(2)
        checks = [("waits", lambda: together.wait(60) and None)]
        status, _ = self.run_suites("", suites={"some": lambda: checks, "other": lambda: checks})
        self.assertEqual(status, 0)

    def test_what_runs_beside_the_others_counts(self):
        status, said = self.run_suites("", suites={"soak": SUITES["first"], **SUITES})
        self.assertEqual(status, 1)
        self.assertIn("\n3 passed, 2 failed\n", said)
        self.assertIn("\nsoak        1 passed, 1 failed in ", said)


class Limits(unittest.TestCase):
    """A program's limit is one of a machine without a load."""

    def run_for(self, seconds, limit_s, load):
        with mock.patch.object(run.os, "getloadavg", lambda: (load, 0, 0)):
            return run.Run(["sleep", str(seconds)], dict(os.environ), limit_s)

    def test_what_hangs_is_ended(self):
        with self.assertRaisesRegex(run.Failure, "still running after what 0.1 s are without a load"):
            self.run_for(600, 0.1, 0)

    def test_what_a_load_holds_up_is_not(self):
        self.assertEqual(self.run_for(0.5, 0.1, 1e6).status, 0)


class Lots(unittest.TestCase):
    SOME = {"first": "* !bad/*", "third": "*"}

    def test_a_lot_has_what_its_patterns_name(self):
        with mock.patch.dict(lots.LOTS, some=self.SOME):
            self.assertEqual(lots.wanted("some", "first", ["good/a", "bad/a", "b"]), ["good/a", "b"])
            self.assertEqual(lots.wanted("some", "third", ["a"]), ["a"])
            self.assertEqual(lots.wanted("some", "second", ["a"]), [])

    def test_a_lot_runs_no_more(self):
        with (mock.patch.dict(lots.LOTS, some=self.SOME), mock.patch.dict("os.environ", ONLY=""),
              contextlib.redirect_stdout(io.StringIO()) as said):
            self.assertEqual(run.run_suites(SUITES, ["first"], "some"), 0)
        self.assertIn("\n1 passed, 0 failed\n", said.getvalue())

    def test_each_pattern_names_checks_that_there_are(self):
        for lot, suites in lots.LOTS.items():
            self.assertLessEqual(set(suites), set(run.SUITES), lot)
        for suite, patterns in lots.GATE.items():
            names = [name for name, _ in run.SUITES[suite]()]
            for pattern in patterns.split():
                self.assertTrue(fnmatch.filter(names, pattern.lstrip("!")), f"{suite}: {pattern}")

    def test_ci_runs_the_gate(self):
        for suite in lots.GATE:
            names = [name for name, _ in run.SUITES[suite]()]
            self.assertLessEqual(set(lots.wanted("check", suite, names)),
                                 set(lots.wanted("ci", suite, names)))


if __name__ == "__main__":
    unittest.main()
