#!/usr/bin/env python3
"""What the pytest plugin makes of reports that cannot be called clean: damaged ones, ones without
an end, and ones that are not where a process has said that they are."""

import os
import re
import shutil
import sys
import unittest

import pytest_session
from pytest_session import HAS_XDIST, OUT, RIGHT, ROOT


CHILD = '''
import glob
import os
import subprocess
import sys

import pytest

import cuda


def run(code, **more):
    return subprocess.run([sys.executable, "-c", "import cuda, os, sys; " + code], **more)


def reports():
    folder = os.environ["SAFECOPY_OPTIONS"].rpartition("report_path=")[2].rpartition("/")[0]
    return sorted(glob.glob(folder + "/*.jsonl*"))


def begin(code):
    """A child that has come to its end but for the last line of its input."""
    child = subprocess.Popen([sys.executable, "-c", "import cuda; " + code +
                              "; print(1, flush=True); input()"], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, start_new_session=True)
    child.stdout.readline()
    return child
'''
# What is made of a report's bytes, of which `at` is where the hazard begins.
DAMAGES = {
    "a byte": "told[:at + 9] + b'X' + told[at + 10:]",
    "a type": "told.replace(b'\"type\":\"hazard\"', b'\"type\":\"hazrad\"')",
    "no line": "b''.join(line for line in lines if b'\"type\":\"hazard\"' not in line)",
    "a cut hazard": "told[:at + 500]",
    "cut before the hazard": "told[:at]",
    "nothing": "b''",
    "NULs": "told[:at] + bytes(100) + told[at + 100:]",
    "no run": "b''.join(lines[1:])",
    "a damaged run": "told.replace(b'\"type\":\"run\"', b'\"type\":\"rum\"', 1)",
    "junk": "bytes(range(256)) * 20",
    "a long line": "told[:at + 1] + b'\"x\":\"' + b'y' * (5 << 20) + b'\",' + told[at + 1:]",
}
REPLACEMENTS = {
    "a FIFO": "os.mkfifo(path)",
    "a folder": "os.mkdir(path)",
    "a link": "os.symlink('/dev/null', path)",
    "gone": "pass",
}


def damaging(code, damage):
    """A test whose child's report is damaged when it has ended."""
    return CHILD + f'''
def test_it():
    run({code!r}, check=True)
    [path] = reports()
    told = open(path, "rb").read()
    at, lines = told.find(b'{{"type":"hazard"'), told.splitlines(True)
    open(path, "wb").write({damage})
'''


def replacing(code, replacement):
    return CHILD + f'''
def test_it():
    run({code!r}, check=True)
    [path] = reports()
    os.unlink(path)
    {replacement}
'''


class Doubts(pytest_session.Session):
    def expect_doubt(self, reason, owner="test_it", status=1):
        self.assertRegex(self.said, rf"\nunknown: .*{reason}")
        self.assertNotIn("no process used CUDA", self.said)
        self.assertNotRegex(self.said, r"\nhazards in \d+ tests?\n")
        named = re.findall(r"\n(?:FAILED|ERROR) test_it.py::(\S+)", self.said)
        self.assertEqual(named, [owner] if owner and status else [], self.said)

    def expect_none(self, tests, *arguments):
        self.assertEqual(self.run_pytest(CHILD + tests, *arguments), 0, self.said)
        self.assertNotIn("unknown: ", self.said)

    def test_a_damaged_report_is_not_clean(self):
        for name, damage in DAMAGES.items():
            with self.subTest(name):
                tests = damaging("cuda.wrong()", damage)
                self.assertEqual(self.run_pytest(tests), 1, self.said)
                self.expect_doubt(r"/main/\S+\.jsonl (cannot|has|lacks) ")

    def test_what_is_in_its_place_is_not_clean(self):
        for name, replacement in REPLACEMENTS.items():
            for code in ("cuda.wrong()", "cuda.right()"):
                with self.subTest(f"{name}, {code}"):
                    self.assertEqual(self.run_pytest(replacing(code, replacement)), 1, self.said)
                    self.expect_doubt(r"/main/\S+\.jsonl (is not there|cannot be read: is no reg)")

    def test_a_report_without_hazards_may_be_damaged_too(self):
        for damage in ("b''", "told[:-40]", "told + b'{}'", "told + b'a note\\n'"):
            with self.subTest(damage):
                self.assertEqual(self.run_pytest(damaging("cuda.right()", damage)), 1, self.said)
                self.expect_doubt(r"/main/\S+\.jsonl ")

    @unittest.skipUnless(HAS_XDIST, "no xdist here")
    def test_workers_say_it_of_their_own(self):
        tests = damaging("cuda.wrong()", DAMAGES["a byte"])
        self.assertEqual(self.run_pytest(tests, "-n1"), 1, self.said)
        self.expect_doubt(r"/gw0/\S+\.jsonl has 1 line that cannot be read: line 2: not a line of")
        tests = replacing("cuda.right()", "pass")
        self.assertEqual(self.run_pytest(tests, "-n1"), 1, self.said)
        self.expect_doubt(r"/gw0/\S+\.jsonl is not there")

    def test_warn_says_it_and_fails_nothing(self):
        tests = damaging("cuda.wrong()", "b''")
        self.assertEqual(self.run_pytest(tests, "--safecopy=warn"), 0, self.said)
        self.expect_doubt("cannot be read: it is not a report", status=0)

    def test_what_an_earlier_test_has_left_fails_the_session(self):
        for damage in ("os.unlink(path)", "open(path, 'a').write('x')"):
            tests = CHILD + ("def test_first():\n    run('cuda.right()')\n"
                             f"def test_second():\n    [path] = reports()\n    {damage}\n")
            with self.subTest(damage):
                self.assertEqual(self.run_pytest(tests), 1, self.said)
                self.expect_doubt(r"/main/\S+\.jsonl ", owner=None)

    def test_a_process_that_cannot_write_on_is_not_clean(self):
        """As on a full disk. Only its note still has room."""
        tests = CHILD + ("def test_it():\n    run('import resource; block = cuda.Block(); "
                         "resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048)); block.free()', "
                         "check=True)\n")
        self.assertEqual(self.run_pytest(tests), 1, self.said)
        self.expect_doubt(r"/main/\S+\.jsonl has no summary: ")
        self.expect_doubt(r"process \d+ had a hazard of which no report tells")

    def test_what_a_process_reports_elsewhere_counts(self):
        for path, said in (("%e.%p.jsonl", r"SC105 pinned-freed-in-flight"),
                           ("none", r"\nunknown: process \d+ had a hazard of which no report")):
            tests = CHILD + ("def test_it():\n    run('cuda.wrong()', env={**os.environ, "
                             f"'SAFECOPY_OPTIONS': 'report_path={path}'}})\n")
            with self.subTest(path):
                self.assertEqual(self.run_pytest(tests), 1, self.said)
                self.assertRegex(self.said, said)
                self.assertIn("\nFAILED test_it.py::test_it", self.said)
            self.expect_none(tests.replace("wrong", "right"))

    def test_a_process_without_an_end_is_not_clean(self):
        for end in ("os.abort()", "os.kill(os.getpid(), 15)", "os.execv('/bin/true', ['true'])"):
            tests = CHILD + f"def test_it():\n    run('cuda.right(); {end[:-1]})')\n".replace(
                "'/bin/true', ['true']", '"/bin/true", ["true"]')
            with self.subTest(end):
                self.assertEqual(self.run_pytest(tests), 1, self.said)
                self.expect_doubt("has no summary: the process was killed, or went on as another")
        self.expect_none("@pytest.mark.safecopy_kills\n"
                         "def test_it():\n    run('cuda.right(); os.abort()')\n", "--strict-markers")
        self.expect_none("def test_it():\n    run('cuda.right(); sys.argv[1:] or os.execv("
                         "sys.executable, [\"python3\", \"-c\", \"import cuda; cuda.right()\"])')\n")

    def test_who_kills_its_processes_knows_why_they_have_no_end(self):
        for kill in ("child.kill()", "child.terminate()", "os.killpg(child.pid, 15)",
                     "os.kill(-child.pid, 9)"):
            with self.subTest(kill):
                tests = f"def test_it():\n    child = begin('cuda.right()')\n    {kill}\n    child.wait()\n"
                self.expect_none(tests)
        tests = CHILD + ("def test_it():\n    child = begin('cuda.wrong()')\n"
                         "    [path] = reports()\n"
                         "    while b'\"type\":\"hazard\"' not in open(path, 'rb').read():\n"
                         "        pass  # it is written within a moment\n"
                         "    child.kill()\n    child.wait()\n"
                         "    told = open(path, 'rb').read()\n"
                         "    open(path, 'wb').write(told[:told.find(b'{\"type\":\"hazard\"')])\n")
        self.assertEqual(self.run_pytest(tests), 1, self.said)
        self.expect_doubt(r"process \d+ had a hazard of which no report tells")

    def test_what_still_runs_at_the_end_is_named(self):
        """It reads what pytest has open, and ends with it."""
        self.expect_none("def test_it():\n    globals()['child'] = begin('cuda.right()')\n")
        self.assertRegex(self.said, r"\nstill runs, and is judged up to now: /.*/main/\S+\.jsonl\n")

    def test_the_roll_may_be_closed_by_a_test(self):
        tests = CHILD + ("def test_it():\n    run('cuda.right()')\n"
                         "    os.close(int(os.environ['SAFECOPY_RUN'].split('/')[4].split(':')[0]))\n")
        self.assertEqual(self.run_pytest(tests), 1, self.said)
        self.assertIn("\nunknown: a test has closed the plugin's descriptor", self.said)

    def test_the_run_around_hears_of_processes_as_well(self):
        outer = "/proc/1/fd/3:1:1"
        tests = ("def test_it():\n    import os\n"
                 f"    assert os.environ['SAFECOPY_RUN'].endswith(',{outer}')\n")
        self.assertEqual(self.run_pytest(tests, SAFECOPY_RUN=outer), 0, self.said)

    def test_the_command_is_found_beside_the_library(self):
        shutil.copytree(ROOT / "python", self.folder / "python")
        path = f"{self.folder / 'python'}:{self.folder}"
        self.assertEqual(self.run_pytest(RIGHT, PYTHONPATH=path), 0, self.said)
        self.assertNotIn("unknown: ", self.said)
        (self.folder / "alone").mkdir()
        for library in OUT.glob("lib*.so*"):
            shutil.copy(library, self.folder / "alone")
        self.assertEqual(self.run_pytest(RIGHT, PYTHONPATH=path, LD_PRELOAD=str(
            self.folder / "alone" / "libsafecopy.so")), 4, self.said)
        self.assertIn("the command safecopy, which reads reports, is neither in", self.said)


if __name__ == "__main__":
    unittest.main()
