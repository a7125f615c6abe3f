#!/usr/bin/env python3
"""`safecopy run`: what it sets, and with --format that nobody can tell it from the program itself."""

import errno
import fcntl
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
import tempfile
import time
import unittest

from seccomp_filters import REFUSES, filters

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT", ROOT / "out"))
SAFECOPY = str(OUT / "safecopy")
RUN = [SAFECOPY, "run", "--format", "text"]
STRICT = [SAFECOPY, "run", "--strict"]
LIBRARY = str((OUT / "libsafecopy.so").resolve())
HAZARDS = OUT / "tests" / "hazard"
RACY, CORRECT = (str(HAZARDS / f"sc101_free_h2d.{variant}") for variant in ("racy", "fixed"))
LATENT = str(HAZARDS / "sc101_free_latent.racy")
ENVIRONMENT = {**{name: value for name, value in os.environ.items()
                  if not name.startswith(("SAFECOPY_", "LD_", "CUDA_"))},
               "LD_LIBRARY_PATH": str(OUT / "sim"), "SIM_GPU": "late=1"}
NOTHING = "no process has written a report"
PATIENCE_S = 60

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

# Frees a source in flight, says so, waits, and does the same again.
HOLDS = """
import ctypes
runtime, libc = ctypes.CDLL("libcudart.so.13"), ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
SIZE = 1 << 16
device = ctypes.c_void_p()
runtime.cudaMalloc(ctypes.byref(device), ctypes.c_size_t(SIZE))
def free_in_flight():
    source = ctypes.c_void_p(libc.malloc(ctypes.c_size_t(SIZE)))
    runtime.cudaHostRegister(source, ctypes.c_size_t(SIZE), 0)
    runtime.cudaMemcpyAsync(device, source, ctypes.c_size_t(SIZE), 1, None)
    libc.free(source)
    runtime.cudaDeviceSynchronize()
free_in_flight()
print("ready", flush=True)
input()
free_in_flight()
"""


class Runs(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name).resolve()

    def start(self, *command, **more):
        return subprocess.run(command, **{
            "cwd": self.folder, "env": ENVIRONMENT, "stdin": subprocess.DEVNULL, "timeout": PATIENCE_S,
            "capture_output": True, "text": True, "check": False, **more})


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

    def test_strict_knows_when_the_ledger_lacks_a_note(self):
        """The file-size limit holds for the ledger as well, so its mode says that a note is lacking."""
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
        """By the ledger, and a process that cannot get at it by what its report says of it."""
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

    def test_the_ledger_is_nothing_else(self):
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
        ledger = self.memory()
        self.addCleanup(os.close, ledger)
        self.assertTrue(self.told(ledger), "the test itself tells of nothing")

    def test_a_forged_variable_writes_to_no_pipe(self):
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        for end in reader, writer:
            self.told(end)
        os.close(writer)
        self.assertEqual(os.read(reader, 1), b"")

    def test_a_ledger_keeps_what_was_noted(self):
        truncates = ("import os; path = os.environ['SAFECOPY_RUN'].split(':')[0]; "
                     "os.truncate(path, 0)")
        status, said = self.judged(f"SAFECOPY_OPTIONS=report_path=none {RACY}; "
                                   f"{sys.executable} -c \"{truncates}\"")
        self.assertIn("PermissionError", said)
        self.assertEqual(status, 66, said)

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
