#!/usr/bin/env python3
"""The GoogleTest listener, the lines for CTest and what GitHub shows of docs/ci.md, on the simulated
GPU."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT", ROOT / "out"))
RECIPES = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
SAMPLE = ROOT / "tests/unit/formats/sample.jsonl"
ENVIRONMENT = {**{name: value for name, value in os.environ.items()
                  if not name.startswith(("SAFECOPY_", "LD_"))},
               "LD_LIBRARY_PATH": str(OUT / "sim"), "SIM_GPU": "late=1"}

TESTS = '''
#include <dlfcn.h>

template <typename... Arguments> static void call(const char *name, Arguments... arguments)
{
    static void *const cudart = dlopen("libcudart.so.13", RTLD_NOW);
    int (*function)(Arguments...);
    *(void **)&function = dlsym(cudart, name);
    ASSERT_EQ(function(arguments...), 0);
}

static void copy(bool waits)
{
    void *stream, *device, *host;
    call("cudaStreamCreate", &stream);
    call("cudaMalloc", &device, size_t(4096));
    call("cudaMallocHost", &host, size_t(65536));
    call("cudaMemcpyAsync", device, host, size_t(4096), 1, stream);
    if (waits)
        call("cudaStreamSynchronize", stream);
    call("cudaFreeHost", host);
}

TEST(Copies, Right) { copy(true); }
TEST(Copies, Wrong) { copy(false); }
TEST(Copies, RightAgain) { copy(true); }
'''


def block(language):
    return re.search(rf"```{language}\n(.*?)```", RECIPES, re.S)[1]


class Recipes(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name).resolve()

    def test_the_listener_fails_the_test_with_the_hazard(self):
        source, program = self.folder / "t.cpp", self.folder / "t"
        source.write_text(block("cpp").replace("int main", TESTS + "int main"))
        build = subprocess.run(["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror",
                                f"-I{ROOT}/include", source, "-o", program, "-lgtest", "-lpthread",
                                "-ldl"], capture_output=True, text=True)
        if "gtest/gtest.h: No such file" in build.stderr or "-lgtest" in build.stderr:
            self.skipTest("no GoogleTest here")
        self.assertEqual(build.returncode, 0, build.stderr)
        for preload, status, failed in ((str(OUT / "libsafecopy.so"), 1, ["Copies.Wrong"]),
                                        ("", 0, [])):
            run = subprocess.run([program], capture_output=True, text=True, cwd=self.folder,
                                 env={**ENVIRONMENT, "LD_PRELOAD": preload})
            self.assertEqual(run.returncode, status, run.stdout + run.stderr)
            self.assertEqual(re.findall(r"^\[  FAILED  \] (\S+) \(", run.stdout, re.M), failed)
        self.assertRegex(next(self.folder.glob("*.jsonl")).read_text(), '"label":"Copies.Wrong"')

    @unittest.skipUnless(shutil.which("cmake") and shutil.which("ctest"), "no CMake here")
    def test_ctest_fails_the_process_with_the_hazard(self):
        twins = OUT / "tests" / "hazard"
        recipe = block("cmake").replace("/usr/local/lib/libsafecopy.so", str(OUT / "libsafecopy.so"))
        (self.folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.13)\nproject(t NONE)\nenable_testing()\n"
            f"add_test(right {twins}/sc101_free_h2d.fixed)\n"
            f"add_test(wrong {twins}/sc101_free_h2d.racy)\nset(my_tests right wrong)\n{recipe}")
        build = self.folder / "build"
        subprocess.run(["cmake", "-S", self.folder, "-B", build], check=True, capture_output=True)
        run = subprocess.run(["ctest"], cwd=build, env=ENVIRONMENT, capture_output=True, text=True)
        self.assertEqual(re.findall(r"- (\w+) \(Failed\)", run.stdout), ["wrong"], run.stdout)
        self.assertIn('"label":"wrong"', next((build / "reports").glob("wrong.*.jsonl")).read_text())

    def test_the_summary_of_a_step_shows_the_checkout_and_no_more(self):
        """The report names its program's source, and what a stranger has put beside that."""
        recipe = re.search(r'run: "(! ls .*)"$', RECIPES, re.M)[1].replace('\\"', '"')
        secret, summary = self.folder / "secret.py", self.folder / "summary.md"
        secret.write_text("token = 'of the runner'\n" * 5)
        checkout = self.folder / "checkout"
        (checkout / "reports").mkdir(parents=True)
        (checkout / "own.py").write_text("buffer.free()\n" * 5)
        (checkout / "link.py").symlink_to(secret)
        (checkout / "env.c").symlink_to("/proc/self/environ")
        lines = SAMPLE.read_text(encoding="utf-8").splitlines()[:2]
        hazard = json.loads(lines[1])
        for name in ("own.py", "link.py", "env.c", secret):
            hazard["event"]["stack"] = [{"file": str(checkout / name), "line": 1, "function": "f"}]
            hazard["copy"]["stack"] = []
            lines.append(json.dumps(hazard))
        (checkout / "reports/r.jsonl").write_text("".join(f"{line}\n" for line in lines))
        run = subprocess.run(["bash", "-eo", "pipefail", "-c", recipe], cwd=checkout, check=False,
                             capture_output=True, text=True,
                             env={"TOKEN": "token of the runner", **ENVIRONMENT, "HOME": "/none",
                                  "PATH": f"{OUT}:{os.environ['PATH']}",
                                  "GITHUB_WORKSPACE": str(checkout),
                                  "GITHUB_STEP_SUMMARY": str(summary)})
        self.assertEqual(run.returncode, 1, run.stderr)
        shown = summary.read_text(encoding="utf-8")
        self.assertIn("buffer.free()", shown)
        for name in ("link.py:1", "env.c:1", "secret.py:1"):
            self.assertIn(name, shown)
        self.assertNotIn("of the runner", shown + run.stdout + run.stderr)


if __name__ == "__main__":
    unittest.main()
