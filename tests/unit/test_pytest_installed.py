#!/usr/bin/env python3
"""The pytest plugin as a wheel installs it: pytest loads it in every run, by its entry point, and
may be told to by -p as well."""

import unittest

import pytest_session
from pytest_session import HAS_XDIST, PLUGIN, RIGHT, WRONG

WAYS = {"by itself": {"plugins": ()}, "by -p": {"plugins": PLUGIN},
        "by a variable": {"plugins": (), "PYTEST_PLUGINS": "libsafecopy.pytest_plugin"}}


class Installed(pytest_session.Session):
    def setUp(self):
        super().setUp()
        self.install()

    def each_way(self):
        for name, way in WAYS.items():
            with self.subTest(name):
                yield way

    def expect_verdicts(self, *arguments):
        for way in self.each_way():
            self.assertEqual(self.run_pytest(WRONG + RIGHT, *arguments, **way), 1, self.said)
            self.assertIn("\nFAILED test_it.py::test_wrong", self.said)
            self.assertIn("\nhazards in 1 test\n", self.said)
            self.assertIn("1 failed, 1 passed", self.said)

    def test_it_judges_however_it_is_loaded(self):
        self.expect_verdicts("--safecopy=fail")
        self.expect_verdicts()

    @unittest.skipUnless(HAS_XDIST, "no xdist here")
    def test_workers_load_it_as_well(self):
        self.expect_verdicts("--safecopy=fail", "-n2")

    def test_a_test_may_fork(self):
        tests = ("import os\ndef fork(do):\n    import cuda\n    child = os.fork()\n"
                 "    if child == 0:\n        getattr(cuda, do)()\n        os._exit(0)\n"
                 "    assert os.waitpid(child, 0)[1] == 0\n"
                 "def test_wrong():\n    fork('wrong')\ndef test_right():\n    fork('right')\n")
        for way in self.each_way():
            self.assertEqual(self.run_pytest(tests, **way), 1, self.said)
            self.assertIn("\nFAILED test_it.py::test_wrong", self.said)
            self.assertIn("1 failed, 1 passed", self.said)
            self.assertNotIn("unknown: ", self.said)

    def test_it_needs_no_loading_of_others(self):
        status = self.run_pytest(WRONG, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
        self.assertEqual(status, 1, self.said)
        self.assertIn("\nhazards in 1 test\n", self.said)

    def test_who_asks_for_it_has_to_preload_the_library(self):
        for way in self.each_way():
            for asked in ((), ("--safecopy=fail",)):
                is_asked = asked or way != WAYS["by itself"]
                status = self.run_pytest(RIGHT, *asked, preload=False, **way)
                self.assertEqual(status, 4 if is_asked else 0, self.said)
                self.assertEqual("is not preloaded" in self.said, bool(is_asked), self.said)

    def test_who_does_not_ask_is_left_alone(self):
        tests = ("from os import environ\ndef test_nothing():\n"
                 "    assert not environ['SAFECOPY_OPTIONS'] and 'SAFECOPY_RUN' not in environ\n")
        self.assertEqual(self.run_pytest(tests, preload=False, plugins=()), 0, self.said)
        self.assertNotIn(" safecopy ==", self.said)

    def test_it_can_be_left_out(self):
        left_out = ("-p", "no:libsafecopy.pytest_plugin")
        self.assertEqual(self.run_pytest(WRONG, plugins=left_out), 0, self.said)
        self.assertNotIn("hazards in", self.said)

    def test_off_reports_nothing(self):
        tests = WRONG + ("def test_child():\n    import subprocess, sys\n    subprocess.run("
                         "[sys.executable, '-c', 'import cuda; cuda.wrong()'], check=True)\n")
        def run(*arguments, **way):
            status = self.run_pytest(tests, "--safecopy=off", *arguments, options="strict=1", **way)
            self.assertEqual(status, 0, self.said)
            self.assertEqual(self.complaints, "")
            self.assertNotIn("SC105", self.said)
            self.assertEqual(list(self.folder.glob("**/*.jsonl*")), [])

        for way in self.each_way():
            run(**way)
        if HAS_XDIST:
            run("-n1")


if __name__ == "__main__":
    unittest.main()
