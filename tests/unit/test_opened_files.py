#!/usr/bin/env python3
"""What the command opens of what it is named: regular files, and descriptors that are the user's own.
A FIFO is not even opened, and a file that never ends comes to an end."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import watched_opens

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT", ROOT / "out"))
COMMAND = OUT / "safecopy"
SAMPLE = ROOT / "tests/unit/formats/sample.jsonl"
PATIENCE_S = 300
NO_FILE, ENDLESS = "it is no regular file", "more than 64 MB of it are no lines of a report"


class Opened(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name).resolve()
        self.fifo = self.folder / "fifo"
        self.sparse = self.folder / "sparse"
        os.mkfifo(self.fifo)
        self.sparse.touch()
        os.truncate(self.sparse, 1 << 40)

    def run_command(self, *words, **more):
        return subprocess.run([COMMAND, *words], **{
            "stdin": subprocess.DEVNULL, "capture_output": True, "check": False, "cwd": self.folder,
            "timeout": PATIENCE_S, "env": {**os.environ, "HOME": str(self.folder)},
            "encoding": "utf-8", "errors": "replace", **more})

    def refuses(self, why, *words, **more):
        """With status 2 and a line that says why."""
        run = self.run_command(*words, **more)
        self.assertEqual((run.returncode, why in run.stderr), (2, True), run.stderr[-500:])
        return run


class Refused(Opened):
    def test_a_fifo_and_a_device_are_not_opened(self):
        for flag in ([], ["--baseline"], ["--suppressions"], ["--frames"]):
            after = [SAMPLE] if flag else []
            with self.subTest(flag), watched_opens.Watch(self.fifo) as watch:
                self.refuses(NO_FILE, "report", *flag, self.fifo, *after)
                self.refuses(NO_FILE, "report", *flag, "/dev/zero", *after)
                self.assertEqual(watch.count(), 0)

    def test_a_file_of_terabytes_that_is_all_holes(self):
        self.refuses(ENDLESS, "report", self.sparse)
        self.refuses(ENDLESS, "report", "--baseline", self.sparse, SAMPLE)

    def test_a_hole_behind_a_good_report_or_in_a_string(self):
        report = self.folder / "report"
        report.write_bytes(SAMPLE.read_bytes())
        os.truncate(report, 1 << 40)
        self.assertIn("SC201", self.refuses(ENDLESS, "report", report).stdout)
        for start in ('{"hazards":[{"a":"', '{"other":"', '{"hazards":[{"stack":[{"a":"', '{"'):
            with self.subTest(start):
                self.sparse.write_text(start, encoding="utf-8")
                os.truncate(self.sparse, 1 << 40)
                self.refuses(ENDLESS, "report", "--baseline", self.sparse, SAMPLE)

    def test_a_pipe_without_end(self):
        for content in ("zero", "lines"):
            source = ["cat", "/dev/zero"] if content == "zero" else ["yes", "no line of a report"]
            with self.subTest(content), \
                    subprocess.Popen(source, stdout=subprocess.PIPE,
                                     stderr=subprocess.DEVNULL) as endless:
                run = self.refuses(ENDLESS, "report", "-", stdin=endless.stdout)
                self.assertLess(len(run.stderr.splitlines()), 150)
                endless.stdout.close()


    def test_a_map_of_code_made_at_run_time_that_never_ends(self):
        begin, hazard = map(json.loads, SAMPLE.read_text(encoding="utf-8").splitlines()[:2])
        begin.update(host=os.uname().nodename, pid=os.getpid())
        hazard["event"]["stack"] = [{"module": None, "offset": "0x1010", "symbol": None}]
        report = self.folder / "report"
        report.write_text("".join(json.dumps(line) + "\n" for line in (begin, hazard)),
                          encoding="utf-8")
        path = pathlib.Path(f"/tmp/perf-{os.getpid()}.map")
        self.addCleanup(path.unlink)
        path.write_text("1000 20 made\n", encoding="utf-8")
        os.truncate(path, 1 << 40)
        run = self.run_command("report", report)
        self.assertIn("#0 made (0x1010)", run.stdout)
        self.assertIn(f"{path} has more than the names of", run.stderr)


class Own(Opened):
    def test_a_descriptor_of_the_user_s_own_may_be_a_pipe(self):
        plain = self.run_command("report", "-", stdin=None,
                                 input=SAMPLE.read_text(encoding="utf-8"))
        self.assertIn("SC201", plain.stdout)
        for name in ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
            with self.subTest(name), subprocess.Popen(["cat", SAMPLE],
                                                      stdout=subprocess.PIPE) as cat:
                run = self.run_command("report", name, stdin=cat.stdout)
                self.assertEqual((run.returncode, run.stdout.replace(name, "-")),
                                 (plain.returncode, plain.stdout), run.stderr)

    def test_a_baseline_may_come_out_of_a_pipe(self):
        as_json = self.folder / "old.json"
        as_json.write_text(self.run_command("report", "--json", SAMPLE).stdout, encoding="utf-8")
        for old in (as_json, SAMPLE):
            expected = self.run_command("report", "--json", "--baseline", old, SAMPLE)
            self.assertIn('"unchanged"', expected.stdout)
            with self.subTest(old), subprocess.Popen(["cat", old], stdout=subprocess.PIPE) as cat:
                run = self.run_command("report", "--json", "--baseline", "/dev/stdin", SAMPLE,
                                       stdin=cat.stdout)
                self.assertEqual((run.returncode, run.stdout), (expected.returncode, expected.stdout))


class Run(Opened):
    def test_what_a_program_leaves_at_the_names_of_reports(self):
        self.fifo.unlink()
        program = ("mkfifo safecopy.fifo.1.jsonl; ln -s /dev/zero safecopy.zero.1.jsonl; "
                   "truncate -s 1T safecopy.sparse.1.jsonl")
        run = self.run_command("run", "--strict", "--format", "text", "--", "sh", "-c", program)
        self.assertEqual(run.returncode, 66, run.stderr)  # what cannot be read is not known
        self.assertIn(f"safecopy.sparse.1.jsonl: {ENDLESS}", run.stderr)
        self.assertNotIn("fifo", run.stderr)
        self.assertNotIn("zero", run.stderr)


if __name__ == "__main__":
    unittest.main()
