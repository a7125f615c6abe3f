#!/usr/bin/env python3
"""python/libsafecopy: what a program asks and tells by it, and `python -m libsafecopy`. The programs run
on the simulated GPU, by ctypes."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT") or ROOT / "out")
VERSION = subprocess.run([ROOT / "scripts" / "version"], check=True, capture_output=True,
                         text=True).stdout.strip()

BEGIN = '''
import ctypes
import libsafecopy

cudart = ctypes.CDLL("libcudart.so.13")
SIZE = ctypes.c_size_t(65536)


def wrong():
    address, device, stream = (ctypes.c_void_p() for _ in range(3))
    cudart.cudaStreamCreate(ctypes.byref(stream))
    cudart.cudaMalloc(ctypes.byref(device), SIZE)
    cudart.cudaMallocHost(ctypes.byref(address), SIZE)
    cudart.cudaMemcpyAsync(device, address, SIZE, 1, stream)
    cudart.cudaFreeHost(address)
'''


def started(*words, **environment):
    ours = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "python"), "PYTHONDONTWRITEBYTECODE": "1",
            "LD_LIBRARY_PATH": str(OUT / "sim"), **environment}
    return subprocess.run(words, env=ours, capture_output=True, text=True, timeout=300)


def module(*words, **environment):
    return started(sys.executable, "-m", "libsafecopy", *words, **environment)


class Interface(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.report = pathlib.Path(folder.name) / "report.jsonl"

    def told(self, program, **environment):
        """What the program prints, as JSON, under the library."""
        ran = module("run", "--report", str(self.report), "--", sys.executable, "-c",
                     BEGIN + "import json\n" + program, **environment)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return json.loads(ran.stdout)

    def labels(self):
        lines = map(json.loads, self.report.read_text().splitlines())
        return [line.get("label") for line in lines if line["type"] == "hazard"]

    def test_hazards_are_counted(self):
        before, after, counts, watching = self.told(
            "a = libsafecopy.hazards(); wrong()\n"
            "print(json.dumps([a, libsafecopy.hazards(), libsafecopy.counts(), libsafecopy.is_watching()]))")
        self.assertEqual((before, after, counts["hazards"]), (0, 1, 1))
        self.assertIs(watching, True)

    def test_a_label_holds_until_the_next_or_for_a_block(self):
        self.told("libsafecopy.label('step 3'); wrong()\n"
                  "with libsafecopy.label('inner'):\n    wrong()\n"
                  "wrong(); libsafecopy.set_label(None); wrong()\nprint('null')")
        self.assertEqual(self.labels(), ["step 3", "inner", "step 3", None])

    def test_a_label_may_be_any_text_whatever_the_locale_is(self):
        self.told("for text in '\\u65e5\\u672c', '\\udcff', '\\ud800':\n"
                  "    libsafecopy.label(text); wrong()\nprint('null')",
                  LC_ALL="POSIX", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")
        self.assertEqual(self.labels(), ["\u65e5\u672c", "\\xff", "\\ud800"])

    def test_the_label_of_the_environment_comes_back(self):
        self.assertEqual(
            started(sys.executable, "-c", "import libsafecopy\nwith libsafecopy.label('x') as l:\n"
                    "    pass\nprint(libsafecopy.label._now)", SAFECOPY_LABEL="outer").stdout, "outer\n")

    def test_ignored_hazards_are_no_hazards(self):
        self.assertEqual(self.told("with libsafecopy.ignore('known'):\n    wrong()\n"
                                   "print(json.dumps(libsafecopy.counts()))")["suppressed"], 1)

    def test_without_the_library_nothing_happens(self):
        ran = started(sys.executable, "-c", BEGIN +
                      "libsafecopy.label('x'); wrong(); libsafecopy.dump(); libsafecopy.release()\n"
                      "print(libsafecopy.hazards(), libsafecopy.version(), repr(libsafecopy.report_path()))")
        self.assertEqual((ran.stdout, ran.returncode), ("0 0 ''\n", 0), ran.stderr)

    def test_all_that_is_public_is_there(self):
        ran = started(sys.executable, "-c", "from libsafecopy import *; print(label, __version__)")
        self.assertIn(VERSION, ran.stdout, ran.stderr)


class Module(unittest.TestCase):
    def test_versions_agree(self):
        self.assertEqual(module("--version").stdout, f"safecopy {VERSION}\n")
        self.assertEqual(started(sys.executable, "-c", "import libsafecopy as l; print(l.__version__)").stdout,
                         f"{VERSION}\n")

    def test_paths_are_printed(self):
        self.assertEqual(module("--lib").stdout.strip(), str(ROOT / "out" / "libsafecopy.so"))
        self.assertEqual(module("--include").stdout.strip(), str(ROOT / "include"))

    def test_the_status_is_the_programs(self):
        self.assertEqual(module("run", "--", "sh", "-c", "exit 7").returncode, 7)

    def test_a_bad_flag_is_the_commands_to_refuse(self):
        ran = module("--nonsense")
        self.assertEqual(ran.returncode, 2)
        self.assertIn("nonsense", ran.stderr)

    def test_the_program_is_started_as_by_the_command_itself(self):
        """Python ignores SIGPIPE, and sets LC_CTYPE in a locale without UTF-8."""
        asks = ["run", "--", "sh", "-c", "grep SigIgn /proc/self/status; env | grep -v -e ^_= -e ^PWD | sort"]
        by_command = started(OUT / "safecopy", *asks, LC_ALL="C", ODD="a=b\nc")
        self.assertEqual(module(*asks, LC_ALL="C", ODD="a=b\nc").stdout, by_command.stdout)
        by_command = started(OUT / "safecopy", *asks)
        self.assertEqual(module(*asks).stdout, by_command.stdout)


if __name__ == "__main__":
    unittest.main()
