"""What the Makefile would do (make --dry-run)."""

import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

import lots  # noqa: E402
import run as runner  # noqa: E402


def environment():
    """Without what a make around this one says."""
    return {name: value for name, value in os.environ.items()
            if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "CPPFLAGS",
                             "GNUMAKEFLAGS", "SUITES")}


def would_do(*arguments):
    return subprocess.run(["make", "--dry-run", *arguments], cwd=ROOT, env=environment(),
                          stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout


NOBODY = 65534


def as_somebody(tree, *arguments):
    """make in a folder, by one who is not root and does not own it."""
    somebody = dict(user=NOBODY, group=NOBODY, extra_groups=[]) if os.geteuid() == 0 else {}
    try:
        return subprocess.run(["make", "CC=true", "TOOLKIT=.", "COMMAND=out/safecopy", *arguments],
                              cwd=tree, env={"PATH": os.environ["PATH"]}, capture_output=True,
                              encoding="utf-8", check=False, **somebody)
    except PermissionError:
        raise unittest.SkipTest("root may not become another user here") from None


def answer(tree, words, *arguments, **more):
    """What the words are in a recipe, that of the goal `ask`."""
    return subprocess.run(["make", "-s", f"--eval=ask: ; @:$(info {words})", *arguments], cwd=tree,
                          env={**environment(), **more}, capture_output=True, encoding="utf-8",
                          check=True).stdout


def run_by(suite):
    """What `make check` builds for the suite."""
    return answer(ROOT, f"$(call run_by,{suite})", "ask").split()


def jobs(*arguments, **more):
    """How many jobs make runs at a time, in its own word, or None."""
    with tempfile.TemporaryDirectory() as tree:
        shutil.copy(ROOT / "Makefile", tree)
        found = re.search(r"(?:^| )-j(\d*)", answer(tree, "$(MAKEFLAGS)", *arguments, **more))
    return found and found[1]


INCLUDE = re.compile(r"^#include ([<\"])([^>\"]+)", re.M)
OF_CUDA = re.compile(r"cuda|cupti|nvtx|generated_")


def included(source, seen):
    """The headers of other projects that a source of ours includes, by whatever way."""
    found = set()
    for kind, name in INCLUDE.findall(source.read_text(encoding="utf-8")):
        ours = next((path for path in (source.parent / name, ROOT / name) if path.exists()), None)
        if kind == "<" or not ours:
            found.add(name)
        elif ours not in seen:
            seen.add(ours)
            found |= included(ours, seen)
    return found


class Makefile(unittest.TestCase):
    @staticmethod
    def bare_tree(folder):
        """The Makefile, a set-up that says that it has run, and one program with a probe."""
        tree = pathlib.Path(folder)
        shutil.copy(ROOT / "Makefile", tree)
        (tree / "scripts").mkdir()
        set_up = tree / "scripts" / "setup"
        set_up.write_text("#!/bin/sh\n: >\"$1 was set up\"\n: >out/setup-$1.mk\n")
        set_up.chmod(0o755)
        (tree / "tests" / "sanitized").mkdir(parents=True)
        (tree / "tests" / "sanitized" / "one.c").write_text("int main(void) { return 0; }\n")
        return tree

    @staticmethod
    def make_there(tree, *arguments, **more):
        return subprocess.run(["make", *arguments], cwd=tree, env={**environment(), **more},
                              capture_output=True, encoding="utf-8", check=False)

    def installs(self, folder, goal, status):
        run = subprocess.run(["make", "-o", "all", goal, f"DESTDIR={folder}", "PREFIX=/a b"],
                             cwd=ROOT, env=environment(), capture_output=True, encoding="utf-8",
                             check=False)
        self.assertEqual(run.returncode, status, run.stderr)
        return run.stderr

    def test_uninstall_removes_what_install_has_put_there(self):
        """A blank in PREFIX ends no name."""
        with tempfile.TemporaryDirectory() as folder:
            theirs = [pathlib.Path(folder) / name for name in ("a", "a b/bin/other", "b/lib/other")]
            for path in theirs:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("theirs")
            there = lambda: [path for path in pathlib.Path(folder).rglob("*") if path.is_file()]
            for _ in range(2):
                self.assertEqual(self.installs(folder, "install", 0), "")
            self.assertGreaterEqual(len(there()), len(theirs) + 8)
            self.assertEqual(self.installs(folder, "uninstall", 0), "")
            self.assertEqual(sorted(there()), sorted(theirs))

    def test_uninstall_leaves_no_folder_of_ours(self):
        """Those that other programs share stay, and what is in ours does."""
        for prefix, left in (("/opt/libsafecopy", {"opt"}), ("/usr/local", {"bin", "lib", "share"})):
            with tempfile.TemporaryDirectory() as folder:
                for goal in ("install", "uninstall"):
                    run = subprocess.run(["make", "-o", "all", goal, f"DESTDIR={folder}", f"PREFIX={prefix}"],
                                         cwd=ROOT, env=environment(), capture_output=True, check=False)
                    self.assertEqual((run.returncode, run.stderr), (0, b""))
                there = {path.name for path in pathlib.Path(folder).rglob("*")}
                self.assertEqual(left - there, set())
                self.assertEqual([name for name in there if "safecopy" in name], [])
                if prefix == "/opt/libsafecopy":
                    self.assertEqual(there, left)

    def test_another_program_of_that_name_stays(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("bin/safecopy", "share/man/man1/safecopy.1"):
                path = pathlib.Path(folder) / "a b" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("safecopy, which links libsafecopydebug")
                self.assertIn(f"/a b/{name} is not of libsafecopy, and stays: choose another place",
                              self.installs(folder, "install", 2))
                self.assertIn("/a b/{name} is not of libsafecopy, and stays\n".format(name=name),
                              self.installs(folder, "uninstall", 0))
                self.assertEqual(path.read_text(), "safecopy, which links libsafecopydebug")
                self.assertFalse((pathlib.Path(folder) / "a b" / "lib").exists())
                path.unlink()

    def test_flags_of_the_user_take_none_of_ours_away(self):
        done = would_do("CPPFLAGS=-DOF_THE_USER", "CFLAGS=-O1", "out/obj/track/grid.o")
        compiled = next(line for line in done.splitlines() if " -c track/grid.c " in line)
        for word in ("-I.", "-D_GNU_SOURCE", "-DOF_THE_USER", "-O1"):
            self.assertIn(f" {word} ", compiled)

    def test_all_processors_are_used_unless_somebody_has_said_how_many(self):
        cores = len(os.sched_getaffinity(0))  # other processes may want them as well
        self.assertIn(int(jobs("ask")), range(cores, 4 * cores + 1))
        self.assertIn(int(jobs("ask", MAKELEVEL="1")), range(cores, 4 * cores + 1))
        for told in ("-j1", "-j3", "-kj3", "--jobs=3"):
            self.assertEqual(jobs("ask", told), told[-1], told)
            self.assertEqual(jobs("ask", MAKEFLAGS=told), told[-1], told)
        self.assertEqual(jobs("ask", "-j"), "")
        self.assertEqual(jobs("ask", "-j3", MAKEFLAGS="-j2"), "3")

    def test_as_many_jobs_are_run_as_others_want_to_run_up_to_four_to_a_processor(self):
        cores = len(os.sched_getaffinity(0))
        with contextlib.ExitStack() as busy:
            for _ in range(4 * cores + 1):
                loop = busy.enter_context(subprocess.Popen(
                    ["sh", "-c", "echo; while :; do :; done"], stdout=subprocess.PIPE))
                busy.callback(loop.kill)
                loop.stdout.readline()
            self.assertEqual(jobs("ask"), str(4 * cores))

    def test_goals_that_do_more_than_build_come_one_after_the_other(self):
        self.assertIsNone(jobs("--eval=other: ;", "other", "ask"))
        self.assertEqual(jobs("--eval=other: ;", "other", "ask", "-j3"), "3")

    def test_a_suite_builds_what_it_runs(self):
        for suite in ("arrows", "format"):
            self.assertEqual(run_by(suite), [])
        units = run_by("unit")
        written = [source.stem for source in (ROOT / "tests" / "unit").glob("test_*.c")]
        self.assertLess({"all", *(f"out/tests/unit/{name}" for name in written)}, set(units))
        twins = [name for name in units if name.startswith("out/tests/hazard/")]
        self.assertLess({"out/tests/hazard/sc101_free_h2d.racy",
                         "out/tests/hazard/sc101_free_h2d.fixed"}, set(twins))
        self.assertLess(len(twins), 20)
        others = [name for name in units if name.startswith(("out/tests/survival/",
                                                             "out/tests/cupti/"))]
        self.assertLess({"out/tests/survival/postmortem_abort", "out/tests/survival/abort",
                         "out/tests/cupti/alone"}, set(others))
        self.assertLess(len(others), 40)
        self.assertIn("tests", run_by("more-languages"))
        self.assertEqual(run_by("ALL"), run_by("all"))

    def test_each_suite_that_builds_less_is_one_of_the_runner(self):
        names = re.findall(r"^RUN_BY_([a-z]\S*)", (ROOT / "Makefile").read_text(), re.M)
        self.assertGreater(len(names), 10)
        self.assertLessEqual(set(names), set(runner.SUITES))

    def test_nothing_is_set_up_where_nothing_is_to_be_done_or_needs_it(self):
        with tempfile.TemporaryDirectory() as folder:
            tree = self.bare_tree(folder)
            before = sorted(tree.rglob("*"))
            for line in ("-n check", "-n demo", "-kn check-all", "-q check", "-t check help",
                         "-n setup", "-n", "-pn", "help", "CC=true -n SUITES=unit check"):
                self.make_there(tree, *line.split())
                self.assertEqual(sorted(tree.rglob("*")), before, line)
            self.make_there(tree, "check", MAKEFLAGS="n")
            self.assertEqual(sorted(tree.rglob("*")), before)
            self.assertIn("\nscripts/setup check\n",
                          "\n" + self.make_there(tree, "-n", "check").stdout)
            self.make_there(tree, "demo")
            self.assertTrue((tree / "demo was set up").exists())

    def test_a_set_up_that_is_too_old_is_renewed_by_goals_that_promise_it(self):
        with tempfile.TemporaryDirectory() as folder:
            tree = self.bare_tree(folder)
            (tree / "out").mkdir()
            (stamp := tree / "out" / "setup-check.mk").touch()
            os.utime(stamp, (1, 1))
            done = self.make_there(tree, "-n", "tests", "TOOLKIT=.").stdout
            self.assertIn("tests/sanitized/one.c", done)
            self.assertNotIn("scripts/setup", done)
            self.make_there(tree, "check")
            self.assertTrue((tree / "check was set up").exists())

    def test_what_a_lot_has_is_built(self):
        gate, adds, built = answer(ROOT, "$(GATE),$(CI_ADDS),$(call built_by,$(GATE) $(CI_ADDS))",
                                   "ask").split(",")
        self.assertEqual(set(gate.split()), set(lots.GATE))
        self.assertEqual({*gate.split(), *adds.split()}, set(lots.CI))
        self.assertIn("out/tests/survival/exit_return", built.split())
        self.assertFalse({"tests", "clang"} & set(built.split()))

    def test_help_begins_with_what_can_be_made(self):
        first, *_ = would_do("help", "Q=").splitlines()
        self.assertIn("make             the library, the command", first)

    # Ubuntu's compilers do so unasked, and packagers ask for it.
    def test_what_stands_in_for_libc_is_built_with_fortified_headers(self):
        with tempfile.TemporaryDirectory() as out:
            objects = [f"{out}/{name}.o" for name in
                       ("interpose/system_calls/io", "interpose/signals/signal_mask")]
            run = subprocess.run(["make", f"OBJ={out}", "WERROR=1",
                                  "CPPFLAGS=-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2", *objects],
                                 cwd=ROOT, env=environment(), capture_output=True,
                                 encoding="utf-8", check=False)
            self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_what_is_lacking_is_said_before_anything_is_built(self):
        run = subprocess.run(["make", "--dry-run", "CC=no-such-compiler", "all"], cwd=ROOT,
                             env=environment(), capture_output=True, encoding="utf-8", check=False)
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        self.assertIn("no no-such-compiler here: `make setup` installs what is missing", run.stderr)

    def test_where_one_may_not_write_is_said_with_the_remedy(self):
        with tempfile.TemporaryDirectory() as tree:
            shutil.copy(ROOT / "Makefile", tree)
            os.chmod(tree, 0o555)
            for goal in ("all", "demo", "check", "setup", "sim", "install"):
                run = as_somebody(tree, goal)
                self.assertEqual((run.returncode, run.stdout), (2, ""), goal)
                self.assertRegex(run.stderr, r"^Makefile:\d+: \*\*\* cannot write to out/ in .*: "
                                 r"make in a copy of the tree that is yours \(cp -r\), or .*\n$")
            self.assertEqual(as_somebody(tree, "help").returncode, 0)

    def test_who_may_not_install_there_is_told_how_to(self):
        with tempfile.TemporaryDirectory() as tree:
            shutil.copy(ROOT / "Makefile", tree)
            (there := pathlib.Path(tree) / "usr").mkdir()
            (pathlib.Path(tree) / "out").mkdir()
            for folder in (there, tree):
                os.chmod(folder, 0o555)
            run = as_somebody(tree, "-o", "all", "install", f"PREFIX={there}/local")
            self.assertEqual((run.returncode, run.stdout), (2, ""))
            self.assertIn(f"cannot write to {there}: be root (sudo make install), or choose a "
                          "place of your own (make install PREFIX=$HOME/.local)\n", run.stderr)
            os.chmod(there, 0o755)
            (there / "bin").mkdir()
            (there / "bin" / "safecopy").touch()
            for folder in (there / "bin", there):
                os.chmod(folder, 0o555)
            run = as_somebody(tree, "uninstall", f"PREFIX={there}")
            self.assertEqual((run.returncode, run.stdout), (2, ""))
            self.assertIn(f"cannot write to {there}/bin: be root (sudo make uninstall)", run.stderr)

    # A machine that has CUDA's headers where every compiler looks hides that somebody lacks them.
    def test_who_includes_cuda_is_told_where_it_lies(self):
        programs = [f"out/tests/unit/{source.stem}"
                    for source in sorted((ROOT / "tests" / "unit").glob("test_*.c"))]
        done = would_do("--always-make", *programs)
        compiled = re.findall(r"^(gcc .* ((?:\w+/)+\w+\.c) .*)$", done, re.M)
        self.assertGreater(len(compiled), 2 * len(programs))
        for command, source in compiled:
            cuda = sorted(filter(OF_CUDA.match, included(ROOT / source, set())))
            if "-isystem" not in command:
                self.assertEqual(cuda, [], source)


if __name__ == "__main__":
    unittest.main()
