#!/usr/bin/env python3
"""The build that checks itself (make DEBUG=1): its units pass; the gate fails where one of its checks
does in a random program or under stress; clang finds a lock that is forgotten, and none in the tree;
gdb reads what the library knows, of a process and of a core; and the checks are no code in any other
build."""

import functools
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT") or ROOT / "out")
CHECKED = OUT / "debug" / "tests" / "unit"
SKIPPED = 77
SCRIPT = ROOT / "scripts" / "gdb-safecopy.py"
FORGOTTEN = """
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count SC_GUARDED_BY(lock);
static void add_locked(void) SC_REQUIRES(lock)
{
    count++;
}
void right(void);
void right(void)
{
    pthread_mutex_lock(&lock);
    add_locked();
    pthread_mutex_unlock(&lock);
}
"""


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=1500, check=False, **options)


def checked_units():
    """What `make checked-units` builds, as the Makefile names it."""
    named = re.search(r"^CHECKED_UNITS := ((?:.*\\\n)*.*)", (ROOT / "Makefile").read_text(), re.M)
    return [f"test_{name}" for name in named[1].replace("\\", " ").split()]


class Units(unittest.TestCase):
    def test_each_passes(self):
        missing = [name for name in checked_units() if not (CHECKED / name).exists()]
        if missing:
            self.skipTest(f"make checked-units has not built {missing[0]}")
        for name in checked_units():
            with self.subTest(name):
                ran = run(CHECKED / name, env={**os.environ, "CK_DEFAULT_TIMEOUT": "600"})
                self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)


class Gate(unittest.TestCase):
    """What the gate runs under the library that checks itself (tests/lots.py), with a library that has
    a mistake. It is linked of the same objects but for one, in a folder of its own."""
    RUN = """
import sys
import debug_build
import run
debug_build.OUT = sys.argv[1]
sys.exit(run.run_suites(run.SUITES, ["debug"], "check"))
"""

    def setUp(self):
        if not (OUT / "debug" / "libsafecopy.so").exists() or OUT != ROOT / "out":
            self.skipTest("make checked-library has not built the library")
        for program in ("fuzz/random_programs", "stress/correct_programs"):
            if not (OUT / "tests" / program).exists():
                self.skipTest(f"no {program} here")
        folder = tempfile.TemporaryDirectory(prefix="safecopy-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    @staticmethod
    @functools.cache
    def commands():
        """What make would do if the sources were changed."""
        changed = [word for source in ("common/pool.c", "track/track.c") for word in ("-W", source)]
        others = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
        return run("make", "-n", "V=1", "DEBUG=1", *changed, "out/debug/libsafecopy.so", cwd=ROOT,
                   env=others).stdout.splitlines()

    def link(self, source, right, wrong):
        text = (ROOT / source).read_text()
        self.assertEqual(text.count(right), 1, f"{source} has changed: what can go wrong in it?")
        changed = self.folder / "changed.c"
        changed.write_text(text.replace(right, wrong))
        made = f"out/debug/obj/{source[:-2]}.o"
        compiles = [line for line in self.commands() if f" -c {source} -o {made}" in line]
        links = [line for line in self.commands() if "-o out/debug/libsafecopy.so" in line]
        self.assertEqual((len(compiles), len(links)), (1, 1))
        for command in compiles + links:
            for old, new in ((f" -c {source} ", f" -c {changed} "), (made, f"{self.folder}/changed.o"),
                             ("-o out/debug/", f"-o {self.folder}/")):
                command = command.replace(old, new)
            ran = run("sh", "-c", command, cwd=ROOT)
            self.assertEqual(ran.returncode, 0, ran.stderr)

    def expect_failures(self, said):
        ran = run("python3", "-c", self.RUN, self.folder, cwd=ROOT / "tests")
        self.assertEqual(ran.returncode, 1, ran.stdout[-4000:] + ran.stderr)
        for check in ("fewer/random_programs", "fewer/random_batches", "stress/strict=1:device=1"):
            self.assertIn(f"FAILED debug: {check}: ", ran.stdout)
        self.assertIn(said, ran.stdout)

    def test_a_count_that_is_wrong(self):
        self.link("common/pool.c", "if (--pool->live == 0", "if (pool->live == 0")
        self.expect_failures("check_spare")

    def test_a_lock_that_is_forgotten(self):
        self.link("track/track.c", "SC_UNFOLLOWED\n{\n    lock(track);\n    return (struct sc_track_scope)",
                  "SC_UNFOLLOWED\n{\n    return (struct sc_track_scope)")
        self.expect_failures("is used with its lock")


class Locks(unittest.TestCase):
    def check(self, *files):
        ran = run(ROOT / "scripts" / "check-locks", *files)
        if ran.returncode == SKIPPED:
            self.skipTest(ran.stdout.strip())
        return ran

    def test_none_is_forgotten_in_the_tree(self):
        ran = self.check()
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def test_one_that_is_forgotten_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "forgotten.c"
            source.write_text(FORGOTTEN)
            self.assertEqual(self.check(source).returncode, 0)
            source.write_text(FORGOTTEN.replace("    pthread_mutex_lock(&lock);\n", ""))
            ran = self.check(source)
            self.assertNotEqual(ran.returncode, 0)
            self.assertIn("requires holding mutex 'lock'", ran.stderr)

    def test_who_needs_a_lock_says_so(self):
        """A function called _locked tells clang which lock that is, and asks for it."""
        head = re.compile(r"^(\w[^\n;{}()]*?[ *])(\w+_locked)\(([^;{}]*?)\)([^;{}]*)\n\{\n([^}]*)", re.M)
        for path in sorted([*ROOT.glob("interpose/*/*.[ch]"), *ROOT.glob("report/*.[ch]"),
                            *ROOT.glob("cupti_hooks/*.[ch]")]):
            for match in head.finditer(path.read_text(encoding="utf-8")):
                with self.subTest(f"{path.relative_to(ROOT)}: {match[2]}"):
                    self.assertRegex(match[4] + match[5], "SC_REQUIRES|SC_UNFOLLOWED|SC_ASSERT")


class NoCode(unittest.TestCase):
    """Of a build without checks."""

    def test_the_modules_of_the_checks_are_empty(self):
        if not shutil.which("size"):
            self.skipTest("no size here")
        for name in ("common/checks", "common/trace", "track/consistency"):
            shown = run("size", OUT / "obj" / f"{name}.o").stdout.splitlines()
            self.assertEqual(shown[1].split()[:3], ["0", "0", "0"], name)

    def test_an_assertion_is_none(self):
        """A unit has the same code where its checks are taken out."""
        source = "int f(int a);\nint f(int a)\n{\n    SC_ASSERT(a > __LINE__);\n    SC_CHECK(a++);\n" \
                 '    SC_TRACE("f a", a);\n    return a;\n}\n'
        bare = re.sub(r"    SC_.*\n", "", source)
        with tempfile.TemporaryDirectory() as folder:
            made = []
            for name, text in (("with", source), ("without", bare)):
                at = pathlib.Path(folder) / f"{name}.s"
                ran = run("gcc", "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-Werror", "-Wall", "-Wextra",
                          f"-I{ROOT}", "-S", "-xc", "-", "-o", at, input='#include "common/checks.h"\n'
                          '#include "common/trace.h"\n' + text)
                self.assertEqual(ran.returncode, 0, ran.stderr)
                made.append(at.read_text())
            self.assertEqual(*made)


class Verbosity(unittest.TestCase):
    """verbosity=3 at the end of a program with one hazard."""

    def said(self, out):
        program = OUT / "tests" / "hazard" / "sc101_free_h2d.racy"
        if not (out / "libsafecopy.so").exists() or not program.exists():
            self.skipTest(f"no library in {out.name}, or no twin")
        ran = run(program, env={**os.environ, "LD_LIBRARY_PATH": str(OUT / "sim"),
                                "LD_PRELOAD": str(out / "libsafecopy.so"), "SIM_GPU": "late=1",
                                "SAFECOPY_OPTIONS": "report_path=none:verbosity=3"})
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("SC101", ran.stderr)
        return ran.stderr

    def test_a_release_has_no_trace_and_says_so(self):
        said = self.said(OUT)
        self.assertEqual(said.count("verbosity=3: this build has no trace"), 1)
        self.assertNotIn("safecopy: trace: ", said)

    def test_a_build_with_checks_prints_its_trace(self):
        said = self.said(OUT / "debug")
        for event in ("op-add stream=", "hold-add kind=", "hold-remove hold=", "conclude status=0x0"):
            self.assertIn(event, said)


class Debugger(unittest.TestCase):
    """gdb's commands, of a program that has left a track to look at (tests/unit/test_checks.c)."""

    def setUp(self):
        if not shutil.which("gdb") or run("gdb", "-nx", "-batch", "-ex", "python 1").returncode:
            self.skipTest("no gdb with Python here")
        self.program = CHECKED / "test_checks"
        if not self.program.exists():
            self.program = OUT / "tests" / "unit" / "test_checks"

    def shown(self, *arguments):
        commands = ["sc-streams", "sc-ops", "sc-ranges", "sc-holds", "sc-locks", "sc-trace",
                    "sc-pool &sc_track.inflight.ops", "sc-grid &sc_track.inflight.heap_grid"]
        ran = run("gdb", "-nx", "-batch", "-x", SCRIPT, *arguments[:-1],
                  *(word for command in commands for word in ("-ex", command)), *arguments[-1])
        if "ptrace: Operation not permitted" in ran.stderr:
            self.skipTest("nobody may be traced here")
        return ran.stdout + ran.stderr

    def expect_all(self, shown):
        for line in ("1 legacy 1 0x111 0 0 0 1", "2 nonblocking 1 0x222 2 0 0 2",
                     "1 2 1 copy h2d 0x10040 64 0", "2 2 2 copy h2d 0x50000 64 0",
                     "3 0 0x10000 4096 0 0", "64 bytes are held", "1 1 free 0x50000 64 0",
                     "2 handed out, 2 live, 0 spare", "items by level: 0: 2", "the tracker's: taken"):
            self.assertIn(line, shown)
        if self.program.parent == CHECKED:
            self.assertRegex(shown, r"#5 thread \d+ op-add stream=0x2 number=0x2 address=0x50000")
            self.assertRegex(shown, r"the tracker's: taken by thread \d+")
        else:
            self.assertIn("this build has no trace", shown)

    def test_a_process(self):
        self.expect_all(self.shown("-ex", "run", ["--args", self.program, "stop"]))

    def test_a_core(self):
        with tempfile.TemporaryDirectory() as folder:
            core = pathlib.Path(folder) / "core"
            made = self.shown("-ex", "run", "-ex", f"generate-core-file {core}",
                              ["--args", self.program, "stop"])
            if not core.exists():
                self.skipTest(f"gdb made no core: {made[-200:]}")
            self.expect_all(self.shown([self.program, core]))


if __name__ == "__main__":
    unittest.main()
