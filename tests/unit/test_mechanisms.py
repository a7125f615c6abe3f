#!/usr/bin/env python3
"""By which mechanism pages are kept off: what guard= asks for, under seccomp filters as well, what the
summary and each format say of it, and what `safecopy doctor` foresees."""

import errno
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from seccomp_filters import KILLS, REFUSES, filters

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import programs  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT", ROOT / "out"))
SAFECOPY = str(OUT / "safecopy")
RACY = str(OUT / "tests" / "hazard" / "sc202_word.racy")
ENVIRONMENT = {**{name: value for name, value in os.environ.items()
                  if not name.startswith(("SAFECOPY_", "LD_", "CUDA_"))},
               "LD_LIBRARY_PATH": str((OUT / "sim").resolve()), "SIM_GPU": "late=1"}
FORMATS = ("text", "markdown", "html", "junit", "sarif")
USERFAULTFD, NOBODY = 323, 65534
X86 = os.uname().machine == "x86_64"


def has_swap():
    memory = pathlib.Path("/proc/meminfo").read_text(encoding="ascii")
    return int(re.search(r"^SwapTotal: *(\d+)", memory, re.M)[1]) > 0


def refuse(error):
    return filters(USERFAULTFD, REFUSES | error)


class Mechanisms(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name).resolve()
        self.folder.chmod(0o777)
        self.count = 0

    def run_with(self, options, put_on=None, as_nobody=False):
        """The run's stderr, and the summary of its report."""
        self.count += 1
        self.report = self.folder / f"{self.count}.jsonl"

        def prepare():
            if as_nobody and os.getuid() == 0:
                os.setresuid(NOBODY, NOBODY, NOBODY)
            if put_on:
                put_on()
        ran = subprocess.run([RACY], capture_output=True, text=True, check=False, cwd=self.folder,
                             preexec_fn=prepare, timeout=300,
                             env={**ENVIRONMENT, "LD_PRELOAD": str(OUT.resolve() / "libsafecopy.so"),
                                  "SAFECOPY_OPTIONS": f"{options}:report_path={self.report}"})
        self.assertEqual((ran.returncode, ran.stdout), (0, "data right\n"), ran.stderr)
        lines = [json.loads(line) for line in self.report.read_text(encoding="utf-8").splitlines()]
        self.assertIsNone(programs.schema_problem(lines))
        self.summary = lines[-1]
        self.assertEqual(self.summary["by_code"], {"SC202": 1})
        return ran.stderr

    def guard(self):
        guard = dict(self.summary["guard"])
        return guard["mprotect"] > 0, guard["userfaultfd"] > 0, guard["userfaultfd_state"]

    def shown(self, kind):
        """The report in that format; json has the summary's line itself."""
        ran = subprocess.run([SAFECOPY, "report", "--format", kind, self.report], check=False, text=True,
                             capture_output=True)
        self.assertEqual((ran.returncode, ran.stderr), (1, ""))
        return ran.stdout

    def each_format_says(self, words):
        for kind in FORMATS:
            self.assertIn(words, self.shown(kind), kind)
        run, = json.loads(self.shown("json"))["runs"]
        self.assertEqual(run["summary"]["guard"], self.summary["guard"])

    def has_userfaultfd(self):
        self.run_with("guard=uffd")
        return self.guard()[2] == "opened"

    def test_the_library_chooses_and_each_is_forced(self):
        chosen = "opened" if self.has_userfaultfd() and not has_swap() else "unasked"
        stderr = self.run_with("guard=on")
        self.assertEqual(self.guard()[2], chosen)
        self.assertNotIn("guarded:", stderr + self.shown("text"))
        stderr = self.run_with("guard=mprotect")
        self.assertEqual(self.guard(), (True, False, "unasked"))
        said = f"guarded: {self.summary['guard']['mprotect']} range"
        self.assertIn(said, stderr)
        self.each_format_says(said)
        stderr = self.run_with("guard=mprotect:verbosity=2")
        self.assertIn("  guarded: ", stderr)
        self.assertIn(" by mprotect, 0 by userfaultfd\n", stderr)

    def test_userfaultfd(self):
        if not self.has_userfaultfd():
            self.skipTest("no userfaultfd here")
        said = re.search(r"  (guarded: \d+ ranges? by mprotect, [1-9]\d* by userfaultfd)\n",
                         self.run_with("guard=uffd"))
        self.assertTrue(said)
        self.each_format_says(said[1])

    @unittest.skipUnless(X86, "numbers of system calls are x86-64's")
    def test_filters(self):
        if not self.has_userfaultfd():
            self.skipTest("no userfaultfd here")
        for put_on, state, words in ((refuse(errno.EPERM), "filtered", "refuses it"),
                                     (refuse(errno.ENOSYS), "filtered", "refuses it"),
                                     (filters(USERFAULTFD, KILLS), "killed", "kills for it")):
            stderr = self.run_with("guard=uffd", put_on, as_nobody=True)
            if self.guard()[2] == "opened":
                self.skipTest("everybody may open /dev/userfaultfd here")
            self.assertEqual(self.guard(), (True, False, state))
            lines = [line for line in stderr.splitlines() if line.startswith("safecopy: guard=uffd")]
            self.assertEqual(len(lines), 1, stderr)
            self.assertIn(words, lines[0])
            self.assertIn("Remedy: ", lines[0])
            self.assertIn(f"no userfaultfd: a seccomp filter {words}", self.shown("text"))
            stderr = self.run_with("guard=uffd:verbosity=0", put_on, as_nobody=True)
            self.assertEqual(stderr, "")
            stderr = self.run_with("guard=on", put_on, as_nobody=True)
            self.assertEqual(self.guard(), (True, False, "unasked"))
            self.assertNotIn("Remedy: ", stderr)

    @unittest.skipUnless(X86 and os.getuid() == 0 and os.path.exists("/dev/userfaultfd"),
                         "wants root, and /dev/userfaultfd")
    def test_the_file_serves_where_the_call_is_refused(self):
        if not self.has_userfaultfd():
            self.skipTest("no userfaultfd here")
        self.run_with("guard=uffd", refuse(errno.EPERM))
        self.assertEqual(self.guard()[1:], (True, "opened"))


@unittest.skipUnless(shutil.which("strace"), "no strace here")
class SystemCalls(unittest.TestCase):
    """Of the rounds of a program that uploads, downloads and waits, once each a round."""
    ROUNDS = 3000

    def count(self, options):
        with tempfile.TemporaryDirectory() as folder:
            table = pathlib.Path(folder) / "table"
            ran = subprocess.run(
                ["strace", "-f", "-c", "-o", table, "-E", f"LD_PRELOAD={OUT.resolve()}/libsafecopy.so", "-E",
                 f"SAFECOPY_OPTIONS={options}:report_path=none", OUT / "tests/survival/budget_late_race"],
                capture_output=True, text=True, check=False, timeout=600, env=ENVIRONMENT)
            if ran.returncode != 0 and "ptrace" in ran.stderr.lower():
                self.skipTest("nothing may be traced here")
            self.assertEqual((ran.returncode, ran.stdout), (0, "clean to here\nnothing\n"), ran.stderr)
            rows = [line.split() for line in table.read_text(encoding="utf-8").splitlines()]
            return {row[-1]: int(row[3]) for row in rows if len(row) >= 5 and row[3].isdigit()}

    def test_mprotect(self):
        """The two copies of a round are kept off and let go by a call each, and that is all."""
        calls = self.count("guard=mprotect:snapshot_max=32K")
        self.assertGreaterEqual(calls["mprotect"], 4 * self.ROUNDS)
        self.assertLess(calls["mprotect"], 4.2 * self.ROUNDS)
        self.assertLess(calls["rt_sigaction"], self.ROUNDS / 4)

    def test_userfaultfd(self):
        calls = self.count("guard=uffd:snapshot_max=32K")
        if calls["mprotect"] >= 4 * self.ROUNDS:
            self.skipTest("no userfaultfd here")
        for name in ("mprotect", "rt_sigaction"):
            self.assertLess(calls.get(name, 0), self.ROUNDS / 4, name)


class Doctor(unittest.TestCase):
    def find(self, options="", put_on=None, as_nobody=False):
        """The finding of the section, which text and json say alike."""
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o777)

            def prepare():
                if as_nobody and os.getuid() == 0:
                    os.setresuid(NOBODY, NOBODY, NOBODY)
                if put_on:
                    put_on()

            def ask(kind):
                return subprocess.run(
                    [SAFECOPY, "doctor", "--format", kind], capture_output=True, text=True, check=False,
                    cwd=folder, preexec_fn=prepare, timeout=300,
                    env={**ENVIRONMENT, "TMPDIR": folder,
                         "SAFECOPY_OPTIONS": f"{options}:report_path=none"}).stdout
            found, = [one for one in json.loads(ask("json"))["findings"] if one["section"] == "guard"]
            text = ask("text")
            self.assertIn(f"guard\n  {found['level']:7}  {found['text']}\n", text)
            self.assertIn(f"remedy: {found['remedy']}\n" if found["remedy"] else "", text)
        self.assertNotEqual(found["level"], "problem")
        return found

    def test_what_is_asked_for(self):
        if self.find("guard=uffd")["id"] != "guard-userfaultfd":
            self.skipTest("no userfaultfd, or no huge pages here")
        self.assertEqual(self.find()["id"],
                         "guard-could-be-userfaultfd" if has_swap() else "guard-userfaultfd")
        self.assertEqual(self.find("guard=mprotect")["id"], "guard-mprotect")
        self.assertEqual(self.find("guard=off")["id"], "guard-off")
        self.assertEqual(self.find("guard=uffd:pinned=driver")["id"], "guard-nothing-served")
        self.assertEqual(self.find("guard=uffd:mode=report")["id"], "guard-userfaultfd")

    @unittest.skipUnless(X86, "numbers of system calls are x86-64's")
    def test_filters(self):
        if self.find("guard=uffd")["id"] != "guard-userfaultfd":
            self.skipTest("no userfaultfd, or no huge pages here")
        for put_on, words, remedy in ((refuse(errno.EPERM), "refuses", "--device /dev/userfaultfd"),
                                      (refuse(errno.ENOSYS), "refuses", "seccomp=FILE"),
                                      (filters(USERFAULTFD, KILLS), "kills", "SystemCallFilter=")):
            for options, name in (("guard=uffd", "guard-no-userfaultfd"),
                                  ("guard=on", "guard-mprotect-alone")):
                found = self.find(options, put_on, as_nobody=True)
                if found["id"] in ("guard-userfaultfd", "guard-could-be-userfaultfd"):
                    self.skipTest("everybody may open /dev/userfaultfd here")
                self.assertEqual((found["id"], found["level"]), (name, "note"))
                self.assertIn(f"a seccomp filter {words}", found["text"])
                self.assertIn(remedy, found["remedy"])


if __name__ == "__main__":
    unittest.main()
