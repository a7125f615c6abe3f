"""Runs the project's C test programs and says what is wrong with what they did.

A program's source opens with directives, `// KEY: VALUE`, all of which are listed here;
tests/hazard/README.md has an example of each.

    expect: SC101 action=deferred kind=registered certainty=observed
                      one line for each hazard code that the racy build of a twin must report
                      (`event` is the api of the event, with - for blanks, `thread` the name of
                      its thread; `direction` that of the copy; `origin` and `stream-origin` are
                      the apis that made the buffer and the copy's stream; `nodes` are two nodes of
                      a graph, as nodes_of has them; `advisory=True`: it is one, and strict does not
                      fail for it). Values are patterns;
                      `none`: a program that looks like a mistake, and of which none may be reported
    in-place: SC204 ...|none|wrong
                      on a device that uses pageable memory in place: hazards instead of the expected
                      ones, of both builds of a program without a mistake elsewhere; data that need
                      not be right
    not-by: WAY ...   ways of the suite `ways` on which the program does not make its mistake, or has
                      another one
    reported: wrong   the data of a program without a mistake need not be right in mode=report, which
                      leaves the driver's own mistake as it is
    summary: FIELD=VALUE ...
                      of the mended run of a twin, as in Setting
    reported-summary: FIELD=VALUE ...
                      the same of its run with mode=report
    options: K=V:K=V  added to SAFECOPY_OPTIONS
    sim: K=V:K=V      added to SIM_GPU, which is late=1
    env: NAME=VALUE   set for the program; $PROGRAMS is the folder of the programs that are built
    preload-also: NAME ...
                      libraries of tests/survival/lib, preloaded with and without ours
    args: ARG ...     its arguments
    timeout: SECONDS  instead of 120
    needs: gpu|multi-gpu|sim|kernel (WHAT)|small-pages|preload|userfaultfd|registered|real-time
                      skipped on the simulated GPU, on a machine with one GPU, on a real GPU, under
                      qemu-user, which lacks WHAT (emulated.py), where pages are larger than 4 KB;
                      where userfaultfd is not to be had; with pinned memory instead of what the
                      program registers; where no thread may be of a real-time policy
    cflags: FLAG ...  further flags of the compiler
    link: NAME ...    libraries of tests/survival/lib that it is linked with
    expect-exit: N    the exit status of a survival program without the preload
    strict-says: TEXT on stderr of a survival program under strict=1, `_` for blanks
    strict-may-say: TEXT the same, where it depends on how threads run
    says: TEXT        the line that the library adds at the end of a survival program's stderr
    run: ...          see Setting
    inject: 1         those runs without a preload: the driver loads the library

Checks return None or raise Failure or Skip. Everything here works on a real GPU too: a Machine says
which it is. Only the standard library is needed; where jsonschema is installed it names what of a
line is not as the schema has it.
"""

import ctypes
import difflib
import fnmatch
import functools
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile

import schema

ROOT = pathlib.Path(__file__).resolve().parent.parent
STRICT_EXIT = 66

DIRECTIVES = frozenset(re.findall(r"^    ([a-z-]+): ", __doc__, re.M))

# The packages of Debian's Python are there even when another Python comes first in PATH.
sys.path.append("/usr/lib/python3/dist-packages")


def joined(*options):
    """SAFECOPY_OPTIONS of a program. Those of EVERYWHERE come first: of two equal keys the last one
    counts, so what a program asks for itself stays."""
    return ":".join(filter(None, (os.environ.get("EVERYWHERE"), *options)))


class Failure(Exception):
    """What was expected, then what the program printed."""


class Skip(Exception):
    """Why the check cannot be made here."""


def has_userfaultfd(user_mode_only=1):
    """Whatever a program may do with it; ../interpose/guard/userfaults.c asks for more."""
    cloexec = os.O_CLOEXEC
    number = {"x86_64": 323, "aarch64": 282}.get(os.uname().machine)
    fd = ctypes.CDLL(None).syscall(number, user_mode_only | cloexec) if number else -1
    if fd >= 0:
        os.close(fd)
    release = tuple(int(part) for part in os.uname().release.split("-")[0].split(".")[:2])
    return fd >= 0 and release >= (5, 19)


def has_real_time():
    """May a program have threads of a real-time policy?"""
    return subprocess.run(["chrt", "-f", "1", "true"], capture_output=True).returncode == 0


class Machine:
    """Where programs run: the simulated GPU of `out`, or with gpus > 0 the real ones; `runtime`
    names the CUDA runtime of the twins, if not the toolkit's (Makefile: RUNTIMES). What is run is
    run by `wrapper`, a command. `device` is what SIM_GPU begins with, `options` what the library's
    options begin with."""

    ignored = ()  # what a hazard need not be as expected in
    emulated = False  # the kernel's calls are answered by an emulator

    def __init__(self, out="out", gpus=0, runtime=None, wrapper=(), device="late=1", options=""):
        self.out = ROOT / out
        self.device = device
        self.options = options
        self.wrapper = wrapper
        self.gpus = gpus
        # The same programs with every build of the library: they are not what is tested.
        self.programs = ROOT / "out" / "tests"
        self.twins = self.programs / ("hazard" + (f"-{runtime}" if runtime else ""))
        self.survivors = self.programs / "survival"
        self.partial = runtime is not None
        self.library = self.out / "libsafecopy.so"

    def environment(self, directives, preload, options):
        kept = {name: value for name, value in os.environ.items()
                if name not in ("SAFECOPY_OPTIONS", "LD_PRELOAD", "SIM_GPU", "CI")}
        if not self.gpus:
            kept["LD_LIBRARY_PATH"] = str(self.out / "sim")
            # Here and in the options below, the last of two equal keys counts.
            kept["SIM_GPU"] = ":".join([self.device, *directives.all("sim")]).replace(",", ":")
        libraries = [str(self.programs / "survival" / "lib" / f"lib{name}.so")
                     for also in directives.all("preload-also") for name in also.split()]
        if preload:
            libraries.insert(0, str(self.library))
            kept["SAFECOPY_OPTIONS"] = joined(self.options, options, *directives.all("options"))
        if libraries:
            kept["LD_PRELOAD"] = ":".join(libraries)
        for assignment in directives.all("env"):
            name, _, value = assignment.partition("=")
            kept[name] = value.replace("$PROGRAMS", str(pathlib.Path(self.programs).resolve()))
        kept.setdefault("UBSAN_OPTIONS", "print_stacktrace=1")
        return kept

    def run(self, command, environment, timeout_s):
        return Run([*self.wrapper, *command], environment, timeout_s)

    def run_plainly(self, command, environment, timeout_s):
        """Without the library it is only to be seen what the program does."""
        return Run(command, environment, timeout_s)

    def require(self, directives):
        for text in directives.all("needs"):
            need, _, what = text.partition(" ")
            if need == "gpu" and not self.gpus:
                raise Skip("needs a GPU")
            if need == "sim" and self.gpus:
                raise Skip("the real driver lacks it, or fails this without the library as well")
            if need == "kernel" and self.emulated:
                raise Skip(f"needs the kernel itself {what}")
            if need == "userfaultfd" and ("mprotect" in self.options or not has_userfaultfd()):
                raise Skip("needs userfaultfd")
            if need == "real-time" and not has_real_time():
                raise Skip("needs threads of a real-time policy")
            if need == "small-pages" and os.sysconf("SC_PAGESIZE") > 4096:
                raise Skip("needs pages of 4 KB")
            simulated = not self.gpus and any("devices=" in sim for sim in directives.all("sim"))
            if need == "multi-gpu" and self.gpus < 2 and not simulated:
                raise Skip("needs several GPUs")


class Directives:
    """The `// key: value` lines above the first line of code."""

    LINE = re.compile(r"(?://|/?\*+)\s*([a-z-]+):\s*(.*?)\s*(?:\*/)?$")

    def __init__(self, source):
        self.values = {}
        for line in source.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith(("//", "/*", " *")):
                break
            match = self.LINE.match(line.strip())
            if match:
                self.values.setdefault(match[1], []).append(match[2])

    @classmethod
    def none(cls):
        empty = cls.__new__(cls)
        empty.values = {}
        return empty

    def all(self, key):
        assert key in DIRECTIVES, f"the list above lacks the directive {key}"
        return self.values.get(key, [])

    def one(self, key, default=None):
        return self.all(key)[-1] if self.all(key) else default

    def timeout_s(self):
        return float(self.one("timeout", "120"))


STEP_S = 2


def slowdown():
    """By how much longer what runs here takes than alone: the processes that want to run share the
    cores. Of the last minute, and 1 where nobody tells."""
    try:
        return max(1, os.getloadavg()[0] / os.cpu_count())
    except OSError:
        return 1


def communicate(child, timeout_s):
    """(stdout, stderr), as subprocess has it. The limit is one of a machine without a load: a step
    counts for so much less as others want the cores, since a slow machine is no hang."""
    had_s = 0
    while True:
        try:
            return child.communicate(timeout=min(STEP_S, timeout_s))
        except subprocess.TimeoutExpired:
            had_s += min(STEP_S, timeout_s) / slowdown()
            if had_s >= timeout_s:
                raise


class Run:
    """One finished run: `status` is as subprocess has it (negative: a signal)."""

    left_out = None  # what its report says was not watched, or not judged

    def __init__(self, command, environment, timeout_s):
        self.command = command
        self.environment = environment
        self.stdout = self.stderr = b""
        try:
            child = self.start()
        except FileNotFoundError as error:
            raise self.failure(f"not built: {error.filename}") from None
        try:
            self.stdout, self.stderr = communicate(child, timeout_s)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            self.stdout, self.stderr = child.communicate()
            self.status = child.returncode
            raise self.failure(f"still running after what {timeout_s} s are without a load") from None
        self.status = child.returncode

    def start(self):
        # A session of its own, so that a time-out ends the children too.
        return subprocess.Popen([str(word) for word in self.command], env=self.environment,
                                cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, start_new_session=True)

    def failure(self, what):
        def tail(stream):
            return stream.decode(errors="replace")[-4000:]
        shown = " ".join(f"{name}={shlex.quote(self.environment[name])}" for name in
                         ("LD_LIBRARY_PATH", "SIM_GPU", "LD_PRELOAD", "SAFECOPY_OPTIONS",
                          "ASAN_OPTIONS", "TSAN_OPTIONS")
                         if name in self.environment)
        words = " ".join(shlex.quote(str(word)) for word in self.command)
        return Failure(f"{what}\n$ {shown} {words}\n{tail(self.stdout)}{tail(self.stderr)}")

    def expect_status(self, wanted):
        if self.status != wanted:
            raise self.failure(f"{describe_status(self.status)}, expected "
                               f"{describe_status(wanted)}")

    def expect_right(self):
        if not self.stdout.endswith(b"data right\n"):
            raise self.failure("stdout does not end with 'data right'")


def describe_status(status):
    return f"exit status {status}" if status >= 0 else signal.Signals(-status).name


def launch(machine, program, directives, preload=False, options=""):
    run = machine.run if preload else machine.run_plainly
    command = [program] + shlex.split(directives.one("args", ""))
    return run(command, machine.environment(directives, preload, options),
               directives.timeout_s())


class Report:
    """The report of one run, in a folder that is gone after the `with`. Without `ends` the program
    leaves by a system call of its own, and the report has no `summary`."""

    def __init__(self, ends=True):
        self.ends = ends
        self.text = self.valid = None  # of the last answer

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="safecopy-")
        self.path = pathlib.Path(self.folder.name) / "report.jsonl"
        self.option = f"report_path={self.path}"
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def lines(self, run):
        """The report's objects. A run that ended by a signal leaves no `summary`."""
        if not self.path.exists():
            raise run.failure("no report was written")
        text = self.path.read_text()
        if text == self.text:
            return self.valid
        try:
            lines = [json.loads(line) for line in text.splitlines()]
        except ValueError as error:
            raise run.failure(f"the report is not JSON Lines: {error}") from None
        problem = schema_problem(lines)
        if problem:
            raise run.failure(f"the report is not as report/schema.json says: {problem}")
        kinds = [line.get("type") for line in lines]
        ended = run.status < 0 or not self.ends or kinds[-1] == "summary"
        if kinds[:1] != ["run"] or not ended:
            raise run.failure("the report does not open with `run` and end with `summary`")
        self.text, self.valid = text, lines
        return lines

    def hazards(self, run):
        lines = self.lines(run)
        missed = [line for line in lines if line["type"] == "coverage"]
        if missed:
            raise run.failure(f"a call passed the library by: {json.dumps(missed[0])}")
        run.left_out = {key: lines[-1].get(key) for key in ("unguarded", "unjudged")}
        return [line for line in lines if line["type"] == "hazard"]


SCHEMA = json.loads((ROOT / "report" / "schema.json").read_text())
FITS = schema.Schema(SCHEMA).fits


def schema_problem(lines):
    """Why the first line that is not as report/schema.json says is not, or None."""
    for number, line in enumerate(lines, 1):
        if not FITS(line):
            return f"line {number}: {why_not(line)}"
    return None


def why_not(line):
    try:
        import jsonschema  # takes as long to load as four programs to run
    except ImportError:
        return f"not as the schema has it: {json.dumps(line)}"
    for error in jsonschema.Draft7Validator(SCHEMA).iter_errors(line):
        cause = cause_of(error)
        return f"{cause.json_path}: {cause.message}"
    return f"jsonschema and tests/schema.py disagree: {json.dumps(line)}"


def cause_of(error):
    """Why the one alternative that the line's `type` means does not fit."""
    other_types = {cause.relative_schema_path[0] for cause in error.context
                   if list(cause.relative_path) == ["type"]}
    meant = [cause for cause in error.context
             if cause.relative_schema_path[0] not in other_types]
    return cause_of(meant[0]) if meant else error


# --- twins ----------------------------------------------------------------------------------------


def nodes_of(hazard):
    """'memset-write-by-cuMemsetD8Async,H2D-write': of the second nobody knows who added it."""
    return ",".join(f"{node['direction']}-{node['use']}"
                    + (f"-by-{node['author']['api']}" if "author" in node else "")
                    for node in hazard.get("nodes", ()))


class Expectation:
    """One `expect:` line: a code, and what its hazards say of themselves."""

    def __init__(self, text):
        self.code, *pairs = text.split()
        self.fields = dict(pair.split("=", 1) for pair in pairs)
        self.is_advice = self.fields.setdefault("advisory", "None") == "True"

    def matches(self, hazard, ignored):
        buffer, copy, event = hazard["buffer"], hazard["copy"], hazard["event"]
        said = {**hazard, "kind": buffer["kind"], "direction": copy["direction"],
                "event": event["api"].replace(" ", "-"), "thread": event.get("thread_name"),
                "origin": buffer.get("origin", {}).get("api"),
                "stream-origin": copy.get("stream_origin", {}).get("api"),
                "nodes": nodes_of(hazard)}
        return hazard["code"] == self.code and all(
            fnmatch.fnmatchcase(str(said.get(key)), pattern)
            for key, pattern in self.fields.items() if key not in ignored)


def check_hazards(run, hazards, expectations, ignored=()):
    """Every expected code is there, no other is, and each line is as one of its expectations."""
    found = "\n".join(json.dumps(hazard) for hazard in hazards)
    for wanted in expectations:
        if not any(wanted.matches(hazard, ignored) for hazard in hazards):
            raise run.failure(f"no hazard {wanted.code} {wanted.fields}; the report has:\n{found}\n"
                              f"not judged: {json.dumps(run.left_out)}")
    for hazard in hazards:
        if not any(wanted.matches(hazard, ignored) for wanted in expectations):
            raise run.failure(f"an unexpected hazard: {json.dumps(hazard)}")
        preload = run.environment.get("LD_PRELOAD")
        is_instrumented = preload and "/out/undefined/" in preload  # frames that others have inlined
        if preload and not is_instrumented and any(map(is_ours, innermost_frames(hazard))):
            raise run.failure(f"a stack begins in the library: {json.dumps(hazard)}")


def innermost_frames(value, key=""):
    """Of all stacks in an object of a report."""
    if key == "stack":
        return value[:1]
    if not isinstance(value, dict):
        return []
    return [frame for inner_key, inner in value.items()
            for frame in innermost_frames(inner, inner_key)]


def is_ours(frame):
    return (frame.get("module") or "").endswith("/libsafecopy.so")


class Twin:
    """tests/hazard/*/NAME, built racy and fixed. Each check is one run of one of the builds."""

    def __init__(self, source, machine):
        self.name = source.stem
        self.machine = machine
        self.directives = Directives(source)
        given = self.directives.all("expect")
        self.silent = given == ["none"]
        self.expectations = [] if self.silent else [Expectation(text) for text in given]
        self.is_advice = all(one.is_advice for one in self.expectations)

    def checks(self):
        return [(f"{self.name}/{check.__name__}", check) for check in
                (self.healed, self.strict, self.reported, self.fixed)]

    def program(self, build):
        return self.machine.twins / f"{self.name}.{build}"

    def launch(self, build, options):
        self.machine.require(self.directives)
        if self.machine.partial and not self.program(build).exists():
            raise Skip("not built with this runtime")
        return launch(self.machine, self.program(build), self.directives, preload=True,
                      options=options)

    def expect_right(self, run, build):
        """Where the data of a correct program is wrong, it is run once more without the library."""
        try:
            run.expect_right()
        except Failure as failure:
            if build == "racy" and not self.silent:
                raise
            bare = launch(self.machine, self.program(build), self.directives)
            said = bare.stdout.decode(errors="replace").strip() or describe_status(bare.status)
            raise Failure(f"{failure}\nwithout the library: {said}") from failure

    def healed(self):
        if not self.expectations and not self.silent:
            raise Failure("the source has no `// expect:` line")
        with Report() as report:
            run = self.launch("racy", report.option)
            run.expect_status(0)
            self.expect_right(run, "racy")
            check_hazards(run, report.hazards(run), self.expectations, self.machine.ignored)
            for wanted in self.directives.all("summary"):
                Setting(f"-> {wanted}").hold_against(run, report.lines(run))

    def strict(self):
        with Report() as report:
            self.launch("racy", f"strict=1:{report.option}").expect_status(
                0 if self.silent or self.is_advice else STRICT_EXIT)

    def reported(self):
        """The data may be wrong and the program may even die of it, but not unreported. Those of a
        program without a mistake are right."""
        with Report() as report:
            run = self.launch("racy", f"mode=report:{report.option}")
            if self.silent and not self.directives.all("reported"):
                run.expect_status(0)
                self.expect_right(run, "racy")
            hazards = report.hazards(run)
            check_hazards(run, hazards, self.expectations, ignored=("action",))
            if any(hazard["action"] != "reported" for hazard in hazards):
                raise run.failure("mode=report did more than report")
            for wanted in self.directives.all("reported-summary"):
                Setting(f"-> {wanted}").hold_against(run, report.lines(run))

    def fixed(self):
        with Report() as report:
            run = self.launch("fixed", f"strict=1:{report.option}")
            run.expect_status(0)
            self.expect_right(run, "fixed")
            check_hazards(run, report.hazards(run), [])
            missed = [line for line in report.lines(run) if line["type"] == "coverage"]
            if missed:
                raise run.failure(f"a call passed the library by: {json.dumps(missed[0])}")


class TwinInPlace(Twin):
    """The same programs on a device that uses pageable memory in place, when the stream comes to
    it: pageable copies are in flight there, and nothing guards their memory. The source says what
    differs there."""

    def __init__(self, source, machine):
        super().__init__(source, machine)
        said = self.directives.all("in-place")
        self.may_be_wrong = "wrong" in said
        self.here = [text for text in said if text != "wrong"]
        self.is_mistaken = self.silent and self.here  # in both builds
        if self.here:
            self.silent = self.here == ["none"]
            self.expectations = [] if self.silent else [Expectation(text) for text in self.here]

    def checks(self):
        return [(f"{self.name}/{check.__name__}", check) for check in (self.healed, self.fixed)]

    def expect_right(self, run, build):
        if not self.may_be_wrong:
            super().expect_right(run, build)

    def fixed(self):
        if not self.is_mistaken:
            super().fixed()
            return
        with Report() as report:
            run = self.launch("fixed", f"strict=1:{report.option}")
            run.expect_status(STRICT_EXIT)
            self.expect_right(run, "fixed")
            check_hazards(run, report.hazards(run), self.expectations)


class TwinBehindCopy(Twin):
    """The same programs, where a copy holds the stream instead of a host function (twin.h). It may be
    over before the mistake is made, which is then reported as latent."""

    DEATHS = 5

    def __init__(self, source, machine):
        super().__init__(source, machine)
        self.last = None
        for wanted in self.expectations:
            wanted.fields = {key: value for key, value in wanted.fields.items()
                             if key not in ("certainty", "action")}

    def checks(self):
        return [(f"{self.name}/{check.__name__}", check) for check in (self.healed, self.reported)]

    def launch(self, build, options):
        self.machine.require(self.directives)
        environment = self.machine.environment(self.directives, True, options)
        self.last = self.machine.run(
            [self.program(build), *shlex.split(self.directives.one("args", ""))],
            {**environment, "TWIN_BUSY": "copy"}, self.directives.timeout_s())
        return self.last

    def reported(self):
        """Nothing holds the copy, so the program may die of its mistake in the microseconds before
        that is said. It is run again then."""
        for _ in range(self.DEATHS):
            try:
                return super().reported()
            except Failure:
                if self.last.status >= 0:
                    raise
        return super().reported()


class TwinOtherWay(Twin):
    """The same programs, where a stream is held by a kernel, or where copies are made as WAYS says
    (survival/lib/ways.c). The fixed one is not accused there either. What is said of a copy follows
    from the way that it is made, which may end before the mistake is made, or at the first of two."""

    WAYS = {"kernel": ("certainty", "action"), "rows": ("certainty",), "layer": ("certainty",),
            "halves": ("action", "certainty"), "threads": ("thread",),
            "ranges": ("action", "certainty", "direction"),
            "managed": ("action", "certainty", "direction")}

    def __init__(self, source, machine, way):
        super().__init__(source, machine)
        self.way = way
        for wanted in self.expectations:
            wanted.fields = {key: value for key, value in wanted.fields.items()
                             if key not in self.WAYS[way] and not value.startswith("cuMemcpy")}

    def checks(self):
        return [(f"{self.name}/{self.way}-{check.__name__}", check)
                for check in (self.healed, self.reported, self.fixed)]

    def launch(self, build, options):
        self.machine.require(self.directives)
        environment = self.machine.environment(self.directives, True, options)
        if self.way == "kernel":
            environment["TWIN_BUSY"] = "kernel"
        else:
            ways = self.machine.programs / "survival" / "lib" / "libways.so"
            environment["LD_PRELOAD"] += f":{ways}"
            environment["TWIN_WAY"] = self.way
        return self.machine.run([self.program(build), *shlex.split(self.directives.one("args", ""))],
                                environment, self.directives.timeout_s())


# What is found without a preload, from CUPTI's callbacks alone, whatever the program does besides.
FOUND_ALONE = {"SC103", "SC105", "SC204", "SC304", "SC402"}


class TwinAlone(Twin):
    """The same programs, into which the driver loads the library: the fixed one is not accused, and
    the racy one is, where a callback can tell. What races is put in order; most else is not
    healed."""

    def checks(self):
        found = {wanted.code for wanted in self.expectations}
        checks = [self.fixed]
        if found and found <= FOUND_ALONE:
            checks.append(self.reported)
        if found == {"SC204"}:
            checks.append(self.healed)
        return [(f"{self.name}/{check.__name__}", check) for check in checks]

    def launch(self, build, options):
        self.machine.require(self.directives)
        if "preload" in self.directives.all("needs"):
            raise Skip("what orders it is not seen without a preload")
        program = self.machine.twins / f"{self.name}.{build}"
        environment = self.machine.environment(self.directives, False, "")
        environment["CUDA_INJECTION64_PATH"] = str(self.machine.library)
        environment["SAFECOPY_OPTIONS"] = joined(options, *self.directives.all("options"))
        return self.machine.run([program, *shlex.split(self.directives.one("args", ""))],
                                environment, self.directives.timeout_s())


# --- survival -------------------------------------------------------------------------------------


class Survivor:
    """tests/survival/NAME must behave with the library exactly as it does without.

    With strict=1 it may have to say what could not be watched: `strict-says`, `_` for blanks. On a
    real GPU, where there may be more room, it only may. So it is with `strict-may-say`. The library
    adds the line `says`. Each `run:` line is a run more."""

    def __init__(self, source, machine):
        self.name = source.stem
        self.source = source
        self.machine = machine
        self.directives = Directives(source)

    def checks(self):
        return [(f"{self.name}/{name}", check) for name, check in
                (("preloaded", lambda: self.compare("")),
                 ("strict", lambda: self.compare("strict=1")))] + self.settled()

    def settled(self):
        return Settled(self.source, self.machine).checks()

    def launch(self, preload, options=""):
        program = self.machine.survivors / self.name
        return launch(self.machine, program, self.directives, preload, options)

    def compare(self, options):
        self.machine.require(self.directives)
        bare = self.launch(False)
        wanted = self.directives.one("expect-exit")
        if wanted is not None:
            bare.expect_status(int(wanted))
        with Report() as report:
            run = self.launch(True, ":".join(filter(None, (report.option, options))))
        run.expect_status(bare.status)
        bare.stderr += "".join(f"safecopy: {line}\n" for line in self.directives.all("says")).encode()
        says = options and self.directives.one("strict-says")
        if says and not self.machine.gpus and says.replace("_", " ") not in run.stderr.decode(errors="replace"):
            raise run.failure(f"stderr does not say: {says}")
        may_say = options and self.directives.one("strict-may-say")
        if may_say and may_say.replace("_", " ") in run.stderr.decode(errors="replace"):
            says = may_say
        for stream in ("stdout",) if says else ("stdout", "stderr"):
            if getattr(run, stream) != getattr(bare, stream):
                raise run.failure(f"{stream} differs; it should be:\n" +
                                  getattr(bare, stream).decode(errors="replace"))


# --- programs under several settings, and what their reports say ----------------------------------


def field(line, path):
    for key in path.split("."):
        line = line.get(key) if isinstance(line, dict) else None
    return line


class Setting:
    """One `run:` line of a source: `OPTIONS NAME=VALUE ... -> WHAT=VALUE ...`, where WHAT is

        FIELD             a field of the summary, `_` for blanks
        TYPE:FIELD        a line of that type has this field
        #TYPE             how many lines of that type there are
        exit              the exit status, 0 if not named
        says              is on stderr, `_` for blanks

    and > and < compare numbers: `timeline.dropped>0`.
    """

    def __init__(self, text):
        before, _, after = text.partition("->")
        words = before.split()
        named = [word for word in words if word.split("=")[0].isupper()]
        self.environment = dict(word.split("=", 1) for word in named)
        self.options = "".join(word for word in words if word not in named)
        self.wanted = [re.match("(.+?)([=<>])(.*)", word).groups() for word in after.split()]

    def status(self):
        return next((int(value) for what, _, value in self.wanted if what == "exit"), 0)

    @staticmethod
    def compares(found, sign, value):
        if sign == "=":
            return str(found).replace(" ", "_") == value
        return found is not None and (found > int(value) if sign == ">" else found < int(value))

    def hold_against(self, run, lines):
        for what, sign, value in self.wanted:
            if what == "says":
                if value.replace("_", " ") not in run.stderr.decode(errors="replace"):
                    raise run.failure(f"stderr does not say: {value}")
                continue
            kind, _, path = what.lstrip("#").rpartition(":")
            kind = path if what.startswith("#") else kind or "summary"
            of_kind = [line for line in lines if line["type"] == kind]
            found = (self.compares(len(of_kind), sign, value) if what.startswith("#") else
                     any(self.compares(field(line, path), sign, value) for line in of_kind))
            if what != "exit" and not found:
                told = "\n".join(json.dumps(line) for line in lines if line["type"] != "run")
                raise run.failure(f"not {what}{sign}{value}; the report has:\n{told}")


class Settled:
    """tests/FOLDER/NAME, run once for each of its `run:` lines."""

    def __init__(self, source, machine):
        self.source, self.machine = source, machine
        self.directives = Directives(source)

    def checks(self):
        return [(f"{self.source.stem}/{number}", lambda setting=Setting(text): self.check(setting))
                for number, text in enumerate(self.directives.all("run"), 1)]

    def check(self, setting):
        self.machine.require(self.directives)
        if self.machine.gpus and any(name.startswith("SIM_") for name in setting.environment):
            raise Skip("only the simulated libcupti can be asked for this")
        program = self.machine.programs / self.source.parent.name / self.source.stem
        with Report() as report:
            options = ":".join(filter(None, (report.option, setting.options)))
            injected = self.directives.one("inject") is not None
            environment = self.machine.environment(self.directives, not injected, options)
            if injected:
                environment["CUDA_INJECTION64_PATH"] = str(self.machine.library)
                environment["SAFECOPY_OPTIONS"] = joined(options)
            run = self.machine.run([program], {**environment, **setting.environment},
                                   self.directives.timeout_s())
            run.expect_status(setting.status())
            setting.hold_against(run, report.lines(run) if report.path.exists() else [])


# --- programs that check themselves ---------------------------------------------------------------


def without_answers(text, rows):
    """Tables of `row | answer` lines, the answers of some rows left out."""
    return "".join(row + " | ?\n" if (row := line.rpartition(" | ")[0]) in rows else line
                   for line in text.splitlines(keepends=True))


def self_check(machine, source, program, preload=False, arguments=()):
    """A program that says by its exit status whether all is well. Where NAME.expected lies beside
    its source, that is what it has to print, on the simulated GPU save for the answers of the rows
    in NAME.sim-differences."""
    directives = Directives(source)
    machine.require(directives)
    with Report() as report:
        command = [program, *(arguments or shlex.split(directives.one("args", "")))]
        run = machine.run(command, machine.environment(directives, preload, report.option),
                          directives.timeout_s())
        run.expect_status(0)
    expected = source.with_suffix(".expected")
    if expected.exists():
        differences = source.with_suffix(".sim-differences")
        rows = () if machine.gpus or not differences.exists() else differences.read_text().splitlines()
        wanted = without_answers(expected.read_text(), rows)
        printed = without_answers(run.stdout.decode(errors="replace"), rows)
        if printed != wanted:
            changes = difflib.unified_diff(wanted.splitlines(), printed.splitlines(),
                                           str(expected.relative_to(ROOT)), "stdout", n=0,
                                           lineterm="")
            raise Failure("stdout is not as expected\n" + "\n".join(changes))


class Stress:
    """tests/stress/correct_programs, which makes no mistake: it ends with 0 and a silent stderr, and
    the report has no hazard and no call that passed by. SECONDS go to all settings together, `width`
    of which run at a time; STRESS_SEED repeats a seed."""

    # What a process does in which nothing captures, so that its calls may be simple.
    SIMPLE = ("copy up", "copy down", "round trip", "device copy", "memset", "synchronous",
              "host function", "wait", "renew lane", "rewrite", "read", "beside", "hand", "take",
              "thread", "cancel")
    # Options, the simulated devices, threads, and steps where it is not all; None: without the library.
    SETTINGS = (
        ("strict=1", "late=1:late_limit=2ms", 6),
        ("", "delay=0:return=300us", 6),
        ("mode=report", "delay=20us:seed=7", 6),
        ("strict=1:pinned=driver:snapshot_max=0", "delay=20us:seed=7:bandwidth=2G", 6),
        ("strict=1", "delay=0", 16),
        ("snapshot_max=0", "late=1:late_limit=2ms", 6),
        ("mode=report", "late=1:late_limit=2ms", 16),
        ("pinned=driver", "delay=0", 6),
        ("strict=1:stacks=site:cupti=off", "late=1:late_limit=2ms:launch=100us", 6),
        ("guard=off", "delay=0", 6),
        ("strict=1:guard=mprotect", "late=1:late_limit=2ms", 16),
        ("guard=uffd:snapshot_max=0", "delay=20us:seed=7", 16),
        ("strict=1:device=1", "late=1:late_limit=2ms:launch=100us", 6),
        ("device=0", "late=1:late_limit=2ms", 16, *SIMPLE),
        ("strict=1:device=1", "devices=4:late=1:late_limit=2ms", 6),
        ("snapshot_max=0:memory_every=50ms", "devices=4:delay=20us:seed=7", 16),
        ("mode=report", "devices=4:late=1:late_limit=2ms:launch=100us", 6),
        (None, "late=1:late_limit=2ms", 6),
        (None, "devices=4:late=1:late_limit=2ms", 6),
    )
    BESIDE_S = 300  # for beginning and end, on a loaded machine

    def __init__(self, machine, seconds, width):
        self.machine = machine
        self.program = machine.programs / "stress" / "correct_programs"
        self.seconds = max(1, seconds * width / len(self.SETTINGS))
        self.seed = int(os.environ.get("STRESS_SEED") or int.from_bytes(os.urandom(4), "big"))

    def checks(self):
        return [(f"{options or 'plain' if options is not None else 'without the library'}"
                 f"{' on four devices' if 'devices=4' in device else ''}",
                 functools.partial(self.check, number))
                for number, (options, device, *_) in enumerate(self.SETTINGS)]

    def check(self, number):
        options, device, threads, *steps = self.SETTINGS[number]
        with Report() as report:
            environment = self.machine.environment(
                Directives.none(), options is not None, f"{report.option}:{options}")
            if "SIM_GPU" in environment:
                environment["SIM_GPU"] = device
                environment["STRESS_DEVICES"] = "4" if "devices=4" in device else "1"
            run = self.machine.run(
                [self.program, f"{self.seconds:.1f}", self.seed + number, threads, *steps],
                environment, self.seconds + self.BESIDE_S)
            run.expect_status(0)
            # strict=1 tells of touches that it has not judged.
            if run.stderr and b"strict: passed, " not in run.stderr:
                raise run.failure("stderr is not empty")
            if options is not None:
                check_hazards(run, report.hazards(run), [])


def sources(folder, pattern="*"):
    """The programs' sources in tests/FOLDER, C and C++, by their names. Those of twins lie a folder
    deeper, by what goes wrong in them."""
    where = "*/" if folder == "hazard" else ""
    return sorted((path for suffix in (".c", ".cpp")
                   for path in (ROOT / "tests" / folder).glob(where + pattern + suffix)),
                  key=lambda path: path.name)


def chosen(folder, names):
    """The sources of these programs, every one of which is there."""
    found = [source for source in sources(folder) if source.stem in names]
    assert len(found) == len(names), set(names) - {source.stem for source in found}
    return found


def twins(machine):
    return [check for source in sources("hazard") for check in Twin(source, machine).checks()]


def in_place():
    """Twins on a device that uses pageable memory in place."""
    machine = Machine(device="late=1:pageable_access=1")
    return [check for source in sources("hazard") for check in TwinInPlace(source, machine).checks()]


class PinnedSurvivor(Survivor):
    """The same with what is in flight in pinned memory (survival/in_flight.h). What cannot be
    watched there is not the same, and so stderr."""

    def __init__(self, source, machine):
        super().__init__(source, machine)
        self.directives.values.setdefault("env", []).append("SURVIVAL_PINNED=1")
        for said in ("says", "strict-says", "strict-may-say"):
            self.directives.values.pop(said, None)

    def settled(self):
        return []

    def launch(self, preload, options=""):
        if "registered" in self.directives.all("needs"):
            raise Skip("needs memory that it registers")
        run = super().launch(preload, options)
        run.stderr = b""
        return run


def pinned(machine):
    """Survival programs that touch memory beside a copy."""
    beside = [source for source in sources("survival")
              if source.stem.startswith("pinned_") or "in_flight.h" in headers_of(source)]
    return [check for source in beside for check in PinnedSurvivor(source, machine).checks()]


def headers_of(source):
    """The names of the headers of the same folder that it includes, and theirs."""
    names = set(re.findall(r'^#include "(\w+\.h)"', source.read_text(encoding="utf-8"), re.M))
    for name in list(names):
        if (source.parent / name).exists():
            names |= headers_of(source.parent / name)
    return names


def guarded(machine):
    """Programs with pages that are guarded."""
    found = [source for source in sources("hazard") if source.parent.name in ("touch", "graph")]
    return [check for source in found for check in Twin(source, machine).checks()] + pinned(machine)


def by_mprotect():
    """The same where no userfaultfd is to be had."""
    return guarded(Machine(options="guard=mprotect"))


def full_kind():
    """With pages that the kernel waits for as well, which the library itself never asks for; None
    where no such descriptor is to be had."""
    if not has_userfaultfd(user_mode_only=0):
        return None
    machine = Machine(options="guard=uffd")
    machine.library = machine.out / "full_kind" / "libsafecopy.so"
    return machine


def behind_copies():
    """Twins whose stream busy() holds, but for one that counts its copies."""
    machine = Machine()

    def is_wanted(text):
        return re.search(r"\bbusy\(", text) and "safecopy_get_counts" not in text
    return [check for source in sources("hazard", "sc[12]0*")
            if is_wanted(source.read_text(encoding="utf-8"))
            for check in TwinBehindCopy(source, machine).checks()]


def ways():
    """Twins of copies that the runtime is asked for, one after the other in each way."""
    machine = Machine()
    wanted = {"kernel": r"\bbusy\("}
    texts = {source: source.read_text(encoding="utf-8")
             for source in sources("hazard", "sc[12]0*") if not source.stem.endswith("_driver")}
    return [check for way in TwinOtherWay.WAYS for source, text in texts.items()
            if re.search(wanted.get(way, r"\bcudaMemcpyAsync\("), text)
            and "safecopy_get_counts" not in text
            and way not in " ".join(Directives(source).all("not-by")).split()
            for check in TwinOtherWay(source, machine, way).checks()]


def survivors(machine, is_wanted=lambda source: True):
    return [check for source in sources("survival") if is_wanted(source)
            for check in Survivor(source, machine).checks()]


def settled(folder, machine):
    return [check for source in sources(folder) for check in Settled(source, machine).checks()]


def alone(machine):
    return [check for source in sources("hazard") for check in TwinAlone(source, machine).checks()]
