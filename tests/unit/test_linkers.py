#!/usr/bin/env python3
"""The build id of a program, and so its names, however its linker lays notes: beside that of a
property, in a segment that is aligned to eight bytes, and last, with an end short of the alignment.
The program runs on the simulated GPU. A linker that is not here is skipped."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT", ROOT / "out"))
ENVIRONMENT = {**{name: value for name, value in os.environ.items()
                  if not name.startswith(("SAFECOPY_", "LD_", "CUDA_", "DEBUGINFOD"))},
               "HOME": "/nonexistent"}
SOURCE = """
int cuInit(unsigned), cuDevicePrimaryCtxRetain(void **, int), cuCtxSetCurrent(void *);
int cuMemAlloc_v2(void **, unsigned long), cuMemAllocHost_v2(void **, unsigned long);
int cuMemFreeHost(void *), cuMemcpyHtoDAsync_v2(void *, const void *, unsigned long, void *);
int main(void)
{
    void *context, *target, *source;
    int status = cuInit(0) | cuDevicePrimaryCtxRetain(&context, 0) | cuCtxSetCurrent(context);
    status |= cuMemAlloc_v2(&target, 65536) | cuMemAllocHost_v2(&source, 65536);
    status |= cuMemcpyHtoDAsync_v2(target, source, 65536, 0);
    return status | cuMemFreeHost(source);
}
"""
IDS = {"0x" + "5a" * 20: "5a" * 20, "0xabcdef": "abcdef"}


class Linkers(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name).resolve()
        (self.folder / "train.c").write_text(SOURCE)

    def check(self, linker):
        if not shutil.which(f"ld.{linker}"):
            self.skipTest(f"no {linker} here")
        for given, wanted in IDS.items():
            with self.subTest(build_id=given):
                program = self.folder / f"train-{wanted}"
                subprocess.run(["gcc", f"-fuse-ld={linker}", "-fcf-protection=full", f"-Wl,--build-id={given}",
                                self.folder / "train.c", "-o", program, f"-L{OUT / 'sim'}", "-l:libcuda.so.1"],
                               check=True)
                self.check_program(program, wanted)

    def check_program(self, program, wanted):
        report = program.with_suffix(".jsonl")
        subprocess.run([program], check=True, stderr=subprocess.DEVNULL, env={
            **ENVIRONMENT, "LD_LIBRARY_PATH": str(OUT / "sim"), "SIM_GPU": "late=1",
            "LD_PRELOAD": str((OUT / "libsafecopy.so").resolve()), "SAFECOPY_OPTIONS": f"report_path={report}"})
        shown = subprocess.run([OUT / "safecopy", "report", "--json", report], env=ENVIRONMENT, check=False,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        result = json.loads(shown.stdout)
        (build,) = [build for build in result["builds"] if build["module"] == str(program)]
        self.assertEqual((build["build_id"], build["names"]), (wanted, True), shown.stderr)
        (hazard,) = result["hazards"]
        self.assertEqual(hazard["copy"]["stack"][0]["symbol"], "main", shown.stderr)

    def test_bfd(self):
        self.check("bfd")

    def test_gold(self):
        self.check("gold")

    def test_lld(self):
        self.check("lld")

    def test_mold(self):
        self.check("mold")


if __name__ == "__main__":
    unittest.main()
