#!/usr/bin/env python3
"""The pytest plugin: which test fails for a hazard, and what the session ends with. The tests that
it judges run on the simulated GPU, by ctypes."""

import os
import re
import subprocess
import sys
import unittest
from xml.etree import ElementTree

import pytest_session
from pytest_session import HAS_SUBTESTS, HAS_XDIST, OUT, ROOT

TESTS = '''
import subprocess
import sys
import unittest

import pytest

import cuda


def test_right():
    cuda.right()


def test_wrong():
    cuda.wrong()


def test_wrong_again():
    cuda.wrong()


@pytest.mark.parametrize("name", [1, 2], ids=["with blanks and [brackets]", "x" * 300])
def test_wrong_parameter(name):
    cuda.wrong()


@pytest.mark.xfail
def test_wrong_and_expected_to_fail():
    cuda.wrong()
    assert False


def test_ignored():
    with cuda.libsafecopy.ignore("known"):
        cuda.wrong()


@pytest.fixture
def block():
    block = cuda.Block()
    yield block
    block.free()


def test_wrong_teardown(block):
    pass


def test_right_teardown(block):
    block.wait()


def test_wrong_child():
    subprocess.run([sys.executable, "-c", "import cuda; cuda.wrong()"], check=True)


def test_right_child():
    subprocess.run([sys.executable, "-c", "import cuda; cuda.right()"], check=True)


class TestUnit(unittest.TestCase):
    def test_wrong_method(self):
        cuda.wrong()

    def test_right_method(self):
        cuda.right()
'''
# As pytest-rerunfailures does it: what the last run says counts.
RERUNS = '''
from _pytest import runner


def pytest_runtest_protocol(item, nextitem):
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for _ in range(3):
        item._initrequest()
        reports = runner.runtestprotocol(item, nextitem=nextitem, log=False)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    return True
'''

# As pytest-forked does it.
FORKS = '''
import json
import os

from _pytest import runner


def judge(item):
    reports = runner.runtestprotocol(item, log=False)
    return [item.ihook.pytest_report_to_serializable(config=item.config, report=report)
            for report in reports]


def pytest_runtest_protocol(item, nextitem):
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    ours, childs = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(childs, json.dumps(judge(item)).encode())
        os._exit(0)
    os.waitpid(child, 0)
    for data in json.loads(os.read(ours, 1 << 16)):
        report = item.ihook.pytest_report_from_serializable(config=item.config, data=data)
        item.ihook.pytest_runtest_logreport(report=report)
    return True
'''
WRONG_TEST = "import cuda\ndef test_wrong():\n    cuda.wrong()\n"
OUTSIDE = "import cuda\ncuda.wrong()\ndef test_right():\n    cuda.right()\n"
WRONG = {"test_wrong", "test_wrong_again", "test_wrong_parameter[with blanks and [brackets]]",
         f"test_wrong_parameter[{'x' * 300}]", "test_wrong_and_expected_to_fail",
         "test_wrong_teardown", "test_wrong_child", "TestUnit::test_wrong_method"}


class Plugin(pytest_session.Session):
    def named(self, word):
        """The tests that the short summary names so."""
        lines = self.said.split("short test summary info")[-1].splitlines()
        return {line.split("::", 1)[1].split(" - ")[0] for line in lines
                if line.startswith(word + " ") and "::" in line}

    def test_the_tests_with_a_hazard_fail_and_no_others(self):
        self.assertEqual(self.run_pytest(TESTS), 1, self.said)
        self.assertEqual(self.named("FAILED") | self.named("ERROR"), WRONG, self.said)
        self.assertEqual(self.named("ERROR"), {"test_wrong_teardown"})
        self.assertIn("hazards in 8 tests", self.said)
        self.assertRegex(self.said, r"SC105 pinned-freed-in-flight, \w+, deferred\n"
                                    r"  cudaFreeHost \(cuMemFreeHost\) at .*\n"
                                    r"  cudaMemcpyAsync \(cuMemcpyHtoDAsync_v2\) at ")
        self.assertNotIn("found too late", self.said)
        kept = list(self.folder.glob("safecopy-*/main/*.jsonl"))
        self.assertEqual(len(kept), 3, self.said)

    def told_of(self, test):
        """What the failure of the test says, in lines."""
        said = re.split(r"^_+ (.*) _+$|^=+.*=+$", self.said, flags=re.M)
        return said[said.index(test) + 1].strip().splitlines()

    def test_equal_hazards_of_a_test_are_told_once_with_their_number_place_and_remedy(self):
        tests = (
            "import cuda\n"
            "def helper():\n"
            "    cuda.wrong()\n"
            "def test_loop():\n"
            "    for _ in range(10):\n"
            "        cuda.wrong()\n"
            "def test_lines():\n"
            "    for _ in range(3):\n"
            "        helper()\n"
            "    cuda.wrong()\n"
            "def test_itself():\n"
            "    block = cuda.Block()\n"
            "    cuda.check(cuda._cudart.cudaFreeHost(block.address))\n")
        self.assertEqual(self.run_pytest(tests), 1, self.said)
        head, event, copy, remedy = self.told_of("test_loop")
        self.assertRegex(head, r"^SC105 pinned-freed-in-flight, \w+, deferred, 10 times$")
        self.assertTrue(event.endswith("/cuda.py:27 (Block.free), from test_it.py:6 (test_loop)"))
        self.assertTrue(
            copy.endswith("/cuda.py:21 (Block.__init__), from test_it.py:6 (test_loop)"))
        advice = re.search(r'SC_HAZARD\(SC105,[^"]*"[^"]*",[^"]*"([^"]*)"\)',
                           (ROOT / "common" / "hazard.def").read_text())[1]
        self.assertEqual(remedy, f"  What to do: {advice}.")
        lines = self.told_of("test_lines")
        self.assertEqual(len(lines), 8, lines)
        self.assertRegex(lines[0], r", at least 2 times$")
        self.assertTrue(lines[1].endswith(", from test_it.py:3 (helper)"), lines)
        self.assertTrue(lines[5].endswith(", from test_it.py:10 (test_lines)"), lines)
        self.assertRegex(self.told_of("test_itself")[1], r" at \S+/test_it\.py:13 \(test_itself\)$")

    def test_of_equal_hazards_of_a_child_the_report_tells_how_many_at_least(self):
        tests = (
            "import cuda, subprocess, sys\n"
            "def test_child():\n"
            "    subprocess.run([sys.executable, '-c',\n"
            "                    'import cuda\\nfor _ in range(5): cuda.wrong()'], check=True)\n")
        self.assertEqual(self.run_pytest(tests), 1, self.said)
        lines = self.told_of("test_child")
        self.assertEqual(len([line for line in lines if line.startswith("SC105")]), 1, lines)
        self.assertRegex(lines[0], r", at least 4 times$")

    @unittest.skipUnless(HAS_XDIST, "no xdist here")
    def test_workers_judge_their_own(self):
        self.assertEqual(self.run_pytest(TESTS, "-n2"), 1, self.said)
        self.assertEqual(self.named("FAILED") | self.named("ERROR"), WRONG, self.said)
        self.assertIn("hazards in 8 tests", self.said)

    @unittest.skipUnless(HAS_XDIST, "no xdist here")
    def test_what_workers_find_too_late_fails_the_session(self):
        result = self.folder / "result.xml"
        self.assertEqual(self.run_pytest(OUTSIDE, "-n1", f"--junitxml={result}"), 1, self.said)
        self.assertIn("found too late, outside of tests: SC105", self.said)
        self.assertRegex(result.read_text(), r'name="outside of tests"[^>]*><error[^<]*SC105')

    def test_each_rerun_is_judged(self):
        """The third of equal hazards has no line in the report."""
        (self.folder / "conftest.py").write_text(RERUNS)
        tests = "import cuda\ndef test_wrong():\n    cuda.wrong()\n"
        self.assertEqual(self.run_pytest(tests), 1, self.said)
        self.assertEqual(self.named("FAILED"), {"test_wrong"}, self.said)
        self.assertRegex(self.said, r"_+ test_wrong _+\nSC105 pinned-freed-in-flight, \w+, deferred\n  ")

    def test_what_a_forked_process_has_judged_is_told_once(self):
        (self.folder / "conftest.py").write_text(FORKS)
        tests = ("import cuda\ndef test_wrong():\n    cuda.wrong()\n"
                 "def test_right():\n    cuda.right()\n")
        self.assertEqual(self.run_pytest(tests), 1, self.said)
        self.assertEqual(self.named("FAILED"), {"test_wrong"}, self.said)
        self.assertNotIn("found too late", self.said)

    def test_a_results_file_names_tests_and_no_process(self):
        """Of a hazard that comes late as well: the thread of the first test, in the second."""
        tests = '''
import cuda, threading
go = threading.Event()


def late():
    cuda.libsafecopy.set_thread_label("test_it.py::test_first")
    go.wait()
    cuda.wrong()


thread = threading.Thread(target=late, daemon=True)


def test_first():
    thread.start()


def test_wrong():
    cuda.wrong()


def test_last():
    go.set()
    thread.join()
'''
        result = self.folder / "result.xml"
        self.assertEqual(self.run_pytest(tests, f"--junitxml={result}"), 1, self.said)
        cases = ElementTree.parse(result).findall(".//testcase")
        found = {case.get("name"): fault.text for case in cases for fault in case}
        self.assertEqual(set(found), {"test_first", "test_wrong"}, found)
        for text in found.values():
            self.assertRegex(text, r"SC105 pinned-freed-in-flight, \w+, deferred\n")
            self.assertNotIn(".jsonl", text)

    def test_names_steer_no_terminal(self):
        tests = ("import cuda\ndef test_wrong():\n    block = cuda.Block()\n"
                 "    source = 'cuda._cudart.cudaFreeHost(block.address)'\n"
                 "    exec(compile(source, 'a\\x1b[31m\\nb\\u202e', 'exec'))\n")
        self.assertEqual(self.run_pytest(tests, "--tb=short"), 1, self.said)
        self.assertIn(r" at a\x1b[31m\nb\u202e:1 (<module>)", self.said)
        self.assertNotIn("\x1b[31m\n", self.said)

    def test_names_of_tests_may_have_any_character(self):
        tests = ("import cuda\nimport pytest\n"
                 "@pytest.mark.parametrize('name', [1], ids=['\\0\\n\\xe9'])\n"
                 "def test_wrong(name):\n    cuda.wrong()\ndef test_right():\n    cuda.right()\n")
        unescaped = "disable_test_id_escaping_and_forfeit_all_rights_to_community_support=1"
        self.assertEqual(self.run_pytest(tests, "-o", unescaped), 1, self.said)
        self.assertIn("1 failed, 1 passed", self.said)
        self.assertNotIn("found too late", self.said)

    def test_warn_fails_nothing(self):
        tests = "import cuda\ndef test_wrong():\n    cuda.wrong()\n"
        self.assertEqual(self.run_pytest(tests, "--safecopy=warn"), 0, self.said)
        self.assertIn("test_it.py::test_wrong: SC105", self.said)

    def test_off_looks_for_nothing(self):
        tests = "import cuda\ndef test_nothing():\n    pass\n"
        self.assertEqual(self.run_pytest(tests, "--safecopy=off", preload=False), 0, self.said)
        self.assertNotIn(" safecopy ==", self.said)
        self.assertNotIn("safecopy: ", self.said)
        self.assertEqual(self.run_pytest(WRONG_TEST, "--safecopy=off"), 0, self.said)
        self.assertIn("\nsafecopy: --safecopy=off: nothing is looked for, healed or reported\n", self.said)

    def test_off_under_a_strict_run(self):
        """Which is no run without CUDA."""
        (self.folder / "test_it.py").write_text(WRONG_TEST)
        run = subprocess.run(
            [OUT / "safecopy", "run", "--strict", sys.executable, "-m", "pytest", "-p", "no:cacheprovider",
             *pytest_session.PLUGIN, "--safecopy=off", "test_it.py"], cwd=self.folder, text=True,
            capture_output=True, timeout=300, check=False,
            env={**os.environ, "PYTHONPATH": self.path(), "LD_LIBRARY_PATH": str(OUT / "sim"),
                 "SIM_GPU": "late=1", "TMPDIR": str(self.folder)})
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertRegex(run.stderr, r"strict: nothing was judged in process \d+ \(\S*python\S*\): it looked "
                                     r"for the CUDA driver with mode=off, .*--safecopy=off")
        self.assertNotIn("no use of CUDA", run.stderr)

    def test_no_preload_is_an_error(self):
        tests = "def test_nothing():\n    pass\n"
        self.assertEqual(self.run_pytest(tests, preload=False), 4, self.said)
        self.assertIn("libsafecopy is not preloaded", self.said)
        self.assertEqual(self.run_pytest(tests, options="mode=off"), 4, self.said)
        self.assertEqual(self.run_pytest(tests, "--safecopy=warn", preload=False), 0, self.said)
        self.assertIn("libsafecopy is not preloaded", self.said)

    def test_a_run_without_cuda_says_so_and_leaves_nothing(self):
        self.assertEqual(self.run_pytest("def test_nothing():\n    pass\n"), 0, self.said)
        self.assertIn("no process used CUDA", self.said)
        self.assertEqual(list(self.folder.glob("safecopy-*")), [])

    def test_a_hazard_outside_of_tests_fails_the_session(self):
        tests, result = OUTSIDE, self.folder / "result.xml"
        self.assertEqual(self.run_pytest(tests, f"--junitxml={result}"), 1, self.said)
        self.assertRegex(result.read_text(), r'name="outside of tests"[^>]*><error[^<]*SC105')
        self.assertEqual(self.named("FAILED"), set())
        self.assertIn("found too late, outside of tests: SC105", self.said)
        self.assertIn("\nhazards outside of tests\n", self.said)

    def test_what_is_named_late_is_counted(self):
        (self.folder / "conftest.py").write_text("import cuda, pytest\n@pytest.hookimpl(tryfirst=True)\n"
                                                 "def pytest_runtest_logfinish():\n    cuda.wrong()\n")
        self.assertEqual(self.run_pytest("def test_a():\n    pass\ndef test_b():\n    pass\n"), 1, self.said)
        self.assertIn("found too late, test_it.py::test_a: SC105", self.said)
        self.assertIn("\nhazards in 2 tests\n", self.said)

    @unittest.skipUnless(HAS_SUBTESTS, "no subtests here")
    def test_each_subtest_names_its_hazards(self):
        tests = ("import cuda\ndef test_sub(subtests):\n    for i in range(5):\n"
                 "        with subtests.test(i=i):\n            cuda.wrong()\n")
        self.assertEqual(self.run_pytest(tests), 1, self.said)
        self.assertEqual(len(re.findall(r"^_+ test_sub .*\(i=\d\) _+\nSC105 pinned", self.said, re.M)), 5,
                         self.said)
        self.assertIn("\nhazards in 1 test\n", self.said)

    def test_each_of_several_phases_names_its_hazards(self):
        """From the third on equal ones have no line. A test that is run again and again has them."""
        (self.folder / "conftest.py").write_text(
            "import pytest\n@pytest.hookimpl(tryfirst=True)\ndef pytest_runtest_protocol(item):\n"
            "    from _pytest.runner import runtestprotocol\n"
            "    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)\n"
            "    for _ in range(5):\n"
            "        runtestprotocol(item)\n"
            "    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)\n"
            "    return True\n")
        two = "import cuda\ndef test_two():\n    cuda.wrong()\n    block = cuda.Block()\n    block.free()\n"
        self.assertEqual(self.run_pytest(WRONG_TEST + two[len("import cuda\n"):]), 1, self.said)
        self.assertEqual(len(re.findall(r"^_+ test_wrong _+\nSC105 pinned", self.said, re.M)), 5, self.said)
        self.assertEqual(len(re.findall(r"^_+ test_two _+\nSC105", self.said, re.M)), 5, self.said)
        self.assertEqual(len(re.findall(r"^SC105, 2 more, each of them one of these:$", self.said, re.M)), 2,
                         self.said)

    def test_what_is_suppressed_fails_nothing(self):
        tests = "import cuda\ndef test_wrong():\n    cuda.wrong()\n"
        (self.folder / "s.supp").write_text("{\nname: a\ncode: SC105\nreason: r\n}\n")
        self.assertEqual(self.run_pytest(tests, options="suppressions=s.supp"), 0, self.said)

    def test_what_is_said_begins_with_the_hazard(self):
        """Newer pytests show the first line in the short summary."""
        tests = "import cuda\ndef test_wrong():\n    cuda.wrong()\n"
        self.assertEqual(self.run_pytest(tests), 1, self.said)
        self.assertIn(" test_wrong _", self.said)
        self.assertIn("_\nSC105 pinned-freed-in-flight, ", self.said)
        self.assertRegex(self.said, r"\nFAILED test_it\.py::test_wrong( - SC105 pinned-freed.*)?\n")


if __name__ == "__main__":
    unittest.main()
