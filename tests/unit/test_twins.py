#!/usr/bin/env python3
"""What tests/hazard/README.md promises of the twins: folders, names, directives."""

import collections
import pathlib
import re
import sys
import unittest

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(TESTS))

import programs
from hazard_words import CODES

HAZARD = TESTS / "hazard"
README = (HAZARD / "README.md").read_text()
FOLDERS = {
    "free": {"SC101", "SC102", "SC103", "SC104", "SC105"},
    "touch": {"SC201", "SC202", "SC203"},
    "order": {"SC204"},
    "capture": {"SC301", "SC302", "SC303", "SC304", "SC305"},
    "graph": {"SC401", "SC402", "SC403"},
    "device": {"SC501", "SC502"},
    "memory": {"SC601", "SC602", "SC603"},
    "silent": {"none"},
    "wild": set(),
}


def codes_of(source):
    return {text.split()[0] for text in programs.Directives(source).all("expect")}


class Twins(unittest.TestCase):
    def setUp(self):
        self.sources = programs.sources("hazard")
        self.assertTrue(self.sources)

    def test_all_sources_lie_in_known_folders(self):
        every = {path for suffix in ("*.c", "*.cpp") for path in HAZARD.rglob(suffix)}
        self.assertEqual(every - {HAZARD / "twin.c"}, set(self.sources))  # what all share
        self.assertEqual({source.parent.name for source in self.sources}, set(FOLDERS))

    def test_each_code_has_a_folder(self):
        self.assertEqual(set().union(*FOLDERS.values()), {*CODES, "none"})

    def test_base_names_occur_once(self):
        found = collections.Counter(source.stem for source in self.sources)
        self.assertEqual([name for name, count in found.items() if count > 1], [])

    def test_folders_are_of_the_codes_that_are_expected(self):
        for source in self.sources:
            folder, name, codes = source.parent.name, source.stem, codes_of(source)
            with self.subTest(source=f"{folder}/{name}"):
                if folder == "wild":
                    self.assertRegex(name, r"^row\d\d_")
                elif folder != "order" or not name.startswith("order_"):
                    self.assertTrue(codes & FOLDERS[folder], codes)
                self.assertTrue("none" not in codes or folder in ("silent", "wild"), codes)

    def test_what_is_observed_is_held_by_no_kernel_of_a_fixed_time(self):
        for source in self.sources:
            if any("observed" in text for text in programs.Directives(source).all("expect")):
                with self.subTest(source=source.name):
                    self.assertNotIn("spinning_kernel.h", source.read_text(encoding="utf-8"))

    def test_names_have_a_code_that_is_expected(self):
        for source in self.sources:
            named = re.match(r"(?:graph_)?sc(\d{3})_", source.stem)
            with self.subTest(source=source.name):
                if named:
                    self.assertIn(f"SC{named[1]}", codes_of(source))
                    self.assertIn(f"SC{named[1]}", FOLDERS[source.parent.name])
                if source.stem.startswith("none_"):
                    self.assertEqual(codes_of(source), {"none"})

    def test_first_lines_are_directives(self):
        """A mistyped directive would be prose, and change what is tested without a word."""
        for source in self.sources:
            with self.subTest(source=source.name):
                first = source.read_text(encoding="utf-8").partition("\n//\n")[0].splitlines()
                for line in first:
                    match = programs.Directives.LINE.match(line)
                    self.assertTrue(match and match[1] in programs.DIRECTIVES, line)


class Readme(unittest.TestCase):
    def test_has_an_example_of_every_directive(self):
        self.assertIn("expect", programs.DIRECTIVES)
        examples = set(re.findall(r"`// ([a-z-]+): [^`]+`", README))
        self.assertEqual(examples, programs.DIRECTIVES)

    def test_has_every_folder_and_every_header(self):
        for folder in FOLDERS:
            self.assertIn(f"| {folder}/ |", README)
        for header in HAZARD.glob("*.h"):
            self.assertIn(f"`{header.name}`", README)


class WildBugs(unittest.TestCase):
    """docs/wild-bugs.md has a row for each program of wild/, with its number and its codes."""

    def test_each_program_has_its_row(self):
        page = (TESTS.parent / "docs" / "wild-bugs.md").read_text(encoding="utf-8")
        rows = {match[2]: (int(match[1]), set(re.findall(r"\[(SC\d+)\]", match[3])) or {"none"})
                for match in re.finditer(r"^\| (\d+) \| .*? \| `(row\w+)` \| (.*?) \|", page, re.M)}
        programs_of_rows = {source.stem: (int(source.stem[3:5]), codes_of(source))
                            for source in (HAZARD / "wild").glob("row*.c*")}
        self.assertEqual(rows, programs_of_rows)


if __name__ == "__main__":
    unittest.main()
