#!/usr/bin/env python3
"""`safecopy run`: what it sets, what it shows, and with --format that nobody can tell it from the
program itself."""

import errno
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
import unittest

from safecopy_runs import (
    ENVIRONMENT, LIBRARY, OUT, PATIENCE_S, RACY, ROOT, RUN, Runs, SAFECOPY, STRICT)
from seccomp_filters import REFUSES, filters

NOTHING = "no process has written a report"

# Says READY, then each signal that it gets. Stops itself at SIGALRM, and ends itself at SIGUSR2.
LISTENS = """
import os, signal, sys, time
def told(number, frame):
    os.write(1, signal.Signals(number).name.encode() + b"\\n")
    if number == signal.SIGALRM:
        os.kill(os.getpid(), signal.SIGSTOP)
    if number == signal.SIGUSR2:
        time.sleep(0.3)
        os._exit(5)
for number in (1, 2, 3, 10, 12, 14, 15, 18, 28, 34):
    signal.signal(number, told)
os.write(1, b"READY\\n")
while True:
    time.sleep(0.05)
"""

class Environment(Runs):
    def preloaded(self, given, *flags):
        run = self.start(SAFECOPY, "run", *flags, sys.executable, "-c",
                         "import os; print(os.environ.get('LD_PRELOAD')); "
                         "print(os.environ.get('CUDA_INJECTION64_PATH'))",
                         env={**ENVIRONMENT, **given})
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return run.stdout.splitlines()

    def test_what_is_preloaded_already_follows(self):
        one, two = self.folder / "one.so", self.folder / "two.so"
        for other in (one, two):
            subprocess.run(["cc", "-shared", "-x", "c", "/dev/null", "-o", other], check=True)
        for given in (f"{one}:{two}", f"{one} {two}", f" {one}::{two} ", f"{one}:{LIBRARY} {two}"):
            self.assertEqual(self.preloaded({"LD_PRELOAD": given})[0], f"{LIBRARY}:{one}:{two}")
        self.assertEqual(self.preloaded({"LD_PRELOAD": LIBRARY})[0], LIBRARY)
        self.assertEqual(self.preloaded({"LD_PRELOAD": ""})[0], LIBRARY)

    def test_injection_leaves_the_preload(self):
        self.assertEqual(self.preloaded({}, "--injection"), ["None", LIBRARY])
        self.assertEqual(self.preloaded({"CUDA_INJECTION64_PATH": "/old/libsafecopy.so"},
                                        "--injection"), ["None", LIBRARY])
        run = self.start(SAFECOPY, "run", "--injection", "echo", "started",
                         env={**ENVIRONMENT, "CUDA_INJECTION64_PATH": "/opt/profiler.so"})
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        self.assertIn("names /opt/profiler.so", run.stderr)

    def test_an_injected_program_is_told_of(self):
        run = self.start(*RUN, "--injection", str(OUT / "tests" / "cupti" / "alone"),
                         env={**ENVIRONMENT, "RACY": "1"})
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("\nSC105 pinned-freed-in-flight", run.stderr)
        self.assertRegex(run.stderr, r"\n    loaded by the driver, not preloaded; neither protected "
                         r"nor looked for: free, realloc, munmap and their like, page protection .*\n")
        self.assertNotIn("neither protected", self.start(*RUN, RACY).stderr)


class Shown(Runs):
    def test_at_the_end_and_not_before(self):
        run = self.start(*RUN, "sh", "-c", f"{RACY}; echo over >&2; exit 3", stderr=subprocess.STDOUT,
                         stdout=subprocess.PIPE, capture_output=False)
        self.assertEqual(run.returncode, 3)
        self.assertRegex(run.stdout, r"(?s)over\n.*\n1 place with hazards\n.*\nSC101 ")

    def test_on_stderr_or_in_a_file_or_on_stdout(self):
        run = self.start(*RUN, RACY)
        self.assertEqual((run.returncode, run.stdout), (0, "data right\n"))
        self.assertIn("\nSC101 ", run.stderr)
        run = self.start(*RUN, "-o", "r.txt", RACY)
        self.assertEqual((run.returncode, run.stdout), (0, "data right\n"))
        self.assertIn("\nSC101 ", (self.folder / "r.txt").read_text())
        self.assertNotIn("\nSC101 ", run.stderr)
        self.assertEqual((self.folder / "r.txt").stat().st_mode & 0o777, 0o600)
        run = self.start(*RUN, "-o", "u.txt", "--output-mode", "umask", RACY, umask=0o027)
        self.assertEqual((self.folder / "u.txt").stat().st_mode & 0o777, 0o640)
        run = self.start(*RUN, "-o", "-", RACY)
        self.assertRegex(run.stdout, "(?s)data right\n.*\nSC101 ")

    def shows_source(self, *flags, program=(RACY,)):
        self.shown = self.start(*RUN, *flags, *program).stderr
        self.assertIn("SC101", self.shown)
        return re.search(r"^ +> +\d+ \| +free\(source\);$", self.shown, re.M) is not None

    def test_source_is_shown_from_below_the_roots(self):
        if not self.shows_source():
            self.skipTest("the command is built without libdw")
        (self.folder / "other").mkdir()
        self.assertTrue(self.shows_source("--source-root", "other", "--source-root",
                                          os.environ.get("SAFECOPY_BUILT_IN", str(ROOT))))
        self.assertFalse(self.shows_source("--source-root", "other"))
        self.assertIn("lies outside of every --source-root\n", self.shown)

    def test_a_root_is_what_it_was_before_the_run(self):
        """The program may take the folder away, or put a link to another in its place."""
        if not self.shows_source():
            self.skipTest("the command is built without libdw")
        for change in ("rmdir root", "rmdir root; ln -s / root"):
            (self.folder / "root").unlink(missing_ok=True)
            (self.folder / "root").mkdir()
            self.assertFalse(self.shows_source("--source-root", "root", program=(
                "sh", "-c", f"{change}; exec {RACY}")))

    def test_the_output_is_not_what_is_read(self):
        known = self.folder / "known"
        known.write_text("{\nname: known\ncode: SC2*\nreason: a test\n}\n")
        before = known.read_text()
        for flags in ("-o", "known", "--suppressions", "known"), ("--suppressions", "known", "-o",
                                                                  "known"):
            run = self.start(*RUN, *flags, "echo", "started")
            self.assertEqual((run.returncode, run.stdout), (2, ""))
            self.assertIn("cannot write known: this command reads it", run.stderr)
            run = self.start(SAFECOPY, "report", *flags, os.devnull)
            self.assertEqual(run.returncode, 2)
            self.assertIn("cannot write known: this command reads it", run.stderr)
        self.assertEqual(known.read_text(), before)

    def test_says_where_there_is_nothing(self):
        run = self.start(*RUN, "true")
        self.assertEqual((run.returncode, run.stderr.count("\n")), (0, 1))
        self.assertIn(NOTHING, run.stderr)
        self.assertIn(NOTHING, self.start(*RUN, "env", "-i", "SIM_GPU=late=1",
                                          f"LD_LIBRARY_PATH={OUT}/sim", RACY).stderr)

    def test_bad_flags_start_nothing(self):
        for flags, words in ((("--format", "tex"), "did you mean 'text'"),
                             (("--format", "text", "--output-mode", "umask"), "-o names the file"),
                             (("-o", "x"), "--format says"),
                             (("--source-root", "."), "--format says"),
                             (("--format", "text", "--source-root", "none"), "take 'none': No such"),
                             (("--format", "text", "-o", "none/x"), "cannot write none/x: No such"),
                             (("--format", "text", "-o", "/dev/full"), "is no file"),
                             (("--format", "text", "-o", ""), "the name is empty"),
                             (("--format", "text", "--report", "none"), "leaves nothing to show"),
                             (("--format", "text", "--report", "/dev/null"), "leaves nothing"),
                             (("--format", "text", "--report", "/dev/stderr"), "leaves nothing"),
                             (("--format", "text", "--report", "/"), "leaves nothing to show")):
            run = self.start(SAFECOPY, "run", *flags, "echo", "started")
            self.assertEqual((run.returncode, run.stdout), (2, ""))
            self.assertIn(words, run.stderr)
        (self.folder / "app").touch()
        for status, program in ((127, "no-such-program"), (126, "/"), (127, "app")):
            run = self.start(*RUN, program)
            self.assertEqual((run.returncode, run.stderr.count("\n")), (status, 1), run.stderr)
        self.assertEqual(run.stderr, "safecopy: cannot run app: it is not in PATH, but in this folder: "
                         "./app\n")


class Once(Runs):
    """What the report shows no summary says as well."""

    def test_shown_on_stderr(self):
        for strict in (), ("--strict",):
            run = self.start(*RUN, *strict, "sh", "-c", f"{RACY}; exit 3")
            self.assertEqual(run.stderr.count("SC101 source-freed-in-flight"), 1, run.stderr)
            self.assertEqual("strict: failed; the program's own exit status 3 stays\n" in run.stderr,
                             bool(strict))
        run = self.start(*RUN, "--strict", RACY)
        self.assertTrue(run.stderr.endswith("safecopy: strict: failed, exit status 66\n"), run.stderr)
        old = self.folder / "old"
        old.write_text("{\nname: old\ncode: SC1*\nreason: a test\nexpires: 2020-01-01\n}\n")
        run = self.start(*RUN, "--suppressions", str(old), RACY)
        self.assertEqual(run.stderr.count("suppressions that have expired: old\n"), 1, run.stderr)

    def test_shown_elsewhere_or_not_at_all(self):
        for flags in (("-o", "r.txt"), ("--option", "verbosity=2")):
            said = self.start(*RUN, *flags, RACY).stderr
            self.assertIn("safecopy: 1 hazard at 1 place", said)
        said = self.start(*RUN, "sh", "-c", f"SAFECOPY_OPTIONS=report_path=none {RACY}").stderr
        self.assertIn("safecopy: 1 hazard at 1 place", said)
        said = self.start(*RUN, "sh", "-c", f"SAFECOPY_RUN= {RACY}").stderr
        self.assertIn("safecopy: 1 hazard at 1 place", said)


class Launchers(Runs):
    """Each of these starts the program in its own way, and the library is in all of them."""

    WORKER = ("import os, runpy, sys\n"
              "def work(*_):\n"
              "    import ctypes\n"
              "    cuda = ctypes.CDLL('libcuda.so.1')\n"
              "    assert cuda.cuInit(0) == 0\n"
              "    count = ctypes.c_int()\n"
              "    assert cuda.cuDeviceGetCount(ctypes.byref(count)) == 0\n")

    def module(self, rest):
        (self.folder / "job.py").write_text(self.WORKER + rest)

    def ranks(self, *command, **environment):
        """How many processes have told of themselves, and with which ranks."""
        run = self.start(SAFECOPY, "run", "--format", "json", "-o", "r.json", "--report-dir", "d",
                         *command, env={**ENVIRONMENT, **environment})
        self.assertEqual(run.returncode, 0, run.stderr)
        runs = json.loads((self.folder / "r.json").read_text())["runs"]
        shutil.rmtree(self.folder / "d")
        return sorted(run["run"]["rank"] or "" for run in runs)

    def test_shells(self):
        script = self.folder / "script"
        script.write_text(f"#!/bin/bash\n{RACY}\nexec {RACY}\n")
        script.chmod(0o755)
        self.assertEqual(len(self.ranks("sh", "-c", f"({RACY}); {RACY}")), 2)
        self.assertEqual(len(self.ranks(str(script))), 2)
        self.assertEqual(len(self.ranks("nohup", "nice", "env", "A=1", RACY)), 1)
        self.assertEqual(len(self.ranks(SAFECOPY, "run", "sh", "-c", f"{SAFECOPY} run {RACY}")), 1)

    def test_python_m(self):
        self.module("work()\n")
        self.assertEqual(len(self.ranks(sys.executable, "-m", "job")), 1)

    def test_multiprocessing(self):
        self.module("import multiprocessing\n"
                    "if __name__ == '__main__':\n"
                    "    with multiprocessing.get_context(sys.argv[1]).Pool(3) as pool:\n"
                    "        pool.map(work, range(12), chunksize=4)\n"
                    "        pool.close()\n"
                    "        pool.join()\n")
        for way in ("fork", "spawn", "forkserver"):
            found = self.ranks(sys.executable, "job.py", way)
            self.assertIn(len(found), (1, 2, 3), way)

    def test_torchrun(self):
        """As torch.distributed.run does: an agent that starts a process for each rank by its
        environment, in a session of its own, and passes SIGTERM on."""
        self.module("if 'RANK' in os.environ:\n"
                    "    work()\n"
                    "    sys.exit()\n"
                    "import subprocess\n"
                    "workers = [subprocess.Popen([sys.executable, '-u', 'job.py'],\n"
                    "                            env={**os.environ, 'RANK': str(rank),\n"
                    "                                 'LOCAL_RANK': str(rank), 'WORLD_SIZE': '3'},\n"
                    "                            start_new_session=True) for rank in range(3)]\n"
                    "sys.exit(max(worker.wait() for worker in workers))\n")
        self.assertEqual(self.ranks(sys.executable, "-m", "job"), ["0", "1", "2"])

    @unittest.skipUnless(shutil.which("torchrun", path=ENVIRONMENT.get("PATH")), "no torchrun here")
    def test_the_real_torchrun(self):
        self.module("work()\n")
        plain = subprocess.run(["torchrun", "--nproc_per_node=1", "job.py"], cwd=self.folder,
                               env=ENVIRONMENT, capture_output=True, check=False)
        if plain.returncode != 0:  # as that of PyTorch 1.13 on CPython 3.11
            self.skipTest("the torchrun here does not run")
        self.assertEqual(self.ranks("torchrun", "--nproc_per_node=2", "job.py"), ["0", "1"])

    @unittest.skipUnless(shutil.which("mpirun"), "no mpirun here")
    def test_mpirun(self):
        found = self.ranks("mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", RACY,
                           OMPI_MCA_plm_rsh_agent="", OMPI_MCA_btl="self")
        self.assertEqual(found, ["0", "1"])


class AsWithout(Runs):
    """What the program and its parent see with --format or --strict, and without `safecopy run`."""

    def same(self, program, **more):
        """Returns what both have put out."""
        plain = self.start(*program, **more)
        for wrapper in RUN, STRICT:
            run = self.start(*wrapper, *program, **more)
            self.assertEqual((run.returncode, run.stdout), (plain.returncode, plain.stdout))
        return plain.stdout

    def test_ends_as_the_program_does(self):
        for status in (0, 1, 7, 126, 127, 255):
            self.same(["sh", "-c", f"exit {status}"])
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGPIPE, signal.SIGABRT,
                       signal.SIGSEGV, signal.SIGRTMIN):
            self.same(["sh", "-c", f"kill -{int(number)} $$"])

    def test_ends_as_process_1(self):
        """Which no signal of its own ends, and which gets the orphans."""
        run = self.start("unshare", "--fork", "--pid", *RUN, "sh", "-c", "(true &); kill -TERM $$")
        if "unshare: " in run.stderr:
            self.skipTest(run.stderr)
        self.assertEqual(run.returncode, 128 + signal.SIGTERM, run.stderr)

    def test_leaves_no_core_of_its_own(self):
        program = subprocess.Popen([*RUN, "sh", "-c", "ulimit -c 0; kill -SEGV $$"], env=ENVIRONMENT,
                                   stderr=subprocess.DEVNULL, cwd=self.folder)
        _, status = os.waitpid(program.pid, 0)
        program.returncode = 0
        self.assertEqual((os.WTERMSIG(status), os.WCOREDUMP(status)), (signal.SIGSEGV, False))

    def test_signals_and_files_are_inherited(self):
        show = ["sh", "-c", "grep -E '^(Sig|Shd)(Blk|Ign|Pnd|Cgt)' /proc/self/status; echo \"$0\";"
                " readlink /proc/self/fd/* | grep -v proc | sed 's/[0-9]*]$//'; cat; ulimit -a;"
                " cut -d' ' -f5-8 /proc/$$/stat | cut -d' ' -f2-"]
        for text, prepare in (
                ("", None),
                ("three\n", lambda: (signal.signal(signal.SIGCHLD, signal.SIG_IGN),
                                     signal.signal(signal.SIGHUP, signal.SIG_IGN),
                                     signal.pthread_sigmask(signal.SIG_BLOCK, {10, 12, 17, 40}))),
                ("", lambda: os.dup2(1, 9))):
            shown = self.same(show, stdin=None, input=text, preexec_fn=prepare, close_fds=False)
            self.assertIn("SigBlk", shown)
            self.assertIn(text, shown)
        closed = ["sh", "-c", "ls /proc/self/fd | grep -c ."]
        for prepare in (lambda: os.close(0), lambda: os.closerange(3, 20)):
            self.same(closed, stdin=None, preexec_fn=prepare)

    def test_argv_0_is_the_same(self):
        self.same(["sh", "-c", "echo $0; ps -o comm= -p $$ || :"])
        self.same(["sh", "-c", "tr '\\0' ' ' </proc/$$/cmdline"])

    def test_no_reader_waits_for_the_runner(self):
        program = subprocess.Popen([*RUN, "sh", "-c", "echo out; exec >/dev/null; read line; exit 4"],
                                   env=ENVIRONMENT, cwd=self.folder, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.assertEqual(program.stdout.read(), b"out\n")
        self.assertIsNone(program.poll())
        program.stdin.close()
        self.assertEqual(program.wait(PATIENCE_S), 4)
        program.stdout.close()

    def test_no_reader_of_another_pipe_waits_for_the_runner(self):
        close_range = 436  # on every processor; since Linux 5.9
        for prepare in None, filters(close_range, REFUSES | errno.ENOSYS):
            reader, writer = os.pipe()
            closes = (f"import os, sys; os.write({writer}, b'out\\n'); os.close({writer});"
                      " sys.stdin.read(); os._exit(4)")
            program = subprocess.Popen([*RUN, sys.executable, "-c", closes], pass_fds=[writer],
                                       preexec_fn=prepare, env=ENVIRONMENT, cwd=self.folder,
                                       stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
            self.addCleanup(program.kill)
            os.close(writer)
            with open(reader, "rb") as told:
                self.assertEqual(told.readline(), b"out\n")
                ended, _, _ = select.select([told], [], [], PATIENCE_S / 4)
                self.assertTrue(ended, "the pipe is open still")
                self.assertEqual(told.read(), b"")
            self.assertIsNone(program.poll())
            program.stdin.close()
            self.assertEqual(program.wait(PATIENCE_S), 4)

    def test_orphans_live_on(self):
        run = self.start(*RUN, "sh", "-c", "(sleep 60 >/dev/null 2>&1 & echo $!)")
        orphan = int(run.stdout)
        self.assertNotIn("Z", pathlib.Path(f"/proc/{orphan}/stat").read_text().split(")")[1][:3])
        os.kill(orphan, signal.SIGKILL)


class Signals(Runs):
    def listen(self, wrapper=RUN):
        program = subprocess.Popen([*wrapper, sys.executable, "-c", LISTENS], env=ENVIRONMENT,
                                   cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        self.addCleanup(program.stdout.close)
        self.addCleanup(program.kill)
        self.assertEqual(program.stdout.readline(), b"READY\n")
        return program

    def test_what_is_sent_to_the_runner_arrives_once(self):
        program = self.listen()
        wanted = [1, 2, 3, 10, 15, 18, 28, 34]
        for number in wanted:
            program.send_signal(number)
            self.assertEqual(program.stdout.readline().decode().strip(),
                             signal.Signals(number).name)
        program.send_signal(signal.SIGUSR2)
        self.assertEqual((program.stdout.read(), program.wait(PATIENCE_S)), (b"SIGUSR2\n", 5))

    def test_what_ends_the_program_ends_the_runner(self):
        program = subprocess.Popen([*RUN, "sleep", "60"], env=ENVIRONMENT, cwd=self.folder,
                                   stderr=subprocess.DEVNULL)
        time.sleep(0.3)
        program.terminate()
        self.assertEqual(program.wait(PATIENCE_S), -signal.SIGTERM)

    def test_a_killed_runner_takes_the_program_along(self):
        program = self.listen()
        program.kill()
        self.assertEqual(program.stdout.read(), b"")  # ends with the last writer
        self.assertEqual(program.wait(PATIENCE_S), -signal.SIGKILL)

    def test_stops_and_goes_on_with_the_program(self):
        program = self.listen()
        program.send_signal(signal.SIGALRM)
        self.assertEqual(program.stdout.readline(), b"SIGALRM\n")
        _, status = os.waitpid(program.pid, os.WUNTRACED)
        self.assertTrue(os.WIFSTOPPED(status))
        program.send_signal(signal.SIGCONT)
        self.assertEqual(program.stdout.readline(), b"SIGCONT\n")
        program.send_signal(signal.SIGUSR2)
        self.assertEqual((program.stdout.read(), program.wait(PATIENCE_S)), (b"SIGUSR2\n", 5))

    def test_the_program_may_signal_its_parent_and_its_group(self):
        run = self.start(*RUN, "bash", "-c", "trap 'echo told' USR1; kill -USR1 $PPID; sleep 0.2;"
                         " kill -USR1 0; sleep 0.2; exit 6", start_new_session=True)
        self.assertEqual((run.returncode, run.stdout), (6, "told\n"))


@unittest.skipUnless(sys.stdin and sys.stdin.isatty(), "job control is tried from a terminal")
class Terminal(Runs):
    """An interactive shell with job control, at the other end of a terminal."""

    def setUp(self):
        super().setUp()
        pid, self.terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execvpe("bash", ["bash", "--norc", "--noprofile", "--noediting", "-i"],
                       {**ENVIRONMENT, "PS1": "", "TERM": "dumb", "HISTFILE": ""})
        self.addCleanup(os.waitpid, pid, 0)
        self.addCleanup(os.kill, pid, signal.SIGKILL)
        self.addCleanup(os.close, self.terminal)
        self.seen = ""
        self.type("stty -echo; echo rea''dy\n")
        self.expect("ready")

    def type(self, text):
        os.write(self.terminal, text.encode())

    def expect(self, pattern):
        end = time.monotonic() + PATIENCE_S
        while not re.search(pattern, self.seen):
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.terminal], [], [], left)[0]:
                self.fail(f"no {pattern!r} in {self.seen!r}")
            self.seen += os.read(self.terminal, 4096).decode(errors="replace")
        shown, self.seen = self.seen, ""
        return shown

    def listen(self):
        (self.folder / "listens.py").write_text(LISTENS)
        self.type(f"{' '.join(RUN)} {sys.executable} listens.py; echo status=$?\n")
        self.expect("READY")

    def test_ctrl_c_arrives_once(self):
        self.listen()
        self.type("\x03")
        self.assertEqual(self.expect("SIGINT").count("SIGINT"), 1)
        self.type("\x1c")
        self.assertNotIn("SIGINT", self.expect("SIGQUIT"))

    def test_ctrl_c_ends_both(self):
        self.type(f"{' '.join(RUN)} sh -c 'echo up; exec sleep 60'; echo status=$?\n")
        self.expect("up")
        self.type("\x03")
        self.assertIn("safecopy:", self.expect(r"safecopy: [^\n]*\n"))
        self.type("echo status=$?\n")
        self.expect("status=130")

    def test_ctrl_z_stops_the_job_and_fg_continues_it(self):
        self.listen()
        self.type("\x1a")
        self.expect("Stopped")
        self.type("jobs -l; fg\n")
        self.expect("SIGCONT")
        self.type("\x1a")
        self.expect("Stopped")
        self.type("bg; kill -USR1 %1; sleep 0.3; kill -USR2 %1; wait %1; echo status=$?\n")
        self.expect("SIGUSR1")
        self.expect("status=5")

    def test_the_program_reads_from_the_terminal(self):
        self.type(f"{' '.join(RUN)} sh -c 'read line; echo got-$line; stty size >/dev/null && exit 9';"
                  " echo status=$?\n")
        time.sleep(0.2)
        self.type("word\n")
        self.expect("got-word")
        self.expect("status=9")


if __name__ == "__main__":
    unittest.main()
