#!/usr/bin/env python3
"""What a run with a hazard ends with, and what it says: suppressions, a misspelt strict,
halt_on_error. The program is a twin on the simulated GPU."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests"))

import programs
import watched_opens

OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT", ROOT / "out"))
MACHINE = programs.Machine(OUT.relative_to(ROOT) if OUT.is_relative_to(ROOT) else OUT)
RACY = MACHINE.twins / "sc101_free_h2d.racy"

ENTRY = "{{\n  name: {0}\n  code: {1}\n  reason: {0}, because\n  {2}\n}}\n"
FITS = ENTRY.format("fits", "SC101", "copy: ... fun:main\n  event: obj:*sc101_free_h2d.racy")
UNFIT = (ENTRY.format("code", "SC102", "") + ENTRY.format("stack", "*", "event: fun:elsewhere") +
         ENTRY.format("source", "*", "copy: ... src:*"))
EXPIRED = ENTRY.format("expired", "*", "expires: 2020-02-29")


SCRIPT = """
import ctypes
cudart = ctypes.CDLL("libcudart.so.13")
host, device = ctypes.c_void_p(), ctypes.c_void_p()
size = ctypes.c_size_t(65536)

class Loader:
    def step(self):
        cudart.cudaMemcpyAsync(device, host, size, 1, None)

assert cudart.cudaMallocHost(ctypes.byref(host), size) == 0
assert cudart.cudaMalloc(ctypes.byref(device), size) == 0
Loader().step()
cudart.cudaFreeHost(host)
"""


class Gate(unittest.TestCase):
    def run_script(self, suppressions):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            (path / "script.py").write_text(SCRIPT)
            (path / "s.supp").write_text(suppressions)
            environment = MACHINE.environment(
                programs.Directives.none(), True,
                f"strict=1:verbosity=2:report_path=none:suppressions={path / 's.supp'}")
            run = MACHINE.run([sys.executable, path / "script.py"], environment, 60)
            self.said = run.stderr.decode()
            return run.status

    def run_twin(self, options, suppressions=None):
        with tempfile.TemporaryDirectory() as folder, programs.Report() as report:
            if suppressions is not None:
                path = pathlib.Path(folder) / "s.supp"
                path.write_text(suppressions)
                options += f":suppressions={path}"
            run = programs.launch(MACHINE, RACY, programs.Directives.none(), preload=True,
                                  options=f"{report.option}:{options}")
            self.said = run.stderr.decode()
            self.lines = [json.loads(line) for line in report.path.read_text().splitlines()]
            self.assertIsNone(programs.schema_problem(self.lines))
            return run.status

    def hazards(self):
        return [line for line in self.lines if line["type"] == "hazard"]

    def test_a_suppressed_hazard_passes_the_gate(self):
        self.assertEqual(self.run_twin("strict=1:halt_on_error=1", EXPIRED + FITS + UNFIT), 0)
        self.assertEqual(self.hazards(), [])
        summary = self.lines[-1]
        self.assertEqual((summary["hazards"], summary["suppressed"]), (0, 1))
        self.assertEqual(summary["suppressed_by"],
                         [{"name": "fits", "reason": "fits, because", "count": 1}])
        self.assertEqual(summary["suppressions_unused"], ["code", "stack", "source"])
        self.assertEqual(summary["suppressions_expired"], ["expired"])
        self.assertIn("no hazards in 1 operation, 1 suppressed, 1 operation not watched\n", self.said)
        self.assertIn("suppressions that have expired: expired\n", self.said)
        self.assertIn("suppressions not used: code, stack, source\n", self.said)

    def test_what_is_not_used_is_named_where_all_else_is_suppressed(self):
        self.assertEqual(self.run_twin("strict=1", FITS + UNFIT), 0)
        self.assertIn("suppressions not used: code, stack, source\n", self.said)
        self.assertIn("strict: passed", self.said)
        self.assertEqual(self.run_twin("strict=1", FITS), 0)
        self.assertEqual(self.said, "")

    def test_it_is_silent_without_strict(self):
        self.assertEqual(self.run_twin("", EXPIRED + FITS), 0)
        self.assertEqual(self.said, "")

    def test_what_does_not_fit_suppresses_nothing(self):
        self.assertEqual(self.run_twin("strict=1", EXPIRED + UNFIT), 66)
        self.assertEqual(len(self.hazards()), 1)
        self.assertEqual(self.lines[-1]["suppressed"], 0)

    def test_the_entries_that_ship_are_good_and_suppress_nothing_else(self):
        ship = ROOT / "share" / "safecopy" / "suppressions" / "libraries.supp"
        self.assertEqual(self.run_twin(f"strict=1:suppressions={ship}"), 66)
        self.assertNotIn("libraries.supp:", self.said)
        self.assertEqual(self.lines[-1]["suppressions_unused"], re.findall(
            r"^  name:\s+(\S+)$", ship.read_text(), re.M))

    def test_a_malformed_file_fails_a_strict_run(self):
        text = "{\n  name: bad\n  code: SC9\n}\n" + FITS
        self.assertEqual(self.run_twin("strict=1", text), 66)
        self.assertRegex(self.said, r"s\.supp:3:9: there is no hazard 'SC9'.*the entry is left out")
        self.assertIn("the run fails when it ends", self.said)
        self.assertEqual(self.lines[-1]["suppressed"], 1)
        self.assertEqual(self.run_twin("", text), 0)

    def test_a_file_that_cannot_be_read_fails_a_strict_run(self):
        for path, why in (("/nowhere.supp", "No such file"), ("/", "not a file"),
                          ("/dev/zero", "not a file")):
            self.assertEqual(self.run_twin(f"strict=1:suppressions={path}"), 66)
            self.assertRegex(self.said, f"no hazard is suppressed: {path}: {why}")

    def test_a_fifo_or_a_device_is_not_even_opened(self):
        with tempfile.TemporaryDirectory() as folder:
            fifo = pathlib.Path(folder) / "fifo"
            os.mkfifo(fifo)
            with watched_opens.Watch(fifo) as watch:
                self.assertEqual(self.run_twin(f"strict=1:suppressions={fifo}"), 66)
                self.assertEqual(watch.count(), 0)
            self.assertIn(f"{fifo}: not a file", self.said)

    def test_a_misspelt_strict_fails_the_run(self):
        for entry in ("stric=1", "strict=yes"):
            self.assertEqual(self.run_twin(entry), 66)
            self.assertEqual(self.said.count("(the run fails when it ends"), 1)
            self.assertEqual(self.lines[-1]["options_ignored"], [entry])
        self.assertEqual(self.run_twin("stric=0"), 0)

    def test_frames_of_python_match_by_function_and_line(self):
        for copy in ("... py:*/script.py:*step py:*:<module>", "... src:*/script.py:9 ...",
                     "... py:*/script.py:*step src:*/script.py:13"):
            self.assertEqual(self.run_script(ENTRY.format("p", "SC105", f"copy: {copy}")), 0,
                             self.said)
            self.assertIn("1 suppressed", self.said)
        unfit = ENTRY.format("p", "SC105", "copy: ... fun:*step*") + ENTRY.format(
            "q", "SC105", "copy: ... py:*/script.py:*step src:*/script.py:9")
        self.assertEqual(self.run_script(unfit), 66, self.said)

    def test_a_suggestion_suppresses_what_it_is_for(self):
        with programs.Report() as report:
            programs.launch(MACHINE, RACY, programs.Directives.none(), True, report.option)
            said = subprocess.run([OUT / "safecopy", "report", "--suggest-suppressions", report.path],
                                  capture_output=True, text=True)
        self.assertEqual((said.returncode, said.stderr), (1, ""))
        self.assertRegex(said.stdout, r"\{\n  name:    SC101-1\n  code:    SC101\n  reason:  say .*\n"
                                      r"  copy:    \.\.\.\n           fun:main\n(.*\n)+\}\n")
        self.assertEqual(self.run_twin("strict=1", said.stdout), 66)
        self.assertIn("the reason is the one that was suggested: say why", self.said)
        self.assertEqual(self.run_twin("strict=1", self.with_reasons(said.stdout)), 0)
        self.assertEqual(self.lines[-1]["suppressed"], 1)

    def with_reasons(self, suggestions):
        return re.sub(r"(?<=  reason:  )say .*", "a test", suggestions)

    def test_a_suggestion_is_for_the_users_own_frames(self):
        """In the midst of ctypes, which every copy of such a program comes through."""
        with tempfile.TemporaryDirectory() as folder:
            path, made = pathlib.Path(folder), f"exec(compile({SCRIPT!r}, 'made', 'exec'))"
            environment = MACHINE.environment(
                programs.Directives.none(), True, f"verbosity=0:report_path={path}/r.jsonl")
            MACHINE.run([sys.executable, "-c", made], environment, 60)
            said = subprocess.run([OUT / "safecopy", "report", "--suggest-suppressions",
                                   path / "r.jsonl"], capture_output=True, text=True).stdout
            self.assertRegex(said, r"copy:    \.\.\.\n +py:made:(Loader\.)?step\n +py:made:<module>\n"
                                   r"( +\.\.\.\n)? +py:<string>:<module>\n")
            self.assertNotIn("ffi", said)
            (path / "s.supp").write_text(self.with_reasons(said))
            environment = MACHINE.environment(
                programs.Directives.none(), True,
                f"strict=1:report_path=none:suppressions={path / 's.supp'}")
            run = MACHINE.run([sys.executable, "-c", made], environment, 60)
        self.assertEqual(run.status, 0, run.stderr)

    def test_a_halt_says_where(self):
        self.assertEqual(self.run_twin("halt_on_error=1"), -signal.SIGABRT)
        self.assertEqual(len(self.hazards()), 1)
        self.assertRegex(self.said, r"(?s)halt_on_error=1:\n  SC101 .*free at main .*issued at main")


if __name__ == "__main__":
    unittest.main()
