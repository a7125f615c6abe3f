#!/usr/bin/env python3
"""Limits of contexts (tests/survival/limits.c): options set them in time, a program's own value wins,
one that comes too late is an advisory that names the launch before it, and a post-mortem says how
large the heap was. On the simulated GPU, or where SAFECOPY_DRIVER names the folders of a CUDA runtime
on the real one."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import programs  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT", ROOT / "out")).resolve()
PROGRAM = ROOT / "out" / "tests" / "survival" / "limits"
ON_GPU = "SAFECOPY_DRIVER" in os.environ
ENVIRONMENT = {**{name: value for name, value in os.environ.items()
                  if not name.startswith(("SAFECOPY_", "LD_", "CUDA_", "GITHUB_"))},
               "LD_LIBRARY_PATH": os.environ.get("SAFECOPY_DRIVER", str(OUT / "sim"))}
KB, MB = 1 << 10, 1 << 20
HEAP, STACK, FIFO = (f"CU_LIMIT_{name}_SIZE" for name in ("MALLOC_HEAP", "STACK", "PRINTF_FIFO"))
WISHES = ":device_heap=256M:stack_limit=4K:printf_fifo=16M"
WISHED = f"heap {256 * MB}, stack {4 * KB}, fifo {16 * MB}"
simulated = unittest.skipIf(ON_GPU, "the simulated GPU can be told what to do")


class Limits(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.path = pathlib.Path(temporary.name) / "r.jsonl"

    def lines(self, *arguments, options="", status=0, **settings):
        self.run = subprocess.run(
            [PROGRAM, *(arguments or ("late",))], cwd=self.path.parent, check=False, capture_output=True, text=True,
            timeout=300, env={**ENVIRONMENT, **settings, "LD_PRELOAD": str(OUT / "libsafecopy.so"),
                              "SAFECOPY_OPTIONS": f"report_path={self.path}{options}"})
        self.assertEqual(self.run.returncode, status, self.run.stderr)
        lines = [json.loads(line) for line in self.path.read_text().splitlines()]
        self.assertIsNone(programs.schema_problem(lines))
        return lines

    def late(self, lines):
        return [line for line in lines if line["type"] == "hazard"]

    def events(self, lines, by=None):
        return [event for event in lines[-1]["limits"]["events"] if by in (None, event["by"])]

    def shown(self, *arguments):
        return subprocess.run([OUT / "safecopy", "report", *arguments, self.path], check=False,
                              capture_output=True, text=True)

    def test_options_are_in_force_before_the_first_module(self):
        for kind in ("",), ("primary",), ("green",), ("early",), ("reset",):
            with self.subTest(kind):
                lines = self.lines(*[word for word in kind if word], options=WISHES)
                self.assertIn("the context is current\n" + f"before: {WISHED}\n", self.run.stdout)
                wanted = [(HEAP, 256 * MB), (STACK, 4 * KB), (FIFO, 16 * MB)]
                self.assertEqual([(event["limit"], event["in_force"], event["asked"], event["result"])
                                  for event in self.events(lines, "option")],
                                 [(*want, want[1], 0) for want in wanted] * (1 + ("reset" in kind)))

    def test_a_reset_is_followed_by_the_same_limits(self):
        lines = self.lines("reset", options=WISHES)
        self.assertIn(f"reset: {WISHED}\n", self.run.stdout)
        ended = [event.get("context_ended", False) for event in self.events(lines)]
        self.assertEqual(ended, [True] * (len(ended) // 2) + [False] * (len(ended) // 2))

    def test_without_options_the_drivers_own_limits_stay(self):
        for options in "", ":device_heap=driver:stack_limit=driver", ":mode=report", ":memory=off":
            lines = self.lines(options=options)
            self.assertIn(f"before: heap {8 * MB}, stack {KB}, ", self.run.stdout)
            self.assertEqual(self.events(lines, "option"), [])

    def test_the_programs_own_value_wins_and_is_told(self):
        lines = self.lines("early", options=WISHES)
        self.assertIn(f"set {32 * MB} -> 0\n", self.run.stdout)
        self.assertIn(f"behind: heap {32 * MB}, ", self.run.stdout)
        self.assertEqual(self.run.stderr.count(
            "safecopy: device_heap: the program itself sets 32 MB as " + HEAP + "\n"), 1)
        first, last = self.events(lines, "program")
        self.assertEqual((first["asked"], first["result"], first["in_force"], first["api"]),
                         (32 * MB, 0, 32 * MB, "cuCtxSetLimit"))
        self.assertEqual((last["asked"], last["result"], last["in_force"]), (64 * MB, 1, 32 * MB))
        self.assertNotIn("itself sets", self.lines(options=WISHES) and self.run.stderr)

    @simulated
    def test_it_wins_where_another_thread_meets_the_context_later(self):
        lines = self.lines("threads", options=WISHES, SIM_GPU="retain=60ms")
        self.assertIn(f"met: heap {32 * MB}, stack {4 * KB}, fifo {16 * MB}\n", self.run.stdout)
        self.assertEqual(len(self.events(lines, "option")), 3)

    def test_what_the_driver_refuses_is_told_once(self):
        lines = self.lines("reset", options=":stack_limit=1G")
        self.assertEqual(self.run.stderr.count(f"safecopy: stack_limit: the driver refuses 1 GB as "
                                               f"{STACK}: error 1\n"), 1)
        self.assertEqual([event["result"] for event in self.events(lines, "option")], [1, 1])
        self.lines("reset", options=":stack_limit=1G:verbosity=0")
        self.assertEqual(self.run.stderr, "")

    def test_a_late_one_names_the_launch_before_it(self):
        for arguments in (), ("primary",), ("green",):
            lines = self.lines(*arguments)
            hazard, = self.late(lines)
            self.assertEqual((hazard["code"], hazard["action"], hazard["certainty"],
                              hazard["advisory"]), ("SC603", "reported", "observed", True))
            self.assertEqual(hazard["limit"], {"name": HEAP, "asked": 64 * MB, "in_force": 8 * MB,
                                               "kernel": "take"})
            self.assertEqual((hazard["event"]["api"], hazard["copy"]["api"]),
                             ("cuCtxSetLimit", "cuLaunchKernel"))
            self.assertGreater(len(hazard["copy"]["stack"]), 1)
            self.assertLess(hazard["copy"]["time_ns"], hazard["event"]["time_ns"])
            user, = self.events(lines, "launch")
            self.assertEqual((user["kernel"], user["in_force"], user["stack"]),
                             ("take", 8 * MB, hazard["copy"]["stack"]))

    def test_it_is_an_advisory_that_nobody_fails_for(self):
        for options in "", ":certainty=observed", ":halt_on_error=1", ":mode=report":
            last = self.lines(options=":strict=1" + options)[-1]
            self.assertEqual((last["hazards"], last["observed"], last["advisories"], last["by_code"],
                              last["exit_status"]), (0, 0, 1, {"SC603": 1}, 0))
        self.assertIn("safecopy: no hazards in 0 operations, 1 advisory note\n", self.run.stderr)
        self.assertEqual(self.shown().returncode, 0)
        run = subprocess.run([OUT / "safecopy", "run", "--strict", "--", PROGRAM, "late"], check=False,
                             cwd=self.path.parent, capture_output=True, text=True, env=ENVIRONMENT)
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_people_see_it(self):
        self.lines()
        self.assertRegex(self.run.stderr,
                         rf"\n    of {HEAP}: 64 MB was asked for, and 8 MB stays in force since "
                         r"cuLaunchKernel of take at ")
        text = self.shown("--format", "text").stdout
        self.assertIn(f"of {HEAP}: {64 * MB} was asked for, and {8 * MB} stays in force since "
                      "cuLaunchKernel of take (thread", text)
        self.assertIn("device_heap=SIZE", text)
        memory = self.shown("--format", "memory").stdout
        self.assertIn(f"\n  limits:\n    device 0: {HEAP}: fixed at 8 MB by the launch of take\n",
                      memory)
        self.assertIn(f"    device 0: {HEAP}: the program could not set it to 64 MB (error 1); 8 MB "
                      "in force\n", memory)

    def test_a_reset_makes_it_possible_once_more_and_a_launch_too_late_again(self):
        self.assertEqual([line["copy"]["api"] for line in self.late(self.lines("reset"))],
                         ["cuLaunchKernel"] * 2)

    @simulated
    def test_where_the_driver_is_older_nobody_asks_behind_launches(self):
        hazard, = self.late(self.lines(SIM_GPU="driver=12080"))
        self.assertEqual((hazard["copy"]["api"], hazard["copy"]["stack"], hazard["limit"]["kernel"]),
                         ("unknown", [], None))
        self.assertIn("in force since a launch that is not known\n", self.run.stderr)
        hazard, = self.late(self.lines(SIM_GPU="driver=12080", options=":device_heap=16M"))
        self.assertEqual(hazard["limit"]["kernel"], "take")

    def test_a_post_mortem_says_how_large_the_heap_was(self):
        lines = self.lines("fault")
        line, = [line for line in lines if line["type"] == "postmortem"]
        self.assertEqual(line["error"]["code"], 700)
        self.assertEqual((line["heap"]["kernel"], line["heap"]["limit"], line["heap"]["api"]),
                         ("take", 8 * MB, "cuLaunchKernel"))
        self.assertTrue(line["stacks"][line["heap"]["stack"]]["stack"])
        self.assertIn("    a kernel that calls malloc gets NULL when the heap (8 MB) is used up: take "
                      "uses it, launched at ", self.run.stderr)
        self.assertIn(f"a kernel that calls malloc gets NULL when the heap ({8 * MB} bytes) is used "
                      "up; used by take, launched by cuLaunchKernel",
                      self.shown("--format", "text").stdout)

    def test_so_does_one_of_a_kernel_that_looks_and_gives_up(self):
        line, = [line for line in self.lines("gives_up") if line["type"] == "postmortem"]
        self.assertEqual((line["error"]["code"], line["heap"]["kernel"]), (719, "take"))

    @simulated  # a graph's launch fixes the size elsewhere, and is known
    def test_where_no_launch_is_known_it_names_a_module_that_calls_malloc(self):
        line, = [line for line in self.lines("graph", options=":strict=1") if line["type"] == "postmortem"]
        self.assertEqual((line["heap"]["is_module"], line["heap"]["kernel"], line["heap"]["limit"],
                          line["heap"]["api"]), (True, "take", 8 * MB, "cuModuleLoadData"))
        self.assertIn("gets NULL when the heap (8 MB) is used up: take calls it, loaded at ",
                      self.run.stderr)
        self.assertIn(f"heap ({8 * MB} bytes) is used up; called by take, loaded by cuModuleLoadData",
                      self.shown("--format", "text").stdout)
        line, = [line for line in self.lines("graph") if line["type"] == "postmortem"]
        self.assertNotIn("heap", line)  # nobody tells of modules

    def test_a_kernel_of_a_library_has_its_name(self):
        hazard, = self.late(self.lines("library"))
        self.assertEqual(hazard["limit"]["kernel"], "take")

    def test_what_is_in_force_is_not_asked_for_too_late(self):
        self.assertEqual(self.late(self.lines("same")), [])
        self.assertIn(f"set {8 * MB} -> 1\n", self.run.stdout)

    def test_nobody_asks_where_errors_are_heard(self):
        self.assertEqual(self.late(self.lines("logs")), [])
        self.assertIn("errors that were heard: 1\n", self.run.stdout)  # the program's own
        log = self.path.with_suffix(".log")
        lines = self.lines(CUDA_LOG_FILE=str(log))
        self.assertEqual((self.late(lines), self.events(lines, "launch")), ([], []))
        if log.exists():  # of the driver's
            self.assertEqual(log.read_text().count("cuCtxSetLimit"), 1)

    def test_many_events_leave_room_for_the_launch(self):
        lines = self.lines("sets")
        hazard, = self.late(lines)
        self.assertEqual(hazard["limit"]["kernel"], "take")
        events = self.events(lines)
        self.assertEqual(events, sorted(events, key=lambda event: event["time_ns"]))
        stacks = [event["in_force"] for event in events if event["limit"] == STACK]
        self.assertEqual((stacks[0], stacks[-1], len(stacks)), (2 * KB, 2 * KB, 40))  # the last of 61
        self.assertEqual((events[-1]["limit"], lines[-1]["limits"]["events_left_out"]), (HEAP, 22))

    def test_contexts_that_have_ended_make_room(self):
        last, = [event for event in self.events(self.lines("contexts", options=":device_heap=16M"), "program")
                 if event["limit"] == HEAP]
        self.assertEqual((last["asked"], last["in_force"]), (64 * MB, 16 * MB))

    def modules(self, lines):
        return lines[-1]["limits"].get("modules", [])

    def test_modules_that_call_malloc_are_listed_where_cupti_listens(self):
        for options in ":strict=1", ":mode=report", ":um=1", ":cupti=require":
            lines = self.lines("none", options=options)
            module, = self.modules(lines)
            self.assertEqual((module["caller"], module["api"], module["device"]),
                             ("take", "cuModuleLoadData", 0))
            self.assertGreater(module["bytes"], 0)
            self.assertGreater(len(module["stack"]), 1)
        self.assertRegex(self.shown("--format", "memory").stdout,
                         r"\n  limits:\n(.*\n)*    device 0: a module of [0-9.]+ [KM]?B calls malloc: "
                         r"take\n {8}#0 launch ")
        self.assertEqual(self.modules(self.lines("none")), [])
        module, = self.modules(self.lines("primary", options=":strict=1"))  # not met before it
        self.assertEqual((module["caller"], module["device"]), ("take", 0))
        many = self.lines("many_heaps", options=":strict=1")
        self.assertEqual((len(self.modules(many)), many[-1]["limits"]["modules_left_out"]), (16, 4))

    @unittest.skipUnless(shutil.which("nvcc"), "there is no nvcc here")
    def test_modules_as_nvcc_makes_them(self):
        source, image = self.path.with_suffix(".cu"), self.path.with_suffix(".cubin")
        for body, wanted in (("box = new int[4];", ["wants"]), ("*box = 1;", [])):
            source.write_text("__device__ int *box;\n__global__ void other() {}\n"
                              f"extern \"C\" __global__ void wants() {{ {body} }}\n")
            subprocess.run(["nvcc", "-arch=sm_90", "-cubin", "-o", image, source], check=True,
                           capture_output=True)
            lines = self.lines("cubin", image, options=":strict=1")
            self.assertEqual([module["caller"] for module in self.modules(lines)
                              if module["caller"] != "take"], wanted)
            self.assertEqual(json.dumps(lines).count("\"bytes\": %d" % image.stat().st_size),
                             len(wanted))

    @simulated
    def test_what_an_oversized_heap_costs_stands_in_the_ledger(self):
        others = 96 + 2 * 4 + 2 * 16  # the context, modules, first launches
        for heap in 32, 256:
            device, = self.lines("waits", str(heap + others - 1), options=f":device_heap={heap}M:memory_every=20ms")[-1][
                "memory"]["devices"]
            row = device["unaccounted"]
            self.assertGreaterEqual(row["peak_bytes"], (heap + others - 1) * MB)
            self.assertLess(row["peak_bytes"], (heap + others + 32) * MB)
            self.assertGreaterEqual(max(step["bytes"] for step in row["steps"]), heap * MB)

    def test_many_functions_that_come_before_it_change_nothing(self):
        hazard, = self.late(self.lines("many"))
        self.assertEqual(hazard["limit"]["kernel"], "take")


if __name__ == "__main__":
    unittest.main()
