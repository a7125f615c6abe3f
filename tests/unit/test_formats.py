#!/usr/bin/env python3
"""The formats of `safecopy report`, each against its golden output and what may be said of it, and
the flags that choose what is shown. `test_formats.py --write` writes the golden outputs anew."""

import contextlib
import html.parser
import json
import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

import jsonschema

import packages

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT", ROOT / "out"))
COMMAND = OUT / "safecopy"
DATA = pathlib.Path("tests/unit/formats")
SAMPLE = DATA / "sample.jsonl"
ENDINGS = {"text": "txt", "json": "json", "html": "html", "sarif": "sarif", "junit": "xml",
           "github": "github", "markdown": "md", "memory": "memory",
           "collapsed": "collapsed", "collapsed-peak": "peak", "pprof": "pb.gz",
           "prometheus": "prom",
           "perfetto": "pftrace", "otlp-logs": "logs", "otlp-metrics": "metrics"}
BINARY = ("pprof", "perfetto")
HARMFUL = re.compile("[\0-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u200b\u2028-\u202e\u115f\u2060-\u206f\ufeff\U0001d173-\U0001d17a]")
NASTY = ("\x1b[2J\t\r\x7f\x80\x9b\u061c\u202e\u2066\u2028\u200b\ufeff\nSC999 forged\n::error::forged\n"
         "</script></style></pre></title>\"'><img src=x onerror=alert(1)><script>alert(2)</script>"
         "]]>-->`` ```\n```<!--[click](http://evil)|@somebody #1 %0A::error:: &amp; \ufffe\uffff")


def report(*arguments, stdin=None, **environment):
    base = {key: value for key, value in os.environ.items()
            if key not in ("GITHUB_WORKSPACE", "GITHUB_STEP_SUMMARY", "XDG_CONFIG_HOME")}
    return subprocess.run([COMMAND, "report", *arguments], cwd=ROOT, input=stdin, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**base, "HOME": "/nonexistent", "SOURCE_DATE_EPOCH": "1700000000",
                               **environment})


def shown(*arguments, **more):
    return report(*arguments, **more).stdout.decode()


def written(name):
    """What the format makes of the sample, but for the version, the time of the file and of the page
    what is large."""
    bytes_ = report("--format", name, SAMPLE).stdout
    bytes_ = re.sub(rb'("semanticVersion":"|"name":"safecopy","version":")[0-9.]+"', rb'\1VERSION"', bytes_)
    if name == "html":
        bytes_ = re.sub(rb"(<(style|script)>).*?(</\2>)", rb"\1\3", bytes_, flags=re.S)
        bytes_ = re.sub(rb"'sha256-[^']*'", b"'sha256-HASH'", bytes_)
        bytes_ = re.sub(rb'("written":)\d+', rb"\1TIME", bytes_)
    return bytes_


DECIDING = ("type", "kind", "state", "code", "certainty", "by_code", "version")


def spoilt(value, word):
    """Every string of it but those that decide how it is read ends in `word`. The run is of a later
    version, whose words this one need not know."""
    if isinstance(value, dict):
        value = {**value, "version": "99.0.0"} if value.get("type") == "run" else value
        return {key: inner if key in DECIDING else spoilt(inner, word)
                for key, inner in value.items()}
    if isinstance(value, list):
        return [spoilt(inner, word) for inner in value]
    return value + word if isinstance(value, str) else value


def sample_lines():
    return [json.loads(line) for line in (ROOT / SAMPLE).read_text().splitlines()]


def as_counted(lines):
    """With a summary, and a post-mortem, that count what the lines tell of, and no more."""
    hazards = [line for line in lines if line["type"] == "hazard"]
    counts = {"hazards": sum(line["count"] for line in hazards),
              "by_code": {line["code"]: line["count"] for line in hazards}}
    for certainty in ("observed", "latent"):
        counts[certainty] = sum(line["count"] for line in hazards if line["certainty"] == certainty)
    lost = {key: counts[key] for key in ("hazards", "by_code")}
    return [{**line, **counts} if line["type"] == "summary" else
            {**line, **lost} if line["type"] == "postmortem" else line for line in lines]


def as_report(lines):
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


class Tags(html.parser.HTMLParser):
    """The elements of a page, in order, with the names of their attributes; all are closed."""

    EMPTY = {"meta", "link", "input", "br", "line", "circle", "rect", "path"}

    def __init__(self, text):
        super().__init__()
        self.seen, self.open, self.links, self.ids = [], [], [], set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, tuple(name for name, _ in attrs)))
        self.links += [value for name, value in attrs if name in ("href", "src", "action")]
        self.ids |= {"#" + value for name, value in attrs if name == "id"}
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, tuple(name for name, _ in attrs)))


def fields(bytes_):
    """(field, value) of a protobuf message: numbers, and bytes for what is framed."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = bytes_[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value
    while at < len(bytes_):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 1:
            at += 8
            yield key >> 3, int.from_bytes(bytes_[at - 8:at], "little")
        else:
            assert key & 7 == 2, key
            size = varint()
            at += size
            assert at <= len(bytes_)
            yield key >> 3, bytes_[at - size:at]


class Golden(unittest.TestCase):
    def test_each_format_writes_what_it_did(self):
        for name, ending in ENDINGS.items():
            with self.subTest(name):
                wanted = (ROOT / DATA / f"golden.{ending}").read_bytes()
                self.assertEqual(written(name), wanted, "compare, then test_formats.py --write")

    def test_json_has_a_short_name(self):
        self.assertEqual(report("--json", SAMPLE).stdout, written("json"))


class Valid(unittest.TestCase):
    def test_sarif_is_what_the_standard_says(self):
        schema = json.loads((ROOT / DATA / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
        for lines in (sample_lines(), spoilt(sample_lines(), NASTY), sample_lines()[-1:]):
            sarif = json.loads(shown("--format", "sarif", "-", stdin=as_report(lines)))
            jsonschema.validate(sarif, schema, cls=jsonschema.Draft4Validator)

    def test_sarif_has_both_sides_a_fingerprint_and_suppressions(self):
        results = json.loads(written("sarif"))["runs"][0]["results"]
        self.assertEqual(len(results), 4)
        for result in results:
            flows = result["codeFlows"][0]["threadFlows"]
            self.assertEqual({flow["id"] for flow in flows} - {"free"}, {"copy", "event"})
            self.assertRegex(result["partialFingerprints"]["safecopyHazard/v3"], "^[0-9a-f]{32}$")
        self.assertEqual([r["ruleId"] for r in results if "suppressions" in r], ["SC301"])
        place = results[0]["locations"][0]["physicalLocation"]
        self.assertEqual(place["artifactLocation"],
                         {"uri": "tests/unit/formats/train.py", "uriBaseId": "%SRCROOT%"})
        self.assertEqual(place["region"]["startLine"], 8)

    def test_junit_counts_its_cases(self):
        root = xml.etree.ElementTree.fromstring(written("junit"))
        suite = root.find("testsuite")
        cases = suite.findall("testcase")
        self.assertEqual([len(cases), len(suite.findall(".//failure")),
                          len(suite.findall(".//skipped"))], [5, 3, 1])
        for element in (root, suite):
            self.assertEqual((element.get("tests"), element.get("failures")), ("5", "3"))
        self.assertEqual(len({(case.get("classname"), case.get("name")) for case in cases}), 5)

    def test_junit_has_nothing_that_readers_do_not_know(self):
        """Elements and attributes that Ant, Surefire, Jenkins and GitLab all have."""
        known = {"testsuites": {"name", "tests", "failures", "errors"},
                 "testsuite": {"name", "tests", "failures", "errors", "skipped", "time"},
                 "testcase": {"classname", "name", "time"}, "failure": {"type", "message"},
                 "skipped": {"message"}, "system-out": set()}
        for element in xml.etree.ElementTree.fromstring(written("junit")).iter():
            self.assertLessEqual(set(element.keys()), known[element.tag])

    def test_a_run_without_hazards_is_a_test_that_passes(self):
        lines = [line for line in sample_lines() if line["type"] in ("run", "summary")]
        run = report("--format", "junit", "-", stdin=as_report(as_counted(lines)))
        suite = xml.etree.ElementTree.fromstring(run.stdout).find("testsuite")
        self.assertEqual((run.returncode, suite.get("tests"), suite.get("failures")), (0, "1", "0"))

    def test_junit_fails_a_run_whose_hazards_have_no_line(self):
        lines = [line for line in sample_lines() if line["type"] in ("run", "summary")]
        run = report("--format", "junit", "-", stdin=as_report(lines))
        suite = xml.etree.ElementTree.fromstring(run.stdout).find("testsuite")
        self.assertEqual((run.returncode, suite.get("failures"), len(suite.findall(".//failure"))),
                         (1, "1", 1))

    def test_nothing_is_chosen_from_hazards_that_have_no_line(self):
        """To say that all are fixed, or that none matches, would leave a gate open."""
        lines = [line for line in sample_lines() if line["type"] in ("run", "summary")]
        for choice in (["--baseline", SAMPLE], ["--filter", "code=SC101"]):
            run = report(*choice, "-", stdin=as_report(lines))
            self.assertEqual(run.returncode, 2)
            self.assertIn(b"no line tells", run.stderr)

    def test_the_page_needs_nothing_from_elsewhere(self):
        page = shown("--format", "html", SAMPLE)
        tags = Tags(page)
        self.assertEqual(tags.open, [])
        self.assertEqual(tags.links, ["data:,", "#cards"])
        self.assertNotRegex(page, r"(?:https?:|//)[a-z]+\.|@import|url\(")

    def test_the_trace_can_be_taken_apart(self):
        tracks, flows, begun = {}, {}, 0
        for field, packet in fields(written("perfetto")):
            self.assertEqual(field, 1)
            packet = dict(fields(packet))
            if 60 in packet:
                track = dict(fields(packet[60]))
                tracks[track[1]] = track[2].decode()
                continue
            event = list(fields(packet[11]))
            self.assertIn(dict(event)[11], tracks)
            begun += {1: 1, 2: -1, 3: 0, 4: 0}[dict(event)[9]]
            for key, flow in event:
                if key in (47, 48):
                    flows.setdefault(flow, []).append(key)
        self.assertEqual(sorted(set(tracks.values())),
                         ["device 0, in use by all", "memory of device 0", "memory of host",
                          "python train.py --epochs 2 (pid 4711 on node1)", "stream 0x55d0c0",
                          "thread 4711", "thread 4712"])
        self.assertEqual(begun, 0)
        self.assertEqual(set(map(tuple, flows.values())), {(47, 47, 48), (47, 48)})

    def test_slices_that_overlap_are_kept_apart(self):
        lines = sample_lines()
        first = lines[1]
        second = {**first, "copy": {**first["copy"], "stack": [], "seq": 9, "time_ns": 2000000},
                  "event": {**first["event"], "time_ns": 9000000}}
        trace = report("--format", "perfetto", "-", stdin=as_report([lines[0], first, second])).stdout
        names = [dict(fields(dict(fields(packet))[60]))[2] for _, packet in fields(trace)
                 if 60 in dict(fields(packet))]
        self.assertEqual(names.count(b"stream 0x55d0c0"), 2)

    def test_each_process_has_its_own_tracks(self):
        """Two hosts may have one pid, and two ranks the same streams and threads."""
        run, hazard = sample_lines()[:2]
        other = {**hazard, "copy": {**hazard["copy"], "stack": []}}
        trace = report("--format", "perfetto", "-", stdin=as_report(
            [{**run, "rank": "0"}, hazard, {**run, "rank": "1", "host": "node2"}, other])).stdout
        tracks = [dict(fields(dict(fields(packet))[60])) for _, packet in fields(trace)
                  if 60 in dict(fields(packet))]
        parents = {track[1]: track[2] for track in tracks if 5 not in track}
        self.assertEqual(sorted(name.decode() for name in parents.values()),
                         [f"rank {rank}: python train.py --epochs 2 (pid 4711 on node{rank + 1})"
                          for rank in (0, 1)])
        streams = [track[5] for track in tracks if track[2] == b"stream 0x55d0c0"]
        self.assertEqual(sorted(streams), sorted(parents))
        self.assertEqual(len({track[1] for track in tracks}), len(tracks))

    def test_perfetto_reads_the_trace(self):
        try:
            from perfetto.protos.perfetto.trace import perfetto_trace_pb2
        except ImportError:
            self.skipTest(packages.missing("perfetto"))
        trace = perfetto_trace_pb2.Trace()
        trace.ParseFromString(written("perfetto"))
        events = [packet.track_event for packet in trace.packet if packet.HasField("track_event")]
        self.assertIn("SC201 touch", [event.name for event in events])
        self.assertEqual(trace.ByteSize(), len(written("perfetto")))
        counters = {packet.track_descriptor.uuid: packet.track_descriptor.name
                    for packet in trace.packet if packet.track_descriptor.HasField("counter")}
        self.assertIn("memory of device 0", counters.values())
        self.assertIn(1342177280, [event.counter_value for event in events
                                   if event.track_uuid in counters])


class Malice(unittest.TestCase):
    """Names that would steer a terminal, a page, a runner or a reader of XML."""

    @classmethod
    def setUpClass(cls):
        cls.texts = {name: [shown("--format", name, "-", stdin=as_report(spoilt(sample_lines(), word)))
                            for word in ("x", NASTY)] for name in ENDINGS if name not in BINARY}

    def test_no_format_shows_what_a_terminal_obeys(self):
        for name, (plain, nasty) in self.texts.items():
            with self.subTest(name):
                self.assertIn("forged", nasty)
                self.assertIsNone(HARMFUL.search(nasty))
                self.assertEqual(nasty.count("\n"), plain.count("\n"))

    def test_the_page_has_the_same_elements(self):
        plain, nasty = (Tags(text) for text in self.texts["html"])
        self.assertEqual(nasty.seen, plain.seen)
        self.assertEqual(nasty.links, ["data:,", "#cards"])

    def test_junit_has_the_same_elements(self):
        plain, nasty = ([element.tag for element in xml.etree.ElementTree.fromstring(text).iter()]
                        for text in self.texts["junit"])
        self.assertEqual(nasty, plain)

    def test_github_gets_one_command_a_line(self):
        for line in self.texts["github"][1].splitlines():
            match = re.fullmatch(r"::(?:error|notice) (.*?)::(?:.*)", line)
            self.assertIsNotNone(match, line)
            for pair in match[1].split(","):
                self.assertRegex(pair, r"^(file|line|title)=[^:,]*$")

    def test_markdown_has_no_word_of_theirs_outside_of_code(self):
        """Spans are taken away as CommonMark reads them, then lines of code."""
        for text in self.texts["markdown"]:
            text = re.sub(r"^ {4}.*$", "", text, flags=re.M)
            text = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
            for word in ("forged", "evil", "somebody", "<img", "<script", "`"):
                self.assertNotIn(word, text)

    def test_sarif_makes_no_link_of_theirs(self):
        text = self.texts["sarif"][1]
        results = json.loads(text)["runs"][0]["results"]
        for result in results:
            self.assertNotRegex(result["message"]["text"], r"(?<!\\)\[click")


class Bound(unittest.TestCase):
    """GitHub takes no more of an issue, whoever has written the names in the report."""

    WIDE = "\U0001f600"

    def page(self, lines):
        run = report("--format", "markdown", "-", stdin=as_report(lines))
        self.assertLessEqual(len(run.stdout), 60000)
        text = run.stdout.decode()  # no character is cut
        self.assertEqual(text.count("<details>"), text.count("</details>"))
        self.assertEqual(text.count("<details>"), len(re.findall("^### ", text, re.M)))
        self.assertTrue(text.startswith("## ") and text.endswith("\n"))
        return text

    def test_thousands_of_runs_with_long_names_and_notes(self):
        run, *_, end = sample_lines()
        for size, count in ((1, 3000), (199, 300), (200, 300), (201, 300), (5000, 40)):
            named = {**run, "command": [size * self.WIDE], "host": size * "h"}
            noted = {**end, "options_ignored": 30 * [size * self.WIDE]}
            text = self.page(as_counted(count * [named, noted]))
            shown = len(re.findall(r"^    -: ", text, re.M))
            self.assertGreater(shown, 0)
            self.assertIn(f"\n    ... and {count - shown} more runs\n", text)

    def test_hazards_with_long_names(self):
        run, hazard, *_ = sample_lines()
        frames = [{"file": f"{number}/{self.WIDE}", "line": number, "function": 50 * self.WIDE}
                  for number in range(64)]
        hazards = [{**hazard, "label": 60 * self.WIDE, "event": {**hazard["event"], "stack": [
            {"file": f"{number}", "line": 1, "function": "f"}, *frames[:number % 64]]}}
            for number in range(100)]
        text = self.page([{**run, "command": [70000 * self.WIDE]}, *hazards])
        shown = text.count("<details>")
        self.assertGreater(shown, 0)
        self.assertTrue(text.endswith(f"\n{100 - shown} more places are left out here.\n"))

    def test_each_word_alone(self):
        run, hazard, *_ = sample_lines()
        for size in range(14500, 15100, 20):
            word = size * self.WIDE
            for lines in ([{**run, "command": [word]}, hazard], [run, {**hazard, "label": word}],
                          [run, {**hazard, "event": {**hazard["event"], "api": word}}]):
                self.assertRegex(self.page(lines), "</details>|1 more place is left out")

    def test_runs_in_doubt_are_the_first(self):
        run, *_, end = sample_lines()
        clean = as_counted([run, end])
        doubtful = [{**run, "host": "doubtful"}, {"type": "hazard"}]
        self.assertIn("on doubtful)", self.page([*(50 * clean), *doubtful, *(50 * clean)]))


class Files(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)

    def tearDown(self):
        self.temporary.cleanup()

    def fails(self, words, *arguments, **more):
        run = report(*arguments, **more)
        self.assertEqual(run.returncode, 2)
        self.assertIn(words, run.stderr.decode())
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        return run

    def write(self, name, lines):
        path = self.folder / name
        path.write_bytes(as_report(lines))
        return path


class Output(Files):
    def test_a_file_is_written_whole(self):
        path = self.folder / "o.xml"
        path.write_text("old")
        run = report("--format", "junit", "-o", path, SAMPLE)
        self.assertEqual((run.returncode, run.stdout, run.stderr), (1, b"", b""))
        self.assertEqual(path.read_bytes(), written("junit"))
        self.assertEqual(list(self.folder.iterdir()), [path])

    def test_nothing_but_a_file_is_replaced(self):
        link, fifo = self.folder / "link", self.folder / "fifo"
        link.symlink_to(self.folder / "target")
        os.mkfifo(fifo)
        for path, words in [(link, "a symbolic link is there"), (fifo, "is no file"),
                            (self.folder, "a folder is there"),
                            (self.folder / "none" / "o", "No such file")]:
            self.assertEqual(self.fails(words, "-o", path, SAMPLE).stdout, b"")
            self.assertEqual(self.fails(words, "-o", path, "no-report").stderr.count(b"\n"), 1)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["fifo", "link"])

    def test_no_report_is_replaced(self):
        """As the library writes them: without a blank."""
        before = (ROOT / SAMPLE).read_bytes().replace(b'", "', b'","').replace(b'": ', b'":')
        first, second = self.folder / "a.jsonl", self.folder / "b.jsonl"
        for path in first, second:
            path.write_bytes(before)
        self.fails("a report is there. Name another file", "-o", first, second)
        self.fails("a report is there. Name another file", "-o", first, first)
        self.assertEqual(first.read_bytes(), before)
        self.assertEqual(len(list(self.folder.iterdir())), 2)

    def mode_of_output(self, *flags, former=None, mask=0o022):
        path = self.folder / "m.txt"
        path.unlink(missing_ok=True)
        if former is not None:
            path.touch()
            path.chmod(former)
        before = os.umask(mask)
        try:
            run = report("-o", path, *flags, SAMPLE)
        finally:
            os.umask(before)
        self.assertEqual((run.returncode, run.stderr), (1, b""))
        return oct(path.stat().st_mode & 0o7777)

    def test_a_file_is_its_users_own(self):
        """As the report is, from which all that stands in it comes."""
        umask = ["--output-mode", "umask"]
        for flags, mode, mask, wanted in (
                ([], None, 0o022, 0o600), ([], None, 0, 0o600), (["--output-mode=private"], None, 0, 0o600),
                (umask, None, 0o022, 0o644), (umask, None, 0o027, 0o640), (umask, 0o600, 0, 0o666),
                ([], 0o644, 0o022, 0o644), ([], 0o640, 0o022, 0o640), ([], 0o644, 0o077, 0o600),
                ([], 0o400, 0o022, 0o600), ([], 0o4777, 0o022, 0o644), ([], 0o666, 0, 0o666),
                ([], None, 0o777, 0), ([], 0o644, 0o777, 0)):
            with self.subTest(flags=flags, former=mode, mask=oct(mask)):
                self.assertEqual(self.mode_of_output(*flags, former=mode, mask=mask), oct(wanted))

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_what_others_had_is_not_handed_on(self):
        path = self.folder / "m.txt"
        for user, group, wanted in ((1234, 0, 0o600), (0, 1234, 0o604), (0, 0, 0o664)):
            path.touch()
            path.chmod(0o664)
            os.chown(path, user, group)
            before = os.umask(0)
            report("-o", path, SAMPLE)
            os.umask(before)
            self.assertEqual(oct(path.stat().st_mode & 0o7777), oct(wanted))
            path.unlink()

    def test_a_mode_needs_a_file_and_a_word(self):
        self.fails("takes private or umask, and not '0644'", "--output-mode", "0644", "-o",
                   self.folder / "o", SAMPLE)
        for more in [], ["-o", "-"]:
            self.fails("--output-mode umask has nothing to hold for: -o names", "--output-mode",
                       "umask", *more, SAMPLE)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_format_that_is_none_names_the_nearest_and_all(self):
        run = self.fails("did you mean 'sarif'?", "--format", "sarfi", SAMPLE)
        for name in ENDINGS:
            self.assertIn(name, run.stderr.decode())

    def test_github_gets_a_summary_of_the_step(self):
        summary = self.folder / "summary.md"
        summary.write_text("before\n")
        report("--format", "github", SAMPLE, GITHUB_STEP_SUMMARY=str(summary))
        self.assertEqual(summary.read_bytes(), b"before\n" + written("markdown"))

    def test_paths_are_those_of_the_workspace(self):
        self.assertIn("file=train.py,line=8,", shown(
            "--format", "github", "-", GITHUB_WORKSPACE=str(ROOT / DATA),
            stdin=(ROOT / SAMPLE).read_bytes().replace(str(DATA).encode(),
                                                       str(ROOT / DATA).encode())))


class Suppressions(Files):
    def marked(self, *entries, more=()):
        path = self.folder / "supp"
        path.write_text("".join(f"{{\nname: n{i}\nreason: because {i}\n{entry}\n}}\n"
                                for i, entry in enumerate(entries)))
        run = report("--suppressions", path, "--json", *more, SAMPLE)
        self.assertEqual(run.stderr, b"")
        return run.returncode, {hazard["code"]: hazard["suppressed"] for hazard in
                                json.loads(run.stdout)["hazards"] if "suppressed" in hazard
                                and hazard["code"] != "SC301"}

    def test_what_the_file_leaves_out_is_marked_and_does_not_count(self):
        for entry, codes in [
                ("code: SC2*", {"SC201": "because 0"}),
                ("code: *\nevent: ... py:*/train.py:step", {"SC201": "because 0"}),
                ("code: *\nevent: ... src:*/train.py:8", {"SC201": "because 0"}),
                ("code: *\nevent: fun:_RNv*", {"SC101": "because 0"}),
                ("code: *\ncopy: obj:*/bin/train fun:main", {"SC101": "because 0"}),
                ("code: *\ncopy: fun:none", {})]:
            with self.subTest(entry):
                self.assertEqual(self.marked(entry), (1, codes))
        self.assertEqual(self.marked("code: SC1*", "code: *")[0], 0)
        self.assertEqual(self.marked("code: SC201", more=["--filter", "code=SC201"])[0], 0)

    def test_what_is_suppressed_is_not_new(self):
        begin, _, *rest = sample_lines()
        old = self.write("old.jsonl", as_counted([begin, *rest]))
        self.assertEqual(self.marked("code: SC1*", more=["--baseline", old])[0], 66)
        self.assertEqual(self.marked("code: SC201", more=["--baseline", old])[0], 0)

    def test_what_has_expired_is_named(self):
        path = self.folder / "supp"
        entry = "{{\nname: {}\ncode: SC1*\nreason: r\nexpires: {}-01-01\n}}\n"
        path.write_text(entry.format("old", 2020))
        run = report("--suppressions", path, "--json", SAMPLE)
        self.assertEqual([hazard["code"] for hazard in json.loads(run.stdout)["hazards"]
                          if "suppressed" in hazard], ["SC301"])
        self.assertEqual(run.stderr.decode(), f"safecopy: {path}: old has expired: it leaves nothing "
                                              "out\n")

    def test_a_mistake_is_named_with_line_and_column(self):
        path = self.folder / "supp"
        path.write_text("{\nname: a\ncode: SC101\n}\n")
        self.fails(f"{path}:", "--suppressions", path, SAMPLE)
        self.fails("No such file", "--suppressions", self.folder / "none", SAMPLE)


LIBRARIES = "share/safecopy/suppressions/libraries.supp"
ENVIRONMENT = "/opt/venv/lib/python3.12/site-packages"


def native(module):
    return {"module": module, "offset": "0x1040", "symbol": None}


def python(file, function):
    return {"file": file, "line": 7, "function": function}


CUSPARSE = [native("/usr/lib/x86_64-linux-gnu/libcuda.so.1"),
            native(f"{ENVIRONMENT}/nvidia/cusparse/lib/libcusparse.so.12"), native("/home/u/solve")]
PLANNING = [native("/lib/x86_64-linux-gnu/libc.so.6"),
            native("/root/.cache/flashinfer/0.6.3/90a/cached_ops/batch_prefill/batch_prefill.so"),
            native(f"{ENVIRONMENT}/torch/lib/libtorch_python.so"),
            python(f"{ENVIRONMENT}/flashinfer/prefill.py", "BatchPrefillWrapper.plan"),
            python("/home/u/serve.py", "step")]
OWN = [native("/home/u/solve")]


class Libraries(Files):
    """The entries that ship."""

    def leaves_out(self, code, copy, event):
        begin, hazard, *_, end = sample_lines()
        hazard.update(code=code)
        hazard["copy"]["stack"], hazard["event"]["stack"] = copy, event
        path = self.write("r.jsonl", as_counted([begin, hazard, end]))
        run = report("--suppressions", LIBRARIES, path, "--json")
        self.assertEqual(run.stderr, b"")
        return json.loads(run.stdout)["hazards"][0].get("suppressed", "")

    def test_what_they_are_for(self):
        self.assertIn("lupine/pull/631", self.leaves_out("SC202", CUSPARSE, CUSPARSE[1:]))
        self.assertIn("mini-sglang/pull/103", self.leaves_out("SC201", PLANNING, PLANNING))
        before_3_11 = [*PLANNING[:3], python(f"{ENVIRONMENT}/flashinfer/decode.py", "plan")]
        self.assertIn("mini-sglang/pull/103", self.leaves_out("SC201", before_3_11, PLANNING))

    def test_what_the_user_can_mend_is_left(self):
        for code, copy, event in [("SC202", CUSPARSE, OWN), ("SC202", OWN, CUSPARSE),
                                  ("SC201", CUSPARSE, CUSPARSE), ("SC201", PLANNING, PLANNING[-1:]),
                                  ("SC201", PLANNING[-1:], PLANNING), ("SC101", PLANNING, PLANNING)]:
            with self.subTest(code, copy=copy, event=event):
                self.assertEqual(self.leaves_out(code, copy, event), "")

    def test_each_has_a_thread(self):
        text = (ROOT / LIBRARIES).read_text()
        self.assertEqual(text.count("\n{\n"), len(re.findall(
            r"^  reason: .+, https://github\.com/[\w/-]+/\d+$", text, re.M)))


class Progress(Files):
    def test_it_is_shown_on_a_terminal_after_two_seconds(self):
        lead, follow = pty.openpty()
        with subprocess.Popen([COMMAND, "report", "-"], stdin=subprocess.PIPE, stderr=follow,
                              stdout=subprocess.DEVNULL) as child:
            line = as_report(sample_lines()[1:2])
            for _ in range(2):
                child.stdin.write(300 * line)
                child.stdin.flush()
                time.sleep(2.1)
            child.communicate(600 * line)
        os.close(follow)
        said = ""
        with contextlib.suppress(OSError):  # the terminal's other end is closed
            while True:
                said += os.read(lead, 4096).decode()
        os.close(lead)
        self.assertRegex(said, r"^\r\x1b\[Ksafecopy: lines read \d+.*\r\x1b\[K$")


class Filter(Files):
    def codes(self, expression):
        run = report("--filter", expression, "--json", SAMPLE)
        self.assertEqual(run.stderr, b"")
        codes = [hazard["code"] for hazard in json.loads(run.stdout)["hazards"]]
        self.assertEqual(run.returncode, 1 if codes else 0)
        return codes

    def test_terms(self):
        for expression, codes in [
                ("code=SC201", ["SC201"]), ("code=SC?01,!code=SC2*", ["SC401", "SC301", "SC101"]),
                ("certainty=latent", ["SC101"]), ("action=held", ["SC401"]),
                ("file=train.py", ["SC201"]), ("file=*/formats/*", ["SC201"]),
                ("function=train::release", ["SC101"]), ("function=drop_*", ["SC401"]),
                ("module=train", ["SC401", "SC301", "SC101"]), ("label=*test_step", ["SC201"]),
                ("!label=*", []), ("name=*captur*", ["SC301"]), ("code=SC502", []), ("code=SC5*", [])]:
            with self.subTest(expression):
                self.assertEqual(self.codes(expression), codes)

    def test_a_bad_term_is_named_with_its_column(self):
        for expression, words in [
                ("code=SC1*,funktion=a", "column 11: 'funktion=a' names no key; the nearest is function"),
                ("code", "column 1: 'code' is not KEY=PATTERN"),
                ("code=SC1*,,a=b", "column 11: '' is not KEY=PATTERN"),
                ("!=x", "column 1: '!=x' is not KEY=PATTERN"),
                ("code=", "column 1: 'code=' is not KEY=PATTERN"),
                ("certainty=obsrved", "'certainty=obsrved' fits none of observed, latent"),
                ("!action=heald", "fits none of deferred, stalled, snapshotted, "),
                ("label=x,code=SC9*", "column 9: 'code=SC9*' fits none of SC101, "),
                ("name=freed", "'name=freed' fits none of those that")]:
            self.fails(words, "--filter", expression, SAMPLE)

    def test_one_filter_says_all(self):
        """Of two, nobody knows which of both, or one of them, is to hold."""
        self.fails("--filter is there twice", "--filter", "code=SC1*", "--filter", "code=SC2*", SAMPLE)


class Baseline(Files):
    def setUp(self):
        super().setUp()
        self.lines = sample_lines()
        self.old = self.write("old.jsonl", as_counted([self.lines[0], *self.lines[3:]]))

    def compared(self, *arguments):
        run = report("--json", *arguments)
        return run.returncode, {hazard["code"]: hazard["baseline"]
                                for hazard in json.loads(run.stdout)["hazards"]
                                if "suppressed" not in hazard}

    def test_new_ones_fail(self):
        old = {"SC401": "unchanged", "SC101": "unchanged"}
        self.assertEqual(self.compared("--baseline", self.old, SAMPLE),
                         (66, {"SC201": "new", **old}))
        self.assertEqual(self.compared("--baseline", self.old, self.old), (0, old))
        text = shown("--baseline", SAMPLE, self.old)
        self.assertIn("fixed since the baseline: SC201 source-overwritten-in-flight: touch", text)
        self.assertNotIn("new since", text)
        fixed = json.loads(shown("--json", "--baseline", SAMPLE, self.old))["fixed"]
        self.assertEqual([title[:5] for title in fixed], ["SC201"])

    def test_several_and_what_json_wrote(self):
        kept = self.folder / "old.json"
        report("--json", "-o", kept, self.old)
        first = self.write("first.jsonl", as_counted([*self.lines[:2], self.lines[-1]]))
        self.assertEqual(self.compared("--baseline", kept, SAMPLE)[0], 66)
        self.assertEqual(self.compared("--baseline", kept, "--baseline", first, SAMPLE)[0], 0)

    def test_lines_addresses_and_the_frames_of_libraries_do_not_count(self):
        moved = json.loads(json.dumps(self.lines[1]))
        moved["buffer"]["address"] = moved["copy"]["address"] = "0x123000"
        moved["copy"].update(stream="0x77", thread=9, seq=77)
        for side in ("copy", "event"):
            for frame in moved[side]["stack"]:
                if "line" in frame:
                    frame["line"] += 5
            moved[side]["stack"][0]["offset"] = "0x99"
        other = self.write("moved.jsonl", as_counted([self.lines[0], moved, self.lines[-1]]))
        self.assertEqual(self.compared("--baseline", SAMPLE, other), (0, {"SC201": "unchanged"}))
        moved["event"]["stack"][2]["function"] = "another_step"
        other = self.write("moved.jsonl", as_counted([self.lines[0], moved, self.lines[-1]]))
        self.assertEqual(self.compared("--baseline", SAMPLE, other), (66, {"SC201": "new"}))

    def fixed(self, old, new, status):
        """The codes of what is called fixed, in each format that says so; stderr is kept."""
        run = report("--json", "--baseline", old, new)
        self.assertEqual(run.returncode, status, run.stderr)
        self.said = run.stderr.decode()
        titles = json.loads(run.stdout).get("fixed", [])
        for title in titles:
            for name in ("text", "html"):
                self.assertIn(html.escape(title), html.escape(shown(
                    "--format", name, "--baseline", old, new), quote=False))
        if not titles:
            self.assertNotIn("fixed since", shown("--baseline", old, new))
        return [title[:5] for title in titles]

    def test_nothing_is_fixed_where_lines_are_missing(self):
        *lines, end = self.lines
        self.assertEqual(self.fixed(SAMPLE, self.old, 0), ["SC201"])
        self.assertEqual(self.said, "")
        without = [line for line in lines if line.get("code") != "SC201"]
        for name, missing in [
                ("did not end", without), ("a line is lost", [*without, end]),
                ("the run's line is lost", as_counted([*without[1:], end])),
                ("nothing was looked for", as_counted([{**without[0], "unreached": True},
                                                       *without[1:], end]))]:
            with self.subTest(name):
                new = self.write("new.jsonl", missing)
                self.assertEqual(self.fixed(SAMPLE, new, 2), [])
                self.assertIn("nothing is called fixed, and there may be more", self.said)
        cut = self.folder / "cut.jsonl"
        cut.write_bytes(as_report(as_counted([*without, end])) + b"{\"type\":\"haz")
        self.assertEqual(self.fixed(SAMPLE, cut, 2), [])

        new = self.write("new.jsonl", as_counted([*lines[:2], end]))
        kept = self.folder / "kept.json"
        for old, status in ((self.write("unended.jsonl", lines), 0), (cut, 66)):
            report("--json", "-o", kept, old)
            for baseline in (old, kept):
                with self.subTest(baseline=baseline):
                    self.assertEqual(self.fixed(baseline, new, status), [])
                    self.assertIn("what it lacks is called new", self.said)

    def test_what_is_no_baseline_is_said(self):
        nothing = self.folder / "n"
        nothing.write_text("{\"hazards\":[{}]}")
        run = report("--baseline", nothing, SAMPLE)
        self.assertEqual(run.returncode, 2)
        self.assertIn("is not a report, nor what --format json wrote", run.stderr.decode())
        self.assertEqual(run.stdout, b"")


class Frames(Files):
    def lead(self, *frames, **more):
        """The first line below the title of a hazard with this stack."""
        lines = sample_lines()
        lines[1]["event"]["stack"] = [
            {"module": f, "offset": "0x1", "symbol": s} if s else
            {"file": f, "line": 3, "function": "f"} for f, s in frames]
        lines[1]["copy"]["stack"] = []
        del lines[1]["label"]
        text = shown(*more.pop("arguments", ()), "-", stdin=as_report(lines[:2]), **more)
        return text.split(": stalled\n")[1].splitlines()[0].strip()

    def test_the_user_s_frame_leads(self):
        site = "/x/lib/python3.12/site-packages/numpy/core.py"
        for skipped in [(site, None), ("/usr/lib/libfoo.so", "foo"), ("/usr/bin/python3.12", "eval"),
                        ("/opt/conda/bin/python3.13t", "eval"), ("<frozen runpy>", None),
                        ("/usr/lib/python3/dist-packages/numpy/x.py", None),
                        ("/home/a/.pyenv/versions/3.9.1/lib/python3.9/threading.py", None),
                        ("/home/a/b/libtorch_cpu.so", "copy_"), ("/home/a/x", "_ZSt4copyv"),
                        ("/lib64/ld-linux-x86-64.so.2", "r"), ("/x/y/libcudart-2c4a.so.13", "r"),
                        (None, "jit")]:
            with self.subTest(skipped):
                self.assertRegex(self.lead(skipped, ("/home/a/train.py", None)),
                                 r"^/home/a/train\.py:3 in f")

    def test_what_is_the_user_s(self):
        for frame in [("/usr/local/bin/train", "run"), ("/home/a/bin/train", "run"),
                      ("/usr/src/app/train", "run"), ("/home/a/python3-project/train", "run")]:
            with self.subTest(frame):
                self.assertEqual(self.lead(frame, ("/home/a/train.py", None)),
                                 "run (train+0x1): touch")

    def test_the_library_s_frame_that_issued_the_call_follows(self):
        self.assertEqual(self.lead(("/x/libcudart.so.13", "r"), ("/usr/lib/libfoo.so", "foo"),
                                   ("/usr/lib/libbar.so", "bar"), ("/home/a/train.py", None)),
                         "/home/a/train.py:3 in f, in foo (libfoo.so+0x1): touch")

    def test_rules_of_the_user_s_own_come_first(self):
        rules = self.folder / "safecopy" / "frames"
        rules.parent.mkdir()
        rules.write_text("# ours\nlibrary path */vendor/*\r\n\nuser   path /usr/lib/libours*\n"
                         "library function helper*\n")
        stack = [("/home/a/vendor/x", "v"), ("/home/a/x", "helper_f"), ("/usr/lib/libours.so", "ours"),
                 ("/home/a/train.py", None)]
        for more in ({"arguments": ["--frames", rules]}, {"XDG_CONFIG_HOME": str(self.folder)}):
            self.assertEqual(self.lead(*stack, **more), "ours (libours.so+0x1), in v (x+0x1): touch")

    def test_a_bad_rule_is_named_with_line_and_column(self):
        rules = self.folder / "rules"
        for text, where in [("user path /a\nusr path /b\n", ":2:1: "), ("user  pth /b", ":1:7: "),
                            ("user path", ":1:10: ")]:
            rules.write_text(text)
            self.fails(where + "a rule is", "--frames", rules, SAMPLE)
        self.fails("No such file", "--frames", self.folder / "none", SAMPLE)


class Pythons(Files):
    def test_a_frame_without_a_line(self):
        lines = sample_lines()
        lines[1]["event"]["stack"] = [{"file": "/home/a/t.py", "line": None, "function": "A.step"}]
        text = shown("-", stdin=as_report(lines[:2]))
        self.assertIn("    /home/a/t.py in A.step: touch\n", text)
        self.assertIn("      #0 A.step /home/a/t.py\n", text)


class Names(Files):
    def test_rust_and_cplusplus_are_readable(self):
        text = shown(SAMPLE)
        for name in ("train::release (", "core::ptr::drop_in_place (", "train::Upload::Upload() ("):
            self.assertIn(name, text)
        self.assertNotRegex(text, "_RNv|_ZN|17h0123")

    def test_functions_that_were_inlined_are_unfolded(self):
        source, program = self.folder / "p.c", self.folder / "p"
        source.write_text(
            "#include <stdio.h>\n"
            "static inline __attribute__((always_inline)) void *inner(void)\n{\n"
            "    return __builtin_return_address(0);\n}\n"
            "int target(int);\n"
            "static inline __attribute__((always_inline)) int caller(int x)\n{\n"
            "    return target(x) + 1;\n}\n"
            "void *here;\n"
            "__attribute__((noinline)) int target(int x)\n{\n    here = inner();\n    return x;\n}\n"
            "int main(int argc, char **argv)\n{\n    (void)argv;\n"
            "    int x = caller(argc);\n    extern char __executable_start;\n"
            "    printf(\"%#lx\", (unsigned long)((char *)here - &__executable_start));\n"
            "    return x == 99;\n}\n")
        subprocess.run(["cc", "-g", "-O1", "-o", program, source], check=True)
        offset = subprocess.run([program], stdout=subprocess.PIPE, check=True).stdout.decode()
        lines = sample_lines()
        lines[1]["event"]["stack"] = [{"module": str(program), "offset": offset, "symbol": None}]
        run = report("-", stdin=as_report(lines[:2]))
        if b"without libdw" in run.stderr:
            self.skipTest("no libdw here")
        self.assertIn(f"#0 caller (inlined) at {source}:9\n", run.stdout.decode())
        self.assertIn(f"#1 main ({program}+{offset}) at {source}:20\n", run.stdout.decode())
        as_json = json.loads(shown("--json", "-", stdin=as_report(lines[:2])))
        self.assertEqual(as_json["hazards"][0]["event"]["stack"], [
            {"module": str(program), "offset": offset, "symbol": "main",
             "places": [{"function": "caller", "file": str(source), "line": 9},
                        {"function": "main", "file": str(source), "line": 20}]}])


def write():
    for name, ending in ENDINGS.items():
        (ROOT / DATA / f"golden.{ending}").write_bytes(written(name))


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        write()
    else:
        unittest.main()
