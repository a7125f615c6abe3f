#!/usr/bin/env python3
"""The codes and words of common/hazard.def are those of the docs and of report/schema.json."""

import json
import pathlib
import re
import unittest

from hazard_words import CODES, rows

ROOT = pathlib.Path(__file__).resolve().parents[2]
HAZARDS = (ROOT / "docs" / "hazards.md").read_text(encoding="utf-8")
REPORT = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
SCHEMA = json.loads((ROOT / "report" / "schema.json").read_text(encoding="utf-8"))


def words(macro):
    return [word for _, word in rows(macro)]


class Words(unittest.TestCase):
    def test_the_page_of_hazards_has_each_code_in_its_tables_and_a_section(self):
        self.assertGreaterEqual(len(CODES), 16)
        table = re.findall(r"^\| \[(SC\d+)\]\(#sc\d+\) \| ([a-z-]+) \|", HAZARDS, re.M)
        self.assertEqual(table, rows("SC_HAZARD"))
        self.assertEqual(re.findall(r"^## (SC\d+)$", HAZARDS, re.M), CODES)

    def test_the_readme_has_each_code_and_links_its_section(self):
        table = re.findall(r"^\| \[(SC\d+)\]\(docs/hazards.md#(sc\d+)\) \| ([a-z-]+) \|", README, re.M)
        self.assertEqual(table, [(code, code.lower(), name) for code, name in rows("SC_HAZARD")])

    def test_the_schema_allows_these_words_and_no_others(self):
        hazard = SCHEMA["definitions"]["hazard"]["properties"]
        self.assertEqual(hazard["action"]["enum"], words("SC_ACTION"))
        self.assertEqual(hazard["buffer"]["properties"]["kind"]["enum"], words("SC_BUFFER_KIND"))
        self.assertEqual(hazard["copy"]["properties"]["direction"]["enum"], words("SC_DIRECTION"))
        for code, name in rows("SC_HAZARD"):
            self.assertRegex(code, hazard["code"]["pattern"])
            self.assertRegex(name, hazard["name"]["pattern"])

    def test_the_page_of_the_report_has_each_word(self):
        for word in words("SC_ACTION") + words("SC_BUFFER_KIND") + words("SC_DIRECTION"):
            self.assertIn(f"`{word}`", REPORT)


if __name__ == "__main__":
    unittest.main()
