#!/usr/bin/env python3
"""`safecopy run`: whose reports it reads and replaces, and where processes tell it of them."""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from safecopy_runs import CORRECT, ENVIRONMENT, HOLDS, LIBRARY, RACY, RUN, Runs, SAFECOPY


class Reports(Runs):
    def test_the_roll_is_nothing_else(self):
        """What SAFECOPY_RUN names may be another file by now."""
        victim, fifo = self.folder / "victim", self.folder / "fifo"
        victim.write_text("untouched")
        os.mkfifo(fifo)
        there = victim.stat()
        for value in (f"{victim}:{there.st_dev}:{there.st_ino + 1}", f"{victim}:1:2", f"{victim}",
                      f"{fifo}:{there.st_dev}:{there.st_ino}", "/proc/1/fd/1:1:2", ":", "x" * 5000,
                      f"{victim}:{there.st_dev}:{there.st_ino}:"):
            run = self.start(RACY, env={**ENVIRONMENT, "LD_PRELOAD": LIBRARY, "SAFECOPY_RUN": value})
            self.assertEqual((run.returncode, run.stdout), (0, "data right\n"), value)
        self.assertEqual(victim.read_text(), "untouched")

    def told(self, descriptor):
        """Runs a program that SAFECOPY_RUN leads to this file, and says whether it has written."""
        there = os.fstat(descriptor)
        value = f"/proc/{os.getpid()}/fd/{descriptor}:{there.st_dev}:{there.st_ino}"
        run = self.start(RACY, env={**ENVIRONMENT, "LD_PRELOAD": LIBRARY, "SAFECOPY_RUN": value})
        self.assertEqual((run.returncode, run.stdout), (0, "data right\n"))
        return os.fstat(descriptor).st_size != there.st_size

    def opened(self, descriptor):
        """Whether the program opens the file for writing, which breaks a lease and then fails."""
        broken = []
        looks = os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY | os.O_NONBLOCK)
        os.close(descriptor)
        self.addCleanup(os.close, looks)
        old = signal.signal(signal.SIGIO, lambda *_: broken.append(True))
        self.addCleanup(signal.signal, signal.SIGIO, old)
        try:
            fcntl.fcntl(looks, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        except OSError:  # the file system has none
            return None
        self.assertFalse(self.told(looks))
        fcntl.fcntl(looks, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        return bool(broken)

    def memory(self, mark=b"safecopy run, notes 1\0", seals=fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK):
        descriptor = os.memfd_create("safecopy run", os.MFD_ALLOW_SEALING)
        os.write(descriptor, mark)
        if seals:
            fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
        return descriptor

    def test_a_forged_variable_writes_to_no_file(self):
        """It names the very file that is there, and not another one as above."""
        named = self.folder / "named"
        named.write_bytes(b"safecopy run, notes 1\0")
        unnamed, path = tempfile.mkstemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
        os.write(unnamed, b"safecopy run, notes 1\0")
        os.unlink(path)
        for what, descriptor in (
                ("a file", os.open(named, os.O_RDWR)), ("a file without a name", unnamed),
                ("a memfd without seals", self.memory(seals=0)),
                ("a memfd with fewer seals", self.memory(seals=fcntl.F_SEAL_SEAL)),
                ("a memfd with more seals",
                 self.memory(seals=fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)),
                ("an empty memfd", self.memory(mark=b"")),
                ("a memfd without the mark", self.memory(mark=b"safecopy run, notes 9\0"))):
            with self.subTest(what):
                self.assertFalse(self.told(descriptor))
                self.assertFalse(self.opened(descriptor))
        self.assertIn(self.opened(self.memory()), (True, None))
        roll = self.memory()
        self.addCleanup(os.close, roll)
        self.assertTrue(self.told(roll), "the test itself tells of nothing")

    def test_a_forged_variable_writes_to_no_pipe(self):
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        for end in reader, writer:
            self.told(end)
        os.close(writer)
        self.assertEqual(os.read(reader, 1), b"")

    def test_who_is_ended_leaves_no_unfinished_file(self):
        """A limit of files is met while the page is written; a signal comes while a FIFO is read."""
        report = self.folder / "r.jsonl"
        self.start(RACY, env={**ENVIRONMENT, "LD_PRELOAD": LIBRARY,
                              "SAFECOPY_OPTIONS": f"report_path={report}"})
        run = self.start("sh", "-c", f"ulimit -f 8; exec {SAFECOPY} report --format html -o d.html "
                         f"{report}")
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("cannot write d.html: File too large", run.stderr)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["r.jsonl"])

    def test_only_what_this_run_has_written(self):
        for flags in ((), ("--report-dir", "d"), ("--report", "%h.[x]%e.%p"), ("--report", "one")):
            for _ in range(2):
                run = self.start(*RUN, *flags, RACY)
                self.assertIn("SC101 source-freed-in-flight, observed, 1 time:", run.stderr, flags)

    def test_a_file_that_is_no_report_stays(self):
        data = self.folder / "train.jsonl"
        data.write_text('{"text": "a data set"}\n')
        run = self.start(*RUN, "--report", "train.jsonl", RACY)
        self.assertIn("SC101 source-freed-in-flight, observed, 1 time:", run.stderr)
        self.assertIn("train.jsonl is no report, or not a whole one, and stays as it is", run.stderr)
        self.assertEqual(data.read_text(), '{"text": "a data set"}\n')

    def report_of_a_run(self):
        self.start(*RUN, "--report", "r.jsonl", RACY)
        return self.folder / "r.jsonl"

    def expect_kept(self, report, why):
        before = report.read_bytes()
        run = self.start(*RUN, "--report", "r.jsonl", RACY)
        self.assertIn("SC101 source-freed-in-flight, observed, 1 time:", run.stderr)
        self.assertEqual(run.stderr.count(f"r.jsonl {why} and stays as it is"), 1, run.stderr)
        self.assertEqual(report.read_bytes(), before)

    def test_a_report_with_notes_stays(self):
        report = self.report_of_a_run()
        with open(report, "a", encoding="utf-8") as file:
            file.write("MY NOTES\n")
        self.expect_kept(report, "is no report, or not a whole one,")

    def test_a_report_with_another_name_stays(self):
        report = self.report_of_a_run()
        os.link(report, self.folder / "old.jsonl")
        self.expect_kept(report, "has another name besides (a hard link)")

    def test_whole_reports_are_replaced(self):
        """Whatever ended them, and whatever the program is called with."""
        words = ["\n\x1b\u2028\"\\x\xff", *map(str, range(9999))]
        for ends in ([RACY], ["sh", "-c", f"{RACY}; kill -9 $$"], [sys.executable, "-c", HOLDS, *words]):
            self.start(*RUN, "--report", "r.jsonl", *ends, input="x\n", stdin=None)
            first = (self.folder / "r.jsonl").stat()
            self.start(*RUN, "--report", "r.jsonl", RACY)
            [report] = self.folder.iterdir()
            self.assertNotEqual(report.stat().st_mtime_ns, first.st_mtime_ns)
            report.unlink()

    def expect_both(self, *before):
        """Of a process that lives behind `before`, and of one that begins beside it."""
        holds = subprocess.Popen([*before, "env", f"LD_PRELOAD={LIBRARY}", sys.executable, "-c", HOLDS],
                                 cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 env={**ENVIRONMENT, "SAFECOPY_OPTIONS":
                                      f"report_path={self.folder}/r.jsonl:verbosity=0"})
        with holds:
            self.assertEqual(holds.stdout.readline(), b"ready\n")
            run = self.start(*RUN, "--report", "r.jsonl", RACY)
            self.assertIn("SC101 source-freed-in-flight, observed, 1 time:", run.stderr)
            holds.communicate(b"x\n")
        self.assertEqual(holds.returncode, 0)
        lines = [json.loads(line) for line in (self.folder / "r.jsonl").read_text().splitlines()]
        self.assertEqual([lines[-1]["type"], lines[-1]["hazards"]], ["summary", 2])
        self.assertEqual(len(list(self.folder.iterdir())), 2)

    def test_the_report_of_a_living_process_stays(self):
        self.expect_both()

    def test_the_report_of_a_living_process_in_another_namespace_stays(self):
        for flags in (["--pid", "--fork", "--mount-proc"], ["--uts"]):
            before = ["unshare", *flags, *([] if os.geteuid() == 0 else ["--map-root-user"])]
            if "--uts" in flags:
                before += ["sh", "-c", 'hostname another-host && exec "$@"', "sh"]
            if self.start(*before, "true").returncode != 0:
                self.skipTest("this process may have no namespaces")
            self.expect_both(*before)
            shutil.rmtree(self.folder)
            self.folder.mkdir()

    def test_a_rank_leads_into_no_other_folder(self):
        for rank in "..", ".", "../..", ".\n.", "*[\x1b]", 500 * "9", "%p":
            for path in "d/e/%r", "d/e/.%r/r.%p", "d/e/%r%r/r.%p":
                with self.subTest(rank=rank, path=path):
                    run = self.start(*RUN, "--report", path, RACY, env={**ENVIRONMENT, "RANK": rank})
                    self.assertIn("SC101 source-freed-in-flight, observed, 1 time:", run.stderr)
                    written = [file for file in self.folder.rglob("*") if file.is_file()]
                    shutil.rmtree(self.folder / "d")
                    self.assertEqual(len(written), 1)
                    self.assertIn(self.folder / "d" / "e", written[0].parents[:path.count("/") - 1])
                    self.assertNotRegex(str(written[0]), r"[\0-\x1f]")

    def test_reports_of_folders_beside_are_not_of_the_run(self):
        """A pattern takes '.' and '..' for what was put in, and no process writes there."""
        beside = f"SAFECOPY_RUN= SAFECOPY_OPTIONS=report_path={self.folder}/r.1 {RACY}"
        run = self.start(*RUN, "--report", ".%r/r.1", "sh", "-c", f"{beside}; {CORRECT}")
        self.assertIn("0 places with hazards", run.stderr)

    def test_processes_merge(self):
        for flags in ((), ("--report", "one")):
            run = self.start(*RUN, *flags, "sh", "-c", f"cd /; {RACY} & {RACY} & wait")
            self.assertIn("SC101 source-freed-in-flight, observed, 2 times in 2 runs", run.stderr)


if __name__ == "__main__":
    unittest.main()
