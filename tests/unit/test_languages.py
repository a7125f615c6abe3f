"""The languages of tests/languages.py, and what scripts/setup installs for them."""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

import languages  # noqa: E402


class Languages(unittest.TestCase):
    def test_setup_installs_what_a_skipped_language_is_said_to_lack(self):
        setup = (ROOT / "scripts" / "setup").read_text()
        installed = dict(pair.rsplit(":", 1) for words in re.findall(
            r"languages=\((.*?)\)", setup, re.S) for pair in words.split())
        for language in languages.LANGUAGES:
            for package in language.package.split():
                self.assertIn(package, installed.values())
            for tool in set(language.tools) - {"cc"}:
                self.assertIn(pathlib.Path(tool).name,
                              {pathlib.Path(each).name for each in [*installed, "java"]})

    def test_what_is_not_here_is_skipped_by_name(self):
        absent = languages.Language("other", "other-package", "no-such-tool", "", None)
        (name, check), = absent.checks(None)
        self.assertEqual(name, "other")
        with self.assertRaisesRegex(languages.Skip, "no no-such-tool here .*other-package"):
            check()

    def test_each_case_is_explained(self):
        explained = set(re.findall(r"^    (\w+)  +\w", languages.__doc__, re.M))
        cases = {case for language in languages.LANGUAGES
                 for case in (*language.right, *language.dies, *languages.WRONG)}
        self.assertEqual(cases, explained)


if __name__ == "__main__":
    unittest.main()
