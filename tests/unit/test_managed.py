#!/usr/bin/env python3
"""Managed memory larger than the devices that are to hold it (tests/survival/managed_larger.c): what
is told of it, on four simulated devices of 1 GB. Never on a real GPU."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT", ROOT / "out")).resolve()
PROGRAM = ROOT / "out" / "tests" / "survival" / "managed_larger"
ENVIRONMENT = {**{name: value for name, value in os.environ.items()
                  if not name.startswith(("SAFECOPY_", "LD_", "CUDA_", "GITHUB_"))},
               "LD_LIBRARY_PATH": str(OUT / "sim")}
SCHEMA = json.loads((ROOT / "report" / "schema.json").read_text(encoding="utf-8"))
FOUR = "devices=4:device_memory=1G"
MB = 1 << 20


class Managed(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.report = pathlib.Path(temporary.name) / "r.jsonl"

    def lines(self, *how, options="", gpu=FOUR):
        self.run = subprocess.run(
            [PROGRAM, *how], check=False, capture_output=True, text=True, timeout=120,
            env={**ENVIRONMENT, "SIM_GPU": gpu, "LD_PRELOAD": str(OUT / "libsafecopy.so"),
                 "SAFECOPY_OPTIONS": f"strict=1:report_path={self.report}{options}"})
        self.assertEqual((self.run.returncode, self.run.stdout), (0, "done\n"), self.run.stderr)
        lines = [json.loads(line) for line in self.report.read_text().splitlines()]
        for line in lines:
            jsonschema.validate(line, SCHEMA, cls=jsonschema.Draft7Validator)
        return lines

    def told(self, *how, **rest):
        lines = self.lines(*how, **rest)
        self.last = lines[-1]
        return [line for line in lines if line["type"] == "hazard"]

    def command(self, *arguments):
        return subprocess.run([OUT / "safecopy", "report", *arguments, self.report], check=False,
                              capture_output=True, text=True)

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
        words = "for device 0, which has 1 GB: the rest lies on the host, and on no other GPU"
        self.assertIn(words, self.run.stderr)
        shown = self.command("--format", "text").stdout
        self.assertIn("which has 1073741824 bytes: the rest lies on the host, and on no other GPU",
                      shown)
        for words in self.run.stderr, shown:
            self.assertNotRegex(words, "device [1-3]")

    def test_what_fits_is_not_told_of(self):
        for how in (("plain", "small"), ("prefetch", "small"), ("prefer", "small"),
                    ("in_turn",), ("moved",), ("tiles",), ("prefer_apart",), ("prefer_parts",),
                    ("prefer_host",), ("batch_apart",)):
            with self.subTest(how):
                self.assertEqual(self.told(*how), [])
                self.assertEqual(self.run.stderr, "")

    def test_which_of_several_devices_is_not_guessed(self):
        self.assertEqual(self.told("other_context"), [])

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


if __name__ == "__main__":
    unittest.main()
