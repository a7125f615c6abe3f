#!/usr/bin/env python3
"""scripts/consoles: what the docs show of a console is what is printed, on the simulated GPU."""

import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "consoles"


def consoles(*arguments):
    return subprocess.run([SCRIPT, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          encoding="utf-8", check=False)


class Consoles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.page = pathlib.Path(folder.name) / "page.md"

    @unittest.skipIf(os.environ.get("SAFECOPY_BUILT_IN", "").startswith("/dev/"),
                     "what was built below /dev shows no source")
    def test_the_docs_show_what_is_printed(self):
        run = consoles()
        self.assertEqual((run.returncode, run.stdout), (0, ""))

    def test_what_is_printed_no_more_is_named_and_mended(self):
        right = "before\n```console\n$ A=3\n$ echo $A; pwd >&2\n3\n~/libsafecopy\n```\nafter\n"
        self.page.write_text(right.replace("\n3\n", "\n4\n"))
        run = consoles(self.page)
        self.assertEqual(run.returncode, 1)
        self.assertIn("\n-4\n+3\n", run.stdout)
        self.assertEqual(consoles("--fix", self.page).returncode, 0)
        self.assertEqual(self.page.read_text(), right)
        self.assertEqual(consoles(self.page).returncode, 0)

    def test_addresses_ids_and_lines_may_differ(self):
        self.page.write_text("```console\n$ echo 'a (pid 7 on box) at 0x12, b.c:9'\n"
                             "a (pid 8 on host) at 0x99, b.c:10\n```\n")
        self.assertEqual(consoles(self.page).returncode, 0)

    def test_numbers_of_a_run_are_written_as_of_any_other(self):
        """The same number is the same within its block, and a command stays as it is."""
        lines = ("$ echo 'at f+0x12 0xa' \"(pid $$)\"", "at f+0x1000 0x7f0000000000 (pid 1001 on host)",
                 "$ echo '0xb 0xa' \"pid $PPID\"", "0x7f0000001000 0x7f0000000000 pid 1002", "```",
                 "```console", "$ echo \"thread $PPID, pid $PPID\"", "thread 2001, pid 1001")
        right = "\n".join(("```console", *lines, "```", ""))
        self.page.write_text(right.replace("pid 1002", "pid 77").replace("f+0x1000", "f+0x12"))
        self.assertEqual(consoles(self.page).returncode, 0)
        self.assertEqual(consoles("--fix", self.page).returncode, 0)
        self.assertEqual(self.page.read_text(), right)

    def test_a_block_of_a_machine_is_run_for_fix_alone(self):
        self.page.write_text("```console machine\n$ echo 1\n2\n```\n```console\n$ echo 3\n3\n```\n")
        self.assertEqual(consoles(self.page).returncode, 0)
        consoles("--fix", self.page)
        self.assertIn("$ echo 1\n1\n```\n```console\n$ echo 3\n3\n", self.page.read_text())

    def test_an_unknown_flag_is_refused(self):
        self.assertEqual(consoles("--mend").returncode, 2)


if __name__ == "__main__":
    unittest.main()
