"""With a libunwind that tells of callers as 1.2 and 1.3 do, stacks are those of a newer one. A thread that
takes few stacks does not have libunwind keep a table for it, which unw_backtrace makes: 256 KB.
"""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT", ROOT / "out"))
OLDER = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

int unw_backtrace(void **frames, int max)
{
    int (*newer)(void **, int) = (int (*)(void **, int))dlsym(RTLD_NEXT, "unw_backtrace");
    if (getpid() != gettid() && getenv("NO_THREAD"))
        abort();
    int count = newer(frames, max);
    for (int i = 0; i < count; i++)
        frames[i] = (char *)frames[i] - 1;
    return count;
}
"""


def stacks(library, twin="sc101_free_h2d", **more):
    """Of the hazard that a twin has, by what they are of."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.jsonl"
        subprocess.run([OUT / f"tests/hazard/{twin}.racy"], check=True,
                       env={"LD_LIBRARY_PATH": str(OUT / "sim"), "LD_PRELOAD": str(library),
                            "SIM_GPU": "late=1", "SAFECOPY_OPTIONS": f"report_path={report}"} | more,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        lines = [json.loads(line) for line in report.read_text(encoding="utf-8").splitlines()]
    hazard = next(line for line in lines if line["type"] == "hazard")
    return {name: [(pathlib.Path(frame["module"]).name, frame["offset"])
                   for frame in hazard[name]["stack"]] for name in ("copy", "event")}


class OlderLibunwind(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.library = pathlib.Path(folder.name) / "libsafecopy.so"
        shutil.copy(OUT / "libsafecopy.so", self.library)
        shutil.copy(OUT / "libunwind.so.8", folder.name)
        subprocess.run(["cc", "-shared", "-fPIC", "-xc", "-", "-xnone", "-Wl,--no-as-needed",
                        "-o", self.library.with_name("libsafecopy-unwind.so.8"),
                        self.library.with_name("libunwind.so.8"), "-Wl,-rpath,$ORIGIN", "-ldl"],
                       input=OLDER, encoding="utf-8", check=True)

    def test_stacks_are_the_same(self):
        usual = stacks(OUT / "libsafecopy.so")
        self.assertEqual(usual["event"][0][0], "sc101_free_h2d.racy")
        self.assertEqual(stacks(self.library), usual)

    def test_first_stacks_of_a_thread(self):
        usual = stacks(OUT / "libsafecopy.so", "sc202_per_thread")
        self.assertEqual(usual["event"][0][0], "sc202_per_thread.racy")
        self.assertEqual(stacks(self.library, "sc202_per_thread", NO_THREAD="1"), usual)


if __name__ == "__main__":
    unittest.main()
