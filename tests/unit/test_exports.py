"""Every hook is exported, and every export is a hook: interpose/entry/exports.map has no other check.
A hook that the map forgets is not called by anybody, and nothing else says so."""

import fnmatch
import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT") or ROOT / "out")
MAP = ROOT / "interpose" / "entry" / "exports.map"


def symbols(path, *options):
    """Functions defined there that other objects may see."""
    said = subprocess.run(["readelf", "-W", *options, path], capture_output=True, text=True,
                          check=True).stdout
    rows = (line.split() for line in said.splitlines())
    return {row[7].split("@")[0] for row in rows
            if len(row) > 7 and row[3] == "FUNC" and row[4] in ("GLOBAL", "WEAK")
            and row[5] == "DEFAULT" and row[6] != "UND"}


def named_in_map():
    text = MAP.read_text()
    return re.findall(r"[\w*]+(?=;)", text.split("global:")[1].split("local:")[0])


class Exports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.hooks = set()
        for object_file in (OUT / "obj" / "interpose").glob("*/*.o"):
            source = ROOT / "interpose" / object_file.parent.name / f"{object_file.stem}.c"
            if source.exists():  # not what is left of a file that has moved
                cls.hooks |= symbols(object_file, "-s")
        cls.exported = symbols(OUT / "libsafecopy.so", "--dyn-syms")

    def test_there_are_hooks(self):
        self.assertIn("free", self.hooks)
        self.assertIn("cuMemcpyAsync", self.hooks)

    def test_every_hook_is_exported(self):
        self.assertEqual(self.hooks - self.exported, set())

    def test_static_tls_leaves_room(self):
        """glibc has 1,664 bytes for what is loaded later, by CUDA_INJECTION64_PATH as well, and the
        program's other libraries want theirs."""
        said = subprocess.run(["readelf", "-lW", OUT / "libsafecopy.so"], capture_output=True,
                              text=True, check=True).stdout
        sizes = [int(line.split()[5], 16) for line in said.splitlines()
                 if line.split()[:1] == ["TLS"]]
        self.assertEqual([size for size in sizes if size > 1232], [])
        self.assertEqual(len(sizes), 1)

    def test_every_name_in_the_map_is_a_hook(self):
        without = [name for name in named_in_map() if not fnmatch.filter(self.hooks, name)]
        self.assertEqual(without, [])


if __name__ == "__main__":
    unittest.main()
