"""The version is written once, in include/safecopy.h, and everything says the same."""

import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT") or ROOT / "out")
VERSION = subprocess.run([ROOT / "scripts" / "version"], check=True, capture_output=True,
                         text=True).stdout.strip()
PRINTS = """
#include <stdio.h>
#include "include/safecopy.h"
int main(void) { printf("%d %s\\n", SAFECOPY_VERSION, SAFECOPY_VERSION_STRING); }
"""


class Version(unittest.TestCase):
    def test_the_header_has_it_as_a_number_and_as_text(self):
        program = OUT / "tests" / "print_version"
        program.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cc", "-xc", "-", f"-I{ROOT}", "-o", program, "-ldl"], input=PRINTS,
                       text=True, check=True)
        number, text = subprocess.run([program], check=True, capture_output=True,
                                      text=True).stdout.split()
        self.assertEqual(text, VERSION)
        major, minor, patch = map(int, VERSION.split("."))
        self.assertEqual(int(number), 10000 * major + 100 * minor + patch)

    def test_the_command_says_it(self):
        said = subprocess.run([OUT / "safecopy", "--version"], check=True, capture_output=True,
                              text=True).stdout
        self.assertEqual(said, f"safecopy {VERSION}\n")

    def test_the_changelog_begins_with_it(self):
        text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
        latest = re.search(r"^## (\S+)", text, re.M)
        self.assertEqual(latest[1], VERSION)

    def test_the_recipes_name_it(self):
        named = {found for page in sorted((ROOT / "docs").glob("*.md"))
                 for found in re.findall(r"libsafecopy-(\d[\w.]*?)[-.](?:linux|tar|py3)",
                                         page.read_text(encoding="utf-8"))}
        self.assertEqual(named, {VERSION})


if __name__ == "__main__":
    unittest.main()
