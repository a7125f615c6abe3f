"""What the Makefile would do (make --dry-run)."""

import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def would_do(*arguments):
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "CPPFLAGS")}
    return subprocess.run(["make", "--dry-run", *arguments], cwd=ROOT,
                          env=environment, stdout=subprocess.PIPE, encoding="utf-8",
                          check=True).stdout


class Makefile(unittest.TestCase):
    def test_uninstall_removes_what_install_has_put_there(self):
        where = ("DESTDIR=/dest", "PREFIX=/usr")
        installed = re.findall(r"^install -m \d+ (?:out/|include/|share/\S+/)?(\S+) (/dest/\S+/)$",
                               would_do("install", *where), re.M)
        self.assertGreaterEqual(len(installed), 2)
        removed = re.findall(r"^rm -f (.*)$", would_do("uninstall", *where), re.M)
        self.assertEqual(removed, [" ".join(folder + name for name, folder in installed)])

    def test_flags_of_the_user_take_none_of_ours_away(self):
        done = would_do("CPPFLAGS=-DOF_THE_USER", "CFLAGS=-O1", "out/obj/track/grid.o")
        compiled = next(line for line in done.splitlines() if " -c track/grid.c " in line)
        for word in ("-I.", "-D_GNU_SOURCE", "-DOF_THE_USER", "-O1"):
            self.assertIn(f" {word} ", compiled)


if __name__ == "__main__":
    unittest.main()
