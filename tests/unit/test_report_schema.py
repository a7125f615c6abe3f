#!/usr/bin/env python3
"""Holds what the report writer wrote against report/schema.json."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import jsonschema

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import programs  # noqa: E402
import schema  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT", ROOT / "out"))
WRITER = OUT / "tests" / "unit" / "test_report"


class Schema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.schema = json.loads((ROOT / "report" / "schema.json").read_text(encoding="utf-8"))
        cls.folder = tempfile.TemporaryDirectory()
        path = pathlib.Path(cls.folder.name) / "r.jsonl"
        nasty = [b"\xff\xfe", b"quote\"back\\slash", "é€😀".encode(), b"two\nlines", b""]
        environment = {**os.environ, "RANK": "3"}
        subprocess.run([WRITER, "--write", path, *nasty], check=True, env=environment,
                       stderr=subprocess.DEVNULL)
        cls.bytes = path.read_bytes()
        cls.lines = [json.loads(line) for line in cls.bytes.splitlines()]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def accepts(self, line):
        return jsonschema.Draft7Validator(self.schema).is_valid(line)

    def test_the_schema_is_one(self):
        jsonschema.Draft7Validator.check_schema(self.schema)

    def test_every_line_is_valid(self):
        valid = jsonschema.Draft7Validator(self.schema)
        for line in self.lines:
            valid.validate(line)

    def test_the_lines_come_in_order(self):
        kinds = [line["type"] for line in self.lines]
        self.assertEqual(kinds[0], "run")
        self.assertEqual(kinds[-2:], ["summary", "summary"])
        self.assertEqual(set(kinds[1:-3]), {"hazard"})
        self.assertEqual(kinds[-3], "timing")

    def test_the_file_is_utf8_and_ends_in_a_newline(self):
        self.bytes.decode("utf-8")
        self.assertTrue(self.bytes.endswith(b"}\n"))

    def test_arguments_survive(self):
        self.assertEqual(self.lines[0]["command"][3:],
                         ["\\xff\\xfe", 'quote"back\\slash', "é€😀", "two\nlines", ""])

    def test_the_run_is_described(self):
        run = self.lines[0]
        self.assertEqual(run["rank"], "3")
        self.assertEqual(run["options"]["strict"], "0")
        self.assertEqual(run["modules"][0]["path"], str(WRITER.resolve()))
        self.assertTrue(run["modules"][0]["build_id"])

    def test_the_summary_adds_up(self):
        summary = self.lines[-1]
        self.assertEqual(sum(summary["by_code"].values()),
                         summary["hazards"] + summary["advisories"])
        self.assertEqual(summary["observed"] + summary["latent"], summary["hazards"])
        self.assertEqual(summary["options_ignored"], ["stirct=1", "bad=\\xff\n"])

    def test_frames_name_functions_or_offsets(self):
        for line in self.lines[1:-3]:
            frame = line["event"]["stack"][0]
            self.assertEqual(frame["module"], str(WRITER.resolve()))
            self.assertGreater(int(frame["offset"], 16), 0)

    def test_a_changed_line_is_refused(self):
        for line in self.lines:
            for key in line.keys() - {"advisory", "advisories", "memory_limits"}:  # as it comes
                self.assertFalse(self.accepts({k: v for k, v in line.items() if k != key}), key)
            self.assertFalse(self.accepts({**line, "extra": 1}))

    def test_the_runner_says_what_jsonschema_says(self):
        """What tests/schema.py makes of the schema is what the runner holds lines against."""
        answers, valid = {True: 0, False: 0}, jsonschema.Draft7Validator(self.schema)
        for line in {line["type"]: line for line in self.lines}.values():
            for changed in self.changed(line):
                self.assertEqual(programs.FITS(changed), valid.is_valid(changed), changed)
                answers[programs.FITS(changed)] += 1
        self.assertGreater(min(answers.values()), 100)

    def test_each_keyword_means_what_it_means_to_jsonschema(self):
        small = [{"type": name} for name in schema.TYPES] + [
            {"type": ["integer", "null"]}, {"const": 1}, {"enum": ["ab", False]}, {"minimum": 1},
            {"pattern": "^a"}, {"minLength": 2}, {"minItems": 2}, {"maxItems": 1},
            {"items": {"type": "string"}}, {"required": ["a"]}, {"properties": {"a": {"minimum": 1}}},
            {"properties": {"a": True}, "additionalProperties": False},
            {"additionalProperties": {"type": "string"}}, {"propertyNames": {"pattern": "a"}},
            {"oneOf": [{"minimum": 1}, {"type": "integer"}]},
            {"$ref": "#/definitions/it", "definitions": {"it": {"type": "null"}}}]
        self.assertEqual({word for one in small for word in one} | schema.REMARKS,
                         {*schema.Schema.RULES, "$ref", "additionalProperties"} | schema.REMARKS)
        values = [None, True, False, 0, 1, 1.0, 1.5, -1, "", "a", "ab", "ba", [], ["a"], [1, "a"],
                  ["a", "b", "c"], {}, {"a": 1}, {"a": 0}, {"b": "a"}, {"a": "a", "ba": 1}]
        for one in small:
            fits, valid = schema.Schema(one).fits, jsonschema.Draft7Validator(one)
            for value in values:
                self.assertEqual(fits(value), valid.is_valid(value), (one, value))
        with self.assertRaises(KeyError):
            schema.Schema({"format": "date"})

    def test_the_runner_says_why_a_line_is_not_valid(self):
        line = {**self.lines[0], "pid": "x"}
        self.assertEqual(programs.schema_problem([self.lines[0], line]),
                         "line 2: $.pid: 'x' is not of type 'integer'")
        self.assertIsNone(programs.schema_problem(self.lines))

    def changed(self, value):
        """The value with one part of it changed or left out, in each way that there is."""
        yield from (other for other in (value, True, 1, 7, "x", "another", "0x1f", "0x2e", "H2D")
                    if not isinstance(value, (dict, list)))
        if isinstance(value, dict):
            yield value
            yield {**value, "extra": 1}
            for key, part in value.items():
                yield {name: kept for name, kept in value.items() if name != key}
                yield from ({**value, key: other} for other in self.changed(part))
        if isinstance(value, list):
            yield from (value, value[1:], value + value)
            for place, part in enumerate(value[:1]):
                yield from (value[:place] + [other] + value[place + 1:] for other in self.changed(part))


if __name__ == "__main__":
    unittest.main()
