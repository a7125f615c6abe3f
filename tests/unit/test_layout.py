#!/usr/bin/env python3
"""The library as it is linked has the functions of interpose/entry/layout side by side."""

import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARY, SCRIPT = ROOT / "out" / "libsafecopy.so", ROOT / "out" / "obj" / "library.ld"
NAMED = re.compile(r"\*/\w+\.o\(\.text\.(\w+) \.text\.\1\.\*\)")
PAGE_BYTES, PAGES_MAX = 4096, 24


def functions():
    """{name: (address, bytes)} of the library's functions that have names of their own."""
    said = subprocess.run(["nm", "-S", "--defined-only", LIBRARY], check=True, capture_output=True,
                          text=True).stdout
    found = {}
    for fields in map(str.split, said.splitlines()):
        if len(fields) == 4 and fields[2] in "tT":
            name = fields[3].partition("@")[0]
            found[name] = None if name in found else (int(fields[0], 16), int(fields[1], 16))
    return {name: place for name, place in found.items() if place}


@unittest.skipUnless(SCRIPT.exists() and SCRIPT.stat().st_size, "the linker has no script to add to")
class Layout(unittest.TestCase):
    def setUp(self):
        self.named = NAMED.findall((ROOT / "interpose" / "entry" / "layout").read_text("utf-8"))
        self.functions = functions()

    def test_lies_on_few_pages(self):
        places = [self.functions[name] for name in self.named if name in self.functions]
        pages = {page for address, size in places
                 for page in range(address // PAGE_BYTES, (address + size) // PAGE_BYTES + 1)}
        self.assertLessEqual(len(pages), PAGES_MAX)

    def test_most_names_are_functions(self):
        """A compiler may put some into their callers."""
        known = [name for name in self.named if name in self.functions]
        self.assertGreater(len(known), len(self.named) * 3 // 4)


if __name__ == "__main__":
    unittest.main()
