"""Which checks the runner runs (tests/run.py)."""

import contextlib
import io
import pathlib
import sys
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import run  # noqa: E402


def fail():
    raise run.Failure("as it is meant to")


SUITES = {"first": lambda: [("good/healed", lambda: None), ("bad/healed", fail)],
          "second": lambda: [("good_again", lambda: None)]}


class Only(unittest.TestCase):
    def run_suites(self, only, *names, suites=SUITES):
        said = io.StringIO()
        with (mock.patch.dict("os.environ", {"ONLY": only}),
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

    def test_a_suite_without_a_check_fails(self):
        status, said = self.run_suites("", suites={"empty": list})
        self.assertEqual(status, 1)
        self.assertIn("the suite has no check", said)


if __name__ == "__main__":
    unittest.main()
