#!/usr/bin/env python3
"""Reports of two builds that lay at one path: a baseline and what is compared with it, and both in
one `safecopy report`. The program runs on the simulated GPU."""

import contextlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT", ROOT / "out"))
COMMAND = OUT / "safecopy"
ENVIRONMENT = {**{name: value for name, value in os.environ.items()
                  if not name.startswith(("SAFECOPY_", "LD_", "CUDA_", "DEBUGINFOD"))
                  and name not in ("GITHUB_WORKSPACE", "GITHUB_STEP_SUMMARY", "XDG_CONFIG_HOME")},
               "HOME": "/nonexistent"}
# All functions but main have the same instructions. So a step that is put before the others stands
# where the first one was, and the first one where the second was. The numbers say which are run.
SOURCE = """
#include <stdlib.h>
int cuInit(unsigned), cuDevicePrimaryCtxRetain(void **, int), cuCtxSetCurrent(void *);
int cuStreamCreate(void **, unsigned), cuMemAlloc_v2(void **, unsigned long);
int cuMemAllocHost_v2(void **, unsigned long), cuMemFreeHost(void *), cuStreamSynchronize(void *);
int cuMemcpyHtoDAsync_v2(void *, const void *, unsigned long, void *);
static void *stream, *target;
#define STEP(name) static __attribute__((noinline, noclone)) int name(void) { \\
    void *source; int status = cuMemAllocHost_v2(&source, 65536); \\
    status |= cuMemcpyHtoDAsync_v2(target, source, 65536, stream); \\
    status |= cuMemFreeHost(source); __asm__ volatile(""); return status; }
static int (*const steps[])(void);
int main(int argc, char **argv)
{
    void *context;
    int status = cuInit(0) | cuDevicePrimaryCtxRetain(&context, 0) | cuCtxSetCurrent(context);
    status |= cuStreamCreate(&stream, 1) | cuMemAlloc_v2(&target, 65536);
    for (int i = 1; i < argc; i++)
        status |= steps[atoi(argv[i])]();
    return status | cuStreamSynchronize(stream);
}
#ifdef INSERTED
STEP(inserted)
#endif
STEP(one) STEP(two)
#ifndef INSERTED
STEP(unused)
#define inserted unused
#endif
static int (*const steps[])(void) = {inserted, one, two};
"""
ONE, TWO = "1", "2"
OPEN = "not compared with the baseline"


class Rebuilt(unittest.TestCase):
    FLAGS = ()

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name).resolve()
        self.program = self.folder / "bin" / "train"
        self.program.parent.mkdir()
        self.debug = self.folder / "debug"

    def build(self, *flags, keep=False):
        """The build that lies at the path from now on, and its id. `keep`: also in the folder."""
        source = self.folder / "train.c"
        source.write_text(SOURCE)
        subprocess.run(["gcc", "-O1", "-fno-reorder-functions", "-fno-toplevel-reorder",
                        "-fno-stack-protector", "-Wl,--build-id", *self.FLAGS, *flags, source, "-o",
                        self.program, f"-L{OUT / 'sim'}", "-l:libcuda.so.1"], check=True)
        notes = subprocess.check_output(["readelf", "-n", self.program], encoding="utf-8")
        build_id = notes.partition("Build ID: ")[2].split("\n")[0]
        if keep:
            kept = self.debug / ".build-id" / build_id[:2] / build_id[2:]
            kept.parent.mkdir(parents=True)
            shutil.copy(self.program, kept)
        return build_id

    def run_steps(self, name, *steps):
        path = self.folder / name
        subprocess.run([self.program, *steps], check=True, stderr=subprocess.DEVNULL, env={
            **ENVIRONMENT, "LD_LIBRARY_PATH": str(OUT / "sim"), "SIM_GPU": "late=1",
            "LD_PRELOAD": str((OUT / "libsafecopy.so").resolve()),
            "SAFECOPY_OPTIONS": f"report_path={path}"})
        return path

    def old_and_new(self, old, new, keep=False):
        """Reports of two builds, of which each has run these steps."""
        self.old_id = self.build(keep=keep)
        old = self.run_steps("old.jsonl", *old)
        self.new_id = self.build("-DINSERTED")
        return old, self.run_steps("new.jsonl", *new)

    def report(self, *arguments):
        run = subprocess.run([COMMAND, "report", *arguments], env=ENVIRONMENT, check=False,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        self.said = run.stderr
        return run

    def hazards(self, *arguments):
        """Which function each place is in, with what the baseline says; and the whole."""
        run = self.report("--json", *arguments)
        self.status, self.shown = run.returncode, json.loads(run.stdout)
        return {(hazard["copy"]["stack"][0]["symbol"], hazard.get("baseline"))
                for hazard in self.shown["hazards"]}

    def offsets(self, path):
        lines = map(json.loads, path.read_text().splitlines())
        return [line["copy"]["stack"][0]["offset"] for line in lines if line["type"] == "hazard"]

    def assert_open(self, *builds):
        """A line on stderr and one in the result, which names the module, both builds and what
        helps; nothing is called fixed."""
        (entry,) = self.shown["not_compared"]
        words = entry["why"]
        self.assertEqual([entry["module"], entry.get("build_id"), entry.get("baseline_build_id")],
                         [str(self.program), *builds])
        for word in (str(self.program), "--format json", "--debug-dir", *builds):
            self.assertIn(word, words)
        self.assertIn(f"safecopy: {OPEN}: {words}\n", self.said)
        self.assertNotIn("fixed", self.shown)

    def assert_compared(self):
        self.assertNotIn("not_compared", self.shown)
        self.assertEqual(self.said, "")


class Baselines(Rebuilt):
    def test_another_function_at_the_same_offset_is_not_unchanged(self):
        old, new = self.old_and_new([TWO], [ONE])
        self.assertEqual(self.offsets(old), self.offsets(new))
        self.assertEqual(self.hazards("--baseline", old, new), {("one", "new")})
        self.assertEqual(self.status, 66)
        self.assert_open(self.new_id, self.old_id)
        self.assertIn(f"{self.program} is not the build that ran (build id {self.old_id})",
                      self.said)

    def test_the_old_build_may_be_in_a_folder(self):
        old, new = self.old_and_new([ONE, TWO], [ONE], keep=True)
        flags = ["--debug-dir", self.debug]
        self.assertEqual(self.hazards(*flags, "--baseline", old, new), {("one", "unchanged")})
        self.assertEqual(self.status, 0)
        self.assert_compared()
        self.assertEqual([re.findall(r" at (\w+) ", title) for title in self.shown["fixed"]],
                         [["two", "two"]])
        self.assertEqual(self.hazards(*flags, "--baseline", new, old),
                         {("one", "unchanged"), ("two", "new")})
        self.assertEqual(self.status, 66)

    def test_what_json_wrote_while_the_build_was_there_is_compared(self):
        self.build()
        kept = self.folder / "old.json"
        self.report("--json", "-o", kept, self.run_steps("old.jsonl", ONE))
        self.build("-DINSERTED")
        new = self.run_steps("new.jsonl", ONE, TWO)
        self.assertEqual(self.hazards("--baseline", kept, new),
                         {("one", "unchanged"), ("two", "new")})
        self.assert_compared()
        shutil.copy(shutil.which("true"), self.program)
        new = self.report("--json", "--baseline", kept, new)
        self.assertEqual((new.returncode, len(json.loads(new.stdout)["not_compared"])), (66, 1))

    def test_what_json_wrote_too_late_is_open(self):
        old, new = self.old_and_new([ONE], [ONE])
        kept = self.folder / "old.json"
        self.report("--json", "-o", kept, old)
        self.assertEqual(self.hazards("--baseline", kept, new), {("one", "new")})
        self.assert_open(self.new_id, self.old_id)

    def test_a_build_that_is_gone_is_compared_with_itself(self):
        self.build()
        old, new = self.run_steps("old.jsonl", ONE), self.run_steps("new.jsonl", ONE, TWO)
        kept = self.folder / "old.json"
        self.report("--json", "-o", kept, old)
        self.program.unlink()
        self.hazards("--baseline", old, new)
        self.assertEqual(sorted(hazard["baseline"] for hazard in self.shown["hazards"]),
                         ["new", "unchanged"])
        self.assert_compared()
        self.hazards("--baseline", kept, new)
        self.assertEqual({hazard["baseline"] for hazard in self.shown["hazards"]}, {"new"})
        self.assertEqual(len(self.shown["not_compared"]), 1)

    def test_no_hazard_of_the_module_leaves_nothing_open(self):
        old, new = self.old_and_new([ONE], [])
        self.assertEqual(self.hazards("--baseline", old, new), set())
        self.assertEqual((self.status, len(self.shown["fixed"])), (0, 1))
        self.assertNotIn("not_compared", self.shown)

    def test_each_format_says_so(self):
        old, new = self.old_and_new([TWO], [ONE])
        for name in ("text", "html", "markdown", "github", "junit", "sarif"):
            with self.subTest(name):
                run = self.report("--format", name, "--baseline", old, new)
                self.assertEqual(run.returncode, 66)
                for word in (OPEN, self.old_id, self.new_id):
                    self.assertIn(word, run.stdout)
                with contextlib.suppress(json.JSONDecodeError):
                    told = json.loads(run.stdout)["runs"][0]["invocations"][0]
                    self.assertEqual(told["toolExecutionNotifications"][-1]["level"], "warning")
                if name == "junit":
                    xml.etree.ElementTree.parse(io.StringIO(run.stdout))


class Overlapping(Rebuilt):
    def test_what_one_baseline_has_by_name_is_not_said_to_be_new(self):
        """The other one has lost its file, and says what it leaves open."""
        self.build()
        kept, old = self.folder / "old.json", self.run_steps("old.jsonl", ONE)
        self.report("--json", "-o", kept, old)
        self.build("-DINSERTED")
        new = self.run_steps("new.jsonl", ONE)
        for baselines in ([kept, old], [old, kept]):
            flags = [word for path in baselines for word in ("--baseline", path)]
            self.assertEqual(self.hazards(*flags, new), {("one", "unchanged")})
            self.assertEqual(self.status, 0)
            (entry,) = self.shown["not_compared"]
            self.assertIn("they are called new unless the baseline has them by name as well, and nothing "
                          "is called fixed", entry["why"])
        self.assertEqual(self.hazards("--baseline", old, new), {("one", "new")})


class Exported(Rebuilt):
    FLAGS = ("-rdynamic", "-Dstatic=")

    def test_names_that_the_loader_knows_are_compared(self):
        """They are in the report."""
        old, new = self.old_and_new([ONE, TWO], [ONE])
        self.assertEqual(self.hazards("--baseline", old, new), {("one", "unchanged")})
        self.assertEqual(len(self.shown["fixed"]), 1)
        self.assertNotIn("not_compared", self.shown)


class WithoutId(Rebuilt):
    FLAGS = ("-Wl,--build-id=none",)

    def test_nobody_knows_whether_they_are_one_build(self):
        """The names are those of the file that is there, for the steps of either."""
        old, new = self.old_and_new([TWO], [ONE])
        self.hazards("--baseline", old, new)
        self.assertNotEqual(self.status, 0)
        (entry,) = self.shown["not_compared"]
        self.assertIn("-Wl,--build-id", entry["why"])
        self.assertEqual([entry["build_id"], entry["baseline_build_id"]], [None, None])
        self.assertIn(entry["why"], self.said)

    def test_what_json_wrote_is_compared(self):
        self.build()
        kept = self.folder / "old.json"
        self.report("--json", "-o", kept, self.run_steps("old.jsonl", TWO))
        self.build("-DINSERTED")
        self.assertEqual(self.hazards("--baseline", kept, self.run_steps("new.jsonl", ONE)),
                         {("one", "new")})
        self.assert_compared()


class Together(Rebuilt):
    def test_other_functions_at_the_same_offset_are_other_places(self):
        old, new = self.old_and_new([TWO], [ONE])
        for order in ((old, new), (new, old)):
            self.assertEqual(self.hazards(*order), {(None, None), ("one", None)})
            self.assertEqual([hazard["runs"] for hazard in self.shown["hazards"]], [1, 1])
            self.assertNotIn("not_compared", self.shown)

    def test_each_build_is_named_from_its_own_file(self):
        old, new = self.old_and_new([TWO], [ONE, TWO], keep=True)
        self.assertEqual(self.hazards("--debug-dir", self.debug, old, new),
                         {("two", None), ("one", None)})
        self.assertEqual(self.said, "")

    def test_runs_of_one_file_are_told_apart(self):
        old, new = self.old_and_new([TWO], [ONE])
        both = self.folder / "both.jsonl"
        both.write_bytes(old.read_bytes() + new.read_bytes())
        self.assertEqual(self.hazards(both), {(None, None), ("one", None)})

    def test_lines_of_two_builds_are_one_place(self):
        self.FLAGS = ("-g",)
        old, new = self.old_and_new([TWO, ONE], [ONE], keep=True)
        self.hazards("--debug-dir", self.debug, old, new)
        self.assertEqual({hazard["copy"]["stack"][0]["symbol"]: hazard["runs"]
                          for hazard in self.shown["hazards"]}, {"one": 2, "two": 1})


class Lists(unittest.TestCase):
    """What runs list, and a hazard in a function without a name."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        lines = (ROOT / "tests/unit/formats/sample.jsonl").read_text(encoding="utf-8").splitlines()
        self.begin, self.hazard, *_, self.end = map(json.loads, lines)
        frame = {"module": "/nowhere/train", "offset": "0x12", "symbol": None}
        for side in ("copy", "event"):
            self.hazard[side]["stack"] = [frame]
        self.hazard["count"] = 1
        self.end.update(hazards=1, observed=1, latent=0, by_code={self.hazard["code"]: 1})

    def run_of(self, *ids, late=()):
        """A run that lists the module with these build ids, the late ones behind the hazard."""
        def modules(those):
            return [{"path": "/nowhere/train", "base": "0x1", "build_id": one} for one in those]
        return [{**self.begin, "modules": modules(ids)}, self.hazard,
                *([{"type": "modules", "modules": modules(late)}] if late else []), self.end]

    def shown(self, *runs, baseline=()):
        paths = []
        for number, lines in enumerate((sum(baseline, []), sum(runs, []))):
            paths.append(self.folder / f"{number}.jsonl")
            paths[-1].write_text("".join(json.dumps(line) + "\n" for line in lines))
        flags = ["--baseline", paths[0]] if baseline else []
        run = subprocess.run([COMMAND, "report", "--json", *flags, paths[1]], env=ENVIRONMENT,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.status = run.returncode
        return json.loads(run.stdout)

    def runs(self, *runs):
        """How many runs had each place."""
        return [hazard["runs"] for hazard in self.shown(*runs)["hazards"]]

    def test_only_runs_of_one_build_are_one_place(self):
        one, other = self.run_of("aa"), self.run_of("bb")
        self.assertEqual(self.runs(one, one), [2])
        self.assertEqual(sorted(self.runs(one, other, one)), [1, 2])
        self.assertEqual(sorted(self.runs(one, other, self.run_of(None), self.run_of())),
                         [1, 1, 1, 1])

    def test_what_is_listed_later_counts_from_the_start(self):
        one, late = self.run_of("aa"), self.run_of(late=["aa"])
        self.assertEqual(self.runs(one, late), [2])
        self.assertEqual(self.runs(one, self.run_of(late=["bb"])), [1, 1])

    def test_two_builds_in_one_run_are_neither(self):
        both = self.run_of("aa", late=["bb"])
        self.assertEqual(self.runs(self.run_of("aa"), both, self.run_of("bb")), [1, 1, 1])

    def test_the_same_stack_of_two_builds_is_two_stacks(self):
        self.hazard["copy"]["stack"][0]["symbol"] = "upload"
        (place,) = self.shown(self.run_of("aa"), self.run_of("aa"))["hazards"]
        self.assertNotIn("stacks", place)
        places = self.shown(self.run_of("aa"), self.run_of("bb"))["hazards"]
        self.assertEqual(len({place["fingerprint"] for place in places}), 1)

    def test_a_module_without_an_id_is_open(self):
        for run in (self.run_of(None), self.run_of()):
            shown = self.shown(run, baseline=[run])
            self.assertEqual([hazard["baseline"] for hazard in shown["hazards"]], ["unchanged"])
            self.assertEqual((self.status, len(shown["not_compared"])), (2, 1))
        one = self.run_of("aa")
        self.assertNotIn("not_compared", self.shown(one, baseline=[one]))
        self.assertEqual(self.status, 0)


if __name__ == "__main__":
    unittest.main()
