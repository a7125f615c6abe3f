#!/usr/bin/env python3
"""A program changes its working folder before CUDA comes up. What lies in the new folder under the
names that the library looks for is never loaded."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT", ROOT / "out")).resolve()

# Opens the runtime, goes to a folder, and frees memory in flight, by a library if PLUGIN names one.
# Before it goes, the file REMOVED is removed, the folder RENAMED is renamed, and COVER hides the
# folder COVERED.
PROGRAM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

enum { SIZE = 1 << 16, HOST_TO_DEVICE = 1 };

static void *runtime;

static int call(const char *name, void *a, const void *b, size_t c, int d, void *e)
{
    int (*function)(void *, const void *, size_t, int, void *) =
        (int (*)(void *, const void *, size_t, int, void *))dlsym(runtime, name);
    return function(a, b, c, d, e);
}

typedef void free_function(void *block);

__attribute__((noinline)) static void use_cuda(free_function *give_back)
{
    void *device = NULL;
    void *source = malloc(SIZE);
    memset(source, 1, SIZE);
    int (*allocate)(void **, size_t) = (int (*)(void **, size_t))dlsym(runtime, "cudaMalloc");
    int (*pin)(void *, size_t, unsigned) =
        (int (*)(void *, size_t, unsigned))dlsym(runtime, "cudaHostRegister");
    if (allocate(&device, SIZE) != 0 || pin(source, SIZE, 0) != 0 ||
        call("cudaMemcpyAsync", device, source, SIZE, HOST_TO_DEVICE, NULL) != 0)
        exit(3);
    give_back(source);
    int (*wait)(void) = (int (*)(void))dlsym(runtime, "cudaDeviceSynchronize");
    wait();
}

int main(int count, char **arguments)
{
    const char *plugin = getenv("PLUGIN");
    const char *removed = getenv("REMOVED");
    const char *renamed = getenv("RENAMED");
    const char *cover = getenv("COVER");
    (void)count;
    if (cover && (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 ||
                  mount(cover, getenv("COVERED"), NULL, MS_BIND, NULL) != 0))
        return 77;
    runtime = dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL);
    void *library = plugin ? dlopen(plugin, RTLD_NOW) : NULL;
    free_function *give_back = library ? (free_function *)dlsym(library, "give_back") : free;
    if (!runtime || !give_back || (removed && unlink(removed) != 0) ||
        (renamed && rename(renamed, "renamed") != 0) || chdir(arguments[2]) != 0) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    use_cuda(give_back);
    return 0;
}
"""
PLUGIN = """
#include <stdlib.h>
void give_back(void *block);
void give_back(void *block)
{
    free(block);
    __asm__ volatile("");
}
"""
# A tool of NVTX, which tells of itself by a file, and shows nothing.
TOOL = r"""
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
int InitializeInjectionNvtx2(void *get_table);
int InitializeInjectionNvtx2(void *get_table)
{
    (void)get_table;
    close(open(getenv("TOOL_RAN"), O_WRONLY | O_CREAT, 0600));
    return 1;
}
"""
# Tells of itself by a file; it has what makes it pass for any of the libraries.
EVIL = r"""
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void run(void)
{
    close(open(getenv("EVIL_RAN"), O_WRONLY | O_CREAT, 0600));
}
int unw_backtrace(void **frames, int max);
int unw_backtrace(void **frames, int max)
{
    (void)frames, (void)max;
    return 0;
}
"""
EVIL_NAMES = ("libsafecopy-unwind.so.8", "libunwind.so.8", "liblzma.so.5", "libcupti.so.13",
              "libtool.so")
EVIL_FOLDERS = ("", "out", "runtime", "toolkit", "toolkit/lib64", "toolkit/extras/CUPTI/lib64")


def compile_c(source, to, *flags):
    subprocess.run(["cc", "-g", "-O1", "-w", "-xc", "-", "-o", to, *flags, "-ldl"], input=source,
                   encoding="utf-8", check=True)


class Moved(unittest.TestCase):
    """`start` is where the program is started, `there` where it goes."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="moved-")
        cls.addClassCleanup(folder.cleanup)
        cls.built = pathlib.Path(folder.name)
        compile_c(PROGRAM, cls.built / "app")
        compile_c(PROGRAM, cls.built / "app-rpath", "-Wl,--disable-new-dtags,-rpath,.")
        compile_c(PLUGIN, cls.built / "libplugin.so", "-shared", "-fPIC")
        compile_c(EVIL, cls.built / "evil.so", "-shared", "-fPIC")
        compile_c(TOOL, cls.built / "tool.so", "-shared", "-fPIC")

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="moved-")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.start = self.root / "start"
        self.there = self.root / "there"
        self.runtime = self.root / "cuda/libcudart.so.13"
        self.put(OUT / "sim/libcudart.so.13", self.runtime)
        self.put(OUT / "sim/libcuda.so.1", self.root / "driver/libcuda.so.1")
        self.put(OUT / "libsafecopy.so", self.start / "out/libsafecopy.so")
        for name in EVIL_NAMES:
            for place in EVIL_FOLDERS:
                self.put(self.built / "evil.so", self.there / place / name)

    @staticmethod
    def put(file, to):
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, to)

    def put_unwinder(self, folder):
        """Beside the library, by the name that is ours alone."""
        self.put(OUT / "libunwind.so.8", folder / "libsafecopy-unwind.so.8")

    def run_app(self, options="", app="app", runtime=None, search="", loader=(), **environment):
        """Runs the program; returns the lines of its report and what it has said."""
        report = self.root / "report.jsonl"
        report.unlink(missing_ok=True)
        environment = {
            "PATH": os.environ["PATH"],
            "LD_LIBRARY_PATH": f"{self.root}/driver{search}",
            "LD_PRELOAD": str(self.start / "out/libsafecopy.so"),
            "SIM_GPU": "late=1",
            "SAFECOPY_OPTIONS": f"report_path={report}:{options}",
            "EVIL_RAN": str(self.root / "evil ran"),
            **environment,
        }
        run = subprocess.run([*loader, self.built / app, runtime or self.runtime, self.there],
                             env=environment, cwd=self.start, timeout=300, encoding="utf-8",
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if run.returncode == 77:
            self.skipTest("this process may not mount")
        # A real libcupti that the system has does not work on the simulated GPU.
        self.assertIn(run.returncode, (0, 66) if "cupti=require" in options else (0,), run.stderr)
        self.assertFalse((self.root / "evil ran").exists(), run.stderr)
        lines = [json.loads(line) for line in report.read_text(encoding="utf-8").splitlines()]
        self.assertIn("hazard", [line["type"] for line in lines])
        return lines, run.stderr

    @staticmethod
    def modules(lines):
        return [module["path"] for line in lines for module in line.get("modules", [])]

    @staticmethod
    def hazard(lines):
        return next(line for line in lines if line["type"] == "hazard")

    def expect_full_stacks(self, lines, unwinder):
        self.assertIn(str(unwinder / "libsafecopy-unwind.so.8"), self.modules(lines))
        self.assertGreater(len(self.hazard(lines)["event"]["stack"]), 2)

    # ---- the library itself ----

    def run_preloaded(self, options="", **environment):
        """By a path that means another library in the new folder."""
        return self.run_app(options, LD_PRELOAD="out/libsafecopy.so", **environment)

    def expect_words(self, **environment):
        _, said = self.run_preloaded(**environment)
        self.assertIn("safecopy: where out/libsafecopy.so was loaded from is not known any more",
                      said)
        self.assertIn("name its whole path", said)

    def test_relative_preload(self):
        self.put_unwinder(self.start / "out")
        lines, said = self.run_preloaded("verbosity=2")
        self.expect_full_stacks(lines, self.start / "out")
        self.assertNotIn("not known", said)
        self.assertNotIn("relative", said)

    def test_relative_preload_without_an_unwinder_beside(self):
        self.run_preloaded()

    def test_folder_that_has_been_renamed(self):
        """After the library was loaded."""
        self.put_unwinder(self.start / "out")
        lines, _ = self.run_preloaded(RENAMED="out")
        self.expect_full_stacks(lines, self.start / "renamed")

    def test_folder_that_another_covers(self):
        """The library's path is as it was, and leads to another file."""
        self.put(OUT / "libsafecopy.so", self.there / "out/libsafecopy.so")
        self.expect_words(COVER=str(self.there / "out"), COVERED=str(self.start / "out"))

    def test_library_that_is_gone(self):
        self.put_unwinder(self.start / "out")
        self.expect_words(REMOVED="out/libsafecopy.so")
        self.put(OUT / "libsafecopy.so", self.start / "out/libsafecopy.so")
        _, said = self.run_preloaded("verbosity=0", REMOVED="out/libsafecopy.so")
        self.assertEqual(said, "")

    def test_injected_by_a_relative_path(self):
        """By the driver, after the program has moved: the new folder is where it looks."""
        self.put(OUT / "libsafecopy.so", self.there / "inject/libsafecopy.so")
        self.run_injected()
        self.put_unwinder(self.there / "inject")
        self.assertIn(str(self.there / "inject/libsafecopy-unwind.so.8"), self.run_injected())

    def run_injected(self):
        """The program's own frees are not seen there, so there is no hazard."""
        report = self.root / "report.jsonl"
        report.unlink(missing_ok=True)
        subprocess.run([self.built / "app", self.runtime, self.there], cwd=self.start, check=True,
                       env={"LD_LIBRARY_PATH": f"{self.root}/driver:",
                            "CUDA_INJECTION64_PATH": "inject/libsafecopy.so",
                            "SAFECOPY_OPTIONS": f"report_path={report}",
                            "EVIL_RAN": str(self.root / "evil ran")}, timeout=300,
                       stderr=subprocess.DEVNULL)
        self.assertFalse((self.root / "evil ran").exists())
        return self.modules(map(json.loads, report.read_text(encoding="utf-8").splitlines()))

    # ---- the loader's search ----

    def expect_passed_over(self, folder, **arguments):
        self.put_unwinder(self.start / "out")
        for options in ("cupti=require:verbosity=2", "cupti=require"):
            lines, said = self.run_app(options, **arguments)
            self.expect_full_stacks(lines, self.start / "out")
            self.assertEqual(said.count("relative folders of LD_LIBRARY_PATH and of run paths"),
                             int("verbosity=2" in options))
        (self.start / "out/libsafecopy-unwind.so.8").unlink()
        _, said = self.run_app("verbosity=2", **arguments)
        self.assertIn(f"leave them out: {folder}\n", said)

    def test_the_working_folder_in_the_search(self):
        self.expect_passed_over(".", search=":.")

    def test_an_empty_entry_in_the_search(self):
        self.expect_passed_over(".", search=":")

    def test_a_relative_folder_in_the_search(self):
        self.expect_passed_over("toolkit/lib64", search=":toolkit/lib64:/nowhere")

    def test_a_relative_run_path(self):
        self.expect_passed_over(".", app="app-rpath")

    def test_the_absolute_folders_are_searched(self):
        """And what a library there needs is found there, or in the system."""
        self.put(OUT / "libunwind.so.8", self.root / "absolute/libunwind.so.8")
        (self.root / "other").mkdir()
        (self.root / "other/libunwind.so.8").write_text("no library")
        lines, _ = self.run_app(search=f":{self.root}/other:{self.root}/absolute:.")
        self.assertIn(str(self.root / "absolute/libunwind.so.8"), self.modules(lines))
        self.assertGreater(len(self.hazard(lines)["event"]["stack"]), 2)

    def test_what_is_needed_and_is_nowhere(self):
        """The loader would look for it in the new folder."""
        compile_c("", self.root / "libneeded.so", "-shared", "-Wl,-soname,libneeded.so")
        (self.root / "absolute").mkdir()
        compile_c("int unw_backtrace(void **f, int m) { return 0; }",
                  self.root / "absolute/libunwind.so.8", "-shared", "-fPIC", "-xnone", "-Wl,--no-as-needed",
                  self.root / "libneeded.so")
        self.put(self.built / "evil.so", self.there / "libneeded.so")
        lines, _ = self.run_app(search=f":{self.root}/absolute:.")
        self.assertNotIn(str(self.root / "absolute/libunwind.so.8"), self.modules(lines))

    def test_origin_is_no_relative_folder(self):
        self.put(OUT / "libunwind.so.8", self.root / "absolute/libunwind.so.8")
        shutil.copy(self.built / "app", self.root / "absolute/app")
        lines, said = self.run_app("verbosity=2", app=self.root / "absolute/app",
                                   search=":$ORIGIN/../absolute")
        self.assertIn("libunwind.so.8", [pathlib.Path(path).name for path in self.modules(lines)])
        self.assertNotIn("relative", said)

    def test_the_doctor_looks_as_the_library_does(self):
        self.put(OUT / "safecopy", self.root / "bin/safecopy")
        self.put(OUT / "libsafecopy.so", self.root / "bin/libsafecopy.so")
        run = subprocess.run([self.root / "bin/safecopy", "doctor"], cwd=self.there, timeout=300,
                             env={"LD_LIBRARY_PATH": f"{self.root}/driver:",
                                  "EVIL_RAN": str(self.root / "evil ran")},
                             encoding="utf-8", stdout=subprocess.PIPE)
        self.assertIn("is loaded by a preload", run.stdout)
        self.assertFalse((self.root / "evil ran").exists(), run.stdout)

    # ---- libcupti ----

    def expect_variable(self, variable):
        """Without the loader's cache, in which a libcupti may be."""
        loader = re.search(rb"/lib[\w/.-]*/ld-[\w.-]+", (self.built / "app").read_bytes())[0]
        arguments = {"loader": (loader, "--inhibit-cache"), variable: "toolkit"}
        words = f"where the path is relative: {variable}=toolkit; name the whole path"
        for options in ("cupti=require", "mode=report"):
            lines, said = self.run_app(options, **arguments)
            self.assertEqual(said.count(words), 1, said)
            self.assertFalse(str(lines[-1]["cupti"]["library"]).startswith(str(self.root)))
        _, said = self.run_app("cupti=require:verbosity=0", **arguments)
        self.assertNotIn("relative", said)
        _, said = self.run_app("cupti=off", **arguments)
        self.assertNotIn("relative", said)

    def test_relative_cupti_path(self):
        self.expect_variable("CUPTI_PATH")

    def test_relative_cupti_home(self):
        self.expect_variable("CUPTI_HOME")

    def test_relative_cuda_home(self):
        self.expect_variable("CUDA_HOME")

    def test_relative_cuda_path(self):
        self.expect_variable("CUDA_PATH")

    def test_beside_a_runtime_that_was_loaded_by_a_relative_path(self):
        self.put(OUT / "sim/libcudart.so.13", self.start / "runtime/libcudart.so.13")
        self.put(OUT / "sim/libcupti.so.13", self.start / "runtime/libcupti.so.13")
        lines, said = self.run_app("cupti=require", runtime="runtime/libcudart.so.13")
        self.assertEqual(lines[-1]["cupti"]["library"],
                         str(self.start / "runtime/libcupti.so.13"))
        self.assertEqual(lines[-1]["cupti"]["state"], "listening")
        self.assertNotIn("relative", said)

    def test_beside_a_runtime_that_is_gone(self):
        self.put(OUT / "sim/libcudart.so.13", self.start / "runtime/libcudart.so.13")
        lines, said = self.run_app("cupti=require", runtime="runtime/libcudart.so.13",
                                   REMOVED="runtime/libcudart.so.13")
        self.assertIn("where the path is relative: runtime/libcudart.so.13; name", said)
        self.assertFalse(str(lines[-1]["cupti"]["library"]).startswith(str(self.root)))

    def test_loaded_by_a_relative_path(self):
        """The copy that the process has is used, and told of by its path."""
        self.put(OUT / "sim/libcupti.so.13", self.start / "runtime/libcupti.so.13")
        lines, _ = self.run_app("cupti=require",
                                LD_PRELOAD=f"{self.start}/out/libsafecopy.so:runtime/libcupti.so.13")
        self.assertEqual(lines[-1]["cupti"]["library"],
                         str(self.start / "runtime/libcupti.so.13"))

    # ---- a tool of NVTX ----

    def run_with_tool(self, tool, options="", **arguments):
        """Has the tool been loaded, and what has the library said?"""
        ran = self.root / "tool ran"
        ran.unlink(missing_ok=True)
        _, said = self.run_app(options, NVTX_INJECTION64_PATH=str(tool), TOOL_RAN=str(ran),
                               **arguments)
        return ran.exists(), said

    def test_relative_path_of_a_tool(self):
        """Neither in the new folder nor in the one where the program was started."""
        self.put(self.built / "tool.so", self.start / "toolkit/libtool.so")
        for name in ("toolkit/libtool.so", "./libtool.so", "../there/libtool.so"):
            ran, said = self.run_with_tool(name)
            self.assertFalse(ran)
            self.assertEqual(said.count(f"is relative: NVTX_INJECTION64_PATH={name}; name"), 1)
        for options in ("verbosity=0", "nvtx=off"):
            self.assertNotIn("NVTX", self.run_with_tool("toolkit/libtool.so", options)[1])

    def test_name_of_a_tool_is_searched_in_absolute_folders(self):
        self.put(self.built / "tool.so", self.root / "absolute/libtool.so")
        for relative in ("", ":", ":.", ":toolkit"):
            ran, said = self.run_with_tool("libtool.so",
                                           search=f"{relative}:{self.root}/absolute")
            self.assertTrue(ran)
            self.assertNotIn("NVTX", said)
            self.assertFalse(self.run_with_tool("libtool.so", search=relative)[0])

    def test_whole_path_of_a_tool(self):
        self.put(self.built / "tool.so", self.root / "absolute/libtool.so")
        for search in ("", ":."):
            self.assertTrue(self.run_with_tool(self.root / "absolute/libtool.so", search=search)[0])

    # ---- the command ----

    def test_debuginfod_is_searched_in_absolute_folders(self):
        """The program was built without debug information."""
        compile_c(PROGRAM, self.root / "app", "-g0", "-Wl,--build-id")
        self.run_app(app=self.root / "app")
        self.put(self.built / "evil.so", self.there / "libdebuginfod.so.1")
        run = subprocess.run([OUT.resolve() / "safecopy", "report", self.root / "report.jsonl"],
                             env={"LD_LIBRARY_PATH": ":", "DEBUGINFOD_URLS": "http://127.0.0.1:9",
                                  "HOME": str(self.root), "EVIL_RAN": str(self.root / "evil ran")},
                             cwd=self.there, timeout=300, encoding="utf-8", check=False,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertFalse((self.root / "evil ran").exists(), run.stdout)

    # ---- the report ----

    def test_paths_of_modules(self):
        """They are where the modules were loaded from, not below the new folder."""
        self.put_unwinder(self.start / "out")
        self.put(self.built / "libplugin.so", self.start / "libplugin.so")
        lines, _ = self.run_preloaded(PLUGIN="./libplugin.so")
        plugin = str(self.start / "libplugin.so")
        self.assertIn(plugin, self.modules(lines))
        self.assertIn(str(self.start / "out/libsafecopy.so"), self.modules(lines))
        self.assertEqual(self.hazard(lines)["event"]["stack"][0]["module"], plugin)

    def test_a_module_that_is_gone_keeps_its_name(self):
        self.put(self.built / "libplugin.so", self.start / "libplugin.so")
        lines, _ = self.run_app(PLUGIN="./libplugin.so", REMOVED="libplugin.so")
        self.assertIn("./libplugin.so", self.modules(lines))


if __name__ == "__main__":
    unittest.main()
