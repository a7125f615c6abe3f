#!/usr/bin/env python3
"""Names and lines that `safecopy report` finds, for each way in which a compiler and a distribution
lay debug information down, and what it takes for another build's."""

import contextlib
import ctypes
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT", ROOT / "out"))
COMMAND = OUT / "safecopy"
SAMPLE = ROOT / "tests/unit/formats/sample.jsonl"
# Says where in its file a call is that stands in a function which is inlined into main.
SOURCE = """\
#include <stdio.h>
static void *here;
static __attribute__((noinline)) int target(int x)
{
    here = __builtin_return_address(0);
    return x;
}
static inline __attribute__((always_inline)) int caller(int x)
{
    return target(x) + 1;
}
int main(int argc, char **argv)
{
    (void)argv;
    int x = caller(argc);
    extern char __executable_start;
    printf("%#lx", (unsigned long)((char *)here - &__executable_start));
    return x == 99;
}
"""


def run(*words, **more):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, encoding="utf-8", **more).stdout


def build_id_of(path):
    notes = run("readelf", "-n", path)
    return notes.partition("Build ID: ")[2].split("\n")[0] or None


class Symbols(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name).resolve()
        self.program = self.folder / "bin" / "train"
        self.source = self.folder / "src" / "train.c"
        for file in (self.program, self.source):
            file.parent.mkdir()
        self.source.write_text(SOURCE, encoding="utf-8")

    def build(self, *flags, compiler="gcc"):
        run(compiler, "-g", "-O1", "-Wl,--build-id", *flags, "-o", self.program, self.source,
            cwd=self.program.parent)
        self.offset = run(self.program)
        self.build_id = build_id_of(self.program)

    def strip(self, debug):
        """Into the file `debug`, with the names."""
        debug.parent.mkdir(parents=True, exist_ok=True)
        run("objcopy", "--only-keep-debug", self.program, debug)
        run("strip", self.program)

    def report(self, *flags, later=False, event=None, **environment):
        """What is said of one frame of the program, and stderr. `later`: it is listed in a line of
        its own, as a library that the program loads. `event`: its api."""
        begin, hazard = map(json.loads, SAMPLE.read_text(encoding="utf-8").splitlines()[:2])
        module = {"path": str(self.program), "base": "0x1000", "build_id": self.build_id}
        begin["modules"] = [] if later else [module]
        rest = [{"type": "modules", "modules": [module]}] if later else []
        hazard["copy"]["stack"] = []
        hazard["event"]["stack"] = [
            {"module": str(self.program), "offset": self.offset, "symbol": None}]
        hazard["event"]["api"] = event or hazard["event"]["api"]
        lines = "".join(json.dumps(line) + "\n" for line in (begin, hazard, *rest))
        base = {k: v for k, v in os.environ.items() if not k.startswith("DEBUGINFOD")}
        self.shown = subprocess.run(
            [COMMAND, "report", *flags, "-"], input=lines, encoding="utf-8", check=False,
            errors="replace",            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**base, "HOME": str(self.folder), **environment})
        if "without libdw" in self.shown.stderr:
            self.skipTest("a command without libdw")
        return [line.split(" ", 1)[1] for line in map(str.strip, self.shown.stdout.splitlines())
                if line.startswith("#")]

    def assert_lines(self, frames):
        where = f"({self.program}+{self.offset})"
        self.assertEqual(frames, [f"caller (inlined) at {self.source}:10",
                                  f"main {where} at {self.source}:15"], self.shown.stderr)

    def assert_nothing(self, frames):
        self.assertEqual(frames, [f"? ({self.program}+{self.offset})"])


class Bare(unittest.TestCase):
    def test_the_command_needs_nothing_but_libc(self):
        if not run("gcc", "-print-file-name=libdw.a").startswith("/"):
            self.skipTest("no archive of libdw here")
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", COMMAND))
        self.assertIn("libc.so.6", needed)
        self.assertLessEqual(set(needed), {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0"})


class Layouts(Symbols):
    def test_each_way_to_lay_debug_information_down(self):
        for compiler in filter(shutil.which, ("gcc", "clang")):
            for flags in ("-gdwarf-4", "-gdwarf-5", "-gz", "-no-pie", "-gsplit-dwarf",
                          "-gdwarf-4 -gsplit-dwarf", "-ffunction-sections"):
                with self.subTest(compiler, flags=flags):
                    self.build(*flags.split(), compiler=compiler)
                    self.assert_lines(self.report())

    def test_what_has_returned_is_not_what_is_inlined_there(self):
        self.build()
        self.assertEqual(self.report(event="return"),
                         [f"main ({self.program}+{self.offset}) at {self.source}:15"])

    def test_link_time_optimisation(self):
        """gcc calls the file of such a unit <artificial>."""
        self.build("-flto")
        self.assertEqual([frame.split(" ")[0] for frame in self.report()], ["caller", "main"])

    def test_without_debug_information_the_symbol_table_has_the_name(self):
        self.build("-g0")
        self.assertEqual(self.report(), [f"main ({self.program}+{self.offset})"])

    def test_split_information_that_is_gone_names_the_function_around(self):
        self.build("-gsplit-dwarf")
        for file in self.folder.glob("**/*.dwo"):
            file.unlink()
        self.assertEqual(self.report()[-1].split(" ")[0], "main")


class Separate(Symbols):
    def test_the_link_in_the_program(self):
        for place in ("train.debug", ".debug/train.debug"):
            with self.subTest(place):
                self.build()
                debug = self.program.parent / place
                self.strip(debug)
                run("objcopy", f"--add-gnu-debuglink={debug}", self.program)
                self.assert_lines(self.report())
                debug.unlink()

    def test_a_folder_by_build_id(self):
        self.build()
        debug = self.folder / "debug"
        self.strip(debug / ".build-id" / self.build_id[:2] / f"{self.build_id[2:]}.debug")
        self.assert_lines(self.report("--debug-dir", str(debug)))
        self.assert_lines(self.report("--debug-dir", os.path.relpath(debug)))

    def test_names_alone(self):
        self.build("-g0")
        debug = self.folder / "debug"
        self.strip(debug / ".build-id" / self.build_id[:2] / f"{self.build_id[2:]}.debug")
        self.assertEqual(self.report("--debug-dir", str(debug)),
                         [f"main ({self.program}+{self.offset})"])

    def test_a_program_that_is_gone_is_known_by_its_debug_file(self):
        for flags in ([], ["-no-pie"]):
            with self.subTest(flags=flags):
                self.build(*flags)
                debug = self.folder / "debug"
                self.strip(debug / ".build-id" / self.build_id[:2] / f"{self.build_id[2:]}.debug")
                self.program.unlink()
                self.assert_lines(self.report("--debug-dir", str(debug)))


class Moved(Symbols):
    def test_below_another_root_or_by_its_name(self):
        for place in (f"root{self.program}", "root/train"):
            with self.subTest(place):
                self.build()
                to = self.folder / place
                to.parent.mkdir(parents=True, exist_ok=True)
                self.program.rename(to)
                self.assert_nothing(self.report())
                self.assertEqual(self.shown.stderr, "")
                self.assert_lines(self.report("--debug-dir", str(self.folder / "root")))
                to.unlink()

    def test_a_library_that_was_loaded_later_is_found_like_the_others(self):
        self.build()
        where = self.folder / "root" / self.program.name
        where.parent.mkdir()
        self.program.rename(where)
        self.assert_lines(self.report("--debug-dir", str(where.parent), later=True))
        self.program.write_bytes(where.read_bytes()[:-8])
        self.build_id = "00" * 20
        self.assert_nothing(self.report(later=True))
        self.assertIn("not the build that ran", self.shown.stderr)

    def test_another_build_is_told_and_the_right_one_found(self):
        self.build()
        (self.folder / "old").mkdir()
        old, old_id, old_offset = self.folder / "old" / "train", self.build_id, self.offset
        self.program.rename(old)
        self.build("-O0", "-DOTHER")
        self.assertNotEqual(self.build_id, old_id)
        self.build_id, self.offset = old_id, old_offset
        self.assert_nothing(self.report())
        self.assertIn("is not the build that ran", self.shown.stderr)
        self.assert_lines(self.report("--debug-dir", str(old.parent)))
        self.assertEqual(self.shown.stderr, "")

    def test_a_file_of_the_name_without_the_build_id_is_nobody_s(self):
        self.build("-Wl,--build-id=none")
        (self.folder / "root").mkdir()
        self.program.rename(self.folder / "root" / "train")
        self.assert_nothing(self.report("--debug-dir", str(self.folder / "root")))

    def test_a_build_id_where_there_was_none_is_another_build_s(self):
        self.build()
        self.build_id = None
        self.assert_nothing(self.report())
        self.assertIn("is not the build that ran", self.shown.stderr)

    def test_sources_are_found_elsewhere(self):
        self.build()
        there = self.folder / "there"
        self.source.parent.rename(there)
        frames = self.report()
        self.assert_lines(frames)
        self.assertNotIn("return target(x)", self.shown.stdout)
        mapped = [frame.replace(str(self.source.parent), str(there)) for frame in frames]
        for change in (f"{self.source.parent}={there}", f"{self.source.parent}/={there}/",
                       f"{self.source}={there}/train.c"):
            self.assertEqual(self.report("--path-map", change), mapped)
            self.assertRegex(self.shown.stdout, r"> +10 \| +return target\(x\)")
        self.assertEqual(self.report("--path-map", f"{self.source.parent}x={there}",
                                     "--path-map", f"{self.folder}/sr={there}"), frames)
        for wrong in ("=x", "x"):
            self.report("--path-map", wrong)
            self.assertEqual(self.shown.returncode, 2)

    def test_a_folder_that_is_not_there(self):
        self.build()
        self.report("--debug-dir", str(self.folder / "none"))
        self.assertEqual(self.shown.returncode, 2)
        self.assertIn("cannot take", self.shown.stderr)


class Loaded(unittest.TestCase):
    """A library that a program opens when its report has begun, and which lies elsewhere when the
    report is read."""

    TWIN, LIBRARY = "sc101_free_below_plugin.racy", "libframe_small.so"

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name).resolve()
        self.twin = self.folder / "bin" / self.TWIN
        self.library = self.folder / "survival" / "lib" / self.LIBRARY
        programs = ROOT / "out" / "tests"
        for source, to in ((programs / "hazard" / self.TWIN, self.twin),
                           (programs / "survival" / "lib" / self.LIBRARY, self.library)):
            to.parent.mkdir(parents=True)
            shutil.copy(source, to)
        self.path = self.folder / "r.jsonl"
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("SAFECOPY_", "LD_", "CUDA_"))}
        run(self.twin, stderr=subprocess.DEVNULL, timeout=300, env={
            **kept, "LD_LIBRARY_PATH": str(OUT / "sim"), "SIM_GPU": "late=1",
            "LD_PRELOAD": str(OUT / "libsafecopy.so"),
            "SAFECOPY_OPTIONS": f"report_path={self.path}"})

    def frames(self, *flags):
        """What is said of the library's frames, one on each side, and stderr."""
        shown = subprocess.run([COMMAND, "report", *flags, self.path], encoding="utf-8",
                               check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if "without libdw" in shown.stderr:
            self.skipTest("a command without libdw")
        return re.findall(rf"^ +#[12] (.*) \(.*{re.escape(self.LIBRARY)}\+0x\w+\)(?: at .*/(.*))?$",
                          shown.stdout, re.M), shown.stderr

    def test_its_build_id_finds_it(self):
        lines = [json.loads(line) for line in self.path.read_text(encoding="utf-8").splitlines()]
        names = [[os.path.basename(module["path"]) for module in line["modules"]]
                 for line in lines if "modules" in line]
        self.assertEqual((self.LIBRARY in names[0], names[1:]), (False, [[self.LIBRARY]]))
        kept = self.folder / "kept" / self.LIBRARY
        kept.parent.mkdir()
        self.library.rename(kept)
        named = [("sc_in_frame", "frame_large.c:14")] * 2
        self.assertEqual(self.frames("--debug-dir", kept.parent), (named, ""))
        run("gcc", "-g", "-O1", "-I", ROOT, "-shared", "-fPIC", "-Wl,--build-id", "-o", self.library,
            ROOT / "tests" / "survival" / "lib" / "frame_large.c")
        self.assertEqual(self.frames("--debug-dir", kept.parent), (named, ""))
        frames, said = self.frames()
        self.assertEqual(frames, [("sc_in_frame", "")] * 2)
        self.assertIn("is not the build that ran", said)


class Served(http.server.BaseHTTPRequestHandler):
    """A debuginfod whose server has `files` by path, and keeps `asked`."""

    def do_GET(self):
        self.server.asked.append(self.path)
        if self.server.slow:
            self.server.done.wait(300)
        content = self.server.files.get(self.path)
        self.send_response(404 if content is None else 200)
        self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(content or b"")

    def log_message(self, *_):
        pass


class Readable(Symbols):
    def test_a_name_with_a_version_in_each_format(self):
        self.source.write_text("struct Batch { void send(int); };\n"
                               "void Batch::send(int) { __builtin_trap(); }\n\n\n\n"
                               "__asm__(\".symver _ZN5Batch4sendEi,_ZN5Batch4sendEi@@@V1\");\n",
                               encoding="utf-8")
        versions = self.folder / "versions"
        versions.write_text("V1 { global: *; };\n", encoding="utf-8")
        self.program = self.folder / "bin" / "libbatch.so"
        run("g++", "-g", "-shared", "-fPIC", "-x", "c++", self.source, "-x", "none", "-o",
            self.program, f"-Wl,--build-id,--version-script={versions}")
        symbol = next(line for line in run("nm", self.program).splitlines() if "send" in line)
        self.assertIn("@@V1", symbol)
        self.offset, self.build_id = hex(int(symbol.split()[0], 16) + 2), build_id_of(self.program)
        for name in ("text", "json", "html", "sarif", "junit", "github", "markdown", "perfetto"):
            with self.subTest(name):
                self.report("--format", name)
                self.assertIn("Batch::send(int)", self.shown.stdout)
                self.assertNotRegex(self.shown.stdout, "_ZN5Batch|@@V1")


class Debuginfod(Symbols):
    def setUp(self):
        super().setUp()
        try:
            ctypes.CDLL("libdebuginfod.so.1")
        except OSError:
            self.skipTest("no libdebuginfod here")
        self.build()
        debug = self.folder / "debug"
        self.strip(debug)
        self.asked_for = f"/buildid/{self.build_id}/debuginfo"
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Served)
        self.addCleanup(self.server.server_close)
        self.server.slow, self.server.done, self.server.asked = False, threading.Event(), []
        self.server.files = {self.asked_for: debug.read_bytes()}
        debug.unlink()
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.shutdown)
        self.addCleanup(self.server.done.set)

    def fetched(self, **environment):
        return self.report(DEBUGINFOD_URLS=f"http://127.0.0.1:{self.server.server_port}",
                           DEBUGINFOD_CACHE_PATH=str(self.folder / "cache"), **environment)

    def test_the_debug_file_comes_from_the_server(self):
        self.assert_lines(self.fetched())
        self.assertEqual(self.server.asked, [self.asked_for])
        self.assertEqual(self.shown.stderr,
                         "safecopy: asking the servers of DEBUGINFOD_URLS for debug information\n")

    def test_nobody_is_asked_without_the_variable(self):
        self.report(DEBUGINFOD_CACHE_PATH=str(self.folder / "cache"))
        self.assertEqual((self.server.asked, self.shown.stderr), ([], ""))

    def test_a_file_that_the_server_lacks(self):
        self.server.files = {}
        self.assert_nothing(self.fetched())

    def test_another_build_from_the_server_is_not_used(self):
        self.build("-O0")
        debug = self.folder / "debug"
        self.strip(debug)
        self.server.files[self.asked_for] = debug.read_bytes()
        self.build()
        run("strip", self.program)
        self.assert_nothing(self.fetched())

    def test_a_slow_server_is_given_up(self):
        self.server.slow = True
        self.assert_nothing(self.fetched(DEBUGINFOD_MAXTIME="1"))
        self.assertIn("too slow", self.shown.stderr)


if __name__ == "__main__":
    unittest.main()
