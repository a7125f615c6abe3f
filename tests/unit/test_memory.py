#!/usr/bin/env python3
"""The ledger of memory: every call that gives memory or takes it back is told of, and what a program
holds (tests/survival/memory_kinds.c) is in its report to the byte, on the simulated GPU or, where
SAFECOPY_DRIVER names the folders of a CUDA runtime, on the real one."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import programs  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT", ROOT / "out")).resolve()
SURVIVORS = ROOT / "out" / "tests" / "survival"
ENVIRONMENT = {**{name: value for name, value in os.environ.items()
                  if not name.startswith(("SAFECOPY_", "LD_", "CUDA_", "GITHUB_"))},
               "LD_LIBRARY_PATH": os.environ.get("SAFECOPY_DRIVER", str(OUT / "sim"))}
ON_GPU = "SAFECOPY_DRIVER" in os.environ
simulated = unittest.skipIf(ON_GPU, "it is known of the simulated GPU how large it is")
KB, MB = 1 << 10, 1 << 20

# Calls that are wrapped by hand: in which file of interpose/calls they tell of memory.
BY_HAND = {
    "cuMemAllocAsync": "other_work", "cuMemAllocFromPoolAsync": "other_work",
    "cuMemFreeAsync": "other_work",
    "cuMemAllocHost": "host_memory", "cuMemHostAlloc": "host_memory",
    "cuMemHostRegister": "host_memory", "cuMemAllocManaged": "host_memory",
    "cuMemFree": "host_memory", "cuMemFreeHost": "host_memory",
    "cuMemHostUnregister": "host_memory",
    "cuMemAdvise": "managed_calls",
    "cuCtxDestroy": "context_calls", "cuDevicePrimaryCtxRelease": "context_calls",
    "cuDevicePrimaryCtxReset": "context_calls", "cuGreenCtxDestroy": "context_calls",
    "cuCtxSetLimit": "memory_calls", "cuKernelGetFunction": "memory_calls",
    "cuGraphInstantiate": "graph_execs", "cuGraphInstantiateWithFlags": "graph_execs",
    "cuGraphInstantiateWithParams": "graph_execs", "cuGraphExecDestroy": "graph_execs",
}
# And calls that are wrapped, and of which nothing is told: what the memory is for whom to say.
WITHOUT = {
    "cuGraphAddNode": "a graph's memory is given by its upload or first launch; the driver is asked",
    "cuGraphExecUpdate": "the same", "cuGraphUpload": "the same", "cuGraphDestroy": "the same",
    "cuMemMapArrayAsync": "sparse arrays: memory that is counted with its handle",
    "cuGraphicsMapResources": "memory of another API", "cuGraphicsUnmapResources": "the same",
    "cuMemDiscardBatchAsync": "the memory stays the program's",
    "cuMemDiscardAndPrefetchBatchAsync": "the same",
    "cuMemPrefetchAsync": "moves pages", "cuMemPrefetchBatchAsync": "moves pages",
    "cuStreamCreate": "the driver's own", "cuStreamCreateWithPriority": "the driver's own",
    "cuGreenCtxStreamCreate": "the driver's own", "cuStreamDestroy": "the driver's own",
    "cuEventDestroy": "the driver's own",
    "cuLaunchKernel": "the driver's own", "cuLaunchKernelEx": "the driver's own",
    "cuLaunchCooperativeKernel": "the driver's own",
}
# Rows that do what others do, and more.
ALSO = {"RESERVES": ["MAKES_CONTEXT", "EXPORTS"]}
# Later than the headers that the project is built with.
NOT_YET = re.compile("cuLogicalEndpoint")
ROW = re.compile(r"^SC_(\w+)\((\w+),", re.M)


def calls_of(kind):
    lines = (ROOT / "tests" / "unit" / "memory_calls.tsv").read_text().splitlines()
    return [line.split("\t")[1] for line in lines if line.startswith(kind + "\t")]


class Completeness(unittest.TestCase):
    def setUp(self):
        self.rows = {}
        text = (ROOT / "interpose" / "driver" / "api.def").read_text()
        for macro, name in ROW.findall(text):
            self.rows.setdefault(name, set()).add(macro)

    def check(self, kind, macro):
        calls = calls_of(kind)
        self.assertGreater(len(calls), 30)
        for name in calls:
            if NOT_YET.match(name) or name in WITHOUT:
                continue
            with self.subTest(name):
                if name in BY_HAND:
                    file = ROOT / "interpose" / "calls" / f"{BY_HAND[name]}.c"
                    self.assertIn(name, self.rows)
                    self.assertRegex(file.read_text(), r"sc_memory_(given|left|reserved)|sc_booking_context")
                else:
                    self.assertTrue(self.rows[name] & {macro, *ALSO.get(macro, ())})

    def test_what_gives(self):
        self.check("gives", "GIVES")

    def test_what_takes_back(self):
        self.check("takes", "TAKES")

    def test_what_reserves(self):
        self.check("reserves", "RESERVES")

    def test_what_is_not_told_of_is_wrapped(self):
        for name in WITHOUT:
            self.assertIn(name, self.rows)


class Held(unittest.TestCase):
    status = 0

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def lines(self, *arguments, options="", name="memory_kinds", **settings):
        path = self.folder / "r.jsonl"
        self.run = subprocess.run(
            [SURVIVORS / name, *arguments], cwd=self.folder, check=False, capture_output=True,
            text=True, timeout=300,
            env={**ENVIRONMENT, **settings, "LD_PRELOAD": str(OUT / "libsafecopy.so"),
                 "SAFECOPY_OPTIONS": f"report_path={path}{options}"})
        self.assertEqual(self.run.returncode, self.status, self.run.stderr)
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        self.assertIsNone(programs.schema_problem(lines))
        return lines

    def memory(self, *arguments, **rest):
        return self.lines(*arguments, **rest)[-1].get("memory")

    def kinds(self, place):
        return {name: (kind["bytes"], kind["blocks"]) for name, kind in place["kinds"].items()
                if kind["blocks"] and name != "libsafecopy"}

    # Of the program: 3 MB and a byte, ten rows of 1 KB, and 800 blocks of sixteen threads.
    DEVICE = 3 * MB + 1 + 10 * KB + 800 * 1000
    GIVEN = {"device": (DEVICE, 802), "pooled": (12 * MB, 2),
             "array": (64 * 32 * 8 + 8 * 8 * 8 * 8 + 256 + 64 + 16, 3), "physical": (10 * MB, 2),
             "managed": (9 * MB, 1), "imported": (6 * MB, 1), "mapped": (10 * MB, 2),
             "graph_execs": (0, 1)}
    ON_HOST = {"pinned": (1 * MB + 3 * KB, 2), "registered": (64 * KB, 1), "physical": (2 * MB, 1),
               "addresses": (16 * MB, 1)}

    def pitched(self, device):
        """The driver chooses the pitch of ten rows."""
        bytes_, blocks = self.kinds(device)["device"]
        return {"device": (self.DEVICE - 10 * KB + (bytes_ - self.DEVICE + 10 * KB), blocks)}

    def check_given(self, memory):
        device, = memory["devices"]
        self.assertEqual(self.kinds(device), {**self.GIVEN, **self.pitched(device)})
        self.assertEqual(self.kinds(memory["host"]), self.ON_HOST)
        self.assertEqual(memory["unknown_frees"], 0)
        self.assertEqual(memory["unrecorded"], 0)
        own = sum(device["kinds"][kind]["bytes"] for kind in ("device", "pooled", "array", "physical"))
        self.assertEqual(device["bytes"], own)
        return device

    def test_every_kind_to_the_byte(self):
        memory = self.memory("1")
        device = self.check_given(memory)
        self.assertEqual(device["peak_bytes"], device["bytes"])
        self.assertGreater(device["peak_ns"], 0)
        self.assertEqual({pool["made_by"]: pool["bytes"] for pool in device["pools"]},
                         {None: 5 * MB, "cuMemPoolCreate": 7 * MB})
        self.assertGreaterEqual(device["kinds"]["device"]["backed_bytes"],
                                device["kinds"]["device"]["bytes"])

    def test_what_others_may_have_open(self):
        device, = self.memory("1")["devices"]
        export, = device["exports"]
        self.assertEqual((export["kind"], export["bytes"], export["api"]),
                         ("physical", 6 * MB, "cuMemExportToShareableHandle"))
        self.assertGreater(export["since_ns"], 0)
        device, = self.memory("3")["devices"]
        self.assertEqual(device["exports"], [])

    def test_accounts_add_up_to_the_kinds(self):
        memory = self.memory("1")
        device, = memory["devices"]
        for place, number in (device, 0), (memory["host"], None):
            for kind, count in place["kinds"].items():
                of = [account for account in memory["accounts"]
                      if account["kind"] == kind and account["device"] == number]
                for key in "bytes", "blocks":
                    self.assertEqual(sum(account[key] for account in of), count[key], kind)
            self.assertEqual(sum(owner["bytes"] for owner in memory["owners"]
                                 if owner["device"] == number), place["bytes"])
        self.assertEqual(memory["accounts_left_out"], 0)
        self.assertEqual({owner["owner"] for owner in memory["owners"]}, {"memory_kinds"})

    def test_what_is_refused_changes_nothing(self):
        self.check_given(self.memory("2"))

    def test_all_is_given_back(self):
        memory = self.memory()
        device, = memory["devices"]
        self.assertEqual((self.kinds(device), self.kinds(memory["host"])), ({}, {}))
        self.assertGreaterEqual(device["peak_bytes"], 25 * MB)
        peak = sum(account["peak_bytes"] for account in memory["accounts"]
                   if account["device"] == 0 and
                   account["kind"] in ("device", "pooled", "array", "physical"))
        self.assertEqual(peak, device["peak_bytes"])
        self.assertEqual(memory["unknown_frees"], 0)

    def test_a_context_takes_its_own_along(self):
        memory = self.memory("3")
        device, = memory["devices"]
        self.assertEqual(self.kinds(device), {"pooled": (5 * MB, 1), "physical": (4 * MB, 1)})
        self.assertEqual(self.kinds(memory["host"]), {})

    def test_modes_and_watched_memory_say_the_same(self):
        for options in ":mode=report", ":device=1", ":pinned=driver", ":stacks=none", ":stacks=site":
            with self.subTest(options):
                self.check_given(self.memory("1", options=options))

    def test_people_see_who_holds_what(self):
        self.lines("1")
        shown = subprocess.run([OUT / "safecopy", "report", "--format", "memory", self.folder / "r.jsonl"],
                               check=True, capture_output=True, text=True).stdout
        self.assertRegex(shown, r"\n  device 0 \(GPU-[0-9a-f-]+\): 25 MB, 25 MB at most; ")
        self.assertRegex(shown, r"\n    memory_kinds: 25 MB, 25 MB at the peak\n")
        self.assertIn("    managed: 9 MB in 1 block, 9 MB at most\n", shown)
        self.assertIn("    7 MB in 1 block, 7 MB at the peak: memory_kinds, pooled, by "
                      "cuMemAllocFromPoolAsync\n        #0 " + ("" if ON_GPU else "give_pooled"), shown)

    def test_lines_at_their_times(self):
        lines = self.lines("4", options=":memory_every=50ms")
        held = [line["memory"] for line in lines if line["type"] == "memory"]
        self.assertGreater(len(held), 1)
        self.assertEqual(self.kinds(held[-1]["devices"][0])["pooled"], (12 * MB, 2))
        self.assertEqual(sorted(memory["time_ns"] for memory in held),
                         [memory["time_ns"] for memory in held])
        self.assertEqual({line["type"] for line in self.lines("4")}, {"run", "summary"})

    def test_who_may_map_nothing_more_is_told_nothing(self):
        program = ("import ctypes, resource; cuda = ctypes.CDLL('libcuda.so.1')\n"
                   "library = ctypes.CDLL(None); answer = ctypes.create_string_buffer(1 << 18)\n"
                   "library.safecopy_get_memory.restype = ctypes.c_size_t\n"
                   "ask = lambda: library.safecopy_get_memory(answer, ctypes.c_size_t(1 << 18))\n"
                   "assert cuda.cuInit(0) == 0\n"
                   "assert cuda.cuCtxCreate_v2(ctypes.byref(ctypes.c_void_p()), 0, 0) == 0\n"
                   "assert ask() == len(answer.value) > 2, answer.value\n"
                   "for megabytes in range(1, 16):\n"
                   "    used = int(open('/proc/self/statm').read().split()[0]) * 4096\n"
                   "    resource.setrlimit(resource.RLIMIT_AS, (used + (megabytes << 18), -1))\n"
                   "    assert ask() == len(answer.value) != 2, answer.value\n")
        subprocess.run([sys.executable, "-c", program], check=True, timeout=300, cwd=self.folder,
                       env={**ENVIRONMENT, "LD_PRELOAD": str(OUT / "libsafecopy.so"),
                            "SAFECOPY_OPTIONS": "report_path=none"})

    def test_a_python_program_asks(self):
        program = ("import ctypes, json, sys; sys.path.insert(0, sys.argv[1]); import libsafecopy\n"
                   "cuda = ctypes.CDLL('libcuda.so.1'); context = ctypes.c_void_p()\n"
                   "before = libsafecopy.memory()\n"
                   "assert cuda.cuInit(0) == 0\n"
                   "assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0\n"
                   "assert cuda.cuCtxSetCurrent(context) == 0\n"
                   "block = ctypes.c_uint64()\n"
                   "assert cuda.cuMemAlloc_v2(ctypes.byref(block), ctypes.c_size_t(3 << 20)) == 0\n"
                   "print(json.dumps([before, libsafecopy.memory()]))\n")
        for options, held in ("", 3 * MB), (":memory=off", None):
            run = subprocess.run(
                [sys.executable, "-c", program, ROOT / "python"], check=True, capture_output=True,
                text=True, cwd=self.folder,
                env={**ENVIRONMENT, "LD_PRELOAD": str(OUT / "libsafecopy.so"),
                     "SAFECOPY_OPTIONS": f"report_path=none{options}"})
            before, memory = json.loads(run.stdout)
            self.assertEqual(before, {})
            self.assertEqual(memory["devices"][0]["bytes"] if held else memory, held or {})
            for owner in memory.get("owners", ()):  # neither ctypes nor the interpreter
                self.assertEqual(owner["owner"], "<string>")

    def told(self, framework):
        """Of a program that holds 64 MB, of which a framework of that name says it is its own."""
        (self.folder / "site-packages").mkdir()
        (self.folder / "site-packages" / f"{framework}.py").write_text(
            (ROOT / "tests" / "unit" / "frameworks" / f"{framework}.py").read_text())
        program = ("import ctypes, sys; sys.path[:0] = sys.argv[1:3]; import libsafecopy\n"
                   f"import {framework} as framework\n"
                   "cuda = ctypes.CDLL('libcuda.so.1'); context = ctypes.c_void_p()\n"
                   "assert cuda.cuInit(0) == 0\n"
                   "assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0\n"
                   "assert cuda.cuCtxSetCurrent(context) == 0\n"
                   "framework.take(cuda)\n"
                   "now, = libsafecopy.memory()['devices']\n"
                   "assert [pool['used_bytes'] for pool in now['suballocators']] == [48 << 20], now\n"
                   "framework.used = 16 << 20\n")
        subprocess.run([sys.executable, "-c", program, ROOT / "python", self.folder / "site-packages"],
                       check=True, cwd=self.folder,
                       env={**ENVIRONMENT, "LD_PRELOAD": str(OUT / "libsafecopy.so"),
                            "SAFECOPY_OPTIONS": f"report_path={self.folder / 'r.jsonl'}"})
        lines = [json.loads(line) for line in (self.folder / "r.jsonl").read_text().splitlines()]
        self.assertIsNone(programs.schema_problem(lines))
        device, = lines[-1]["memory"]["devices"]
        return device["suballocators"]

    def test_pools_of_frameworks_are_below_their_owners(self):
        for framework, owner, call in (
                ("torch", "PyTorch", "torch.cuda.empty_cache()"),
                ("cupy", "CuPy", "cupy.get_default_memory_pool().free_all_blocks()"),
                ("rmm", "RMM", None)):
            with self.subTest(framework):
                self.setUp()
                told, = self.told(framework)
                self.assertGreater(told.pop("told_ns"), 0)
                self.assertEqual(told, {"owner": owner, "reserved_bytes": 64 * MB, "used_bytes": 16 * MB,
                                        "given_back_by": call})
                self.assertIn(f"    {owner}: 64 MB, 64 MB at the peak\n      of that its own pool has 64 MB, "
                              "16 MB in use; 48 MB unused"
                              f"{f', which {call} gives back' if call else ''}\n", self.shown())

    def test_what_a_program_says_of_its_own_pools(self):
        program = ("import ctypes, sys; sys.path.insert(0, sys.argv[1]); import libsafecopy\n"
                   "cuda = ctypes.CDLL('libcuda.so.1')\n"
                   "libsafecopy.set_pool('early', 0, 1, 1)\n"
                   "assert cuda.cuInit(0) == 0\n"
                   "assert cuda.cuCtxCreate_v2(ctypes.byref(ctypes.c_void_p()), 0, 0) == 0\n"
                   "libsafecopy.set_pool('gone', 0, 7, 5); libsafecopy.set_pool('gone', 0, 0, 0)\n"
                   "libsafecopy.set_pool('host', None, 9, 20, 'drop()')\n"
                   "libsafecopy.set_pool('x' * 62 + chr(0xe4), 0, 8, 3)\n"
                   "for i in range(40): libsafecopy.set_pool(f'none {i}', 0, 0, 0)\n"
                   "for i in range(40): libsafecopy.set_pool(f'pool {i}', 0, 2, 1)\n"
                   "memory = libsafecopy.memory(); device, = memory['devices']\n"
                   "host, = memory['host']['suballocators']\n"
                   "assert (host['used_bytes'], host['given_back_by']) == (9, 'drop()'), host\n"
                   "names = [pool['owner'] for pool in device['suballocators']]\n"
                   "assert names == ['x' * 62] + [f'pool {i}' for i in range(14)], names\n")
        subprocess.run([sys.executable, "-c", program, ROOT / "python"], check=True, cwd=self.folder,
                       env={**ENVIRONMENT, "LD_PRELOAD": str(OUT / "libsafecopy.so"),
                            "SAFECOPY_OPTIONS": "report_path=none"})

    FORKED = ("import ctypes, os, sys, time; cuda = ctypes.CDLL('libcuda.so.1')\n"
              "library, context = ctypes.CDLL(None), ctypes.c_void_p()\n"
              "block = ctypes.c_uint64()\n"
              "assert cuda.cuInit(0) == 0\n"
              "assert cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0) == 0\n"
              "assert cuda.cuMemAlloc_v2(ctypes.byref(block), ctypes.c_size_t(1 << 20)) == 0\n"
              "asks, tells = os.pipe(); waits, ends = os.pipe()\n"
              "if os.fork() == 0:\n"
              "    os.close(ends); answer = ctypes.create_string_buffer(65536)\n"
              "    if sys.argv[1]: device = open(sys.argv[1])\n"
              "    os.write(tells, b'%d' % library.safecopy_get_memory(answer, 65536))\n"
              "    if len(sys.argv) > 2: os._exit(0)\n"
              "    os.read(waits, 1); os._exit(0)\n"
              "print(os.read(asks, 9).decode())\n"
              "if len(sys.argv) > 2: os.wait()\n")

    def forked(self, *arguments, options=""):
        path = self.folder / "r.%p.jsonl"
        for old in self.folder.glob("r.*.jsonl"):
            old.unlink()
        self.run = subprocess.run([sys.executable, "-c", self.FORKED, *arguments], check=True,
                                  capture_output=True, text=True, cwd=self.folder,
                                  env={**ENVIRONMENT, "LD_PRELOAD": str(OUT / "libsafecopy.so"),
                                       "SAFECOPY_OPTIONS": f"report_path={path}{options}"})
        self.assertEqual(self.run.stdout, "0\n")  # nothing of the parent's memory
        report, = self.folder.glob("r.*.jsonl")
        lines = [json.loads(line) for line in report.read_text().splitlines()]
        self.assertIsNone(programs.schema_problem(lines))
        self.assertEqual(lines[-1]["memory"]["devices"][0]["bytes"], MB)
        return lines[-1]["memory"].get("children", [])

    @unittest.skipUnless(os.path.exists("/proc/thread-self/children"), "the kernel lists no children")
    def test_children_that_have_a_device_open_are_named(self):
        device = self.folder / "dev" / "nvidia0"
        device.parent.mkdir()
        device.touch()
        for options in "", ":leaks=1":
            child, = self.forked(device, options=":verbosity=2" + options)
            self.assertEqual(child["name"], pathlib.Path(sys.executable).name[:15])
            self.assertIn(f"child {child['pid']} (", self.run.stderr)
        self.assertEqual(self.forked(device, "ended"), [])
        if not ON_GPU:  # there each child has
            self.assertEqual(self.forked(""), [])

    LABELLED = ("import ctypes, sys, threading; cuda = ctypes.CDLL('libcuda.so.1')\n"
                "library, context = ctypes.CDLL(None), ctypes.c_void_p()\n"
                "assert cuda.cuInit(0) == 0\n"
                "assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0\n"
                "def allocate():\n"
                "    block = ctypes.c_uint64()\n"
                "    assert cuda.cuMemAlloc_v2(ctypes.byref(block), ctypes.c_size_t(1 << 20)) == 0\n"
                "def step(label, own):\n"
                "    assert cuda.cuCtxSetCurrent(context) == 0\n"
                "    if own: library.safecopy_set_thread_label(own)\n"
                "    elif label: library.safecopy_set_label(label)\n"
                "    allocate()\n"
                "for label, own in eval(sys.argv[1]):\n"
                "    thread = threading.Thread(target=step, args=(label, own))\n"
                "    thread.start(); thread.join()\n")

    def labelled(self, steps, options):
        path = self.folder / "r.jsonl"
        self.run = subprocess.run([sys.executable, "-c", self.LABELLED, repr(steps)], check=False,
                                  capture_output=True, text=True, cwd=self.folder,
                                  env={**ENVIRONMENT, "LD_PRELOAD": str(OUT / "libsafecopy.so"),
                                       "SAFECOPY_OPTIONS": f"report_path={path}{options}"})
        return [json.loads(line) for line in path.read_text().splitlines()]

    def test_whose_library_was_closed_owns_its_memory_all_the_same(self):
        memory = self.memory(name="memory_closed", options=":leaks=1")
        owners = {owner["owner"]: owner["blocks"] for owner in memory["owners"]}
        self.assertEqual(owners, {"libowner_first.so": 8, "libowner_second.so": 4})
        frames = {pathlib.Path(account["stack"][0]["module"]).name
                  for account in memory["accounts"] if account["bytes"]}
        self.assertEqual(frames, {"libowner_first.so", "libowner_second.so"})

    def test_accounts_have_the_label_of_the_call(self):
        lines = self.labelled([(None, None), (b"step 1", None), (None, b"loader"), (None, None),
                               (b"step 2", None)], "")
        counts = {account.get("label"): account["blocks"]
                  for account in lines[-1]["memory"]["accounts"]}
        self.assertEqual(counts, {None: 1, "step 1": 2, "loader": 1, "step 2": 1})
        owners = lines[-1]["memory"]["owners"]
        self.assertEqual(sum(owner["blocks"] for owner in owners), 5)

    def test_labels_that_are_too_long_are_cut_between_characters(self):
        long = "\u6f22".encode() * 200
        lines = self.labelled([(b"ab" + long, None), (None, b"a" + long), (b"\x80" * 300, None)], "")
        labels = sorted(account["label"] for account in lines[-1]["memory"]["accounts"])
        self.assertEqual(labels, ["\\x80" * 255, "ab" + "\u6f22" * 84, "a" + "\u6f22" * 84])

    def test_who_loses_one_block_under_each_label_has_lost_them_all(self):
        lines = self.labelled([(b"step %d" % i, None) for i in range(300)], ":leaks=1")
        hazard, = [line for line in lines if line["type"] == "hazard"]
        self.assertEqual((hazard["code"], hazard["buffer"]["blocks"]), ("SC601", 300))
        labels = {account.get("label"): account["blocks"]
                  for account in lines[-1]["memory"]["accounts"]}
        self.assertEqual(labels["further labels"], 45)
        self.assertEqual(sum(owner["blocks"] for owner in lines[-1]["memory"]["owners"]), 300)

    @simulated
    def test_contexts_by_who_made_them(self):
        stacks, memory = [], self.memory(name="memory_contexts", SIM_GPU="devices=3")
        self.assertEqual([device["device"] for device in memory["devices"]], [0, 1, 2])
        for device in memory["devices"]:
            self.assertEqual((device["kinds"], device["bytes"]), ({}, 0))
            stacks.append({(context["api"], context["count"]): context["stack"]
                           for context in device["contexts"]})
        self.assertEqual([list(stack) for stack in stacks],
                         [[("cuDevicePrimaryCtxRetain", 1), ("cuCtxCreate_v4", 2)], [],
                          [("cuDevicePrimaryCtxRetain", 1)]])
        shown = self.shown()
        self.assertRegex(shown, r"device 2 \(GPU-.*\n +1 context, by cuDevicePrimaryCtxRetain\n"
                                r" +#0 retain \(")
        self.assertIn("2 contexts, by cuCtxCreate_v4\n        #0 create", shown)

    def test_what_is_free_where_no_context_is_current(self):
        program = ("import ctypes, json, sys; sys.path.insert(0, sys.argv[1]); import libsafecopy\n"
                   "cuda = ctypes.CDLL('libcuda.so.1'); context = ctypes.c_void_p()\n"
                   "block = ctypes.c_uint64()\n"
                   "assert cuda.cuInit(0) == 0\n"
                   "assert cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0) == 0\n"
                   "assert cuda.cuMemAlloc_v2(ctypes.byref(block), ctypes.c_size_t(3 << 20)) == 0\n"
                   "assert cuda.cuCtxSetCurrent(None) == 0\n"
                   "print(json.dumps(libsafecopy.memory()))\n"
                   "assert cuda.cuCtxGetCurrent(ctypes.byref(context)) == 0 and not context.value\n")
        run = subprocess.run([sys.executable, "-c", program, ROOT / "python"], check=True,
                             capture_output=True, text=True, cwd=self.folder,
                             env={**ENVIRONMENT, "LD_PRELOAD": str(OUT / "libsafecopy.so"),
                                  "SAFECOPY_OPTIONS": "report_path=none"})
        device, = json.loads(run.stdout)["devices"]
        self.assertLess(device["free_bytes"], device["total_bytes"])

    def shown(self):
        return subprocess.run([OUT / "safecopy", "report", "--format", "memory", self.folder / "r.jsonl"],
                              check=True, capture_output=True, text=True).stdout

    def kept(self, *arguments):
        return self.memory(*arguments, name="memory_kept"), self.shown()

    def test_physical_memory_that_is_never_released(self):
        memory, shown = self.kept("vmm")
        device, = memory["devices"]
        self.assertEqual(self.kinds(device), {"physical": (4096 * MB, 64)})
        account = memory["accounts"][0]
        self.assertEqual((account["api"], account["blocks"], account["references"]),
                         ("cuMemCreate", 64, 64))
        self.assertIn(", physical, by cuMemCreate, 64 references not released\n", shown)
        memory, _ = self.kept("vmm", "released")
        self.assertEqual(self.kinds(memory["devices"][0]), {})

    def test_a_pool_that_keeps_all(self):
        memory, shown = self.kept("pool")
        pool, = memory["devices"][0]["pools"]
        self.assertEqual((pool["bytes"], pool["given_back_by"], pool["threshold_bytes"]),
                         (0, "cuMemPoolTrimTo", None))
        self.assertGreaterEqual(pool["unused_bytes"], 1024 * MB)
        self.assertRegex(shown, r"\n    pool 0x[0-9a-f]+: 0 B in use of 1 GB; 1 GB unused, which "
                                r"cuMemPoolTrimTo gives back\n")
        memory, shown = self.kept("pool", "trimmed")
        pool, = memory["devices"][0]["pools"]
        self.assertEqual(pool["unused_bytes"], 0)
        self.assertGreaterEqual(pool["reserved_peak_bytes"], pool["peak_bytes"])
        self.assertNotIn("gives back", shown)

    def test_a_pool_that_served_the_device_is_destroyed(self):
        memory, _ = self.kept("default")
        self.assertEqual([(pool["made_by"], pool["bytes"]) for pool in memory["devices"][0]["pools"]],
                         [(None, 5 * MB)])

    def test_execs_that_are_replaced_and_never_destroyed(self):
        memory, shown = self.kept("graphs")
        device, = memory["devices"]
        self.assertEqual(self.kinds(device), {"graph_execs": (0, 1000)})
        self.assertEqual([account["blocks"] for account in memory["accounts"]], [1000])
        self.assertGreater(device["graphs"]["reserved_bytes"], 0)
        self.assertIn("\n    graph execs: 1000\n", shown)
        memory, _ = self.kept("graphs", "destroyed")
        self.assertEqual([device for device in memory["devices"] if device["kinds"]], [])

    def failures(self, *what, gpu="device_memory=1G:host_memory=100M", **rest):
        lines = self.lines(*what, name="memory_oom", SIM_GPU=gpu, **rest)
        return [line for line in lines if line["type"] == "oom"]

    @simulated
    def test_a_device_that_is_full(self):
        failures = self.failures("full", options=":verbosity=2")
        self.assertEqual([line["count"] for line in failures], [1 << i for i in range(10)])
        first = failures[0]
        self.assertEqual((first["verdict"], first["size"], first["device"], first["own_bytes"]),
                         ("full", 200 * MB, 0, 900 * MB))
        largest = first["memory"]["accounts"][0]
        self.assertEqual((first["memory"]["owners"][0]["owner"], largest["bytes"]),
                         ("memory_oom", 899 * MB))
        self.assertIn("cuMemAlloc_v2 of 200 MB failed for want of memory (124 MB of 1 GB is free): "
                      "the process has the rest itself: memory_oom 900 MB\n", self.run.stderr)
        self.assertEqual(self.run.stdout, "ask() -> 2\nfailed -> 1000\n")
        self.assertIn("  failed for want of memory, 1001 times: ", self.shown())

    @simulated
    def test_a_pool_that_keeps_what_nobody_uses(self):
        failure, = self.failures("pool")
        self.assertEqual((failure["verdict"], failure["given_back_by"]),
                         ("pool_keeps_unused", "cuCtxSynchronize"))
        self.assertGreaterEqual(failure["unused_bytes"], 900 * MB)
        self.assertEqual(self.run.stdout, "ask() -> 2\nask() -> 0\n")

    @simulated
    def test_one_of_many_pools_keeps_what_nobody_uses(self):
        failure, = self.failures("pools")
        largest = failure["memory"]["devices"][0]["pools"][0]
        self.assertEqual((failure["verdict"], failure["pool"]),
                         ("pool_keeps_unused", largest["pool"]))
        self.assertGreaterEqual(failure["unused_bytes"], 900 * MB)
        self.assertEqual(self.run.stdout, "ask() -> 2\nask() -> 0\n")

    @simulated
    def test_graphs_that_keep_what_nobody_uses(self):
        failure, = self.failures("graphs", options=":verbosity=2")
        self.assertEqual((failure["verdict"], failure["given_back_by"], failure["unused_bytes"]),
                         ("graphs_keep_unused", "cuDeviceGraphMemTrim", 304 * MB))
        self.assertIn(": graphs kept memory until the call had failed, 304 MB, which "
                      "cuDeviceGraphMemTrim gives back", self.run.stderr)
        self.assertIn(": graphs kept memory until the call had failed, 304 MB, which", self.shown())
        call = "cuMemAllocAsync(&block, ASKED, stream)"
        self.assertEqual(self.run.stdout, f"{call} -> 2\n{call} -> 0\n")

    @simulated
    def test_graphs_that_have_kept_it_until_the_program_trimmed_them(self):
        """They have not given it up in the call that fails."""
        failure, = self.failures("trimmed")
        self.assertEqual((failure["verdict"], failure["unused_bytes"]), ("limit", 0))
        self.assertEqual(self.run.stdout, "cuMemAllocAsync(&block, ALL_BUT_A_BIT, stream) -> 2\n")

    @simulated
    def test_others_have_what_is_wanted(self):
        failure, = self.failures("others", gpu="device_memory=1G:others_memory=900M",
                                 options=":verbosity=2")
        self.assertEqual((failure["verdict"], failure["own_bytes"], failure["free_bytes"],
                          failure["total_bytes"]), ("others", 0, 124 * MB, 1024 * MB))
        self.assertIn(": other processes, or the driver, have the rest\n", self.run.stderr)
        self.assertEqual(self.run.stdout, "ask() -> 2\n")

    @simulated
    def test_registrations_that_are_too_many(self):
        """A quarter of what the kernel allows are too many, and one less is a limit of another kind."""
        most = int(pathlib.Path("/proc/sys/vm/max_map_count").read_text()) // 4
        if most > 1 << 17:
            self.skipTest(f"{most} registrations are too many for a test")
        for count, verdict in (most, "registrations"), (most - 1, "limit"):
            with self.subTest(count):
                failure, = self.failures("registrations", str(count), gpu=f"host_memory={count * 4096}")
                self.assertEqual((failure["verdict"], failure["device"], failure["size"],
                                  failure["own_bytes"]), (verdict, None, 4096, count * 4096))

    def test_more_than_there_ever_was(self):
        self.assertEqual([line["verdict"] for line in self.failures("large")], ["too_large"] * 2)

    @simulated
    def test_page_locked_memory_that_is_limited(self):
        failure, = self.failures("host")
        self.assertEqual((failure["verdict"], failure["device"], failure["own_bytes"]),
                         ("limit", None, 70 * MB))

    @simulated
    def test_what_is_held_is_settled_before_it_is_a_failure(self):
        lines = self.lines("held", name="memory_oom", SIM_GPU="late=1:host_memory=100M")
        self.assertEqual(self.run.stdout, "cuMemHostAlloc(&second, 60 * MB, 0) -> 0\n")
        self.assertEqual([line["type"] for line in lines].count("oom"), 0)
        memory = lines[-1]["memory"]
        held = memory["host"]["kinds"]["held"]
        self.assertEqual((held["bytes"], held["peak_bytes"], held["settled"]), (0, 60 * MB, 1))
        self.assertGreater(held["longest_ns"], 0)
        self.assertEqual(memory["host"]["peak_bytes"], 60 * MB)  # it is in no sum
        account, = [account for account in memory["accounts"] if account["kind"] == "held"]
        self.assertEqual((account["owner"], account["api"], account["ever_bytes"]),
                         ("memory_oom", "cuMemHostAlloc", 60 * MB))

    @simulated
    def test_what_is_held_is_waited_for_each_time_and_beside_captures(self):
        lines = self.lines("copies", name="memory_oom", SIM_GPU="late=1:host_memory=64M")
        self.assertEqual(self.run.stdout, "cuMemAllocHost(&block, 40 * MB) -> 0\n" * 5)
        held = lines[-1]["memory"]["host"]["kinds"]["held"]
        self.assertEqual((held["settled"], held["peak_bytes"]), (4, 40 * MB + 4 * KB))

    @simulated
    def test_what_is_held_for_longer_is_named_as_the_cause(self):
        failure, = self.failures("held", gpu="late=1:late_limit=500ms:host_memory=100M",
                                 options=":pinned=driver:stall_limit=1ms")
        self.assertEqual((failure["verdict"], failure["unused_bytes"], failure["given_back_by"]),
                         ("library_keeps", 60 * MB, "cuCtxSynchronize"))

    @simulated
    def test_what_other_threads_free_under_copies_is_waited_for_as_often_as_it_takes(self):
        lines = self.lines("threads", name="memory_oom", SIM_GPU="host_memory=40000")
        self.assertEqual([line["type"] for line in lines].count("oom"), 0)

    @simulated
    def test_what_is_held_is_no_want_of_other_memory_of_the_host(self):
        for options in "", ":memory=off":
            self.lines("others_of_host", name="memory_oom", SIM_GPU="late=1:host_memory=64M",
                       options=options)
            self.assertEqual([line.split(" -> ")[1] for line in self.run.stdout.splitlines()],
                             ["0", "0"])

    @simulated
    def test_what_is_ours_is_given_up_before_it_is_a_failure(self):
        """What was freed and stays page-locked, and what snapshots lie in."""
        call = "cuMemAllocHost(&all, strtoul(limit, NULL, 10))"
        for options in "", ":memory=off":
            lines = self.lines("ours", str(64 * MB), name="memory_oom", SIM_GPU="host_memory=64M",
                               options=options)
            self.assertEqual(self.run.stdout, f"{call} -> 0\n")
            self.assertEqual([line["type"] for line in lines].count("oom"), 0)
            if not options:
                ours = lines[-1]["memory"]["host"]["kinds"]["libsafecopy"]
                self.assertEqual(ours["bytes"], 0)
                self.assertGreater(ours["peak_bytes"], 2 * MB)

    @simulated
    def test_what_is_ours_stays_where_the_driver_would_wait_for_the_program(self):
        failure, = self.failures("busy", str(64 * MB), gpu="host_memory=64M")
        self.assertEqual((failure["verdict"], failure["own_bytes"], failure["unused_bytes"],
                          failure["given_back_by"]),
                         ("library_keeps", 2 * MB, 2 * MB, "cuCtxSynchronize"))
        self.assertEqual(failure["memory"]["host"]["kinds"]["libsafecopy"]["blocks"], 1)
        account, = [account for account in failure["memory"]["accounts"]
                    if account["kind"] == "libsafecopy"]
        self.assertEqual(account["owner"], "libsafecopy")
        self.assertEqual([line.split(" -> ")[1] for line in self.run.stdout.splitlines()], ["2", "0"])
        self.assertIn("a limit, and libsafecopy has some for copies that are not done, 2 MB, which "
                      "cuCtxSynchronize gives back", self.shown())

    def test_what_is_freed_under_copies_of_many_threads_counts_once(self):
        memory = self.memory("wrong", name="memory_in_flight", options=":verbosity=0")
        self.assertEqual(memory["unknown_frees"], 0)
        self.assertEqual(self.kinds(memory["host"]), {})
        self.assertGreater(memory["host"]["kinds"]["held"]["peak_bytes"], 0)

    @simulated
    def test_failures_are_not_told_of_where_the_ledger_is_off(self):
        self.assertEqual(self.failures("full", options=":memory=off"), [])
        self.assertEqual(self.run.stdout, "ask() -> 2\nfailed -> 1000\n")

    @simulated
    def test_what_the_driver_has_for_itself_and_since_which_call(self):
        """NVML is asked by UUID: its numbers are not those of CUDA_VISIBLE_DEVICES."""
        turned = {"SIM_GPU": "devices=2:visible=1", "CUDA_VISIBLE_DEVICES": "1,0"}
        for settings in {}, turned:
            lines = self.lines(str(int(signal.SIGUSR2)), name="memory_unaccounted",
                               options=f":memory_signal={int(signal.SIGUSR2)}", **settings)
            self.assertEqual([line["type"] for line in lines].count("memory"), 1)
            device, = lines[-1]["memory"]["devices"]
            row = device["unaccounted"]
            self.assertEqual([(step["api"], step["bytes"], step["times"]) for step in row["steps"]],
                             [("cuDevicePrimaryCtxRetain", 96 * MB, 1), ("cuModuleLoadData", 4 * MB, 1),
                              ("cuModuleGetFunction", 16 * MB, 1)])
            self.assertEqual((row["bytes"], row["peak_bytes"]), (116 * MB, 116 * MB))

    @simulated
    def test_what_the_driver_does_not_say_is_not_known(self):
        lines = self.lines("1", options=":memory_every=20ms", SIM_NVML="none")
        self.assertIsNone(lines[-1]["memory"]["devices"][0]["unaccounted"])

    @simulated
    def test_a_process_that_ends_while_nvml_starts_asks_it_nothing(self):
        program = ("import ctypes, time; cuda = ctypes.CDLL('libcuda.so.1')\n"
                   "context, block = ctypes.c_void_p(), ctypes.c_uint64()\n"
                   "assert cuda.cuInit(0) == 0\n"
                   "assert cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0) == 0\n"
                   "assert cuda.cuMemAlloc_v2(ctypes.byref(block), ctypes.c_size_t(1 << 20)) == 0\n"
                   "while 'libnvidia-ml' not in open('/proc/self/maps').read(): time.sleep(.01)\n")
        run = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True,
                             text=True, cwd=self.folder, timeout=300,
                             env={**ENVIRONMENT, "LD_PRELOAD": str(OUT / "libsafecopy.so"),
                                  "SIM_NVML": "slow",
                                  "SAFECOPY_OPTIONS": "report_path=none:memory_every=20ms"})
        self.assertEqual(run.stderr, "NVML has started\n")

    def test_nvml_is_loaded_where_lines_are_asked_for_and_memory_is_held(self):
        program = ("import ctypes, sys, time; cuda = ctypes.CDLL('libcuda.so.1')\n"
                   "context, block = ctypes.c_void_p(), ctypes.c_uint64()\n"
                   "assert cuda.cuInit(0) == 0\n"
                   "assert sys.argv[1] == 'no' or "
                   "cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0) == 0\n"
                   "assert sys.argv[1] != 'yes' or "
                   "cuda.cuMemAlloc_v2(ctypes.byref(block), ctypes.c_size_t(1 << 20)) == 0\n"
                   "for _ in range(int(sys.argv[2])):\n"
                   "    if 'libnvidia-ml' in open('/proc/self/maps').read(): break\n"
                   "    time.sleep(.01)\n"
                   "print('libnvidia-ml' in open('/proc/self/maps').read())\n")
        for options, holds, tries, loaded in (
                ("memory_every=20ms", "yes", 6000, "True"), ("memory_every=20ms", "no", 20, "False"),
                ("memory_every=20ms", "context", 6000, "True"),
                ("memory_every=20ms:memory=off", "yes", 20, "False"), ("memory=on", "yes", 20, "False")):
            run = subprocess.run([sys.executable, "-c", program, holds, str(tries)], check=True,
                                 capture_output=True, text=True, cwd=self.folder,
                                 env={**ENVIRONMENT, "LD_PRELOAD": str(OUT / "libsafecopy.so"),
                                      "SAFECOPY_OPTIONS": f"report_path=none:{options}"})
            self.assertEqual(run.stdout.strip(), loaded, (options, holds))

    def test_a_signal_with_an_action_of_the_programs_stays_its_own(self):
        program = ("import ctypes, os, signal; cuda = ctypes.CDLL('libcuda.so.1')\n"
                   "seen = []; signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))\n"
                   "assert cuda.cuInit(0) == 0\n"
                   "os.kill(os.getpid(), signal.SIGUSR1); print(seen)\n")
        run = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True,
                             text=True, cwd=self.folder,
                             env={**ENVIRONMENT, "LD_PRELOAD": str(OUT / "libsafecopy.so"),
                                  "SAFECOPY_OPTIONS":
                                      f"report_path=none:memory_signal={int(signal.SIGUSR1)}"})
        self.assertEqual(run.stdout, "[1]\n")
        self.assertIn("the program has an action for it", run.stderr)

    def test_a_signal_that_stands_for_a_fault_is_refused(self):
        run = subprocess.run([sys.executable, "-c", "import ctypes, os\n"
                              "assert ctypes.CDLL('libcuda.so.1').cuInit(0) == 0\n"
                              "os.kill(os.getpid(), 11)\n"], check=False, capture_output=True,
                             text=True, cwd=self.folder, timeout=300,
                             env={**ENVIRONMENT, "LD_PRELOAD": str(OUT / "libsafecopy.so"),
                                  "SAFECOPY_OPTIONS": "report_path=none:memory_signal=11"})
        self.assertEqual(run.returncode, -signal.SIGSEGV)
        self.assertIn("'memory_signal' cannot be '11', which is ignored", run.stderr)
        run = subprocess.run([OUT / "safecopy", "run", "--option", "memory_signal=11", "--", "true"],
                             check=False, capture_output=True, text=True, env=ENVIRONMENT)
        self.assertEqual(run.returncode, 2, run.stderr)

    def never_freed(self, *arguments, options):
        lines = self.lines(*arguments, name="memory_leaks", options=options)
        return [(line["code"], line["copy"]["api"], line["buffer"]["blocks"], line["buffer"]["size"])
                for line in lines if line["type"] == "hazard"], lines[-1]

    def test_memory_that_is_never_given_back(self):
        found, last = self.never_freed(options=":leaks=1")
        self.assertEqual(found, [("SC601", "cuMemAlloc_v2", 100, 400 * KB),
                                 ("SC601", "cuMemAllocAsync", 1, 3 * KB)])
        self.assertEqual((last["by_code"], last["exit_status"]), ({"SC601": 2}, 0))
        self.assertEqual(last["memory"]["devices"][0]["kinds"]["device"]["blocks"], 102)
        self.assertIn("total_bytes", last["memory"]["devices"][0])
        self.assertIn("with 100 blocks still held, 400 KB of device memory in all, by "
                      "cuMemAlloc_v2 at lose_one", self.run.stderr)

    def test_strict_counts_it_where_that_is_asked_for(self):
        found, last = self.never_freed(options=":strict=1")
        self.assertEqual((found, last["exit_status"]), ([], 0))
        self.status = 66
        found, last = self.never_freed(options=":strict=1:leaks=1")
        self.assertEqual((len(found), last["exit_status"]), (2, 66))

    def test_what_is_given_back_otherwise_is_not_lost(self):
        for how in "reset", "_exit":
            self.assertEqual(self.never_freed(how, options=":strict=1:leaks=1")[0], [])

    def test_stacks_of_one_frame_accuse_nobody(self):
        for stacks in "site", "none":
            found, last = self.never_freed(options=f":strict=1:leaks=1:stacks={stacks}")
            self.assertEqual((found, last["exit_status"]), ([], 0), stacks)
            self.assertIn("safecopy: leaks=1 has nothing to tell without whole stacks",
                          self.run.stderr)

    def test_what_cannot_be_told_without_the_ledger_is_said(self):
        words = "memory=off: leaks, memory_every and memory_signal have nothing to tell"
        for option in "leaks=1", "memory_every=1s", "memory_signal=12":
            self.lines("1", options=f":strict=1:memory=off:{option}")
            self.assertEqual(self.run.stderr.count(words), 1, option)
        for options in ":memory=off", ":leaks=1", ":memory=off:leaks=1:verbosity=0":
            self.lines("1", options=options)
            self.assertNotIn("nothing to tell", self.run.stderr)

    def test_what_is_kept_on_purpose_is_suppressed(self):
        file = self.folder / "s.supp"
        file.write_text("{\n name: kept\n code: SC601\n reason: a cache\n"
                        " copy: ... fun:lose_one\n}\n")
        found, last = self.never_freed(options=f":leaks=1:suppressions={file}")
        self.assertEqual([blocks for _, _, blocks, _ in found], [1])
        self.assertEqual(last["suppressed"], 1)

    def test_why_it_is_not_known_what_a_process_holds(self):
        for options, why in (":memory=off", "memory=off"), ("", "the run did not end normally"):
            lines = self.lines("1", options=options)
            path = self.folder / "cut.jsonl"
            path.write_text("".join(json.dumps(line) + "\n" for line in lines
                                    if options or line["type"] != "summary"))
            shown = subprocess.run([OUT / "safecopy", "report", "--format", "memory", path],
                                   check=False, capture_output=True, text=True, env=ENVIRONMENT)
            self.assertIn(f"it is not known what it holds: {why}\n", shown.stdout)
        twice = self.folder / "exec.jsonl"
        twice.write_text(path.read_text() * 2)
        shown = subprocess.run([OUT / "safecopy", "report", "--format", "memory", twice],
                               check=False, capture_output=True, text=True, env=ENVIRONMENT)
        self.assertEqual([why for why in ("the process went on as another program",
                                          "the run did not end normally")
                          if f"it is not known what it holds: {why}\n" in shown.stdout],
                         ["the process went on as another program", "the run did not end normally"])

    def test_off_says_nothing(self):
        self.assertIsNone(self.memory("1", options=":memory=off"))
        self.assertNotIn("memory:", self.run.stderr)

    def test_people_are_told_where_they_ask(self):
        self.memory("1", options=":verbosity=2")
        told = [line.strip() for line in self.run.stderr.splitlines() if "memory:" in line]
        self.assertRegex(told[0], r"^memory: device 0: 25 MB, 25 MB at most: memory_kinds 25 MB$")
        self.assertRegex(told[1], r"^memory: page-locked on the host: 3 MB, 3 MB at most: "
                                  r"memory_kinds 3 MB$")
        self.memory("1")
        self.assertEqual(self.run.stderr, "")


if __name__ == "__main__":
    unittest.main()
