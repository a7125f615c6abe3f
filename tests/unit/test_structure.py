"""The house stays as it was drawn: what scripts/structure and scripts/way-of-a-copy measure."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT") or ROOT / "out")


def said(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True,
                          timeout=600).stdout


class Structure(unittest.TestCase):
    def test_each_figure_of_a_limit_is_printed(self):
        """But those of includes, which scripts/rebuilds prints."""
        printed = said("scripts/structure")
        for line in (ROOT / "scripts" / "limits").read_text().splitlines():
            if line.startswith("at ") and " sources that " not in line:
                self.assertRegex(printed, rf"(?m)^{re.escape(line.split(' ', 3)[3])}: \d+$")

    def test_wrong_revision_is_named(self):
        run = subprocess.run(["scripts/structure", "no-such-commit"], cwd=ROOT,
                             capture_output=True, text=True)
        self.assertEqual(run.returncode, 2)
        self.assertIn("no-such-commit names no commit", run.stderr)


has_valgrind = unittest.skipUnless(shutil.which("valgrind") and OUT == ROOT / "out",
                                   "needs valgrind, and the plain build")


@has_valgrind
class WayOfACopy(unittest.TestCase):
    def test_files_of_a_copy(self):
        """A thread of the library's that comes between, on a busy machine, makes a copy go further."""
        def count():
            text = said("scripts/way-of-a-copy")
            self.assertIn("sc_track_issue_simple_copy", text)
            return int(re.search(r"(\d+) files", text)[1])
        self.assertTrue(any(count() <= 17 for _ in range(3)))


@has_valgrind
class ModeOff(unittest.TestCase):
    """Instructions of a call of the driver by its exported symbol."""
    FEW, MANY = 1000, 3000

    def count(self, calls, **more):
        program = OUT / "tests" / "survival" / "off_driver"
        run = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program,
                              str(calls)], capture_output=True, text=True, check=True, timeout=600,
                             env={**os.environ, "LD_LIBRARY_PATH": str(OUT / "sim"), **more})
        return int(re.search(r"Collected : (\d+)", run.stderr)[1])

    def of_a_call(self, **more):
        return (self.count(self.MANY, **more) - self.count(self.FEW, **more)) / (self.MANY - self.FEW)

    def test_the_drivers_own_function_is_called(self):
        """The simulated driver takes and gives a mutex, which costs some twenty in hooks; a wrapper
        would cost a hundred and eighty."""
        library = str((OUT / "libsafecopy.so").resolve())
        plain = self.of_a_call()
        off = self.of_a_call(LD_PRELOAD=library, SAFECOPY_OPTIONS="mode=off")
        self.assertLess(off - plain, 40)


if __name__ == "__main__":
    unittest.main()
