#!/usr/bin/env python3
"""What the program called and where, as people and services are told: by the runtime's function with
CUPTI and without, and by the user's own frames, whatever lies below them."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT", ROOT / "out"))
COMMAND = OUT / "safecopy"
RACY = OUT / "tests" / "hazard" / "sc101_free_h2d.racy"
SAMPLE = ROOT / "tests" / "unit" / "formats" / "sample.jsonl"
WRITTEN = ("text", "html", "junit", "sarif", "github", "markdown")
BOTH = "cudaMemcpyAsync (cuMemcpyHtoDAsync_v2)"
ENVIRONMENT = {**{name: value for name, value in os.environ.items()
                  if not name.startswith(("SAFECOPY_", "LD_", "CUDA_"))
                  and name not in ("GITHUB_WORKSPACE", "GITHUB_STEP_SUMMARY", "XDG_CONFIG_HOME")},
               "HOME": "/nonexistent"}

# One line has all hazards, by three ways through the interpreter.
ONE_LINE = """
import ctypes, functools, itertools
driver = ctypes.CDLL("libcuda.so.1")
def check(status):
    assert status == 0, status
SIZE = 1 << 16
context, stream, target = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
check(driver.cuInit(0))
check(driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
check(driver.cuCtxSetCurrent(context))
check(driver.cuStreamCreate(ctypes.byref(stream), 1))
check(driver.cuMemAlloc_v2(ctypes.byref(target), ctypes.c_size_t(SIZE)))
sources = [ctypes.c_void_p() for _ in range(9)]
for source in sources:
    check(driver.cuMemAllocHost_v2(ctypes.byref(source), ctypes.c_size_t(SIZE)))
upload, free = driver.cuMemcpyHtoDAsync_v2, driver.cuMemFreeHost
partial, starmap = functools.partial, itertools.starmap
for n, s in enumerate(sources):
    a, m = (target, s, ctypes.c_size_t(SIZE), stream), n % 3
    upload(*a) if m == 0 else partial(upload)(*a) if m == 1 else next(starmap(upload, [a])); free(s)
"""

# The library tells them apart by the instruction; a report has their line.
CALLS_OF_ONE_LINE = ONE_LINE[:ONE_LINE.index("for n, s in")] + """
def mistake(s):
    upload(target, s, ctypes.c_size_t(SIZE), stream); free(s)
for s in sources[2:4]:
    mistake(s)
[mistake(sources[0]), mistake(sources[1])]
"""

# As nvcc links it: the runtime's functions are the program's own.
LINKED_IN = """
int cuInit(unsigned), cuDevicePrimaryCtxRetain(void **, int), cuCtxSetCurrent(void *);
int cuStreamCreate(void **, unsigned), cuMemAlloc_v2(void **, unsigned long);
int cuMemAllocHost_v2(void **, unsigned long), cuMemFreeHost(void *), cuStreamSynchronize(void *);
int cuMemcpyHtoDAsync_v2(void *, const void *, unsigned long, void *);
int cuLaunchHostFunc(void *, void (*)(void *), void *), usleep(unsigned);
static volatile int is_freed;
static void wait_for_free(void *unused)
{ for (int i = 0; i < 10000 && !is_freed; i++) usleep(1000); }
#define OUT_OF_LINE __attribute__((noinline, noclone))
#define NO_TAIL_CALL __asm__ volatile("")
OUT_OF_LINE static int libcudart_static_1f(void *to, void *from, void *stream)
{ int status = cuMemcpyHtoDAsync_v2(to, from, 65536, stream); NO_TAIL_CALL; return status; }
OUT_OF_LINE int cudaMemcpyAsync(void *to, void *from, void *stream)
{ int status = libcudart_static_1f(to, from, stream); NO_TAIL_CALL; return status; }
OUT_OF_LINE int upload_frame(void *to, void *from, void *stream)
{ int status = cudaMemcpyAsync(to, from, stream); NO_TAIL_CALL; return status; }
int main(void)
{
    void *context, *stream, *to, *from;
    cuInit(0); cuDevicePrimaryCtxRetain(&context, 0); cuCtxSetCurrent(context);
    cuStreamCreate(&stream, 1); cuMemAlloc_v2(&to, 65536); cuMemAllocHost_v2(&from, 65536);
    cuLaunchHostFunc(stream, wait_for_free, 0);
    upload_frame(to, from, stream);
    cuMemFreeHost(from);
    is_freed = 1;
    return cuStreamSynchronize(stream);
}
"""


def native(module, offset, symbol=None):
    return {"module": module, "offset": hex(offset), "symbol": symbol}


def python(line, function="test_step", file="/home/u/test_train.py"):
    return {"file": file, "line": line, "function": function}


class Places(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        lines = [json.loads(line) for line in SAMPLE.read_text().splitlines()]
        self.begin, self.end = lines[0], lines[-1]
        self.sample = next(line for line in lines if line.get("code") == "SC101")
        self.sample.pop("buffer", None)

    def hazard(self, copy, event, **more):
        """A line with these frames on the two sides."""
        line = json.loads(json.dumps({"count": 1, **self.sample, **more}))
        line["copy"].update(stack=copy, api="cuMemcpyHtoDAsync_v2")
        line["event"].update(stack=event, api="free")
        for side in ("copy", "event"):
            line[side].pop("runtime_api", None)
            line[side].update(more.get("calls", {}).get(side, {}))
        return line

    def write(self, name, *hazards, begin=None, more=0):
        """A report whose summary counts `more` than the lines say."""
        by_code, sums = {}, {"hazards": 0, "observed": 0, "latent": 0}
        for hazard in hazards:
            if "suppressed" not in hazard:
                by_code[hazard["code"]] = by_code.get(hazard["code"], 0) + hazard["count"]
                sums["hazards"] += hazard["count"]
                sums[hazard["certainty"]] += hazard["count"]
        if more:
            by_code["SC101"] += more
            sums["hazards"], sums["latent"] = sums["hazards"] + more, sums["latent"] + more
        lines = [begin or self.begin, *hazards, {**self.end, **sums, "by_code": by_code}]
        path = self.folder / name
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path

    def report(self, *arguments):
        run = subprocess.run([COMMAND, "report", *arguments], env=ENVIRONMENT, check=False,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        self.said = run.stderr
        return run

    def hazards(self, *arguments):
        return json.loads(self.report("--json", *arguments).stdout)["hazards"]

    def below(self, number):
        """What a library and the interpreter do below a line, each time another way."""
        return [native("/opt/venv/lib/python3.11/site-packages/cupy/core.so", 16 * number + 1),
                {"file": "/opt/venv/lib/python3.11/site-packages/cupy/io.py", "line": number + 1,
                 "function": "get"}, native("/usr/bin/python3.11", 64 * number + 1)]


class Merged(Places):
    def test_hazards_of_one_line_are_one_place(self):
        ways = [self.hazard([*self.below(n % 3), python(7)], [*self.below(n // 3), python(9)],
                            count=1 + (n < 3), certainty="observed") for n in range(6)]
        path = self.write("r.jsonl", *ways)
        (place,) = self.hazards(path)
        self.assertEqual([place[key] for key in ("count", "stacks", "runs")], [9, 6, 1])
        self.assertIn("\n1 place with hazards (6 stacks)\n", self.report(path).stdout)
        self.assertIn(" observed, 9 times: ", self.report(path).stdout)

    def test_another_line_or_another_caller_is_another_place(self):
        stacks = [[python(7)], [python(8)], [python(7), python(30, "test_main")],
                  [native("/home/u/step.so", 16, "step"), python(7)],
                  [native("/home/u/step.so", 32, "step"), python(7)]]
        path = self.write("r.jsonl", *(self.hazard(stack, [python(9)]) for stack in stacks))
        self.assertEqual([place["count"] for place in self.hazards(path)], 5 * [1])

    def test_without_frames_of_the_users_the_whole_stack_is_the_place(self):
        path = self.write("r.jsonl", *(self.hazard(self.below(n), [python(9)]) for n in range(2)))
        places = self.hazards(path)
        self.assertEqual(len(places), 2)
        self.assertEqual(len({place["fingerprint"] for place in places}), 1)

    def test_runs_are_counted_once(self):
        def way(number):
            return self.hazard([*self.below(number), python(7)], [python(9)])
        paths = [self.write("1.jsonl", way(1), way(2)), self.write("2.jsonl", way(2)),
                 self.write("3.jsonl", way(3)), self.write("4.jsonl")]
        (place,) = self.hazards(*paths)
        self.assertEqual([place[key] for key in ("count", "stacks", "runs")], [4, 3, 3])

    def test_the_most_frequent_place_comes_first(self):
        rare = [self.hazard([*self.below(n), python(7)], [python(9)], count=2) for n in range(3)]
        single = self.hazard([python(70)], [python(90)], count=4)
        self.assertEqual([place["count"] for place in
                          self.hazards(self.write("r.jsonl", single, *rare))], [6, 4])

    def test_the_summary_makes_the_count_of_a_place_exact(self):
        """It says how many all hazards of the place were, and of none how many."""
        ways = [self.hazard([*self.below(n), python(7)], [python(9)], count=2) for n in range(2)]
        once = self.hazard([python(70)], [python(90)])
        twice = self.hazard([python(70)], [python(90)], count=2)
        for lines, more, counts in [(ways, 2, [(6, False)]), ([*ways, once], 1, [(5, False), (1, False)]),
                                    ([*ways, twice], 1, [(4, True), (2, True)])]:
            places = self.hazards(self.write("r.jsonl", *lines, more=more))
            self.assertEqual([(place["count"], place.get("count_is_least", False))
                              for place in places], counts)
        lines = (self.folder / "r.jsonl").read_text().splitlines(keepends=True)[:-1]
        (self.folder / "killed.jsonl").write_text("".join(lines[:3]))
        path = self.write("r.jsonl", *ways, more=2)
        (place,) = self.hazards(path, self.folder / "killed.jsonl")
        self.assertEqual((place["count"], place["count_is_least"]), (8, True))

    def test_what_is_suppressed_hides_nothing(self):
        known = self.hazard([*self.below(1), python(7)], [python(9)], suppressed={"reason": "known"})
        path = self.write("r.jsonl", known, self.hazard([*self.below(2), python(7)], [python(9)]))
        self.assertEqual(["suppressed" in place for place in self.hazards(path)].count(True), 1)
        file = self.folder / "known.txt"
        file.write_text("{\n  name: one\n  code: SC101\n  reason: theirs\n"
                        "  copy: ...\n  obj:*/core.so\n  ...\n}\n")
        ours = self.hazard([python(7)], [python(9)])
        path = self.write("s.jsonl", self.hazard([*self.below(2), python(7)], [python(9)]), ours)
        run = self.report("--suppressions", file, path)
        self.assertEqual((run.returncode, run.stderr), (1, ""))
        self.assertEqual(run.stdout.count("suppressed: theirs"), 1)

    def test_rules_of_ones_own_say_what_is_a_place(self):
        path = self.write("r.jsonl", *(self.hazard(
            [python(7), python(line, "call", "/home/u/ours/wrap.py")], [python(9)])
            for line in (3, 4)))
        rules = self.folder / "rules"
        rules.write_text("library path */ours/*\n")
        self.assertEqual([len(self.hazards(path)), len(self.hazards("--frames", rules, path))],
                         [2, 1])


class Grown(Places):
    """A second mistake between the same two functions has the fingerprint of the first."""

    def step(self, copy, event, **more):
        return self.hazard([*self.below(copy), python(copy)], [python(event)], **more)

    def grown(self, *arguments):
        """What is said of places: how many there are here, and in the baseline."""
        run = self.report("--json", *arguments)
        shown = json.loads(run.stdout)
        self.assertEqual((run.returncode, {place["baseline"] for place in shown["hazards"]}),
                         (0, {"unchanged"}))
        found = [(entry["places"], entry["baseline_places"]) for entry in shown["grown"]]
        told = re.findall(r"^safecopy: unchanged, but at (\d+) places here and (\d+) in the baseline, so "
                          r"one may be new: SC101 ", self.said, re.M)
        self.assertEqual([(int(now), int(before)) for now, before in told], found)
        text = self.report(*arguments).stdout
        self.assertEqual(len(re.findall(r"^unchanged, but at \d+ places here and \d+ in the baseline: "
                                        r"SC101 ", text, re.M)), len(found))
        return found

    def test_one_place_more_is_said(self):
        old = self.write("old.jsonl", self.step(7, 9))
        new = self.write("new.jsonl", self.step(7, 9), self.step(8, 9))
        kept = self.folder / "old.json"
        kept.write_text(self.report("--json", old).stdout)
        for baseline in (old, kept):
            self.assertEqual(self.grown("--baseline", baseline, new), [(2, 1)])

    def test_every_format_says_so_and_none_fails(self):
        """A service is told of a hazard that changed, and no test or job fails for it."""
        words = "at 2 places here and 1 in the baseline, so one may be new"
        old = self.write("old.jsonl", self.step(7, 9), self.step(70, 90, code="SC201"))
        new = self.write("new.jsonl", self.step(7, 9), self.step(8, 9), self.step(70, 90, code="SC201"))

        def shown(name, report):
            run = self.report("--format", name, "--baseline", old, report)
            self.assertEqual(run.returncode, 0)
            return run.stdout
        results = {(result["ruleId"], result["baselineState"], result["properties"].get("grown"))
                   for result in json.loads(shown("sarif", new))["runs"][0]["results"]}
        self.assertEqual(results, {("SC101", "updated", words), ("SC201", "unchanged", None)})
        suite = xml.etree.ElementTree.fromstring(shown("junit", new)).find("testsuite")
        self.assertEqual((suite.get("failures"), suite.get("skipped")), ("0", "3"))
        self.assertEqual([skipped.get("message") for skipped in suite.iter("skipped")].count(
            f"unchanged since the baseline, but {words}"), 2)
        notices = [line for line in shown("github", new).splitlines() if line.startswith("::notice ")]
        self.assertEqual(len(notices), 1)
        self.assertTrue(notices[0].startswith(
            f"::notice title=more places than in the baseline::unchanged, but {words}: SC101 "))
        self.assertEqual(shown("markdown", new).count(f"unchanged since the baseline, but {words}."), 2)
        self.assertEqual(shown("html", new).count(
            '"unchanged, but at 2 places here and 1 in the baseline: SC101 '), 1)
        for name in ("sarif", "junit", "github", "markdown", "html"):
            self.assertNotRegex(shown(name, old), r"\d in the baseline|more places than in the baseline:")

    def test_github_is_told_of_the_first_few(self):
        def pair(number, *lines):
            return [self.hazard([python(line, f"step_{number}")], [python(9)]) for line in lines]
        old = self.write("old.jsonl", *(line for n in range(6) for line in pair(n, 7)))
        new = self.write("new.jsonl", *(line for n in range(6) for line in pair(n, 7, 8)))
        text = self.report("--format", "github", "--baseline", old, new).stdout
        self.assertEqual(text.count("::notice "), 5)
        self.assertIn("\n::notice title=more places than in the baseline::and 2 more\n", text)

    def test_what_moved_came_often_or_was_elsewhere_is_no_place_more(self):
        old = self.write("old.jsonl", self.step(7, 9), self.step(8, 9))
        other = self.write("other.jsonl", self.step(6, 9))
        kept = [self.folder / name for name in ("old.json", "other.json")]
        for path, report in zip(kept, (old, other)):
            path.write_text(self.report("--json", report).stdout)
        moved = self.write("moved.jsonl", self.step(17, 19), self.step(18, 19, count=9))
        ways = self.write("ways.jsonl", *(self.hazard([*self.below(n), python(7)], [python(9)])
                                          for n in range(5)))
        all_three = self.write("three.jsonl", *(self.step(line, 9) for line in (6, 7, 8)))
        for new in (moved, ways, old):
            for baseline in (old, kept[0]):
                self.assertEqual(self.grown("--baseline", baseline, new), [])
        for first, second in ((old, other), kept, (old, kept[1])):
            self.assertEqual(self.grown("--baseline", first, "--baseline", second, all_three), [])
        self.assertEqual(self.grown("--baseline", old, "--baseline", old, all_three), [(3, 2)])

    def test_offsets_may_be_of_one_line(self):
        def step(offset):
            return self.hazard([native("/home/u/app", offset, "step")], [python(9)])
        begin = {**self.begin, "modules": [{"path": "/home/u/app", "base": "0x1", "build_id": "aa"}]}
        old = self.write("old.jsonl", step(16), begin=begin)
        new = self.write("new.jsonl", step(16), step(32), begin=begin)
        self.assertEqual(self.grown("--baseline", old, new), [])

    def test_what_is_suppressed_or_left_out_is_no_place_more(self):
        old = self.write("old.jsonl", self.step(7, 9))
        new = self.write("new.jsonl", self.step(7, 9), self.step(8, 9, suppressed={"reason": "known"}))
        run = self.report("--json", "--baseline", old, new)
        self.assertEqual((json.loads(run.stdout)["grown"], self.said), ([], ""))


class Stable(Places):
    def cases(self, *paths):
        root = xml.etree.ElementTree.fromstring(self.report("--format", "junit", *paths).stdout)
        return sorted((case.get("classname"), case.get("name")) for case in root.iter("testcase"))

    def run_of(self, number):
        """The same two hazards, of another process, build and machine."""
        begin = {**self.begin, "pid": 4711 + number, "host": f"node{number}", "started": number}
        stack = [native("/usr/lib/libffi.so.8", 7 + number), python(7 + number)]
        other = [native(f"/build{number}/app", 0x100 + number, "close_cameras")]
        return self.write(f"safecopy.{4711 + number}.jsonl", self.hazard(stack, other),
                          self.hazard(stack, other, code="SC102",
                                      name="destination-freed-in-flight",
                                      calls={"copy": {"thread": number}}), begin=begin)

    def test_junit_names_a_hazard_alike_in_each_run(self):
        cases = self.cases(self.run_of(1))
        self.assertEqual(len(set(cases)), 3)
        for number in (2, 12):
            self.assertEqual(self.cases(self.run_of(number)), cases)
        self.assertRegex(str(cases), r"'free in close_cameras \(app\); cuMemcpyHtoDAsync_v2 in "
                                     r"test_step \(test_train\.py\) \[[0-9a-f]{8}\]'")

    def test_junit_names_are_distinct(self):
        cases = self.cases(*(
            self.write(name, *(self.hazard([python(line)], [python(9)]) for line in (7, 8)))
            for name in ("one.jsonl", "other.jsonl")))
        self.assertEqual(len(set(cases)), 4)
        self.assertEqual(len([name for _, name in cases if name.endswith(" #2")]), 2)

    def test_fingerprints_are_those_of_the_place(self):
        first, second = self.hazards(self.run_of(1)), self.hazards(self.run_of(2))
        self.assertEqual([place["fingerprint"] for place in first],
                         [place["fingerprint"] for place in second])
        told = self.hazard([python(7)], [], calls={"event": {"api": "cuMemFreeHost",
                                                             "runtime_api": "cudaFreeHost"}})
        untold = self.hazard([python(7)], [], calls={"event": {"api": "cuMemFreeHost"}})
        prints = [self.hazards(self.write("r.jsonl", line))[0]["fingerprint"]
                  for line in (told, untold)]
        self.assertEqual(prints[0], prints[1])

    def test_a_baseline_with_other_fingerprints_is_refused_by_name(self):
        path, kept = self.run_of(1), self.folder / "kept.json"
        self.report("--json", "-o", kept, path)
        self.assertEqual(self.report("--baseline", kept, path).returncode, 0)
        for version in ({}, {"fingerprint_version": 1}):
            old = json.loads(kept.read_text())
            for hazard in old["hazards"]:
                del hazard["fingerprint_version"]
                hazard.update(version)
            before = self.folder / "before.json"
            before.write_text(json.dumps(old))
            run = self.report("--baseline", before, path)
            self.assertEqual(run.returncode, 2)
            self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
            self.assertIn(f"{before} has fingerprints of another version", run.stderr)
            self.assertIn("safecopy report --format json", run.stderr)


class Recipes(Places):
    @unittest.skipUnless(shutil.which("jq"), "no jq here")
    def test_those_of_the_page_count_hazards(self):
        """And not lines, of which there are four for eight hazards."""
        doubled = [self.hazard([python(7)], [python(9)], count=1 << n) for n in range(4)]
        path = self.write("r.jsonl", doubled[-1])
        begin, end = path.read_text().splitlines()[::2]
        path.write_text("\n".join([begin, *map(json.dumps, doubled), end, ""]))
        page = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
        recipes = [line for line in page.splitlines() if re.search(r"\bjq -", line)]
        self.assertEqual(len(recipes), 2)
        for recipe, said in zip(recipes, [r"8 SC101 .*\n", r'\{"SC101":8\}\n']):
            recipe = recipe.replace("out/safecopy", f"'{COMMAND}'").replace("r.jsonl", f"'{path}'")
            self.assertRegex(subprocess.check_output(recipe, shell=True, env=ENVIRONMENT,
                                                     encoding="utf-8"), f"^{said}$")


class Called(Places):
    RUNTIME = native("/usr/local/lib/libcudart.so.13", 0xd9a4, "cudaMemcpyAsync")

    def shown(self, *lines):
        path = self.write("r.jsonl", *lines)
        os.utime(path, (1, 1))  # the page says when a report was written
        return {name: self.report("--format", name, path).stdout for name in WRITTEN}

    def test_each_format_says_the_same_with_cupti_and_without(self):
        own = native("/opt/train", 0x30, "upload")
        inner = native("/opt/train", 0x10, "libcudart_static_1f")
        linked_in = native("/opt/train", 0x20, "cudaMemcpyAsync")
        for frames in ([self.RUNTIME], [inner, linked_in],
                       [self.RUNTIME, native("/usr/lib/libffi.so.8", 7)]):
            stack = [*frames, own]
            told, untold = (self.shown(self.hazard(stack, [own], calls={"copy": more})) for more in
                            ({"runtime_api": "cudaMemcpyAsync", "correlation_id": 7}, {}))
            for name in WRITTEN:
                with self.subTest(name, frames=frames):
                    self.assertEqual(untold[name], told[name])
                    self.assertIn(BOTH, untold[name])
            self.assertIn("in upload (train)", untold["junit"])

    def test_a_call_of_the_driver_itself_stays_one(self):
        own = native("/opt/train", 0x30, "upload")
        for stack in ([own], [own, self.RUNTIME], [native("/opt/train", 0x10, "cudatalog"), own]):
            text = self.shown(self.hazard(stack, [own]))["text"]
            self.assertIn(": cuMemcpyHtoDAsync_v2\n", text)
            self.assertNotIn("cudaMemcpyAsync (cu", text)

    def test_free_is_not_the_runtimes(self):
        self.assertIn(": free\n", self.shown(self.hazard(
            [python(7)], [native("/usr/local/lib/libcudart.so.13", 1, "cudaFreeHost"),
                          python(9)]))["text"])


class Folded(Places):
    def test_frames_of_an_interpreter_are_one_line_of_text(self):
        inner = [native("/usr/bin/python3.11", n, f"_PyEval_{n}") for n in range(1, 30)]
        path = self.write("r.jsonl", self.hazard(
            [*inner[:3], python(7)], [python(9), *inner, native("/home/u/app", 5, "main")]))
        text = self.report(path).stdout
        self.assertIn("\n      #1-#29 29 frames of python3.11\n      #30 main ", text)
        self.assertIn("_PyEval_3 (/usr/bin", text)  # three are no more than those before main
        self.assertNotIn("_PyEval_4", text)
        self.assertEqual(len(self.hazards(path)[0]["event"]["stack"]), 31)
        made = [native(None, 0x7f00 + n) for n in range(9)]
        self.assertNotIn("frames of", self.report(
            self.write("r.jsonl", self.hazard(made, [python(9)]))).stdout)


class Programs(Places):
    """What the library itself writes on stderr, on the simulated GPU."""

    def said_by(self, *command, options=""):
        environment = {**ENVIRONMENT, "LD_LIBRARY_PATH": str(OUT / "sim"), "SIM_GPU": "late=1",
                       "LD_PRELOAD": str((OUT / "libsafecopy.so").resolve()),
                       "SAFECOPY_OPTIONS": f"report_path={self.folder}/r.jsonl:{options}"}
        run = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True,
                             stderr=subprocess.PIPE, encoding="utf-8")
        return re.sub("0x[0-9a-f]+", "N", run.stderr)

    def test_the_summary_says_the_same_with_cupti_and_without(self):
        without = self.said_by(RACY, options="cupti=off")
        self.assertIn(f"while {BOTH} was still to read", without)
        self.assertEqual(self.said_by(RACY, options="cupti=require"), without)
        self.assertIn('"runtime_api"', (self.folder / "r.jsonl").read_text())

    def test_the_runtime_may_be_linked_in(self):
        source, program = self.folder / "p.c", self.folder / "p"
        source.write_text(LINKED_IN)
        subprocess.run(["cc", "-O1", source, "-o", program, f"-L{OUT / 'sim'}", "-l:libcuda.so.1"],
                       check=True)
        self.assertRegex(self.said_by(program), f"while {re.escape(BOTH)} was still to read .*, "
                                                r"issued at upload_frame \(")
        text = self.report(self.folder / "r.jsonl").stdout
        self.assertRegex(text, rf"\n    upload_frame \(p\+0x\w+\): {re.escape(BOTH)}\n")

    def test_hazards_of_one_line_are_one_place(self):
        script = self.folder / "test_one_line.py"
        script.write_text(ONE_LINE)
        self.assertIn("safecopy: 9 hazards at 1 place (", self.said_by(sys.executable, script))
        self.assertIn("hazards at 1 place", self.said_by(sys.executable, script,
                                                         options="report_path=none"))
        lines = [json.loads(line) for line in (self.folder / "r.jsonl").read_text().splitlines()]
        stacks = {json.dumps([line[side]["stack"] for side in ("copy", "event")])
                  for line in lines if line["type"] == "hazard"}
        self.assertGreater(len(stacks), 1)
        (place,) = self.hazards(self.folder / "r.jsonl")
        self.assertEqual([place["count"], place["stacks"]], [9, len(stacks)])

    def test_calls_of_one_line_are_all_counted(self):
        script = self.folder / "calls.py"
        script.write_text(CALLS_OF_ONE_LINE)
        self.assertIn("safecopy: 4 hazards", self.said_by(sys.executable, script))
        lines = [json.loads(line) for line in (self.folder / "r.jsonl").read_text().splitlines()]
        counts = [line["count"] for line in lines if line["type"] == "hazard"]
        self.assertEqual(sorted(counts), [1, 1, 1, 2])
        shown = json.loads(self.report("--json", self.folder / "r.jsonl").stdout)
        self.assertNotIn("lines_missing", shown["runs"][0])
        self.assertEqual(sum(hazard["count"] for hazard in shown["hazards"]), 4)
        self.assertNotIn("lacks", self.report("--baseline", self.folder / "r.jsonl",
                                              self.folder / "r.jsonl").stderr)


if __name__ == "__main__":
    unittest.main()
