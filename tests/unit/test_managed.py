#!/usr/bin/env python3
"""Managed memory larger than the devices that are to hold it (tests/survival/managed_larger.c): what
is told of it, on four simulated devices of 1 GB. On a real GPU, whose driver is in the folders that
SAFECOPY_DRIVER names, only what a card of 8 GB has room for."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import programs  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT", ROOT / "out")).resolve()
PROGRAM = ROOT / "out" / "tests" / "survival" / "managed_larger"
ENVIRONMENT = {**{name: value for name, value in os.environ.items()
                  if not name.startswith(("SAFECOPY_", "LD_", "CUDA_", "GITHUB_"))},
               "LD_LIBRARY_PATH": os.environ.get("SAFECOPY_DRIVER", str(OUT / "sim"))}
ON_GPU = "SAFECOPY_DRIVER" in os.environ
FOUR = "devices=4:device_memory=1G"
MB = 1 << 20


class Program(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.report = pathlib.Path(temporary.name) / "r.jsonl"

    def lines(self, *how, options="", gpu=FOUR, cupti=""):
        self.run = subprocess.run(
            [PROGRAM, *how], check=False, capture_output=True, text=True, timeout=300,
            env={**ENVIRONMENT, "SIM_GPU": gpu, "SIM_CUPTI": cupti, "LD_PRELOAD": str(OUT / "libsafecopy.so"),
                 "SAFECOPY_OPTIONS": f"strict=1:report_path={self.report}{options}"})
        self.assertEqual((self.run.returncode, self.run.stdout), (0, "done\n"), self.run.stderr)
        lines = [json.loads(line) for line in self.report.read_text().splitlines()]
        self.assertIsNone(programs.schema_problem(lines))
        return lines

    def told(self, *how, **rest):
        lines = self.lines(*how, **rest)
        self.last = lines[-1]
        return [line for line in lines if line["type"] == "hazard"]

    def command(self, *arguments):
        return subprocess.run([OUT / "safecopy", "report", *arguments, self.report], check=False,
                              capture_output=True, text=True)

    def moved(self, device):
        return next((row for row in self.last["um"]["devices"] if row["device"] == device), None)


class WithRoom(Program):
    """Three quarters of a GB at a time, or one and a half, on a device that has more."""

    def test_arrays_that_fit_are_not_told_of(self):
        for options in "", ":um=1":
            for how in ("plain", "prefetch", "moved", "batch", "prefer", "discard", "tiles",
                        "for_host", "touch_pages"):
                with self.subTest(how + options):
                    self.assertEqual(self.told(how, options=options, gpu=""), [])
                    self.assertEqual(self.run.stderr, "")

    def test_what_the_device_touches_is_counted(self):
        self.told("touch_pages", options=":um=1", gpu="")
        moved = self.moved(0)
        self.assertEqual(self.last["um"]["state"], "listening")
        self.assertGreater(moved["faults"], 0)
        self.assertEqual((moved["evicted_bytes"], moved["from_devices_bytes"]), (0, 0))


@unittest.skipIf(ON_GPU, "more than a card has can hang it")
class Managed(Program):
    def test_two_arrays_that_one_device_is_to_hold(self):
        for how, event, certainty in (("plain", "cuMemAllocManaged", "latent"),
                                      ("kept", "cuMemAllocManaged", "latent"),
                                      ("reset", "cuMemAllocManaged", "latent"),
                                      ("unset", "cuMemAllocManaged", "latent"),
                                      ("prefetch", "cuMemPrefetchAsync_v2", "observed"),
                                      ("batch", "cuMemPrefetchBatchAsync", "observed"),
                                      ("prefer", "cuMemAdvise_v2", "observed")):
            with self.subTest(how):
                told = self.told(how)
                self.assertEqual([line["code"] for line in told], ["SC602"])
                hazard = told[0]
                self.assertEqual((hazard["event"]["api"], hazard["certainty"]), (event, certainty))
                self.assertEqual((hazard["buffer"]["blocks"], hazard["buffer"]["size"],
                                  hazard["buffer"]["room"], hazard["buffer"]["kind"]),
                                 (2, 1536 * MB, 1024 * MB, "managed"))
                self.assertEqual((hazard["copy"]["device"], hazard["copy"]["size"]), (0, 768 * MB))
                self.assertIn("most of it by cuMemAllocManaged at make_first ", self.run.stderr)
                self.assertNotEqual(hazard["copy"]["stack"][0],
                                    hazard["buffer"]["origin"]["stack"][0])

    def test_it_names_the_host_and_no_device_but_the_one(self):
        self.told("plain")
        self.assertIn("    cuMemAllocManaged at make_second ", self.run.stderr)
        words = "for device 0, which has 1 GB: 512 MB lies on the host, and on no other GPU"
        self.assertIn(words, self.run.stderr)
        shown = self.command("--format", "text").stdout
        self.assertIn("which has 1073741824 bytes: 536870912 lie on the host, and on no other GPU",
                      shown)
        for words in self.run.stderr, shown:
            self.assertNotRegex(words, "device [1-3]")

    def test_two_devices_are_two_places(self):
        """By one and the same call, and of devices of different sizes."""
        gpu = "devices=4:device_memory=1G,1280M"
        told = self.told("two_devices", gpu=gpu)
        self.assertEqual([(line["copy"]["device"], line["buffer"]["room"], line["count"]) for line in told],
                         [(0, 1024 * MB, 1), (1, 1280 * MB, 1)])
        self.assertEqual(told[0]["event"]["stack"], told[1]["event"]["stack"])
        shown = self.command("--format", "text").stdout
        for words in "for device 0, which has 1 GB: 512 MB lies", "for device 1, which has 1.2 GB: 256 MB lies":
            self.assertIn(words, self.run.stderr)
        for words in "for device 0, which has 1073741824 bytes", "for device 1, which has 1342177280 bytes":
            self.assertIn(words, shown)
        self.assertEqual(self.last["advisories"], 2)

    def test_ranks_with_a_device_each_are_one_place(self):
        self.lines("prefetch")
        lines = [json.loads(line) for line in self.report.read_text().splitlines()]
        for rank in range(2):
            lines[0].update(rank=str(rank), pid=rank + 1)
            next(line for line in lines if line["type"] == "hazard")["copy"]["device"] = rank
            self.report = self.report.with_name(f"{rank}.jsonl")
            self.report.write_text("".join(json.dumps(line) + "\n" for line in lines))
        shown = self.command("--format", "json", self.report.with_name("0.jsonl"))
        place, = json.loads(shown.stdout)["hazards"]
        self.assertEqual((place["code"], place["count"], place["ranks"]), ("SC602", 2, "0, 1"))

    def test_what_fits_is_not_told_of(self):
        for how in (("plain", "small"), ("prefetch", "small"), ("prefer", "small"),
                    ("in_turn",), ("moved",), ("tiles",), ("prefer_apart",), ("prefer_parts",),
                    ("prefer_host",), ("batch_apart",), ("discard",), ("for_host",)):
            with self.subTest(how):
                self.assertEqual(self.told(*how), [])
                self.assertEqual(self.run.stderr, "")

    def test_which_of_several_devices_is_not_guessed(self):
        self.assertEqual(self.told("other_context"), [])
        self.assertEqual(self.told("other_made"), [])

    def test_devices_of_other_sizes(self):
        self.assertEqual(self.told("plain", gpu="devices=4:device_memory=2G"), [])
        self.assertEqual(len(self.told("plain", "small", gpu="devices=1:device_memory=512M")), 1)

    def test_where_nothing_can_spill(self):
        self.assertEqual(self.told("plain", gpu=FOUR + ":managed_apart=1"), [])
        self.assertEqual(self.told("plain", options=":memory=off"), [])

    def test_strict_passes_and_the_advisory_is_counted(self):
        self.told("plain", options=":halt_on_error=1")
        self.assertEqual((self.last["hazards"], self.last["advisories"], self.last["by_code"],
                          self.last["exit_status"]), (0, 1, {"SC602": 1}, 0))
        self.assertIn("no hazards in 2 operations, 1 advisory note", self.run.stderr)
        self.assertNotIn("halt_on_error", self.run.stderr)
        shown = self.command("--format", "text")
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        self.assertIn("0 hazards in 2 operations, 1 advisory note", shown.stdout)
        strict = subprocess.run(
            [OUT / "safecopy", "run", "--strict", "--", PROGRAM, "plain"], check=False,
            capture_output=True, text=True, cwd=self.report.parent,
            env={**ENVIRONMENT, "SIM_GPU": FOUR})
        self.assertEqual(strict.returncode, 0, strict.stderr)

    def test_it_can_be_suppressed(self):
        file = self.report.parent / "s.supp"
        file.write_text("{\n name: streamed\n code: SC602\n reason: it is\n}\n")
        self.assertEqual(self.told("plain", options=f":suppressions={file}"), [])
        self.assertEqual((self.last["suppressed"], self.last.get("advisories")), (1, None))

    def test_the_ledger_says_where_it_is_to_lie(self):
        self.told("prefer_apart")
        self.assertEqual(self.last["memory"]["managed_to"], [])  # all is freed
        self.told("prefer_kept")
        self.assertEqual(self.last["memory"]["managed_to"],
                         [{"device": 1, "bytes": 768 * MB}, {"device": None, "bytes": 768 * MB}])
        self.assertIn("  managed memory, as advised or prefetched: 768 MB to device 1, 768 MB to the "
                      "host\n", self.command("--format", "memory").stdout)

    def test_by_what_devices_fault_on(self):
        told, = self.told("touch_elsewhere", options=":um=1")
        self.assertEqual((told["code"], told["certainty"], told["copy"]["device"],
                          told["buffer"]["blocks"], told["buffer"]["size"], told["buffer"]["room"]),
                         ("SC602", "observed", 1, 2, 1536 * MB, 1024 * MB))
        self.assertIn("for device 1, which has 1 GB: 512 MB lies on the host, and on no other GPU",
                      self.run.stderr)
        self.assertIn("    cuMemAllocManaged at make_second ", self.run.stderr)
        self.assertEqual(self.moved(1), {"device": 1, "faults": 768, "from_host_bytes": 1536 * MB,
                                         "to_host_bytes": 512 * MB, "evicted_bytes": 512 * MB,
                                         "from_devices_bytes": 0})
        self.assertEqual((self.last["um"]["state"], self.last["um"]["dropped"]), ("listening", 0))
        self.assertIn("  managed memory, device 1: 768 page faults, 1.5 GB from the host, 0 B from "
                      "other devices, 512 MB to the host, 512 MB of it to make room\n",
                      self.command("--format", "memory").stdout)

    def test_not_by_the_device_that_allocates(self):
        for how in ("plain",), ("touch_parts",), ("touch_one",), ("touch_elsewhere", "small"):
            with self.subTest(how):
                self.assertEqual(self.told(*how, options=":um=1"), [])
        self.assertEqual([row["faults"] for row in self.told("touch_parts", options=":um=1") or
                          self.last["um"]["devices"]], [192] * 4)
        self.assertEqual(self.told("touch_one", options=":um=1") or self.moved(0)["from_devices_bytes"],
                         768 * MB)

    def test_only_the_pages_that_a_device_touches_count(self):
        self.assertEqual(self.told("touch_pages", gpu=FOUR + ":others_memory=400M", options=":um=1"), [])
        self.assertEqual((self.moved(0)["faults"], self.moved(0)["evicted_bytes"]), (386, 144 * MB))

    def test_pages_that_go_to_and_fro_are_counted(self):
        self.told("touch_to_and_fro", options=":um=1")
        self.assertEqual((self.moved(0)["faults"], self.moved(1)["faults"],
                          self.last["um"]["thrashing_bytes"]), (8, 8, 4 * MB))
        self.assertIn("  managed memory: 4 MB went to and fro\n",
                      self.command("--format", "memory").stdout)

    def test_where_faults_are_not_counted_it_says_why(self):
        for cupti, options, state, why in (
                ("held", "", "held", "CUPTI is held: CUPTI for a tool"),
                ("old", "", "too-old", "CUPTI is too-old"),
                ("uncounted", "", "failed", "CUPTI counts nothing of managed memory here: "
                                            "CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED"),
                ("unpermitted", "", "failed", "CUPTI counts nothing of managed memory here: "
                                              "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"),
                ("", ":cupti=off", "unused", "it needs CUPTI, and cupti=off")):
            with self.subTest(cupti):
                told, = self.told("plain", options=":um=1" + options, cupti=cupti)
                self.assertEqual((told["code"], told["certainty"]), ("SC602", "latent"))
                self.assertEqual((self.last["um"]["state"], self.last["um"]["devices"]), (state, []))
                self.assertIn(f"safecopy: um=1 cannot be met: {why}\n", self.run.stderr)
                self.assertIn(f"  managed memory: page faults are not counted: CUPTI is {state}",
                              self.command("--format", "memory").stdout)

    def test_timeline_and_counts_together(self):
        told, = self.told("touch_elsewhere", options=":um=1:timeline=1")
        self.assertEqual(told["copy"]["device"], 1)
        self.assertEqual(self.last["timeline"]["state"], "listening")
        self.told("plain", options=":um=1:timeline=1", cupti="uncounted")
        self.assertEqual((self.last["timeline"]["state"], self.last["um"]["state"]),
                         ("listening", "failed"))

    def test_a_tool_that_comes_ends_the_counts(self):
        program = ROOT / "out" / "tests" / "cupti" / "timeline_yields"
        run = subprocess.run([program], check=False, capture_output=True, text=True, timeout=300,
                             env={**ENVIRONMENT, "LD_PRELOAD": str(OUT / "libsafecopy.so"),
                                  "SAFECOPY_OPTIONS": f"um=1:report_path={self.report}"})
        self.assertEqual(run.returncode, 0, run.stderr + run.stdout)
        last = json.loads(self.report.read_text().splitlines()[-1])
        self.assertEqual(last["um"]["state"], "yielded")


if __name__ == "__main__":
    unittest.main()
