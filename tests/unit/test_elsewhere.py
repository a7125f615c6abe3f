"""The tests run wherever the tree lies (tests/elsewhere.py)."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TWIN = "sc101_free_h2d"


def copy(tree, *names):
    for name in names:
        target = tree / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target)


def plant(tree):
    """As much of the tree as one twin needs."""
    copy(tree, "report/schema.json", "out/libsafecopy.so", f"tests/hazard/free/{TWIN}.c",
         *(f"out/tests/hazard/{TWIN}.{build}" for build in ("racy", "fixed")),
         *(str(path.relative_to(ROOT)) for path in (ROOT / "tests").glob("*.py")))
    shutil.copytree(ROOT / "out" / "sim", tree / "out" / "sim", symlinks=True,
                    ignore=shutil.ignore_patterns("driver-*"))


class Elsewhere(unittest.TestCase):
    def check(self, parent, name):
        if not os.access(parent, os.W_OK):
            self.skipTest(f"no {parent} to write to here")
        with tempfile.TemporaryDirectory(prefix="safecopy-", dir=parent) as folder:
            tree = pathlib.Path(folder) / name
            plant(tree)
            environment = {key: value for key, value in os.environ.items()
                           if key not in ("SHARD", "LIST", "TIMES", "EVERYWHERE")}
            run = subprocess.run([sys.executable, tree / "tests" / "run.py", "twins"], cwd="/",
                                 env={**environment, "ONLY": f"{TWIN}/*"}, check=False,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertIn("4 passed, 0 failed", run.stdout)

    def test_below_var_tmp(self):
        self.check("/var/tmp", "tree")

    def test_below_dev_shm(self):
        self.check("/dev/shm", "tree")

    def test_a_path_that_the_loader_cannot_name(self):
        self.check(tempfile.gettempdir(), "a tree: of $ORIGIN; and more")

    def test_letters_of_any_script(self):
        self.check(tempfile.gettempdir(), "Bäume-木-дерево")


if __name__ == "__main__":
    unittest.main()
