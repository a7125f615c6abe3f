#!/usr/bin/env python3
"""Reports of two hosts on a file system of NFS (tests/on_nfs.py), in a machine that qemu makes: a minute
of one processor, and 200 MB that are fetched once. Skipped where the machine cannot be had."""

import pathlib
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77


class Nfs(unittest.TestCase):
    def test_reports_of_two_hosts(self):
        run = subprocess.run([ROOT / "scripts" / "other-kernel", "bookworm", "nfs"], check=False,
                             capture_output=True, text=True, errors="replace", timeout=540)
        if run.returncode == SKIPPED:
            self.skipTest(run.stdout.strip().splitlines()[-1])
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)


if __name__ == "__main__":
    unittest.main()
