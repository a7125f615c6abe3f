"""What the runner does where the machine stands still (tests/stalls.py, tests/run.py)."""

import contextlib
import io
import pathlib
import signal
import subprocess
import sys
import time
import unittest
from unittest import mock

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS))

import run  # noqa: E402
import stalls  # noqa: E402

WATCHING = """
import stalls, sys, time
with stalls.Watch() as watch:
    time.sleep(0.1)
    before = watch.now()
    print("ready", flush=True)
    sys.stdin.readline()
    time.sleep(0.1)
    print(watch.since(before))
    print(watch.since(watch.now()))
"""


class StoodStill(stalls.Watch):
    """On a machine that did so all the time."""

    def since(self, moment):
        return "stood still"


class InOrder(stalls.Watch):
    def since(self, moment):
        return None


class StallsTest(unittest.TestCase):
    def test_a_stopped_process_is_noticed(self):
        with subprocess.Popen([sys.executable, "-c", WATCHING], cwd=TESTS, text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
            self.assertEqual(child.stdout.readline(), "ready\n")
            child.send_signal(signal.SIGSTOP)
            time.sleep(0.5)
            child.send_signal(signal.SIGCONT)
            said, _ = child.communicate("\n")
        stood, afterwards = said.splitlines()
        self.assertRegex(stood, r"^stood still for \d{3,} ms$")
        self.assertNotEqual(afterwards, stood)

    def run_suite(self, watch, failures):
        """A suite of a check for each number, which fails so many times first."""
        left = dict(enumerate(failures))

        def check(number):
            left[number] -= 1
            if left[number] >= 0:
                raise run.Failure("no luck")

        cases = [(f"check{number}", lambda number=number: check(number)) for number in left]
        printed = io.StringIO()
        with mock.patch.object(run.stalls, "Watch", watch), contextlib.redirect_stdout(printed):
            return run.run_suite("some", cases), printed.getvalue()

    def test_a_failure_beside_a_stall_is_run_again(self):
        tally, said = self.run_suite(StoodStill, [0, 1, 2])
        self.assertEqual((tally.passed, tally.failed), (2, 1))
        self.assertEqual(said.count("FAILED some: check1: no luck"), 1)
        self.assertEqual(said.count("FAILED some: check2: no luck"), 2)
        self.assertIn("2 passed, 1 failed, 2 of them run again", said)

    def test_a_failure_without_one_is_not(self):
        tally, said = self.run_suite(InOrder, [0, 1])
        self.assertEqual((tally.passed, tally.failed), (1, 1))
        self.assertNotIn("again", said)

    def test_many_failures_are_not_the_machine(self):
        tally, _ = self.run_suite(StoodStill, [1] * (run.MOST_AGAIN + 5))
        self.assertEqual((tally.passed, tally.failed), (run.MOST_AGAIN, 5))


if __name__ == "__main__":
    unittest.main()
