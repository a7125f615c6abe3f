#!/usr/bin/env python3
"""What cannot be read is unknown: no damage to a report with a hazard makes a clean one of it, in any
format, with whatever is chosen from it, and at the end of a strict run."""

import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import jsonschema

import many_hazards

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT", ROOT / "out"))
COMMAND = OUT / "safecopy"
RACY = OUT / "tests" / "hazard" / "sc101_free_h2d.racy"
FORMATS = ("text", "json", "html", "sarif", "junit", "github", "markdown", "perfetto")
VALID = jsonschema.Draft7Validator(json.loads((ROOT / "report" / "schema.json").read_text()))
SEED, MUTATIONS = 47, 700

RUN = {**many_hazards.run_line(), "version": "0.1.0"}
HAZARD = many_hazards.hazard_line(1, 0, 3, False)
OTHER = {**many_hazards.hazard_line(2, 0, 3, False), "code": "SC102",
         "name": "destination-freed-in-flight"}


def summary(*hazards):
    codes = [hazard["code"] for hazard in hazards]
    return {"type": "summary", "hazards": len(hazards), "observed": len(hazards), "latent": 0,
            "suppressed": 0, "suppressed_by": [], "suppressions_unused": [],
            "suppressions_expired": [], "by_code": {code: codes.count(code) for code in codes},
            "operations": 7, "held_peak_bytes": 0, "held_peak_ns": 0, "taken_early": 0,
            "driver_late": 0, "beside_unjudged": 0,
            "coverage": {"calls": 0, "wrapped": 7, "missed": 0},
            "cupti": {"state": "unused", "version": None, "library": None, "detail": None},
            "options_ignored": [], "exit_status": 0}


CLEAN = [RUN, summary()]
# A hazard of a thread that goes on while the process ends follows the summary, which lacks it.
BEFORE, BEHIND = [RUN, HAZARD, summary(HAZARD)], [RUN, summary(), HAZARD]
KILLED = [RUN, HAZARD]


def as_line(value):
    return json.dumps(value).encode() + b"\n"


def as_report(lines):
    return b"".join(map(as_line, lines))


def without(value, key):
    return {name: inner for name, inner in value.items() if name != key}


class Reports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        folder = cls.folder = pathlib.Path(cls.temporary.name)
        (folder / "supp").write_text("{\nname: n\ncode: SC2*\nreason: r\n}\n")
        (folder / "old").write_bytes(as_report([RUN, OTHER, summary(OTHER)]))
        cls.choices = [[], ["--filter", "code=SC101"], ["--suppressions", folder / "supp"],
                       ["--baseline", folder / "old"]]

    def report(self, *arguments, stdin=b""):
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("GITHUB_STEP_SUMMARY", "XDG_CONFIG_HOME")}
        return subprocess.run([COMMAND, "report", *arguments], input=stdin, capture_output=True,
                              env={**environment, "HOME": "/nonexistent"}, check=False)

    def status(self, data, choice=(), shape="text"):
        return self.report("--format", shape, *choice, "-", stdin=data).returncode


class Gate(Reports):
    def never_clean(self, data, *statuses):
        for choice in self.choices:
            for shape in FORMATS:
                self.assertIn(self.status(data, choice, shape), statuses or (1, 2, 66),
                              (choice, shape, data))

    def test_what_is_whole_is_judged_as_before(self):
        for choice, status in zip(self.choices, (1, 1, 1, 66)):
            for lines in BEFORE, BEHIND, KILLED:
                self.assertEqual(self.status(as_report(lines), choice), status, lines)
            self.assertEqual(self.status(as_report(CLEAN), choice), 0)

    def damaged_lines(self):
        line = as_line(HAZARD)
        yield b'{"type":"haz' + line
        yield line[:200] + b"\n"
        yield line.replace(b'"count"', b'"cou\0nt"')
        yield line.replace(b"SC101", b"SC1\\u000001")
        yield line[:-1] + b"\0\n"
        yield b"\0" * 300 + b"\n"
        yield line.replace(b'"code"', b'"code": "SC201", "code"')
        yield line.replace(b'"count"', b'"suppressed": {"reason": "r"}, "suppressed": {}, "count"')
        yield line.replace(b'"count": 1', b'"count": 9223372036854775808')
        yield line.replace(b'"type": "hazard"', b'"type": "hazbrd"')
        yield line.replace(b'"type": "hazard"', b'"type": ["hazard"]')
        yield line.replace(b'"offset"', b'"offsex"', 1)
        yield line.replace(b'"symbol": "', b'"symbol": 7, "x": "', 1)
        for count in 0, -1, 1.0, "1", None, True:
            yield as_line({**HAZARD, "count": count})
        for key in "type", "code", "name", "certainty", "action", "copy", "event", "count":
            yield as_line(without(HAZARD, key))
            yield as_line({**HAZARD, key: 7 if key != "count" else "1"})
        for key, word in (("code", "SC10"), ("code", "SC101 "), ("code", "sc101"),
                          ("certainty", "obserwed"), ("action", "deferrad")):
            yield as_line({**HAZARD, key: word})
        for side in "copy", "event":
            yield as_line({**HAZARD, side: without(HAZARD[side], "stack")})
            yield as_line({**HAZARD, side: without(HAZARD[side], "api")})
            yield as_line({**HAZARD, side: {**HAZARD[side], "stack": [7]}})

    def test_a_damaged_hazard_is_no_clean_report(self):
        for damaged in self.damaged_lines():
            with self.subTest(damaged):
                self.assertNotEqual(damaged, as_line(HAZARD))
                run, counted, end = (as_line(line) for line in (RUN, summary(HAZARD), summary()))
                self.assertEqual(self.status(run + end + damaged), 2)
                self.assertEqual(self.status(run + damaged + end), 2)
                for choice in self.choices:
                    self.assertEqual(self.status(run + end + damaged, choice), 2)
                    self.assertIn(self.status(run + damaged + counted, choice), (1, 2, 66))
                    self.assertEqual(self.status(run + damaged, choice), 2)

    def test_no_format_makes_a_difference(self):
        self.never_clean(as_report([*CLEAN, {**HAZARD, "count": 0}]), 2)
        self.never_clean(as_report([RUN, summary(HAZARD)]), 1, 2)

    def test_a_damaged_suppression_suppresses_nothing(self):
        for value in True, "because", {}, {"name": "n"}, {"reason": ""}, {"reason": 7}, [], 7:
            data = as_report([*CLEAN, {**HAZARD, "suppressed": value}])
            self.never_clean(data, 1, 66)
            hazard, = json.loads(self.report("--json", "-", stdin=data).stdout)["hazards"]
            self.assertNotIn("suppressed", hazard)

    def test_a_damaged_summary_is_none(self):
        for damage in ({"hazards": None}, {"hazards": -1}, {"hazards": "0"}, {"hazards": 0.0},
                       {"hazards": 1}, {"observed": 1}, {"observed": 1, "latent": -1},
                       {"by_code": {"SC101": 1}}, {"by_code": {"SC101": 0}}, {"by_code": []},
                       {"by_code": {"SC1": 1}, "hazards": 1, "observed": 1}, {"suppressed": -1},
                       {"exit_status": "x"}, {"exit_status": True}, {"exit_status": 0.5}):
            with self.subTest(damage):
                self.assertEqual(self.status(as_report([RUN, {**summary(), **damage}])), 2)
        for key in "hazards", "observed", "latent", "by_code":
            self.assertEqual(self.status(as_report([RUN, without(summary(), key)])), 2)

    def test_a_summary_counts_no_less_than_what_stands_before_it(self):
        data = as_report([RUN, HAZARD, summary()])
        self.assertEqual(self.status(data), 1)
        elsewhere = ["--filter", "code=SC5*"]
        self.assertEqual(self.status(data, elsewhere), 2)
        self.assertEqual(self.status(as_report([RUN, summary(HAZARD), HAZARD, summary()]),
                                     elsewhere), 2)
        for lines in ([*BEFORE, HAZARD], [*BEFORE, summary(HAZARD)], BEHIND,
                      [*CLEAN, HAZARD, summary(HAZARD)]):
            self.assertEqual(self.status(as_report(lines), elsewhere), 0)

    def test_a_line_that_is_gone_is_missed(self):
        """A line comes when a count has doubled, so a summary that counts more has had another."""
        again = many_hazards.hazard_line(3, 0, 3, False)
        for gone in ([RUN, summary(HAZARD)], [RUN, HAZARD, summary(HAZARD, again)],
                     [RUN, HAZARD, summary(HAZARD, OTHER)], [RUN, RUN, *BEFORE, RUN, summary(OTHER)]):
            data = as_report(gone)
            self.assertEqual(self.status(data), 1)
            self.assertEqual(self.status(data, ["--filter", "code=SC5*"]), 2)
            old = self.folder / "knows"
            old.write_bytes(as_report([RUN, HAZARD, summary(HAZARD)]))
            self.assertEqual(self.status(data, ["--baseline", old]), 2)

    def test_a_run_needs_its_line(self):
        for run in b"", as_line(without(RUN, "schema")), as_line({**RUN, "schema": "1"}), b"\0\n":
            self.assertEqual(self.status(run + as_line(summary())), 2)
            self.assertEqual(self.status(run + as_line(HAZARD) + as_line(summary(HAZARD))), 1)

    def test_lines_of_a_later_version_are_passed_over(self):
        """They are promised to be harmless (docs/compatibility.md), and nobody else writes them."""
        weather = {"type": "weather", "bytes": 7}
        for version, status in (("0.1.0", 2), ("0.0.9", 2), ("0.1.1", 0), ("1.0.0", 0), ("x", 2),
                                (None, 2)):
            lines = [{**RUN, "version": version}, weather, summary()]
            run = self.report("-", stdin=as_report(lines))
            self.assertEqual((run.returncode, b"passed over" in run.stderr),
                             (status, status == 2), version)

    def test_a_version_is_three_numbers(self):
        for version in "-1.0.0", "+9.0.0", "9.0", "9.0.0.1", "9..0", " 9.0.0", 9:
            lines = [{**RUN, "version": version}, {"type": "weather", "bytes": 7}, summary()]
            self.assertEqual(self.status(as_report(lines)), 2, version)
            self.assertEqual(self.status(as_report([{**RUN, "version": version}, summary()])), 2)

    def test_a_postmortem_counts_no_more_than_the_summary(self):
        lost = {"type": "postmortem", "error": {}, "call": {}, "hazards": 5, "by_code": {"SC101": 5}}
        for lines in [RUN, lost, summary()], [RUN, summary(), lost]:
            self.assertEqual(self.status(as_report(lines), ["--filter", "code=SC5*"]), 2)
            self.assertIn(self.status(as_report(lines)), (1, 2))
        for damage in {"hazards": -1}, {"hazards": "0"}, {"by_code": []}:
            self.assertEqual(self.status(as_report([RUN, {**lost, "hazards": 0, "by_code": {},
                                                          **damage}, summary()])), 2)
        none = {**lost, "hazards": 0, "by_code": {}}
        self.assertEqual(self.status(as_report([RUN, none, summary()])), 0)

    def test_two_threads_may_write_in_the_other_order(self):
        first, second = (many_hazards.hazard_line(1, repeat, 3, False) for repeat in (0, 1))
        both = {**summary(HAZARD, HAZARD)}
        run = self.report("--json", "-", stdin=as_report([RUN, second, first, both]))
        self.assertEqual(json.loads(run.stdout)["hazards"][0]["count"], 2)
        self.assertEqual(run.stderr, b"")


class Told(Reports):
    """What each format says of line 3, which is damaged, of a run that has ended."""

    def setUp(self):
        self.path = self.folder / "r.jsonl"
        self.path.write_bytes(as_report(CLEAN) + b"\0\n")
        self.missing = self.folder / "none.jsonl"

    def shown(self, shape):
        return self.report("--format", shape, self.path, self.missing).stdout.decode()

    def test_people(self):
        for shape in "text", "html", "markdown":
            shown = self.shown(shape)
            self.assertIn("1 line could not be read: line 3: not JSON", shown)
            self.assertIn("0 places with hazards in what could be read", shown)
            self.assertRegex(shown, "none.jsonl: it could not be read")
            self.assertIn("the file could not be read: No such file or directory", shown)

    def test_json(self):
        run, missing = json.loads(self.shown("json"))["runs"]
        self.assertEqual((run["bad_lines"], run["unread"]), (1, [{"line": 3, "problem": "not JSON"}]))
        self.assertEqual((missing["run"], missing["unreadable"]), (None, "No such file or directory"))

    def test_junit(self):
        suite = xml.etree.ElementTree.fromstring(self.shown("junit")).find("testsuite")
        failing = {case.get("name"): case.find("failure").get("message")
                   for case in suite.findall("testcase") if case.find("failure") is not None}
        self.assertEqual(failing.pop("./train: a line that could not be read"),
                         f"{self.path}: line 3: not JSON")
        self.assertEqual(len(failing), 2)
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("3", "3"))

    def test_junit_names_no_more_lines_than_people_read(self):
        self.path.write_bytes(as_report(CLEAN) + 1000 * b"\0\n")
        suite = xml.etree.ElementTree.fromstring(self.shown("junit")).find("testsuite")
        cases = suite.findall("testcase")
        self.assertEqual(len({case.get("name") for case in cases}), 19)
        self.assertIn(f"{self.path}: 984 more lines could not be read",
                      [case.find("failure").get("message") for case in cases])
        self.assertEqual((len(cases), suite.get("tests"), suite.get("failures")), (19, "19", "19"))

    def test_sarif(self):
        sarif = json.loads(self.shown("sarif"))
        schema = json.loads((ROOT / "tests/unit/formats/sarif-schema-2.1.0.json").read_text())
        jsonschema.validate(sarif, schema, cls=jsonschema.Draft4Validator)
        run, missing = sarif["runs"][0]["invocations"]
        self.assertEqual((run["executionSuccessful"], missing["executionSuccessful"]), (False, False))
        told = run["toolExecutionNotifications"][-1]
        place = told["locations"][0]["physicalLocation"]
        self.assertEqual((told["level"], told["message"]["text"]), ("error", "not JSON"))
        self.assertEqual((place["artifactLocation"]["uri"], place["region"]["startLine"]),
                         (f"file://{self.path}", 3))

    def test_github(self):
        self.assertRegex(self.shown("github"),
                         r"^::error title=[^:]*::\S+r.jsonl: 1 line could not be read: line 3: not JSON"
                         r"\n::error title=[^:]*::\S+none.jsonl: .*No such file or directory\n$")

    def test_a_file_of_which_nothing_can_be_read_is_told_alone(self):
        """A gate that looks at what was written, and not at the status, sees it fail."""
        self.path.write_bytes(bytes(5000))
        out = self.folder / "o.xml"
        run = self.report("--format", "junit", "-o", out, self.path)
        suite = xml.etree.ElementTree.parse(out).getroot().find("testsuite")
        self.assertEqual(run.returncode, 2)
        self.assertGreater(int(suite.get("failures")), 0)


class Mutations(Reports):
    """Random ones, always the same."""

    def mutate(self, chance, data):
        at = chance.randrange(len(data) + 1)
        lines = data.splitlines(keepends=True)
        number = chance.randrange(len(lines))
        kind = chance.randrange(9)
        if kind == 0:
            return data[:at]
        if kind == 1:
            return data[:at] + data[at + chance.randrange(1, 40):]
        if kind == 2:
            return data[:at] + bytes([chance.randrange(256)]) + data[at:]
        if kind == 3:
            return data[:at] + b"\0" + data[at:]
        if kind == 4:
            del lines[number]
            return b"".join(lines)
        if kind == 5:
            return b"".join(lines[:number] + [lines[number]] + lines[number:])
        if kind == 6:
            chance.shuffle(lines)
            return b"".join(lines)
        flipped = bytearray(data)
        flipped[min(at, len(data) - 1)] ^= 1 << chance.randrange(8)
        return bytes(flipped)

    @staticmethod
    def strict(pairs):
        if len(dict(pairs)) != len(pairs):
            raise ValueError("a key twice")
        return dict(pairs)

    @staticmethod
    def is_clean_summary(line):
        return (line["by_code"] == {} and
                all(type(line[key]) is int and line[key] == 0
                    for key in ("hazards", "observed", "latent")))

    def may_be_clean(self, data, choice):
        """By the schema, and not by the command: nothing is left that tells, or told, of a hazard
        that counts."""
        excused = {"--filter": lambda code: code != "SC101",
                   "--suppressions": lambda code: code.startswith("SC2")}
        excuse = excused.get(choice[0] if choice else "", lambda code: False)
        try:
            lines = [json.loads(line, object_pairs_hook=self.strict)
                     for line in data.decode().split("\n") if line]
            kinds = {kind: [line for line in lines if line["type"] == kind]
                     for kind in ("run", "hazard", "summary")}
            return (sum(map(len, kinds.values())) == len(lines) and len(kinds["summary"]) > 0 and
                    lines[0]["type"] == "run" and all(map(VALID.is_valid, kinds["hazard"])) and
                    all(excuse(line["code"]) for line in kinds["hazard"]) and
                    all(map(self.is_clean_summary, kinds["summary"])))
        except (ValueError, KeyError, TypeError):
            return False

    def test_none_makes_a_clean_report(self):
        chance = random.Random(SEED)
        clean = 0
        for number in range(MUTATIONS):
            data = as_report(chance.choice((BEFORE, BEHIND, KILLED)))
            for _ in range(chance.choice((1, 1, 1, 2, 3))):
                data = self.mutate(chance, data) if data else data
            choice, shape = chance.choice(self.choices), chance.choice(FORMATS)
            status = self.status(data, choice, shape)
            self.assertIn(status, (0, 1, 2, 66))
            clean += status == 0
            if status == 0:
                self.assertTrue(self.may_be_clean(data, choice), (number, choice, shape, data))
        self.assertGreater(clean, 0, "the check above has seen nothing")

    def test_a_report_that_is_cut_anywhere(self):
        data = as_report(BEFORE)
        for at in range(0, len(data), 7):
            self.assertNotEqual(self.status(data[:at]), 0, at)
        clean = as_report(CLEAN)
        for at in range(0, len(clean) - 1, 7):
            self.assertEqual(self.status(clean[:at]), 2, at)


@unittest.skipUnless(RACY.exists(), "the twins are not built")
class Run(Reports):
    def strict(self, script, *flags):
        environment = {**{name: value for name, value in os.environ.items()
                          if not name.startswith(("SAFECOPY_", "LD_", "CUDA_"))},
                       "LD_LIBRARY_PATH": str(OUT / "sim"), "SIM_GPU": "late=1"}
        with tempfile.TemporaryDirectory() as folder:
            return subprocess.run([COMMAND, "run", "--strict", "--format", "text", *flags, "sh", "-c",
                                   script], cwd=folder, env=environment, capture_output=True,
                                  text=True, check=False)

    def test_what_cannot_be_read_fails_a_strict_run(self):
        correct = str(RACY).replace(".racy", ".fixed")
        self.assertEqual(self.strict(correct).returncode, 0)
        for damage in (r"printf '\0\n' >>$r", r"printf '{}\n' >>$r", "head -c 3000 /dev/zero >$r",
                       "sed -i 1d $r", "sed -i s/hazards/hazbrds/ $r"):
            run = self.strict(f"{correct}; for r in *.jsonl; do {damage}; done")
            self.assertEqual(run.returncode, 66, (damage, run.stderr))
            self.assertRegex(run.stderr, r"strict: unknown, \S+\.jsonl:.*, and the program ended")
        run = self.strict(f"{RACY}; printf '\\0\\n' >>*.jsonl; true")
        self.assertIn("strict: a process that was started had a hazard and", run.stderr)

    def test_a_report_that_ends_early_fails_a_strict_run(self):
        correct = str(RACY).replace(".racy", ".fixed")
        for cut in "truncate -s -40 $r", "truncate -s 40 $r", "truncate -s 0 $r":
            run = self.strict(f"{correct}; for r in *.jsonl; do {cut}; done")
            self.assertEqual(run.returncode, 66, (cut, run.stderr))
            self.assertRegex(run.stderr, "strict: unknown, .*(: [0-9]+:|not|cut)")
            run = self.strict(f"{correct}; for r in *.jsonl; do {cut}; done; exit 4")
            self.assertEqual(run.returncode, 4)


if __name__ == "__main__":
    unittest.main()
