#!/usr/bin/env python3
"""Shows on a real GPU that the library does what the simulated one promises: `make check-gpu`, or
after `make tests other-runtimes newer-runtimes` scripts/check-gpu [SUITE...].

What it runs is in SUITES. The machine needs a driver and Python, and of nvcc, PyTorch, CuPy, JAX,
Numba, compute-sanitizer, ncu and nsys what it has; scripts/carry brings the rest. Failures are shown
with the end of what the program printed; the last output is a table in Markdown for
docs/gpu-results.md.
With OUT=FOLDER in the environment the table and every failure in full are written there, as
check-gpu.md and check-gpu.log.

    CHECK_GPU_BUDGET_S=400   nothing new is begun after this many seconds
    CHECK_GPU_ONLY='sc30* order_*'   of twins, survival and Python programs only these
    CHECK_GPU_FULL=1         all twins with every runtime, not the dozen of MATRIX
    STRESS_SECONDS=300       how long the suite stress takes, at most what is left of the budget
    CHECK_GPU_SIM=1          on the simulated GPU, as a test of this file: only what runs there

Exit status 1 if anything failed or was not reached; 0 on a machine without a GPU.
"""

import concurrent.futures
import ctypes
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import judge
import nvtx_tool
import programs
from judge import Suite
from programs import (Directives, Failure, Machine, Report, ROOT, Run, Skip, STRICT_EXIT, Twin,
                      check_hazards)
from toolkit import linked_alone, tool, toolkit_library

SKIPPED = 77
ONLY = os.environ.get("CHECK_GPU_ONLY", "*").split()

# One or more twins of every code and of both APIs, for the runs against other CUDA runtimes.
MATRIX = """none_two_readers order_event_rerecorded row16_tensorflow_scope sc101_free_2d
    sc101_free_driver sc101_free_h2d sc101_free_per_thread sc101_realloc_h2d sc101_two_threads
    sc102_free_d2h sc103_unregister_h2d sc104_munmap_d2h sc105_freehost_h2d sc204_d2h_h2d
    sc204_driver""".split()

NO_RUNTIME = "NVIDIA's runtimes do not start on the simulated driver (tests/sim/README.md)"

STRESS_WIDTH = 4  # processes at a time


# --- the machine ----------------------------------------------------------------------------------


class Target(Machine):
    """A Machine whose programs find the CUDA runtime that they were built with, and nothing else of
    the folder where it lies: a toolkit's other libraries must not replace those of a framework."""

    def __init__(self, gpus, runtime=None, cudart=None, twins=None):
        super().__init__(gpus=gpus, runtime=runtime)
        self.cudart = cudart
        self.twins = twins or self.twins
        # The one that was made for the runtime, or the toolkit's.
        beside = cudart / f"libcupti.so.{runtime}" if cudart and runtime else None
        self.cupti = beside if beside and beside.exists() else toolkit_library("libcupti.so.13")

    def environment(self, directives, preload, options):
        environment = super().environment(directives, preload, options)
        if self.gpus and self.cudart:
            environment["LD_LIBRARY_PATH"] = ":".join(
                filter(None, (str(self.cudart), environment.get("LD_LIBRARY_PATH"))))
            if self.cupti:
                environment["CUPTI_PATH"] = str(self.cupti.parent)
        return environment


def usable_gpus():
    answer = subprocess.run([ROOT / "scripts" / "gpus"], capture_output=True, text=True)
    return int(answer.stdout or 0)


def describe_machine():
    """The GPUs and the driver, as nvidia-smi names them."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        lines = subprocess.run(query, capture_output=True, text=True, timeout=30).stdout.split("\n")
    except (OSError, subprocess.TimeoutExpired):
        lines = [""]
    name, _, version = lines[0].partition(", ")
    count = len([line for line in lines if line])
    return f"{count} x {name}, driver {version}" if name else "a GPU that nvidia-smi does not name"


def driver_folder(gpus):
    """Where the loader finds libcuda.so.1."""
    if not gpus:
        return ROOT / "out" / "sim"
    ctypes.CDLL("libcuda.so.1")
    maps = pathlib.Path("/proc/self/maps").read_text()
    return pathlib.Path(re.search(r"(/\S*/)libcuda\.so", maps)[1])


# --- checks: each returns a word for the table or None, or raises Failure or Skip -----------------


def twin_checks(target, names=None, sources=None):
    return [check for source in sources or programs.sources("hazard")
            if names is None or source.stem in names
            for check in Twin(source, target).checks()]


def matrix():
    return None if os.environ.get("CHECK_GPU_FULL") else MATRIX


def conformance(target):
    """What the driver does by itself, against the table that the simulated GPU obeys."""
    def check(source):
        programs.self_check(target, source, target.out / "gpu" / source.stem)
        rows = len(source.with_suffix(".expected").read_text().splitlines())
        return f"{rows} rows as expected"
    return [(source.stem, lambda source=source: check(source))
            for source in sorted(HERE.glob("conformance*.c"))]


def other_runtime(gpus, runtime):
    """The twins built against an older runtime (Makefile: RUNTIMES)."""
    lib = ROOT / "out" / f"cuda{runtime}" / "lib"
    target = Target(gpus, runtime=runtime, cudart=lib)
    if not gpus:
        raise Skip(NO_RUNTIME)
    if not target.twins.is_dir():
        raise Skip("not built (make other-runtimes)")
    return twin_checks(target, matrix())


def newer_runtimes(gpus):
    """The same twins with CUDA 13.1 and later in the place of 13.0 (Makefile: NEWER)."""
    if not gpus:
        raise Skip(NO_RUNTIME)
    found = sorted((ROOT / "out").glob("cuda13.*/lib/libcudart.so.13"))
    if not found:
        raise Skip("not here (make newer-runtimes)")
    return [(f"{library.parent.parent.name} {name}", check) for library in found
            for name, check in twin_checks(Target(gpus, cudart=library.parent), matrix())]


def nvcc_command(nvcc, source, program, driver):
    """An nvcc program, with the static runtime that is nvcc's default."""
    command = [nvcc, "-O2", "-w", "-D_GNU_SOURCE", "-cudart", "static", "-I", ROOT, "-I",
               ROOT / "tests" / "hazard", source, "-o", program, "-lpthread"]
    if "twin_driver.h" in source.read_text():
        command += ["-L", driver, "-l:libcuda.so.1"]
    for flags in Directives(source).all("cflags"):
        command += flags.split()
    return [str(word) for word in command]


def nvcc_twins(gpus, folder):
    """The twins of MATRIX and those with kernels, built on this machine."""
    nvcc = tool("nvcc")
    if nvcc is None:
        raise Skip("no nvcc here")
    names = matrix()
    sources = [source for source in programs.sources("hazard")
               if names is None or source.stem in names]
    sources += sorted((HERE / "programs").glob("*.cu"))
    driver = driver_folder(gpus)
    jobs = [nvcc_command(nvcc, source, folder / f"{source.stem}.{build}", driver)
            for source in sources for build in ("racy", "fixed")]
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for built in pool.map(lambda job: Run(job, dict(os.environ), 60), jobs):
            built.expect_status(0)
    if not gpus:
        raise Skip(f"{len(jobs)} programs built; {NO_RUNTIME}")
    return twin_checks(Target(gpus, twins=folder), sources=sources)


class PythonDirectives(Directives):
    """The same lines as in C, behind `#`."""

    LINE = re.compile(r"#\s*([a-z-]+):\s*(.*)$")

    def __init__(self, source):
        self.values = {}
        for line in source.read_text(encoding="utf-8").splitlines():
            match = self.LINE.match(line)
            if not match:
                break
            self.values.setdefault(match[1], []).append(match[2].strip())


class Reports(Report):
    """The reports of a program and of the processes that it starts."""

    def __enter__(self):
        super().__enter__()
        self.option = f"report_path={self.folder.name}/%p.jsonl"
        return self

    def lines(self, run):
        found = []
        for self.path in sorted(pathlib.Path(self.folder.name).glob("*.jsonl")):
            found += super().lines(run)
        if not found:
            raise run.failure("no report was written")
        return found

    def summary(self, run, in_between=False):
        """What the processes did, in words, for a run that must be free of hazards, and of which
        nothing may have passed the library by, or all where a tool stands in between."""
        lines = self.lines(run)
        if any(line.get("unreached") for line in lines):
            if not in_between:
                raise run.failure("no call came through the library")
            return "unreached, as the report says"
        check_hazards(run, [line for line in lines if line["type"] == "hazard"], [])
        missed = [line for line in lines if line["type"] == "coverage"]
        if missed:
            raise run.failure(f"a call passed the library by: {json.dumps(missed[0])}")
        summaries = [line for line in lines if line["type"] == "summary"]
        if any(summary["hazards"] for summary in summaries):
            raise run.failure("the summary counts hazards")
        operations = sum(summary["operations"] for summary in summaries)
        calls, wrapped, missed = (sum(summary["coverage"][key] for summary in summaries)
                                  for key in ("calls", "wrapped", "missed"))
        states = ", ".join(sorted({summary["cupti"]["state"] for summary in summaries}))
        return (f"no hazard in {operations} operations; CUPTI ({states}) told of {calls} calls, "
                f"{wrapped} wrapped, {missed} missed")


class PythonProgram:
    """tests/gpu/programs/NAME.py: one that makes no mistake must be the same with the library and
    strict=1; one with `expect:` lines is held to the rules of the racy twins."""

    def __init__(self, source, target):
        self.name = source.stem
        self.source = source
        self.target = target
        self.directives = PythonDirectives(source)
        self.expectations = [programs.Expectation(text) for text in self.directives.all("expect")]

    def launch(self, preload, options=""):
        environment = self.target.environment(self.directives, preload, options)
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        timeout_s = min(float(self.directives.one("timeout", "90")), judge.patience_s())
        begun = time.monotonic()
        run = Run([sys.executable, self.source], environment, timeout_s)
        run.took_s = time.monotonic() - begun
        if run.status == SKIPPED and not preload:
            raise Skip(run.stdout.decode(errors="replace").strip().splitlines()[-1])
        return run

    def check(self):
        return self.check_racy() if self.expectations else self.check_correct()

    def check_correct(self):
        bare = self.launch(False)
        bare.expect_status(0)
        with Reports() as report:
            run = self.launch(True, f"strict=1:{report.option}")
            if (run.status, run.stdout) != (bare.status, bare.stdout):
                raise run.failure(f"{programs.describe_status(run.status)}, and without the library"
                                  f" {programs.describe_status(bare.status)} and\n"
                                  f"{bare.stdout.decode(errors='replace')}")
            told = report.summary(run)
        return (f"{framework(run)}: same output, {told}; "
                f"{bare.took_s:.1f} s without, {run.took_s:.1f} s with the library")

    def names_program(self, stack):
        return any(frame.get("file") == str(self.source) and frame["line"] for frame in stack)

    def expect_own_lines(self, run, hazards):
        """Each copy and one event name a line of the program: threads of a library's own, which touch
        memory for it, run no Python code."""
        for hazard in hazards:
            if not self.names_program(hazard["copy"]["stack"]):
                raise run.failure(f"no line of the program in {hazard['copy']['stack']}")
        if not any(self.names_program(hazard["event"]["stack"]) for hazard in hazards):
            raise run.failure("no event names a line of the program")

    def check_racy(self):
        """Without the library it may do anything, so that run only finds out what is installed."""
        bare = self.launch(False)
        with Reports() as report:
            healed = self.launch(True, report.option)
            healed.expect_status(0)
            healed.expect_right()
            hazards = report.hazards(healed)
            check_hazards(healed, hazards, self.expectations)
            self.expect_own_lines(healed, hazards)
        with Reports() as report:
            self.launch(True, f"strict=1:{report.option}").expect_status(STRICT_EXIT)
        codes = " ".join(sorted({wanted.code for wanted in self.expectations}))
        return (f"{framework(healed)}: {codes} reported, data right, strict exits {STRICT_EXIT}; "
                f"without the library: {outcome(bare)}")


def framework(run):
    return run.stdout.decode(errors="replace").partition("\n")[0]


def outcome(run):
    if run.status != 0:
        return programs.describe_status(run.status)
    return run.stdout.decode(errors="replace").strip().rpartition("\n")[2]


def is_wanted(source):
    return any(fnmatch.fnmatch(source.stem, pattern) for pattern in ONLY)


def python_programs(target):
    found = [PythonProgram(source, target)
             for source in sorted((HERE / "programs").glob("*.py")) if is_wanted(source)]
    return [(program.name, program.check) for program in found
            if target.gpus or program.name.startswith("ctypes")]


def several_gpus(target, plain):
    """What the others skip on a machine with one: `nvidia-h200-x2` has two."""
    if target.gpus == 1:
        raise Skip("needs several GPUs")
    def needs_several(source):
        return "multi-gpu" in Directives(source).all("needs")

    names = [source.stem for source in programs.sources("hazard") if needs_several(source)]
    return ([check for check in python_programs(plain)
             if "devices" in check[0] or "distributed" in check[0]] +
            [check for check in conformance(target) if "devices" in check[0]] +
            twin_checks(target, names) + programs.survivors(target, needs_several))


def same_under(command, finds, target, source):
    """A tool of NVIDIA's, which brings its own hooks into the program at the end of `command`, finds
    the same with the library as without, and the program does the same. Returns what it found."""
    directives = Directives(source)

    def found(run):
        match = re.search(finds, run.stdout + run.stderr)
        return match and match[0].decode(errors="replace")

    bare = Run(command, target.environment(directives, False, ""), 90)
    if bare.status != 0 or not found(bare):
        raise Skip(f"{pathlib.Path(command[0]).name} does not work here: {outcome(bare)}")
    with Reports() as report:
        run = Run(command, target.environment(directives, True, f"strict=1:{report.option}"), 90)
        if run.status != 0 or found(run) != found(bare) or b"data right" not in run.stdout:
            raise run.failure(f"not as without the library: {found(bare)}")
        told = report.summary(run, in_between=True)
        return f"{found(run)}, with and without the library; {told}"


def tools(target, folder):
    """NVIDIA's tools that are here, each around a correct program."""
    def sanitizer():
        memcheck = tool("compute-sanitizer")
        if memcheck is None:
            raise Skip("no compute-sanitizer here")
        source = ROOT / "tests" / "hazard" / "free" / "sc101_free_h2d.c"
        command = [memcheck, "--tool", "memcheck", target.twins / f"{source.stem}.fixed"]
        return same_under(command, rb"ERROR SUMMARY: \d+ error", target, source)

    def profiler(name, arguments, finds):
        nvcc, program = tool("nvcc"), folder / f"{name}.fixed"
        if tool(name) is None or nvcc is None:
            raise Skip(f"no {name} here" if nvcc else "no nvcc here")
        source = HERE / "programs" / "kernel_freed.cu"
        command = nvcc_command(nvcc, source, program, driver_folder(target.gpus))
        Run(command, dict(os.environ), 60).expect_status(0)
        return same_under([tool(name), *arguments, program], finds, target, source)

    return [("compute-sanitizer", sanitizer),
            ("ncu", lambda: profiler("ncu", ["--replay-mode", "application", "--section",
                                             "LaunchStats"], rb"copy_bytes.*")),
            ("nsys", lambda: profiler("nsys", ["profile", "--stats=true", "-o", folder / "trace"],
                                      rb"\d+\s.*copy_bytes"))]


def other_cupti(gpus):
    """The twins of an older runtime bring its CUPTI: it listens, and nothing passes by."""
    lib = ROOT / "out" / "cuda12" / "lib"
    target = Target(gpus, runtime="12", cudart=lib)
    if not gpus or target.cupti is None or target.cupti.parent != lib:
        raise Skip("no libcupti.so.12 here (make carry)" if gpus else "needs a GPU")

    def check(source):
        directives = Directives(source)
        target.require(directives)
        with Reports() as report:
            run = Run([target.twins / f"{source.stem}.fixed"],
                      target.environment(directives, True, f"strict=1:{report.option}"), 60)
            run.expect_status(0)
            told = report.summary(run)
            state = report.lines(run)[-1]["cupti"]
            if state["state"] != "listening" or state["library"] != str(target.cupti):
                raise run.failure(f"not {target.cupti} listens, but {json.dumps(state)}")
        return f"version {state['version']}: {told}"
    return [(source.stem, lambda source=source: check(source))
            for source in programs.sources("hazard")
            if source.stem in MATRIX and "twin_driver.h" not in source.read_text()]


def cupti(target, scratch):
    """tests/cupti with the real libcupti, found by its name as profilers do."""
    library = toolkit_library("libcupti.so.13")
    if not target.gpus:
        return programs.settled("cupti", target)
    if library is None:
        raise Skip("no libcupti.so.13 here")
    folder = linked_alone(library, scratch)
    if target.cudart:
        (folder / "libcudart.so.13").symlink_to(target.cudart / "libcudart.so.13")
    return programs.settled("cupti", Target(target.gpus, cudart=folder))


def alone(target):
    """Twins of MATRIX into which the driver loads the library. It finds libcupti by itself."""
    if target.gpus and toolkit_library("libcupti.so.13") is None:
        raise Skip("no libcupti.so.13 here")
    names = matrix()
    return [check for source in programs.sources("hazard")
            if names is None or source.stem in names
            for check in programs.TwinAlone(source, target).checks()]


def demo():
    def check():
        Run([ROOT / "scripts" / "demo"], dict(os.environ), 60).expect_status(0)
    return [("demo", check)]


def stress(target):
    """Correct programs made at random. A failure here is never made good by another run."""
    seconds = float(os.environ.get("STRESS_SECONDS") or min(300, max(judge.left_s(), 30)))
    return programs.Stress(target, seconds, min(STRESS_WIDTH, os.cpu_count())).checks()


def suites(gpus, scratch):
    """In the order of what matters most when time is short."""
    target = Target(gpus, cudart=linked_alone(toolkit_library("libcudart.so.13"), scratch))
    # A framework brings its own runtime.
    plain = Target(gpus)
    built = scratch / "nvcc"
    built.mkdir()
    sources = [source for source in programs.sources("hazard") if is_wanted(source)]
    of_driver = [s.stem for s in sources if "twin_driver.h" in s.read_text()]
    of_runtime = [s.stem for s in sources if s.stem not in of_driver]
    return {
        "conformance": Suite("driver conformance", lambda: conformance(target)),
        "twins": Suite("twins, shared cudart 13", lambda: twin_checks(target, of_runtime)),
        "driver": Suite("twins, driver API", lambda: twin_checks(target, of_driver)),
        "nvcc": Suite("twins, nvcc and static cudart", lambda: nvcc_twins(gpus, built)),
        "cuda12": Suite("twins, cudart 12", lambda: other_runtime(gpus, "12")),
        "cuda11": Suite("twins, cudart 11.8", lambda: other_runtime(gpus, "11")),
        "cuda13": Suite("twins, cudart 13.1 and later", lambda: newer_runtimes(gpus)),
        "python": Suite("Python", lambda: python_programs(plain), width=4, rows=True),
        "devices": Suite("several GPUs", lambda: several_gpus(target, plain), width=4, rows=True),
        "cupti": Suite("CUPTI", lambda: cupti(target, scratch)),
        "alone": Suite("twins, not preloaded", lambda: alone(target)),
        "cupti12": Suite("CUPTI 12.9", lambda: other_cupti(gpus)),
        "tools": Suite("other tools", lambda: tools(target, scratch), width=1, rows=True),
        "nvtx": Suite("NVTX", lambda: nvtx_tool.checks(target)),
        "demo": Suite("demo", demo),
        "survival": Suite("survival", lambda: programs.survivors(target, is_wanted)),
        "pinned": Suite("survival, pinned memory", lambda: programs.pinned(target)),
        "stress": Suite("stress", lambda: stress(target), width=STRESS_WIDTH, rows=True),
    }


def main(names):
    simulated = os.environ.get("CHECK_GPU_SIM", "0") not in ("", "0")
    gpus = 0 if simulated else usable_gpus()
    if not gpus and not simulated:
        print("no usable GPU here (libcuda.so.1 is missing, or cuInit fails): nothing was run")
        return 0
    with tempfile.TemporaryDirectory(prefix="check-gpu-") as scratch:
        available = suites(gpus, pathlib.Path(scratch))
        unknown = [name for name in names if name not in available]
        if unknown:
            print(f"no suite {unknown[0]}; there are {', '.join(available)}", file=sys.stderr)
            return 2
        machine = "Simulated GPU" if simulated else describe_machine()
        return judge.run_suites(available, names, machine)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
