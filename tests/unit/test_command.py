#!/usr/bin/env python3
"""The command `safecopy`: run, report, and what they say when something is wrong."""

import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

import many_hazards
from hazard_words import CODES

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT", ROOT / "out"))
WRITER = OUT / "tests" / "unit" / "test_report"
# What a terminal obeys, and a line that nobody has written.
NASTY = ("\x1b[2J\t\r\x7f\x80\x9b\x9d\u061c\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069"
         "\nSC999 forged")
HARMFUL = re.compile("[\0-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u200b\u2028-\u202e\u115f\u2060-\u206f\ufeff\U0001d173-\U0001d17a]")
SHOW = "import os; print(os.environ['LD_PRELOAD']); print(os.environ.get('SAFECOPY_OPTIONS'))"


class Command(unittest.TestCase):
    """A copy of the command, beside a library that does nothing, so that `run` is tested alone."""

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name).resolve()
        (cls.folder / "bin").mkdir()
        (cls.folder / "lib").mkdir()
        cls.command = cls.folder / "bin" / "safecopy"
        cls.library = cls.folder / "bin" / "libsafecopy.so"
        shutil.copy(OUT / "safecopy", cls.command)
        subprocess.run(["cc", "-shared", "-x", "c", "/dev/null", "-o", cls.library], check=True)
        cls.report = cls.folder / "r.jsonl"
        subprocess.run([WRITER, "--write", cls.report], check=True, stderr=subprocess.DEVNULL)
        cls.lines = cls.report.read_text(encoding="utf-8").splitlines(keepends=True)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def start(self, *arguments, options=None, preload=None, command=None, stdin=None):
        environment = {k: v for k, v in os.environ.items()
                       if k not in ("SAFECOPY_OPTIONS", "LD_PRELOAD")}
        if options is not None:
            environment["SAFECOPY_OPTIONS"] = options
        if preload is not None:
            environment["LD_PRELOAD"] = preload
        return subprocess.run([command or self.command, *arguments], env=environment, input=stdin,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
                              check=False)

    def fails(self, status, words, *arguments, **more):
        run = self.start(*arguments, **more)
        self.assertEqual(run.returncode, status, run.stderr)
        self.assertIn(words, run.stderr)
        return run

    def write(self, name, lines):
        path = self.folder / name
        path.write_text("".join(lines), encoding="utf-8")
        return path


class Run(Command):
    def shown(self, *arguments, **more):
        run = self.start("run", *arguments, sys.executable, "-c", SHOW, **more)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stderr, "")
        return run.stdout.splitlines()

    def test_preloads_the_library_beside_it(self):
        self.assertEqual(self.shown(), [str(self.library), "None"])

    def test_keeps_what_is_preloaded(self):
        other = self.folder / "lib" / "other.so"
        shutil.copy(self.library, other)
        self.assertEqual(self.shown(preload=str(other))[0], f"{self.library}:{other}")

    def test_flags_come_after_the_environment(self):
        self.assertEqual(
            self.shown("--strict", "--option", "mode=report", "--strict=0", "--report", "/tmp/%p.jsonl",
                       options="strict=0"),
            [str(self.library),
             "strict=0:strict=1:mode=report:strict=0:report_path=/tmp/%p.jsonl"])

    def test_a_folder_takes_the_report_of_each_process(self):
        folder = self.folder / "new"
        for _ in range(2):
            self.assertEqual(self.shown("--report-dir", str(folder))[1],
                             f"report_path={folder}/safecopy.%e.%p.jsonl")
        self.assertTrue(folder.is_dir())
        self.fails(2, "is no folder", "run", "--report-dir", str(self.report), "true")
        self.fails(2, "cannot make the folder", "run", "--report-dir", str(folder / "a" / "b"), "true")
        self.fails(2, "has a meaning", "run", "--report-dir", str(self.folder / "50%"), "true")

    def test_a_mistake_in_the_suppressions_starts_nothing(self):
        file = self.folder / "known.txt"
        entry = "{\n  name: known\n  code: SC201\n  reason: %s\n}\n"
        file.write_text(entry % "a bug of theirs", encoding="utf-8")
        relative = os.path.relpath(file)
        self.assertEqual(self.shown("--suppressions", relative)[1], f"suppressions={file}")
        file.write_text(entry % "", encoding="utf-8")
        self.fails(2, f"{file}:", "run", "--suppressions", str(file), "true")
        self.fails(2, "cannot read", "run", "--suppressions", f"{file}.not", "true")

    def test_finds_an_installed_library(self):
        moved = self.folder / "prefix"
        (moved / "bin").mkdir(parents=True)
        (moved / "lib").mkdir()
        shutil.copy(self.command, moved / "bin" / "safecopy")
        shutil.copy(self.library, moved / "lib" / "libsafecopy.so")
        self.assertEqual(self.shown(command=moved / "bin" / "safecopy")[0],
                         str(moved / "lib" / "libsafecopy.so"))

    def test_says_where_it_looked_for_the_library(self):
        lonely = self.folder / "lonely"
        lonely.mkdir()
        shutil.copy(self.command, lonely / "safecopy")
        self.fails(2, f"libsafecopy.so is neither in {lonely}", "run", "true",
                   command=lonely / "safecopy")

    def test_refuses_a_place_that_cannot_be_preloaded(self):
        blank = self.folder / "a place"
        blank.mkdir()
        for name in ("safecopy", "libsafecopy.so"):
            shutil.copy(self.folder / "bin" / name, blank / name)
        self.fails(2, "with a blank or a colon", "run", "true", command=blank / "safecopy")

    def test_passes_status_and_arguments_through(self):
        run = self.start("run", "--", "sh", "-c", "echo \"$@\"; exit 7", "sh", "--strict", "--json")
        self.assertEqual((run.returncode, run.stdout), (7, "--strict --json\n"))

    def test_options_after_the_program_are_the_programs(self):
        run = self.start("run", "echo", "--strict")
        self.assertEqual(run.stdout, "--strict\n")

    def test_bad_options_start_nothing(self):
        for arguments, options, words in [
                (["--option", "stirct=1"], None, "did you mean 'strict'?"),
                ([], "mode=heal", "it takes fix, report or off"),
                (["--report", "a:b"], None, "':' separates options"),
                (["--nonsense"], None, "--nonsense")]:
            run = self.fails(2, words, "run", *arguments, "echo", "started", options=options)
            self.assertEqual(run.stdout, "")
            self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)

    def test_says_what_it_preloads_where_that_is_asked_for(self):
        run = self.start("run", "--option", "verbosity=2", "true")
        self.assertEqual((run.returncode, run.stderr), (0, f"safecopy: preloading {self.library}\n"))

    def test_a_missing_program(self):
        self.fails(127, "cannot run no-such-program", "run", "no-such-program")
        self.fails(126, "Permission denied", "run", str(self.report))
        self.fails(2, "name a program", "run")


class Report(Command):
    def test_shows_every_hazard_and_what_to_do(self):
        run = self.start("report", self.report)
        self.assertEqual(run.returncode, 1)
        self.assertEqual(run.stderr, "")
        self.assertEqual(len(re.findall("What to do: ", run.stdout)), len(CODES))
        for code in CODES:
            self.assertIn(f"\n{code} ", run.stdout)
        self.assertIn("an option was not understood and ignored: stirct=1", run.stdout)

    def test_names_functions_from_the_symbol_table(self):
        """The writer's own frames are static functions, which only the symbol table knows."""
        self.assertNotIn("write_report", "".join(self.lines[1:]))
        self.assertIn("#0 write_report (", self.start("report", self.report).stdout)

    def test_a_file_of_another_build_is_not_believed(self):
        run = json.loads(self.lines[0])
        run["modules"][0]["build_id"] = "00" * 20
        path = self.write("other.jsonl", [json.dumps(run) + "\n", *self.lines[1:]])
        result = self.start("report", path)
        self.assertIn("is not the build that ran", result.stderr)
        self.assertNotIn("write_report", result.stdout)

    def test_a_report_of_a_later_schema_is_refused_and_the_remedy_named(self):
        later = json.dumps({"type": "run", "schema": 2, "version": "7.0.0", "command": ["x"]}) + "\n"
        strange = '{"type":"hazard","code":{"new":"form"}}\n'
        path = self.write("later.jsonl", [later, strange])
        result = self.start("report", path)
        self.assertEqual(result.returncode, 2)
        self.assertNotIn("SC", result.stdout)
        for stream in (result.stdout, result.stderr):
            self.assertIn("schema 2, of libsafecopy 7.0.0", stream)
        self.assertIn("take the safecopy of that version", result.stderr)
        self.assertNotIn("passed over", result.stderr)
        behind = self.write("behind.jsonl", [*self.lines, later, strange])
        result = self.start("report", "--json", behind)
        self.assertEqual(result.returncode, 2)
        self.assertEqual(["unreadable" in run for run in json.loads(result.stdout)["runs"]],
                         [False, True])

    def test_a_title_over_the_arguments_leaves_no_blanks(self):
        run = json.loads(self.lines[0])
        run["command"] = ["ray::work", "", "an argument", "", ""]
        path = self.write("titled.jsonl", [json.dumps(run) + "\n", *self.lines[1:]])
        self.assertIn("titled.jsonl: ray::work  an argument (pid ", self.start("report", path).stdout)

    def test_cplusplus_names_are_readable(self):
        hazard = json.loads(self.lines[1])
        hazard["event"]["stack"] = [
            {"module": None, "offset": "0x10", "symbol": "_ZN5BatchD1Ev"},
            {"module": None, "offset": "0x20", "symbol": "_Z4sendSt6vectorISt4pairISslESaIS1_EES3_"},
            {"file": "train.py", "line": 7, "function": "step"},
            {"file": "<made>", "line": None, "function": "<lambda>"}]
        path = self.write("cpp.jsonl", [self.lines[0], json.dumps(hazard) + "\n"])
        text = self.start("report", path).stdout
        self.assertIn("#0 Batch::~Batch() (0x10)", text)
        self.assertIn("#1 send(...) (0x20)", text)
        self.assertIn("#2 step train.py:7\n", text)
        self.assertIn("#3 <lambda> <made>\n", text)

    def report_of_made_code(self, pid):
        run, hazard = json.loads(self.lines[0]), json.loads(self.lines[1])
        run["pid"], run["host"] = pid, socket.gethostname()
        hazard["event"]["stack"] = [{"module": None, "offset": "0x7f0000001010", "symbol": None}]
        return self.write(f"made.{pid}.jsonl", [json.dumps(run) + "\n", json.dumps(hazard) + "\n"])

    def test_code_made_at_run_time_has_the_name_that_the_process_gave_it(self):
        pid = 4194304 + os.getpid()  # no process has such a number
        perf_map = pathlib.Path(f"/tmp/perf-{pid}.map")
        self.addCleanup(perf_map.unlink)
        perf_map.write_text("7f0000001000 20 py::old:/a.py\nnonsense\n7f0000001020 8 next\n"
                            "7f0000001000 20 py::step:/a.py\n")
        report = self.report_of_made_code(pid)
        self.assertIn("#0 py::step:/a.py (0x7f0000001010)", self.start("report", report).stdout)
        other = self.report_of_made_code(pid + 1)
        self.assertNotIn("py::step", self.start("report", report, other).stdout)
        perf_map.chmod(0o600)
        target = perf_map.rename(f"{perf_map}.moved")
        self.addCleanup(target.unlink)
        perf_map.symlink_to(target)
        self.assertNotIn("py::step", self.start("report", report).stdout)

    def test_observed_comes_first(self):
        text = self.start("report", self.report).stdout
        self.assertLess(text.rindex(", observed, "), text.index(", latent, "))

    def test_merges_equal_hazards_of_several_runs(self):
        again = self.write("again.jsonl", self.lines)
        result = self.start("report", "--json", self.report, again)
        self.assertEqual(result.returncode, 1)
        merged = json.loads(result.stdout)
        self.assertEqual(len(merged["runs"]), 2)
        self.assertEqual(sorted(h["code"] for h in merged["hazards"]), CODES)
        self.assertEqual({(h["count"], h["runs"]) for h in merged["hazards"]}, {(4, 2)})
        shown = self.start("report", self.report, again).stdout
        self.assertIn(" 4 times in 2 runs", shown)
        self.assertNotIn("at least", shown)

    def counted(self, by_code, *hazards):
        """What is shown of a run with these lines, whose summary counts `by_code`."""
        count = sum((by_code or {}).values())
        end = [] if by_code is None else [{**json.loads(self.lines[-1]), "by_code": by_code,
                                           "hazards": count, "observed": count, "latent": 0,
                                           "advisories": 0}]
        shown = self.start("report", self.write("counted.jsonl", [
            json.dumps(line) + "\n" for line in (many_hazards.run_line(), *hazards, *end)])).stdout
        return re.findall(r"observed, (.*?): ", shown)

    def test_the_summary_makes_counts_exact(self):
        """A line comes only when the count has doubled: a third and a seventh time have none."""
        first, second = (many_hazards.hazard_line(number, 1, 3, False) for number in (1, 2))
        once = many_hazards.hazard_line(3, 0, 3, False)
        self.assertEqual(self.counted({"SC101": 3}, first), ["3 times"])
        self.assertEqual(self.counted({"SC101": 5}, first, second, once),
                         ["2 times", "2 times", "1 time"])
        self.assertEqual(self.counted({"SC101": 6}, first, second, once),
                         ["at least 2 times", "at least 2 times", "1 time"])
        self.assertEqual(self.counted({"SC105": 6}, first), ["at least 2 times"])
        self.assertEqual(self.counted({}, first), ["at least 2 times"])
        self.assertEqual(self.counted(None, first, once), ["at least 2 times", "1 time"])

    def test_several_runs_in_one_stream(self):
        result = self.start("report", "--json", "-", stdin="".join(2 * self.lines))
        merged = json.loads(result.stdout)
        self.assertEqual([run["run"]["type"] for run in merged["runs"]], ["run", "run"])
        self.assertEqual({(h["count"], h["runs"]) for h in merged["hazards"]}, {(4, 2)})

    def test_the_killed_one_of_several_runs_is_told(self):
        killed = [line for line in self.lines if json.loads(line)["type"] != "summary"]
        killed[0] = json.dumps({**json.loads(killed[0]), "started": 1}) + "\n"
        result = self.start("report", "-", stdin="".join(killed + self.lines))
        self.assertEqual(result.stdout.count("the run did not end normally"), 1)

    def test_no_hazards_is_success(self):
        summary = json.loads(self.lines[-1])
        summary.update(hazards=0, observed=0, latent=0, advisories=0, by_code={}, taken_early=3)
        path = self.write("clean.jsonl", [self.lines[0], json.dumps(summary) + "\n"])
        result = self.start("report", path)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("0 hazards in 7 operations", result.stdout)
        summary["operations"] = 1
        path = self.write("one.jsonl", [self.lines[0], json.dumps(summary) + "\n"])
        self.assertIn("0 hazards in 1 operation, ", self.start("report", path).stdout)
        self.assertIn("as the driver would not: 3\n", result.stdout)
        self.assertNotIn("came through", result.stdout)

    def test_an_unreached_run_is_told(self):
        run, summary = json.loads(self.lines[0]), json.loads(self.lines[-1])
        run.update(unreached=True)
        summary.update(hazards=0, observed=0, latent=0, advisories=0, by_code={}, operations=0)
        path = self.write("unreached.jsonl", [json.dumps(run) + "\n", json.dumps(summary) + "\n"])
        self.assertIn("no call of it came through the library", self.start("report", path).stdout)

    def test_a_killed_run_without_hazards_is_no_success(self):
        """What it would have found is not known."""
        path = self.write("killed.jsonl", self.lines[:1])
        self.fails(2, "did not end normally", "report", path)

    def test_a_run_that_replaced_itself_has_ended(self):
        summary = json.loads(self.lines[-1])
        summary.update(hazards=0, observed=0, latent=0, advisories=0, by_code={})
        run = json.dumps({**json.loads(self.lines[0]), "started": 99}) + "\n"
        path = self.write("replaced.jsonl", [run, run, json.dumps(summary) + "\n"])
        result = self.start("report", path)
        self.assertEqual(result.returncode, 0)
        self.assertIn("went on as another program", result.stdout)

    def test_a_run_without_a_host_is_on_none(self):
        run = json.dumps({**json.loads(self.lines[0]), "host": ""}) + "\n"
        shown = self.start("report", "-", stdin="".join([run, *self.lines[1:]])).stdout
        self.assertRegex(shown, r"\(pid \d+\)")

    def test_a_killed_run_is_told(self):
        cut = "".join(self.lines[:3])[:-20]
        path = self.write("killed.jsonl", [cut])
        result = self.fails(1, f"{path}:3: the last line is cut; passed over", "report", path)
        self.assertIn("the run did not end normally", result.stdout)
        self.assertIn("1 line could not be read", result.stdout)

    def test_corrupt_lines_are_passed_over(self):
        lines = [self.lines[0], "{\"type\":\n", "[1]\n", "{\"type\":\"hazard\"}\n", "\0\n",
                 *self.lines[1:]]
        path = self.write("corrupt.jsonl", lines)
        result = self.start("report", path)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(re.findall(r"jsonl:(\d+): ", result.stderr), ["2", "3", "4", "5"])
        self.assertEqual(len(re.findall("What to do: ", result.stdout)), len(CODES))

    def test_what_cannot_be_read_fails_and_the_rest_is_shown(self):
        empty = self.write("empty.jsonl", [])
        text = self.write("text.jsonl", ["hello\n"])
        for path, words in [(empty, "is not a report"), (text, "is not a report"),
                            (self.folder / "none", "No such file"), (self.folder, "directory")]:
            result = self.fails(2, words, "report", path, self.report)
            self.assertIn("SC101", result.stdout)

    def test_a_file_that_is_no_report_costs_one_line(self):
        junk = self.folder / "junk"
        junk.write_bytes(bytes(range(256)) * 400)
        for path in junk, self.command:
            run = self.fails(2, f"{path} is not a report\n", "report", path)
            self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
            self.assertIn("the file could not be read: it is not a report\n", run.stdout)
            self.assertNotIn("not JSON", run.stdout)

    def test_a_later_schema_is_said_once(self):
        run = json.dumps({**json.loads(self.lines[0]), "schema": 99, "version": "9.0.0"}) + "\n"
        later = self.write("later.jsonl", [run, *self.lines[1:]])
        for arguments in [later], ["--baseline", later, self.report]:
            said = self.fails(2, "schema 99, of libsafecopy 9.0.0", "report", *arguments).stderr
            self.assertEqual(said.count("\n"), 1, said)
            self.assertNotIn("not supported", said)

    def test_a_file_that_is_named_twice_counts_once(self):
        link = self.folder / "link"
        link.symlink_to(self.report)
        once = self.start("report", "--json", self.report).stdout
        run = self.fails(1, f"{link} is named twice, and counts once\n", "report", "--json",
                         self.report, link)
        self.assertEqual(run.stdout, once)
        copy = self.folder / "copy.jsonl"
        shutil.copy(self.report, copy)
        self.assertNotEqual(self.start("report", "--json", self.report, copy).stdout, once)

    def test_a_baseline_that_is_not_there_is_an_error(self):
        run = self.fails(2, "none: No such file", "report", "--baseline", self.folder / "none",
                         self.report)
        self.assertEqual((run.stdout, run.stderr.count("\n")), ("", 1))

    def test_a_filter_says_what_it_leaves_out(self):
        run = self.start("report", "--filter", "function=nobody", self.report)
        self.assertEqual(run.returncode, 0)
        self.assertIn(f"\n0 places with hazards; --filter leaves out {len(CODES)} more\n", run.stdout)
        run = self.start("report", "--filter", "code=SC101", self.report)
        self.assertIn(f"\n1 place with hazards; --filter leaves out {len(CODES) - 1} more\n", run.stdout)
        self.assertNotIn("leaves out", self.start("report", self.report).stdout)

    def test_what_is_said_of_a_file_is_not_read(self):
        """stderr may be the very file."""
        log = self.write("log", ["hello\n", *self.lines])
        with log.open("a", encoding="utf-8") as stream:
            result = subprocess.run([self.command, "report", log], stdout=subprocess.PIPE,
                                    stderr=stream, encoding="utf-8", check=False, timeout=300)
        self.assertEqual((result.returncode, log.read_text(encoding="utf-8").count("passed over")),
                         (1, 1))
        self.assertIn("SC204", result.stdout)

    def test_standard_input(self):
        result = self.start("report", "-", stdin="".join(self.lines))
        self.assertEqual(result.returncode, 1)
        self.assertIn("SC204", result.stdout)

    def test_tells_of_calls_that_passed_by(self):
        miss = {"type": "coverage", "api": "cuMemcpyHtoDAsync_v2", "runtime_api": "cudaMemcpyAsync",
                "thread": 1, "time_ns": 1, "stack": [], "count": 1}
        other = {**miss, "api": "cuMemFree_v2", "runtime_api": None}
        cupti = {"type": "cupti", "state": "yielded", "version": 130001, "library": "/l",
                 "detail": None}
        path = self.write("missed.jsonl", [self.lines[0]] + [json.dumps(line) + "\n" for line in
                                           (miss, {**miss, "count": 2}, other, cupti)])
        run = self.start("report", path)
        self.assertIn("    cudaMemcpyAsync (cuMemcpyHtoDAsync_v2) passed the library by, at least 2 "
                      "times\n", run.stdout)
        self.assertIn("    cuMemFree_v2 passed the library by, 1 time\n", run.stdout)
        self.assertIn("    coverage not checked to the end: CUPTI is yielded\n", run.stdout)
        told = json.loads(self.start("report", "--json", path).stdout)["runs"][0]
        self.assertEqual([line["count"] for line in told["missed"]], [2, 1])
        self.assertEqual(told["cupti"]["state"], "yielded")

    def timed(self, hazard, start, end):
        return {"type": "timing", "code": hazard["code"], "stream": hazard["copy"]["stream"],
                "seq": hazard["copy"]["seq"], "correlation_id": 4,
                "event_time_ns": hazard["event"]["time_ns"], "device_start_ns": start,
                "device_end_ns": end, "remaining_ns": end - hazard["event"]["time_ns"]}

    def shown_with(self, *lines):
        path = self.write("timed.jsonl", [json.dumps(line) + "\n" for line in lines])
        run = self.start("report", path)
        self.assertEqual(run.stderr, "")
        return run.stdout

    def test_says_how_long_the_copy_had_left(self):
        hazard = next(line for line in map(json.loads, self.lines) if line["type"] == "hazard")
        hazard["event"]["time_ns"] = 5_000_000
        later = {**hazard, "count": 2, "event": {**hazard["event"], "time_ns": 9_000_000}}
        self.assertIn("    the copy had 1.3 ms left to run; it took 2.3 ms\n",
                      self.shown_with(hazard, self.timed(hazard, 4_000_000, 6_300_000)))
        self.assertIn("    the copy had 1.3 ms left to run, and was to begin in 1.2 ms; it took "
                      "100.0 us\n",
                      self.shown_with(hazard, self.timed(hazard, 6_200_000, 6_300_000)))
        self.assertIn("    the copy had been over for 2.0 us; it took 10.0 us\n",
                      self.shown_with(hazard, self.timed(hazard, 4_988_000, 4_998_000)))
        shown = self.shown_with(hazard, self.timed(hazard, 4_000_000, 6_300_000), later,
                                self.timed(later, 8_000_000, 9_000_001))
        self.assertIn("the copy had 1.3 ms left", shown)

    def test_tells_who_changed_a_source_from_who_found_it_changed(self):
        hazard = next(line for line in map(json.loads, self.lines) if line["type"] == "hazard")
        hazard.update(code="SC201", event={**hazard["event"], "api": "cuMemcpyDtoH_v2"})
        self.assertIn("came before the end of", self.shown_with(hazard))
        self.assertIn("found changed the source of", self.shown_with({**hazard, "found_later": True}))

    def test_names_both_of_two_nodes_of_a_graph(self):
        hazard = next(line for line in map(json.loads, self.lines) if line["type"] == "hazard")
        fill = {"direction": "memset", "use": "write", "address": "0x7000", "size": 8192}
        move = {"direction": "D2D", "use": "read", "address": "0x8000", "size": 1024}
        hazard["nodes"] = [{**fill, "author": hazard["copy"]}, move]
        self.assertRegex(
            self.shown_with(hazard),
            r"launched a graph with no order between a memset that writes 8192 bytes at 0x7000, "
            rf"added by {hazard['copy']['api']}.* and a copy on the device that reads 1024 bytes at "
            r"0x8000\n")
        hazard["nodes"] = [fill, {**move, "author": hazard["event"]}]
        self.assertRegex(
            self.shown_with(hazard),
            r"between a memset that writes 8192 bytes at 0x7000 and a copy on the device that reads "
            rf"1024 bytes at 0x8000, added by {hazard['event']['api']}.*; the graph was made ready "
            rf"by {hazard['copy']['api']} \(thread ")

    def test_tells_what_work_beside_a_capture_belongs_to(self):
        hazard = next(line for line in map(json.loads, self.lines) if line["type"] == "hazard")
        buffer = {"address": "0x7f0000", "size": 64, "kind": "device"}
        copy = {**hazard["copy"], "api": "cuMemcpyDtoHAsync_v2", "direction": "D2H", "size": 64,
                "address": "0x7f0000"}
        hazard.update(code="SC305", name="work-left-out-of-graph", action="reported",
                      certainty="latent", buffer=buffer, copy=copy)
        shown = self.shown_with(hazard)
        self.assertIn("on device memory at 0x7f0000, 64 bytes", shown)
        self.assertRegex(shown, r"ran once, beside a capture whose graph has \S*cuMemcpyDtoHAsync_v2"
                                r"\)? D2H, 64 bytes at 0x7f0000 \(stream")
        self.assertIn("SC305 work-left-out-of-graph, latent, 1 time: reported", shown)
        copy.update(api="cuLaunchKernel", direction="none", size=1)
        self.assertRegex(self.shown_with(hazard),
                         r"has \S*cuLaunchKernel\)? with a parameter 0x7f0000 \(stream")
        copy.update(api="cuMemcpyDtoH_v2", direction="D2H", size=64)
        advisory = self.write("advisory.jsonl", [json.dumps({**hazard, "advisory": True}) + "\n"])
        self.assertRegex(self.start("report", advisory).stdout,
                         r"ran once, beside a capture; after a launch of the graph the memory was "
                         r"read by \S*cuMemcpyDtoH_v2\)? D2H, 64 bytes at 0x7f0000 \(stream")

    def test_the_time_of_another_hazard_is_nobody_s(self):
        hazard = next(line for line in map(json.loads, self.lines) if line["type"] == "hazard")
        timed = self.timed(hazard, 1, 2)
        for other in ({"code": "SC105"}, {"seq": 12345}, {"stream": "0x77"},
                      {"event_time_ns": 777}):
            self.assertNotIn("the copy had", self.shown_with(hazard, {**timed, **other}))
            self.assertNotIn("the copy had", self.shown_with({**timed, **other}, hazard))

    def spoilt(self, value, word):
        """Every string of it but those that decide how it is read ends in `word`. The run is of a
        later version, whose words this one need not know."""
        if isinstance(value, dict):
            value = {**value, "version": "99.0.0"} if value.get("type") == "run" else value
            return {key: inner if key in ("type", "kind", "code", "certainty", "by_code", "version")
                    else self.spoilt(inner, word) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.spoilt(inner, word) for inner in value]
        return value + word if isinstance(value, str) else value

    def write_spoilt(self, word):
        miss = {"type": "coverage", "api": "cuMemFree_v2", "runtime_api": "cudaFree", "thread": 1,
                "time_ns": 1, "stack": [{"module": "/m", "offset": "0x1", "symbol": "_ZN1aD1Ev"},
                                        {"file": "f.py", "line": 1, "function": "g"}], "count": 1}
        cupti = {"type": "cupti", "state": "held", "version": 1, "library": "/l", "detail": "x"}
        lines = [*map(json.loads, self.lines), miss, cupti]
        return self.write("spoilt.jsonl",
                          [json.dumps(self.spoilt(line, word)) + "\n" for line in lines])

    def test_a_report_cannot_steer_the_terminal_or_forge_a_line(self):
        plain = self.start("report", self.write_spoilt("x"))
        nasty = self.start("report", self.write_spoilt(NASTY))
        self.assertIn("SC999 forged", nasty.stdout)
        for stream in (nasty.stdout, nasty.stderr):
            self.assertIsNone(HARMFUL.search(stream), stream)
        self.assertEqual(nasty.stdout.count("\n"), plain.stdout.count("\n"))
        self.assertEqual(nasty.stderr.count("\n"), plain.stderr.count("\n"))
        self.assertIn("\\u001b[2J\\u0009\\u000d\\u007f\\u0080\\u009b\\u009d\\u061c\\u200e\\u200f"
                      "\\u2028\\u2029\\u202a\\u202e\\u2066\\u2069\\u000aSC999 forged", nasty.stdout)

    def test_json_shows_the_same_and_reads_back(self):
        result = self.start("report", "--json", self.write_spoilt(NASTY))
        self.assertIsNone(HARMFUL.search(result.stdout))
        merged = json.loads(result.stdout)
        self.assertEqual(merged["runs"][0]["run"]["host"],
                         json.loads(self.lines[0])["host"] + NASTY)
        self.assertEqual(merged["hazards"][0]["copy"]["api"], "cuMemcpyHtoDAsync_v2" + NASTY)

    def test_names_of_files_cannot_either(self):
        name = os.fsencode(NASTY.replace("/", "")) + b"\xff\xc2"
        shown = "\\u2069\\u000aSC999 forged\\xff\\xc2"
        path = os.fsencode(self.folder) + b"/" + name

        def show(status):
            run = self.start("report", path)
            self.assertEqual(run.returncode, status)
            for stream in (run.stdout, run.stderr):
                self.assertIsNone(HARMFUL.search(stream), stream)
            return run
        self.assertIn(f"{shown}: No such file or directory\n", show(2).stderr)
        shutil.copy(self.report, path)
        self.assertIn(f"{shown}: ", show(1).stdout)
        with open(path, "wb") as file:
            file.write(b"\x1b[2J\n\xff\n")
        self.assertEqual(show(2).stderr.count(shown), 1)
        self.assertEqual(show(2).stderr.count("\n"), 1)
        with open(path, "ab") as file:
            file.write("".join(self.lines).encode())
        self.assertEqual(show(1).stderr.count(shown), 2)
        self.assertEqual(show(1).stderr.count("\n"), 2)
        for words in (["report", b"--" + name], ["run", b"--" + name], ["run", b"-" + name],
                      ["run", "--option", name, "true"], ["run", name], [name]):
            run = self.start(*words)
            self.assertIn(run.returncode, (2, 127))
            self.assertIsNone(HARMFUL.search(run.stderr), run.stderr)
            self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)

    def test_a_line_of_any_length_does_not_end_the_reading(self):
        path = self.write("long.jsonl", [self.lines[0], "[" + 8 * 1024 * 1024 * " " + "]\n",
                                         *self.lines[1:], 8 * 1024 * 1024 * "x"])
        result = self.start("report", path)
        self.assertEqual(result.stderr.count("longer than a line of a report; passed over"), 2)
        self.assertEqual(len(re.findall("What to do: ", result.stdout)), len(CODES))

    def test_memory_goes_by_the_hazards_that_differ(self):
        """120 MB that say the same many times are read in 80 MB of address space."""
        lines = "".join(many_hazards.report(20))
        hazards = lines[lines.index("\n") + 1:].encode()
        with subprocess.Popen(["sh", "-c", "ulimit -v 81920; exec \"$@\"", "sh", self.command,
                               "report", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as child:
            for _ in range(120 * 1024 * 1024 // len(hazards)):
                child.stdin.write(hazards)
            shown, said = child.communicate()
        self.assertEqual((child.returncode, said), (1, b""))
        self.assertEqual(shown.count(b"What to do: "), 20)

    def test_times_find_their_hazards_among_many(self):
        result = self.start("report", "--json", "-", stdin="".join(
            many_hazards.report(50, repeats=3, frames=2, timings=130)))
        merged = json.loads(result.stdout)["hazards"]
        self.assertEqual(len(merged), 50)
        self.assertEqual({hazard["count"] for hazard in merged}, {4})
        for number, hazard in enumerate(merged):
            # Each had two or three times, of which the last was the longest.
            longest = max(time for time in range(1, 131) if (time - 1) % 50 == number)
            self.assertEqual(hazard["timing"]["remaining_ns"], longest)

    def test_a_time_is_kept_when_the_same_hazard_comes_again(self):
        first = many_hazards.hazard_line(1, 0, 3, False)
        again = many_hazards.hazard_line(1, 1, 3, False)
        run, long, short = (many_hazards.run_line(), many_hazards.timing_line(first, 9_000_000),
                            many_hazards.timing_line(again, 2_000_000))
        late = many_hazards.timing_line(first, 99_000_000)
        shown = self.shown_with(run, first, long, again, short, late, run, first, run, again, short)
        self.assertIn("the copy had 9.0 ms left", shown)

    def test_usage(self):
        self.fails(2, "name a file", "report")
        self.fails(2, "--nonsense", "report", "--nonsense", self.report)


class Main(Command):
    def test_version(self):
        self.assertRegex(self.start("--version").stdout, r"^safecopy \d+\.\d+\.\d+\n$")

    def test_help_names_commands_and_options(self):
        run = self.start("--help")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        for word in ("  run ", "  report ", "  explain ", "  doctor ", "safecopy help options"):
            self.assertIn(word, run.stdout)
        for arguments in ["-h"], ["help"]:
            again = self.start(*arguments)
            self.assertEqual((again.returncode, again.stdout), (0, run.stdout), arguments)
        for word in "report_path", "max_held":
            self.assertIn(word, self.start("help", "options").stdout)

    def test_help_on_a_command_has_its_flags_alone(self):
        flags = {"run": "--injection", "report": "--filter", "doctor": "--no-run", "explain": "CODE"}
        for command, flag in flags.items():
            run = self.start("help", command)
            self.assertEqual((run.returncode, run.stderr), (0, ""))
            self.assertTrue(run.stdout.startswith(f"usage: safecopy {command} "))
            self.assertLessEqual(max(map(len, run.stdout.splitlines())), 100)
            for other, others in flags.items():
                self.assertEqual(others in run.stdout, other == command, (command, others))
            for again in ([command, "--help"], [command, "-h"]):
                self.assertEqual(self.start(*again).stdout, run.stdout)
        self.fails(2, "did you mean 'report'?", "help", "reprot")

    def test_usage(self):
        self.fails(2, "run, report, watch, explain or doctor")
        self.fails(2, "there is no command exlpain; did you mean explain?", "exlpain")

    def test_a_misspelt_flag_has_a_nearest_one(self):
        for arguments, words in (
                (["run", "--stict", "true"], "no flag --stict; did you mean --strict?"),
                (["run", "--fromat=text", "true"], "did you mean --format? See safecopy help run"),
                (["report", "--base-line", "x", "y"], "did you mean --baseline?"),
                (["doctor", "--norun"], "did you mean --no-run? See safecopy help doctor"),
                (["run", "--injection=1", "true"], "--injection takes no value, and has '1'"),
                (["run", "--format"], "without its value: --format"),
                (["run", "--verbosity=2", "true"],
                 "verbosity is an option, and no flag: --option verbosity=2"),
                (["run", "--mode", "report", "true"],
                 "mode is an option, and no flag: --option mode=VALUE"),
                (["report", "--verbosity=2", "true"], "there is no flag --verbosity=2; did you mean"),
                (["report", "--strict", "x"], "--strict is a flag of safecopy run; see safecopy help report"),
                (["doctor", "--baseline=x"], "--baseline is a flag of safecopy report"),
                (["run", "--report", "a.jsonl", "--report-dir", ".", "true"],
                 "--report and --report-dir both say where reports go: give one of them"),
                (["run", "--report-dir", ".", "--report", "a.jsonl", "true"], "give one of them"),
                (["run", "-x", "true"], "not understood, or without its value: -x")):
            run = self.fails(2, words, *arguments)
            self.assertEqual((run.stdout, run.stderr.count("\n")), ("", 1))

    def test_a_value_that_was_left_out(self):
        """What follows is not taken for it, nor does the command do anything."""
        for flags, words in (
                ("run --report -- true", "--report has no value: -- follows; see safecopy help run"),
                ("run --report-dir --strict true", "--report-dir has no value: --strict follows"),
                ("run --strict --option -- true", "--option has no value: -- follows"),
                ("run --suppressions -o x true", "--suppressions has no value: -o follows"),
                ("run --format -- true", "--format has no value: -- follows"),
                ("run --format text -o -- true", "-o has no value: -- follows"),
                ("run --output-mode --format text true", "--output-mode has no value: --format"),
                ("run --source-root -- true", "--source-root has no value: -- follows"),
                ("doctor --format --no-run true", "--format has no value: --no-run follows"),
                *((f"report {flag} --json x", f"{flag} has no value: --json follows")
                  for flag in ("--format", "-o", "--output-mode", "--filter", "--baseline", "--frames",
                               "--debug-dir", "--path-map", "--source-root", "--suppressions"))):
            with self.subTest(flags=flags):
                run = self.fails(2, words, *flags.split())
                self.assertEqual((run.stdout, run.stderr.count("\n")), ("", 1))
                self.assertFalse(any(map(os.path.exists, ("--", "--strict"))))

    def test_a_value_that_is_given_twice(self):
        empty = self.write("empty.supp", [])
        for flags, words in (
                ("run --report a --report=b true", "--report is given twice, with a and b"),
                ("run --report-dir . --report-dir bin true", "--report-dir is given twice"),
                ("report -o a --output b x", "--output is given twice, with a and b: give one of them"),
                (f"run --suppressions {empty} --suppressions x true", "--suppressions is given twice"),
                (f"report --suppressions {empty} --suppressions x y", "--suppressions is given twice")):
            with self.subTest(flags=flags):
                self.fails(2, words, *flags.split())
        run = self.start("run", "--option", "verbosity=0", "--option", "verbosity=1", "--strict",
                         "--strict=0", "--report", "a", "--report", "a", "true")
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_explains_each_hazard(self):
        page = (ROOT / "docs" / "hazards.md").read_text(encoding="utf-8")
        for code in CODES:
            section = re.search(rf"^## {code}\n.*?(?=\n## |\Z)", page, re.M | re.S)[0]
            shown = self.start("explain", code.lower()).stdout
            head, advice, rest = shown.split("\n\n", 2)
            self.assertRegex(head, rf"^{code} [a-z-]+$")
            self.assertIn(f"\n{head.split()[1]}. ", f"\n{rest}")
            self.assertRegex(" ".join(advice.split()), r"^What to do: \w.*[^.]\.$")
            self.assertEqual([code, *re.findall(r"\w+", rest)], self.words(section), code)
        self.assertEqual(re.findall(r"^SC\d+", self.start("explain").stdout, re.M), CODES)
        self.assertIn("SC201 source-overwritten-in-flight\n", self.start("explain", "source-overwritten-in-flight").stdout)
        self.fails(2, "did you mean 'SC201'?", "explain", "SC209")
        self.fails(2, "did you mean 'source-overwritten-in-flight'?", "explain", "overwritten")
        for asked in "SC999", "sc9", "--json":
            self.fails(2, f"no hazard is called '{asked}'; safecopy explain lists all", "explain", asked)
        self.fails(2, "no hazard is called 'strict', which is an option: see safecopy help options",
                   "explain", "strict")

    def words(self, section):
        """Of a section, without the targets of links and what else is Markdown's."""
        section = re.sub(r"^```\w*$", "", section, flags=re.M)
        return re.findall(r"\w+", re.sub(r"\]\((?!http)[^)]*\)", "", section))

    def test_what_is_explained_is_plain_text(self):
        for code in CODES:
            text = re.sub(r"^    .*$", "", self.start("explain", code).stdout, flags=re.M)
            self.assertNotRegex(text, r"[`#]|\*\*|\]\(|\| ---", code)
        self.assertIn("\n    float *staging;\n", self.start("explain", "SC201").stdout)

    def test_explains_a_group_of_codes(self):
        shown = self.start("explain", "sc2").stdout
        self.assertEqual(re.findall(r"^SC\d+", shown, re.M),
                         [code for code in CODES if code.startswith("SC2")])
        self.assertIn("SC201 source-overwritten-in-flight. The program writes into", shown)
        self.assertLessEqual(max(map(len, shown.splitlines())), 100)
        for group in "SC", "SC10":
            self.assertEqual(re.findall(r"^SC\d+", self.start("explain", group).stdout, re.M),
                             [code for code in CODES if code.startswith(group)])

    def test_the_table_of_options_has_every_key_and_default(self):
        page = (ROOT / "docs" / "options.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| ([a-z_]+) \| (\S+?),? .*?\| .*?(not in this version)?\)? \|$", page,
                          re.M)
        table = re.findall(r"^  ([a-z_]+) +(\S+?),? .*?(not in this version)?\)?$",
                           self.start("help", "options").stdout, re.M)
        self.assertEqual([row for row in rows if row[0] in [key for key, *_ in table]], table)

    def test_the_page_of_suppressions_has_every_entry_that_is_installed(self):
        page = (ROOT / "docs" / "suppressions.md").read_text(encoding="utf-8")
        entries = (ROOT / "share/safecopy/suppressions/libraries.supp").read_text(encoding="utf-8")
        named = re.findall(r"^  name: +(\S+)\n  code: +(\S+)$", entries, re.M)
        self.assertGreaterEqual(len(named), 3)
        self.assertEqual(re.findall(r"^\| ([a-z-]+) \| (SC\d+) \| ", page, re.M), named)

    def test_the_page_of_options_has_every_key_and_default(self):
        """docs/options.md against the table that the parser uses."""
        page = (ROOT / "docs" / "options.md").read_text(encoding="utf-8")
        options = re.findall(r"^  ([a-z_]+) +(\S+?),? .*?(not in this version)?\)?$",
                             self.start("help", "options").stdout, re.M)
        self.assertGreaterEqual(len(options), 20)
        for key, default, later in options:
            section = re.search(rf"^### {key}\n(.*?)(?=^##|\Z)", page, re.M | re.S)
            self.assertIsNotNone(section, f"{key} has no section")
            self.assertIn(f"Default: `{default}`" if default != "(none)" else "Default: none",
                          section[1])
            self.assertEqual("Not in this version" in section[1], bool(later), key)


if __name__ == "__main__":
    unittest.main()
