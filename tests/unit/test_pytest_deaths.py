#!/usr/bin/env python3
"""What the pytest plugin tells of a test that its process does not survive: its name, its hazards
and where the reports are, with and without workers of xdist."""

import contextlib
import os
import pathlib
import re
import time
import unittest

import pytest_session
from pytest_session import HAS_XDIST, WRONG

# The library writes what was found a moment later, and who asks waits for that.
DYING = WRONG + '''
def test_dies():
    import ctypes, os, signal
    cuda.wrong()
    cuda.libsafecopy.hazards()
    {end}


def test_right():
    cuda.right()
'''
ENDS = {
    "a bad address": "ctypes.string_at(1)",
    "abort()": "os.abort()",
    "a timeout that ends the process": "os._exit(1)",
    "a timeout that kills": "os.kill(os.getpid(), signal.SIGKILL)",
    "a job that is cancelled": "os.kill(os.getpid(), signal.SIGTERM)",
}
CLOSING = '''
import contextlib
import os
import time


def sockets():
    for file in map(int, os.listdir("/proc/self/fd")):
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/self/fd/{file}").startswith("socket:"):
                yield file
'''
# Sockets stay open in it, and nothing that anybody waits for.
FORKS = CLOSING + DYING.format(end='''if os.fork() == 0:
        kept = set(sockets())
        for file in set(range(1024)) - kept:
            with contextlib.suppress(OSError):
                os.close(file)
        while os.path.exists("test_it.py"):
            time.sleep(0.01)
        os._exit(0)
    os.abort()''')
IN_TEST = r"(?:, from test_it\.py:\d+ \(\w+\))?\n"
HAZARD = (r"{}SC105 pinned-freed-in-flight, \w+, deferred\n"
          rf"  cudaFreeHost \(cuMemFreeHost\) at .*/cuda.py:\d+ \(Block.free\){IN_TEST}"
          rf"  cudaMemcpyAsync \(cuMemcpyHtoDAsync_v2\) at .*/cuda.py:\d+ \(Block.__init__\){IN_TEST}"
          r"  What to do: wait for the copy before .*\.\n")


HERE = pathlib.Path(__file__).resolve().parent


def others(folder):
    """The processes beside sessions whose reports lie there."""
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            line = path.read_bytes()
            if b"_deaths" in line and folder.encode() in line:
                yield path


def await_no_other(folder):
    while any(others(folder)):
        time.sleep(0.01)


class Deaths(pytest_session.Session):
    def expect_reports(self):
        [path] = re.findall(r"\nreports: (.*)\n", self.said)
        self.assertTrue(list(pathlib.Path(path).glob("*/*.jsonl")), self.said)

    def expect_death(self, where):
        self.assertIn(f"\npytest died {where}\n", self.said)
        self.expect_reports()

    def expect_crash(self, worker):
        crash = rf"\nworker '{worker}' crashed while running 'test_it.py::test_dies'\n"
        self.assertRegex(self.said, HAZARD.format(crash))

    def expect_hazard(self, nodeid):
        found = re.findall(HAZARD.format(rf"\n{nodeid}: "), self.said)
        self.assertEqual(len(found), 1, self.said)

    def test_what_the_session_knew_is_told(self):
        for name, end in ENDS.items():
            with self.subTest(name):
                self.assertNotIn(self.run_pytest(DYING.format(end=end)), (0, 66), self.said)
                self.expect_death("in test_it.py::test_dies")
                self.expect_hazard("test_it.py::test_dies")
                self.expect_hazard("test_it.py::test_wrong")
                self.assertIn("\nhazards in 2 tests, and there may be more\n", self.said)

    def test_what_children_have_reported_is_told(self):
        tests = ("def test_dies():\n    import os, subprocess, sys\n    subprocess.run("
                 "[sys.executable, '-c', 'import cuda; cuda.wrong()'])\n    os.abort()\n")
        self.assertNotEqual(self.run_pytest(tests), 0)
        self.expect_death("in test_it.py::test_dies")
        self.expect_hazard("test_it.py::test_dies")

    def test_a_forked_process_may_live_on(self):
        if not hasattr(os, "pidfd_open"):
            self.skipTest("no process files here")
        self.run_pytest(FORKS)
        self.expect_death("in test_it.py::test_dies")
        self.expect_hazard("test_it.py::test_dies")

    def test_it_may_die_outside_of_tests(self):
        tests = "import cuda, os\ncuda.wrong()\ncuda.libsafecopy.hazards()\nos.abort()\n"
        self.run_pytest(tests)
        self.expect_death("outside of tests")
        self.expect_hazard("outside of tests")

    def test_names_of_tests_steer_no_terminal(self):
        tests = ("import os\nimport pytest\n@pytest.mark.parametrize('n', [1], ids=['\\x1b[31m'])\n"
                 "def test_dies(n):\n    import cuda\n    cuda.wrong()\n"
                 "    cuda.libsafecopy.hazards()\n    os.abort()\n")
        unescaped = "disable_test_id_escaping_and_forfeit_all_rights_to_community_support=1"
        self.run_pytest(tests, "-o", unescaped)
        self.expect_death(r"in test_it.py::test_dies[\x1b[31m]")
        self.assertNotIn("\x1b[31m", self.complaints)

    def test_a_session_that_ends_by_itself_has_not_died(self):
        for end in ("raise KeyboardInterrupt", "import pytest; pytest.exit('enough')",
                    "assert False", "raise SystemExit(3)"):
            with self.subTest(end):
                self.run_pytest(f"def test_it():\n    {end}\n")
                self.assertNotIn("pytest died", self.said)

    def test_no_test_meets_the_process_beside_it(self):
        tests = ("import os\nimport pytest\ndef test_it():\n"
                 "    with pytest.raises(ChildProcessError):\n        os.wait()\n")
        self.assertEqual(self.run_pytest(tests), 0, self.said)

    def test_a_test_may_take_its_descriptor(self):
        """What has its number by then hears nothing, and nobody takes that for the end."""
        tests = CLOSING + '''
import socket
import pytest
import test_pytest_deaths
a, b = socket.socketpair()


def test_takes():
    taken = set(sockets()) - {a.fileno(), b.fileno()}
    assert len(taken) == 1
    os.dup2(a.fileno(), *taken)
    test_pytest_deaths.await_no_other(os.getcwd())


def test_hears_nothing():
    b.setblocking(False)
    with pytest.raises(BlockingIOError):
        b.recv(1)
'''
        self.assertEqual(self.run_pytest(tests, PYTHONPATH=self.path(HERE)), 0, self.said)
        self.assertNotIn("pytest died", self.said)

    def test_the_process_beside_it_ends_with_the_session(self):
        tests = ("def test_it():\n    import os, test_pytest_deaths\n"
                 "    assert list(test_pytest_deaths.others(os.getcwd()))\n")
        status = self.run_pytest(tests, PYTHONPATH=self.path(HERE))
        self.assertEqual(status, 0, self.said)
        await_no_other(str(self.folder))

    @unittest.skipUnless(HAS_XDIST, "no xdist here")
    def test_a_worker_that_dies_has_its_hazards_told(self):
        for name, end in ENDS.items():
            with self.subTest(name):
                tests, result = DYING.format(end=end), self.folder / "result.xml"
                status = self.run_pytest(tests, "-n1", f"--junitxml={result}")
                self.assertEqual(status, 1, self.said)
                self.expect_crash("gw0")
                self.assertEqual(len(re.findall(HAZARD.format(r"\n"), self.said)), 2, self.said)
                self.assertIn("2 failed, 1 passed", self.said)
                self.assertIn("\nhazards in 2 tests, and there may be more: 1 unknown\n", self.said)
                self.assertIn("\nunknown: worker gw0 died\n", self.said)
                self.assertNotIn("found too late", self.said)
                self.expect_reports()
                self.assertRegex(result.read_text(), r'name="test_dies"[^>]*><error[^<]*SC105')

    @unittest.skipUnless(HAS_XDIST, "no xdist here")
    def test_what_a_dead_worker_had_not_told_is_of_its_test(self):
        """A thread of the first test's is still at work in the second, and bears its label."""
        tests = '''
import cuda, os, threading
go, done = threading.Event(), threading.Event()


def late():
    cuda.libsafecopy.set_thread_label("test_it.py::test_first")
    go.wait()
    cuda.wrong()
    done.set()


def test_first():
    threading.Thread(target=late, daemon=True).start()


def test_dies():
    go.set()
    done.wait()
    cuda.libsafecopy.hazards()
    os.abort()
'''
        result = self.folder / "result.xml"
        self.assertEqual(self.run_pytest(tests, "-n1", f"--junitxml={result}"), 1, self.said)
        self.assertRegex(result.read_text(), r'name="test_first"[^>]*><error[^<]*SC105')
        self.assertIn("\nfound too late, test_it.py::test_first: SC105", self.said)
        self.assertIn("1 failed, 1 passed", self.said)
        self.assertNotIn("crashed while running 'test_it.py::test_dies'\nSC105", self.said)

    @unittest.skipUnless(HAS_XDIST, "no xdist here")
    def test_a_test_may_die_again(self):
        """As pytest-rerunfailures does it. Equal hazards of two workers are two."""
        (self.folder / "conftest.py").write_text(
            "again = [1]\ndef pytest_handlecrashitem(crashitem, sched):\n"
            "    if again:\n        again.pop()\n        sched.mark_test_pending(crashitem)\n")
        self.assertEqual(self.run_pytest(DYING.format(end="os.abort()"), "-n1"), 1, self.said)
        self.expect_crash("gw0")
        self.expect_crash("gw1")
        self.assertIn("\nhazards in 2 tests, and there may be more: 2 unknown\n", self.said)

    @unittest.skipUnless(HAS_XDIST, "no xdist here")
    def test_a_dead_workers_reports_may_be_damaged(self):
        tests = ("def test_dies():\n    import cuda, os\n    cuda.wrong()\n"
                 "    with open(cuda.libsafecopy.report_path(), 'a') as report:\n"
                 "        report.write('no line\\n')\n    os.abort()\n")
        self.assertEqual(self.run_pytest(tests, "-n1"), 1, self.said)
        self.assertRegex(self.said, r"\nunknown: .*/gw0/.* has 1 line that cannot be read")

    @unittest.skipUnless(HAS_XDIST, "no xdist here")
    def test_workers_tests_are_named_when_all_is_killed(self):
        tests = ("def test_dies():\n    import cuda, os\n    cuda.wrong()\n"
                 "    cuda.libsafecopy.hazards()\n    os.kill(os.getppid(), 9)\n    os.abort()\n")
        self.run_pytest(tests, "-n1")
        self.expect_death("in test_it.py::test_dies")
        self.expect_hazard("test_it.py::test_dies")


if __name__ == "__main__":
    unittest.main()
