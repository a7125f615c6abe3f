#!/usr/bin/env python3
"""`safecopy run --strict`: what decides the status, whoever of the run had the hazard."""

import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

from safecopy_runs import (
    CORRECT, ENVIRONMENT, HAZARDS, HOLDS, OUT, PATIENCE_S, RACY, RUN, Runs, SAFECOPY, STRICT)

LATENT = str(HAZARDS / "sc101_free_latent.racy")


class Strict(Runs):
    """With --format: what is shown is judged."""

    def test_strict_decides_the_status(self):
        self.assertEqual(self.start(*RUN, "--strict", RACY).returncode, 66)
        (self.folder / "gone").mkdir()
        run = self.start(*RUN, "-o", "gone/r.txt", "--strict", "sh", "-c", f"rmdir gone; {RACY}")
        self.assertEqual(run.returncode, 66)
        self.assertIn("cannot write gone/r.txt: No such file", run.stderr)

    def test_strict_says_where_nothing_is_looked_for(self):
        for wrapper in [SAFECOPY, "run"], RUN:
            for flags, options in (("--option", "mode=off"), ""), ((), "mode=off"):
                run = self.start(*wrapper, "--strict", *flags, RACY,
                                 env={**ENVIRONMENT, "SAFECOPY_OPTIONS": options})
                self.assertEqual(run.stderr.count("nothing is looked for, so the run cannot fail"), 1)
            self.assertNotIn("looked for", self.start(*wrapper, "--option", "mode=off", RACY).stderr)

    def test_strict_judges_all_processes(self):
        goes_on = ["sh", "-c", f"{RACY} || true"]
        run = self.start(*RUN, "--strict", *goes_on)
        self.assertEqual(run.returncode, 66)
        self.assertIn("strict: a process that was started had a hazard", run.stderr)
        run = self.start(*RUN, "--strict", "--option", "exitcode=9", *goes_on)
        self.assertEqual(run.returncode, 9)
        run = self.start(*RUN, "--strict", "sh", "-c", f"{RACY} || exit 3")
        self.assertEqual(run.returncode, 3)
        self.assertEqual(self.start(*RUN, *goes_on).returncode, 0)
        self.assertEqual(self.start(*RUN, "--strict", CORRECT).returncode, 0)

    def test_strict_judges_as_the_options_say(self):
        for certainty, status in ("latent", 66), ("observed", 0):
            run = self.start(*RUN, "--strict", "--option", f"certainty={certainty}", "sh", "-c",
                             f"{LATENT} || true", env={**ENVIRONMENT, "SIM_GPU": ""})
            self.assertEqual(run.returncode, status, run.stderr)
        known = self.folder / "known"
        known.write_text("{\nname: known\ncode: SC101\nreason: a test\n}\n")
        run = self.start(*RUN, "--strict", "--suppressions", str(known), "sh", "-c", f"{RACY} || true")
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_strict_judges_a_process_that_is_killed(self):
        run = self.start(*RUN, "--strict", "sh", "-c", f"{RACY} & wait $!; true",
                         env={**ENVIRONMENT, "SAFECOPY_OPTIONS": "halt_on_error=1"})
        self.assertEqual(run.returncode, 66, run.stderr)

    def judged(self, script, *flags, **more):
        """The status of a strict run of a script that is content with itself, and what stderr says."""
        run = self.start(*RUN, "--strict", *flags, "sh", "-c", f"{script}; true", **more)
        return run.returncode, run.stderr

    def test_strict_judges_what_no_report_tells(self):
        self.start("mkfifo", "fifo")
        (self.folder / "file").touch()
        for lost in (f"SAFECOPY_OPTIONS=report_path=none {RACY}",
                     f"SAFECOPY_OPTIONS=report_path=/dev/full {RACY}",
                     f"SAFECOPY_OPTIONS=report_path={self.folder}/fifo {RACY}",
                     f"SAFECOPY_OPTIONS=report_path={self.folder}/file/r {RACY}",
                     f"SAFECOPY_OPTIONS=report_path=/dev/fd/7 {RACY}",
                     f"{RACY}; rm safecopy.*.jsonl",
                     f"{RACY}; for report in safecopy.*.jsonl; do head -n 1 $report >cut; "
                     "mv cut $report; done"):
            status, said = self.judged(lost)
            self.assertEqual(status, 66, said)
            self.assertIn("strict: a process that was started had a hazard, of which no report here "
                          "tells, and", said)
        status, said = self.judged(f"{RACY}; {CORRECT}", "--report", "one.jsonl")
        self.assertEqual((status, "had a hazard, of which no report" in said), (66, True), said)
        self.assertEqual(self.judged(f"SAFECOPY_OPTIONS=report_path=none {CORRECT}")[0], 0)

    UNKNOWN = "strict: unknown, "

    def test_strict_fails_for_a_report_that_is_gone(self):
        for gone in ("rm safecopy.*.jsonl", "for r in *.jsonl; do rm $r; mkdir $r; done",
                     "for r in *.jsonl; do rm $r; ln -s /dev/null $r; done"):
            status, said = self.judged(f"{CORRECT}; {gone}")
            self.assertEqual(status, 66, said)
            self.assertRegex(said, self.UNKNOWN + r"/\S+\.jsonl: the report of process \d+ is not "
                             "there, and the program ended with 0; exit status 66")
            shutil.rmtree(self.folder)
            self.folder.mkdir()
        other = f"SAFECOPY_RUN= SAFECOPY_OPTIONS=report_path={self.folder}/other {CORRECT}"
        status, said = self.judged(f"{other}; {CORRECT}; for r in *.jsonl; do cp other $r; done")
        self.assertEqual(status, 66, said)
        self.assertRegex(said, self.UNKNOWN + r"\S+: the run of process \d+ is not in it,")

    def test_strict_fails_for_a_report_that_could_not_be_written(self):
        for path in "/dev/full", f"{self.folder}/file/r":
            (self.folder / "file").touch()
            status, said = self.judged(f"SAFECOPY_OPTIONS=report_path={path} {CORRECT}")
            self.assertEqual((status, self.UNKNOWN in said), (66, True), said)

    def killed(self, prepare):
        """A program that begins with CUDA and is then prepared for a death without a summary."""
        return (f"{sys.executable} -c \"import ctypes, os, resource, signal\n"
                "assert ctypes.CDLL('libcuda.so.1').cuInit(0) == 0\n" + prepare + '"')

    def test_strict_fails_for_a_run_that_did_not_end(self):
        for end in ("os.kill(os.getpid(), 9)",
                    "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))",
                    "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
                    "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))",
                    "os.execv('/bin/true', ['true'])"):
            for shape in "text", "json":
                status, said = self.judged(self.killed(end), "--format", shape)
                self.assertEqual(status, 66, (end, said))
                self.assertRegex(said, self.UNKNOWN + r"/\S+\.jsonl: a run did not end normally,")
        self.assertEqual(self.start(*RUN, "sh", "-c", f"{self.killed('os.abort()')}; true").returncode,
                         0)
        run = self.start(*RUN, "--strict", "sh", "-c", f"{self.killed('os.abort()')}; exit 3")
        self.assertEqual((run.returncode, self.UNKNOWN in run.stderr), (3, False), run.stderr)

    def test_who_is_killed_by_the_run_is_not_unknown(self):
        """By the shell's own kill, by Python, and as a group of processes.

        SIGINT kills at once: Python's own handler would be unseen between its last look and read.
        """
        worker = ("import ctypes, signal\n"
                  "signal.signal(signal.SIGINT, signal.SIG_DFL)\n"
                  "assert ctypes.CDLL('libcuda.so.1').cuInit(0) == 0\n"
                  "print(1, flush=True)\n"
                  "input()\n")
        (self.folder / "worker.py").write_text(worker)
        killer = ("import os, subprocess, sys\n"
                  "worker = subprocess.Popen([sys.executable, 'worker.py'], stdin=subprocess.PIPE,\n"
                  "                          stdout=subprocess.PIPE, start_new_session=True)\n"
                  "worker.stdout.readline()\n"
                  "{}\n"
                  "worker.wait()\n")
        shell = (f"mkfifo in out; {sys.executable} worker.py <in >out & exec 3>in; read x <out; "
                 "kill -9 $!; wait; rm in out")
        scripts = [shell]
        for i, how in enumerate(("worker.kill()", "worker.terminate()",
                                 "os.killpg(worker.pid, 2)", "os.kill(-worker.pid, 15)")):
            (self.folder / f"killer{i}.py").write_text(killer.format(how))
            scripts.append(f"{sys.executable} killer{i}.py")
        for script in scripts:
            status, said = self.judged(script)
            self.assertEqual((status, "unknown" in said), (0, False), (script, said))
            self.assertIn("did not end normally", said)

    def test_strict_knows_when_the_roll_lacks_a_note(self):
        """The file-size limit holds for the roll as well, so its mode says that a note is lacking."""
        limits = "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))"
        status, said = self.judged("SAFECOPY_OPTIONS=report_path=/dev/null " + self.killed(limits))
        self.assertEqual(status, 66, said)
        self.assertIn(self.UNKNOWN + "a process could not note what it had to say", said)

    def test_what_ends_well_is_not_unknown(self):
        """Whose reports are there, or were taken over by the next process."""
        forks = ("import ctypes, os\n"
                 "def work(): assert ctypes.CDLL('libcuda.so.1').cuInit(0) == 0\n"
                 "for end in (os._exit, exit):\n"
                 "    if os.fork() == 0:\n"
                 "        work()\n"
                 "        end(0)\n"
                 "    os.wait()\n"
                 "work()\n")
        (self.folder / "forks.py").write_text(forks)
        for script in (f"{CORRECT}; {CORRECT}", f"({CORRECT}) & {CORRECT}; wait",
                       f"{sys.executable} forks.py", f"env A=1 {CORRECT}; exec {CORRECT}"):
            for flags in (), ("--report", "one.jsonl"), ("--report-dir", "d"):
                status, said = self.judged(script, *flags)
                self.assertEqual((status, "unknown" in said), (0, False), (script, flags, said))

    def test_strict_judges_without_standard_files(self):
        for closed in ">&-", "2>&-", "<&-", "<&- >&- 2>&-":
            for script, status in ((f"{RACY}; rm -f *.jsonl; true", 66), (f"{CORRECT}; true", 0)):
                run = self.start("sh", "-c", f'exec "$@" {closed}', "sh", *RUN, "--strict", "sh", "-c",
                                 script)
                self.assertEqual(run.returncode, status, (closed, run.stderr))

    def test_reports_are_found_wherever_they_are(self):
        within = f"{SAFECOPY} run --report-dir within"
        for elsewhere in (f"SAFECOPY_OPTIONS= {RACY}",
                          f"SAFECOPY_OPTIONS=report_path={self.folder}/other/r.jsonl {RACY}",
                          f"{within} {RACY}", f"{within} --format text -o text {RACY}",
                          f"SAFECOPY_OPTIONS= {within} --format text -o text {RACY}"):
            status, said = self.judged(elsewhere, "--report-dir", "own")
            self.assertEqual(status, 66, said)
            self.assertIn("\nSC101 source-freed-in-flight, observed, 1 time:", said)
            self.assertNotIn("no report", said)

    def test_runs_at_one_time_in_one_folder_keep_to_themselves(self):
        """By the roll, and a process that cannot get at it by what its report says of it."""
        begin, end = (self.folder / name for name in ("begin", "end"))
        waits = f"touch begin; until [ -e end ]; do sleep 0.01; done; {CORRECT}"
        for other in [*RUN, RACY], [*RUN, "unshare", "--pid", "--fork", "--mount-proc", RACY]:
            for path in begin, end:
                path.unlink(missing_ok=True)
            one = subprocess.Popen([*RUN, "--strict", "sh", "-c", waits], env=ENVIRONMENT,
                                   cwd=self.folder, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
            while not begin.exists():
                time.sleep(0.01)
            run = self.start(*other)
            end.touch()
            said = one.communicate(timeout=PATIENCE_S)[1]
            if "unshare: " in run.stderr:
                self.skipTest(run.stderr)
            self.assertIn("\nSC101 ", run.stderr)
            self.assertEqual((one.returncode, "SC101" in said), (0, False), said)

    def test_a_run_within_a_run_that_is_killed(self):
        within = f"{SAFECOPY} run --format text --report-dir within sh -c '{RACY}; kill -9 $PPID'"
        status, said = self.judged(f"SAFECOPY_OPTIONS= {within}", "--report-dir", "own")
        self.assertEqual((status, "\nSC101 " in said), (66, True), said)

    def test_strict_judges_a_process_that_fails_by_its_options(self):
        (self.folder / "bad").write_text("{\nname: bad\n}\n")
        for options in "strict=maybe", f"strict=1:suppressions={self.folder}/bad":
            status, said = self.judged(f"SAFECOPY_OPTIONS={options} {CORRECT}")
            self.assertEqual(status, 66, said)
            self.assertIn("strict: a process that was started fails by its options and", said)

    def test_says_what_still_runs(self):
        lives = self.folder / "lives.py"
        lives.write_text("import ctypes, time\n"
                         "assert ctypes.CDLL('libcuda.so.1').cuInit(0) == 0\n"
                         "open('up', 'w').close()\ntime.sleep(60)\n")
        status, said = self.judged(f"{sys.executable} lives.py >/dev/null 2>&1 & echo $! >pid; "
                                   "until [ -e up ]; do sleep 0.01; done")
        os.kill(int((self.folder / "pid").read_text()), signal.SIGKILL)
        self.assertEqual(status, 0, said)
        self.assertRegex(said, r"\nsafecopy: still running: \d+ \(python[\d.]*\); what is reported "
                         "from now on is neither shown nor judged")
        self.assertNotIn("still running", self.judged(RACY)[1])

    def test_a_roll_keeps_what_was_noted(self):
        truncates = ("import os; path = os.environ['SAFECOPY_RUN'].split(':')[0]; "
                     "os.truncate(path, 0)")
        status, said = self.judged(f"SAFECOPY_OPTIONS=report_path=none {RACY}; "
                                   f"{sys.executable} -c \"{truncates}\"")
        self.assertIn("PermissionError", said)
        self.assertEqual(status, 66, said)


class StrictAlone(Runs):
    """--strict without --format: the processes are judged, and nothing is shown at the end."""

    def judged(self, script, *flags, **more):
        run = self.start(*STRICT, *flags, "sh", "-c", script, **more)
        if run.returncode != 66:
            self.assertNotIn("exit status 66", run.stderr)
        return run.returncode, run.stderr

    def test_a_hazard_of_any_process_counts(self):
        for script in f"{RACY}; exit 0", f"{RACY} || true", f"{RACY} & wait":
            status, said = self.judged(script)
            self.assertEqual(status, 66, said)
            self.assertIn("safecopy: strict: a process that was started had a hazard and the program "
                          "ended with 0; exit status 66\n", said)
            self.assertNotIn("What to do:", said)
        self.assertEqual(self.judged(f"{RACY}; exit 0", "--option", "exitcode=9")[0], 9)
        self.assertEqual(self.judged(CORRECT), (0, ""))

    def test_what_was_not_judged_is_not_called_clean(self):
        """The status is the program's."""
        (source := self.folder / "app.c").write_text("int main(void) { return 3; }\n")
        subprocess.run(["cc", "-static", source, "-o", self.folder / "static"], check=True)
        static = ("safecopy: strict: nothing was judged: ./static: it is statically linked: no loader "
                  "runs, so LD_PRELOAD has no effect. Link it without -static: CUDA itself wants a "
                  "dynamic program\n")
        unseen = ("safecopy: strict: nothing was judged: no use of CUDA was seen in {} and in what it "
                  "started; if there is any, safecopy doctor PROGRAM says what hides it\n")
        for shown in (), ("--format", "text"):
            for command, status, said in (
                    (("./static",), 3, static), (("true",), 0, unseen.format("true")),
                    (("sh", "-c", "sleep 9 & kill $!; exit 4"), 4, unseen.format("sh"))):
                run = self.start(*STRICT, *shown, *command)
                self.assertEqual((run.returncode, run.stderr), (status, said), command)
        for options in ("report_path=none", "report_path=/dev/null", "verbosity=1"):
            run = self.start(*STRICT, "--option", options, "sh", "-c", f"{CORRECT}; exit 4")
            self.assertEqual((run.returncode, run.stderr), (4, ""), options)
        self.assertEqual(self.start(SAFECOPY, "run", "./static").stderr, "")

    def test_a_program_that_fails_keeps_its_status(self):
        for end, status, words in (("exit 3", 3, "the program's own exit status 3 stays"),
                                   ("kill -9 $$", -9, "the program was ended by signal 9")):
            run = self.start(*STRICT, "sh", "-c", f"{RACY}; {end}")
            self.assertEqual(run.returncode, status)
            self.assertIn("strict: failed, this process ends with 66\n", run.stderr)
            self.assertTrue(run.stderr.endswith(f"\nsafecopy: strict: failed; {words}\n"))
            self.assertNotIn("exit status 66", run.stderr)
        self.assertNotIn("safecopy: strict: ", self.start(*STRICT, RACY).stderr)
        run = self.start(*STRICT, sys.executable, "-c", HOLDS + "raise SystemExit(3)\n",
                         stdin=None, input="\n")
        self.assertEqual(run.returncode, 3)
        self.assertEqual(run.stderr.count("own exit status 3 stays"), 1, run.stderr)

    def test_a_program_that_did_not_come_to_its_verdict(self):
        """One line says it, the program's or the command's."""
        for end, status, words in (
                ("os.kill(os.getpid(), 9)", -9, "safecopy: strict: failed; the program was ended by signal 9"),
                ("os.execv('/bin/sh', ['sh', '-c', 'exit 3'])", 3,
                 "safecopy: strict: failed; the program's own exit status 3 stays"),
                ("os.execv('/bin/sh', ['sh', '-c', 'exit 66'])", 66,
                 "safecopy: strict: failed, exit status 66"),
                ("os.abort()", -6, "  strict: failed; the program's own exit status 134 stays"),
                ("raise SystemExit(3)", 3, "  strict: failed; the program's own exit status 3 stays")):
            for flags in (), ("--option", "report_path=none"):
                run = self.start(*STRICT, *flags, sys.executable, "-c", f"{HOLDS}import os\n{end}\n",
                                 stdin=None, input="\n")
                said = [line for line in run.stderr.splitlines() if "strict: " in line]
                self.assertEqual((run.returncode, said), (status, [words]), run.stderr)
            run = self.start(*STRICT, "--option", "verbosity=0", sys.executable, "-c",
                             f"{HOLDS}import os\n{end}\n", stdin=None, input="\n")
            self.assertEqual((run.returncode, run.stderr), (status, ""))

    def test_a_library_that_was_off_is_named(self):
        off = f"SAFECOPY_OPTIONS=mode=off {RACY}"
        said = (r"safecopy: strict: nothing was judged in process \d+ \(\S*/sc101_free_h2d\.racy\)%s: it "
                r"looked for the CUDA driver with mode=off, which its SAFECOPY_OPTIONS had ")
        for script, more in (off, ""), (f"{off}; {off}; {CORRECT}", " and 1 more"):
            for shown in (), ("--format", "text"):
                run = self.start(*STRICT, *shown, "sh", "-c", f"{script}; exit 0")
                self.assertRegex(run.stderr, f"(?m)^{said % more}")
                self.assertEqual(run.returncode, 0)
                self.assertNotIn("no use of CUDA", run.stderr)
        run = self.start(*STRICT, "--option", "mode=off", RACY)
        self.assertEqual((run.returncode, run.stderr.count("\n")), (0, 1), run.stderr)
        self.assertIn("nothing is looked for, so the run cannot fail", run.stderr)
        self.assertEqual(self.start(SAFECOPY, "run", "sh", "-c", off).stderr, "")

    def test_a_run_that_must_be_judged(self):
        """Whatever earlier runs have left."""
        old = self.start(*STRICT, "--report-dir", "reports", CORRECT)
        self.assertEqual((old.returncode, len(list(self.folder.glob("reports/*")))), (0, 1))
        off = f"SAFECOPY_OPTIONS=mode=off {RACY}; exit 0"
        unreached = str(OUT / "tests" / "cupti" / "unreached")
        for command, status in ((("true",), 66), (("false",), 1), (("sh", "-c", off), 66), ((CORRECT,), 0),
                                ((unreached,), 66), (("sh", "-c", f"{unreached}; {CORRECT}"), 0),
                                (("--option", "report_path=/dev/null", CORRECT), 0),
                                ((RACY,), 66), (("--option", "mode=off", RACY), 66),
                                (("--option", "exitcode=9", "true"), 9),
                                (("--option", "report_path=none", CORRECT), 0)):
            with self.subTest(command):
                run = self.start(*STRICT, "--report-dir", "reports", "--require-judged", *command)
                self.assertEqual(run.returncode, status, run.stderr)
                is_unjudged = "as nothing was judged, and the program ended with 0" in run.stderr
                self.assertEqual(is_unjudged, status in (9, 66) and command != (RACY,), run.stderr)
        run = self.start(SAFECOPY, "run", "--require-judged", "echo", "started")
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        self.assertIn("--require-judged has nothing to require", run.stderr)

    def test_a_flag_behind_the_program(self):
        words = "is handed to echo; if it is meant for safecopy run, it stands before the program"
        for flags in ("--strict",), ("x", "--report-dir=d"), ("--suppressions", "f"):
            run = self.start(SAFECOPY, "run", "echo", *flags)
            self.assertEqual((run.returncode, run.stdout), (0, f"{' '.join(flags)}\n"))
            self.assertIn(words, run.stderr)
        for command in (("--", "echo", "--strict"), ("--strict=0", "echo", "--strict"),
                        ("echo", "--strict-markers"), ("echo", "--", "--strict")):
            run = self.start(SAFECOPY, "run", *command)
            self.assertEqual((run.returncode, run.stderr), (0, ""), command)

    def test_a_letter_that_means_nothing_is_said(self):
        run = self.start(SAFECOPY, "run", "--report", "r.%q.%p.jsonl", CORRECT)
        self.assertEqual(run.returncode, 0)
        self.assertIn("report_path has %q, which means nothing and stays as it is", run.stderr)
        self.assertEqual(len(list(self.folder.glob("r.%q.*.jsonl"))), 1)
        run = self.start(SAFECOPY, "run", "--report", "%h/%r.%e.%p.jsonl", CORRECT)
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_strict_may_come_from_the_environment(self):
        given = {**ENVIRONMENT, "SAFECOPY_OPTIONS": "strict=1"}
        run = self.start(SAFECOPY, "run", "sh", "-c", f"{RACY}; exit 0", env=given)
        self.assertEqual(run.returncode, 66, run.stderr)
        run = self.start(SAFECOPY, "run", "--strict=0", "sh", "-c", f"{RACY}; exit 0", env=given)
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_strict_takes_a_value_that_the_option_has(self):
        self.assertEqual(self.start(*STRICT[:-1], "--strict=1", RACY).returncode, 66)
        self.assertEqual(self.start(*STRICT[:-1], "--strict=0", RACY).returncode, 0)
        run = self.start(*STRICT[:-1], "--strict=maybe", "echo", "started")
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        self.assertIn("'strict' cannot be 'maybe'", run.stderr)

    def test_wherever_the_reports_are(self):
        for flags in (("--report", "one.jsonl"), ("--report-dir", "d"), ("--option", "report_path=none"),
                      ("--report", "/dev/null")):
            with self.subTest(flags):
                self.assertEqual(self.judged(f"{RACY}; exit 0", *flags)[0], 66)
                self.assertEqual(self.judged(CORRECT, *flags), (0, ""))
        odd = self.folder / "a:b%p"
        odd.mkdir()
        self.assertEqual(self.judged(f"{RACY}; exit 0", cwd=odd)[0], 66)

    def test_what_is_unknown_fails(self):
        for script in (f"{CORRECT}; rm safecopy.*.jsonl",
                       f"{sys.executable} -c \"import ctypes, os\n"
                       "assert ctypes.CDLL('libcuda.so.1').cuInit(0) == 0\nos.kill(os.getpid(), 9)\"; "
                       "true"):
            status, said = self.judged(script)
            self.assertEqual(status, 66, said)
            self.assertIn("strict: unknown, ", said)

    LATE = f"(read go <go; {RACY}) >/dev/null 2>&1 & echo $! >pid; "

    def test_who_still_runs_is_named(self):
        os.mkfifo(self.folder / "go")
        status, said = self.judged(f"{self.LATE} true")
        self.assertEqual(status, 0, said)
        pid = (self.folder / "pid").read_text().strip()
        self.assertRegex(said, rf"(?m)^safecopy: still running: {pid} \(sh\); what is reported from now on "
                         r"is neither shown nor judged \(--wait waits\)\n$")
        os.kill(int(pid), signal.SIGKILL)

    def test_who_still_runs_is_waited_for(self):
        os.mkfifo(self.folder / "go")
        with subprocess.Popen([*STRICT, "--wait", "sh", "-c", f"{self.LATE} echo over"], text=True,
                              env=ENVIRONMENT, cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as run:
            self.assertEqual(run.stdout.readline(), "over\n")
            self.assertIsNone(run.poll())
            (self.folder / "go").write_text("go\n")
            said = run.communicate(timeout=PATIENCE_S)[1]
        self.assertEqual((run.returncode, "still running" in said), (66, False), said)

    def test_who_becomes_another_program_is_named(self):
        # The second program of an exec has no environment before the kernel has read it.
        late = ("env -i sh -c 'sleep 0.1; SAFECOPY_RUN=$0 exec sleep 600' $SAFECOPY_RUN >/dev/null 2>&1 & "
                "echo $! >pid")
        said = self.judged(late)[1]
        pid = (self.folder / "pid").read_text().strip()
        os.kill(int(pid), signal.SIGKILL)
        self.assertIn(f"still running: {pid} (sleep)", said)

    def test_the_waiting_has_an_end(self):
        stays = "sleep 600 >/dev/null 2>&1 & echo $! >pid"
        self.assertIn("still running: ", self.judged(stays, "--wait=0")[1])
        os.kill(int((self.folder / "pid").read_text()), signal.SIGKILL)
        with subprocess.Popen([*STRICT, "--wait", "sh", "-c", f"{stays}; echo $$"], text=True,
                              env=ENVIRONMENT, cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as run:
            program = run.stdout.readline().strip()
            while os.path.exists(f"/proc/{program}"):  # until then a signal is the program's
                time.sleep(0.01)
            run.terminate()
            said = run.communicate(timeout=PATIENCE_S)[1]
        os.kill(int((self.folder / "pid").read_text()), signal.SIGKILL)
        self.assertEqual(run.returncode, 0, said)
        self.assertIn("still running: ", said)

    def test_waiting_needs_something_to_wait_for(self):
        for flags, words in (("--wait",), "nothing to wait for"), (("--strict", "--wait=x"), "takes sec"):
            run = self.start(SAFECOPY, "run", *flags, "echo", "started")
            self.assertEqual((run.returncode, run.stdout), (2, ""))
            self.assertIn(words, run.stderr)


if __name__ == "__main__":
    unittest.main()
