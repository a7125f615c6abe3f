"""Programs that are built with a sanitizer, as a user's may be: the suite `sanitized-programs` of
run.py. Makefile (SANITIZED_PROGRAMS) says which, and by which compilers.

The sanitizer of a build must find nothing in a program that makes no mistake, and what it finds in
one of tests/sanitized it must find with the library as without. ThreadSanitizer ends with 1 here,
since 66, as it has it, is what strict=1 ends with.
"""

import re

import programs
from programs import Directives, Machine, Report, Run, ROOT, Skip, Survivor, Twin

COMPILERS = ("gcc", "clang")
SANITIZERS = ("thread", "address", "undefined")  # the slowest first

TWINS = """sc105_freehost_d2h sc201_other_thread sc202_latent sc202_memcpy_1m
    sc202_signal_handler""".split()
SURVIVORS = "exit_return many_buffers threads".split()

# A twin may leave its memory to the end of the process.
OPTIONS = {
    "address": {"ASAN_OPTIONS": "detect_leaks=0"},
    "thread": {"TSAN_OPTIONS": "exitcode=1:atexit_sleep_ms=50"},
    "undefined": {"UBSAN_OPTIONS": "halt_on_error=1"},
}
FINDING = re.compile(rb"^.*(?:Sanitizer|runtime error:).*$", re.M)
KIND = re.compile(rb"(?:SUMMARY: \w+Sanitizer: [\w-]+( [a-z]+)*|runtime error: .*)")


class SanitizedMachine(Machine):
    """The simulated GPU for the programs of one compiler and one sanitizer."""

    def __init__(self, compiler, sanitizer, wrapper=()):
        super().__init__(wrapper=wrapper)
        self.compiler, self.sanitizer = compiler, sanitizer
        self.folder = self.programs / f"sanitized-{compiler}-{sanitizer}"
        self.twins = self.survivors = self.folder

    def environment(self, directives, preload, options):
        return {**super().environment(directives, preload, options), **OPTIONS[self.sanitizer]}

    def run_plainly(self, command, environment, timeout_s):
        return self.run(command, environment, timeout_s)  # the wrapper is the sanitizer's need

    def unusable(self):
        """Why nothing was built, or None."""
        why = self.folder / "why"
        return why.read_text().strip() if why.exists() else None

    def skip(self):
        raise Skip(self.unusable())

    def checks(self):
        if self.unusable():
            return [("programs", self.skip)]
        return [check for folder, names, kind in (("hazard", TWINS, SanitizedTwin),
                                                  ("survival", SURVIVORS, Survivor))
                for source in programs.chosen(folder, names)
                for check in kind(source, self).checks()] + Mistakes(self).checks()


def expect_silent(run):
    found = FINDING.search(run.stderr)
    if found:
        raise run.failure(f"the sanitizer says: {found[0].decode(errors='replace').strip()}")


class SanitizedTwin(Twin):
    """The racy program is found and healed as it is without a sanitizer; the fixed one has nothing
    said of it by anybody, in every mode. One is enough to be listened to by CUPTI."""

    MODES = ("", "strict=1", "mode=report")

    def checks(self):
        modes = self.MODES + (("cupti=require",) if self.name == TWINS[0] else ())
        named = [(mode or "default", lambda mode=mode: self.fixed(mode)) for mode in modes]
        return [(f"{self.name}/{check.__name__}", check) for check in
                (self.healed, self.strict, self.reported)] + [
                    (f"{self.name}/fixed {mode}", check) for mode, check in named]

    def launch(self, build, options):
        run = super().launch(build, options)
        if "mode=report" not in options or build == "fixed":
            expect_silent(run)
        return run

    def fixed(self, mode="strict=1"):
        with Report() as report:
            run = self.launch("fixed", f"{mode}:{report.option}")
            run.expect_status(0)
            self.expect_right(run, "fixed")
            programs.check_hazards(run, report.hazards(run), [])


class Mistakes:
    """tests/sanitized/NAME, run without the library and with it."""

    def __init__(self, machine):
        self.machine = machine

    def checks(self):
        checks = [self.none, self.found, self.found_strict]
        if self.machine.sanitizer == "address":
            checks += [self.leak, self.command, self.command_given, self.own_defaults,
                       self.own_defaults_given]
        return [(f"mistakes/{check.__name__}", check) for check in checks]

    def run(self, program, argument, options=None, command=(), given=None):
        """One run; by `command` instead of a preload, and with `given` as the sanitizer's options,
        None for the ones of this suite and "" for none."""
        with Report() as report:
            preload = options is not None and not command
            environment = self.machine.environment(
                Directives.none(), preload, f"{report.option}:{options}")
            if given is not None:
                environment["ASAN_OPTIONS"] = given
            if given == "":
                del environment["ASAN_OPTIONS"]
            words = [*command, *(["--option", report.option, "--"] if command else []),
                     self.machine.folder / program, argument]
            run = self.machine.run(words, environment, 120)
            if not run.stdout.startswith(b"data right\n"):
                raise run.failure("stdout does not begin with 'data right'")
            # What the sanitizer ends, it ends by a system call of its own.
            if argument == "none" and (preload or command):
                programs.check_hazards(run, report.hazards(run), [])
            return run

    def expect_found(self, run, status):
        run.expect_status(status)
        if not KIND.search(run.stderr):
            raise run.failure("the sanitizer has found nothing")

    def none(self):
        run = self.run("mistakes", "none", "strict=1")
        run.expect_status(0)
        expect_silent(run)

    def found(self, options=""):
        bare = self.run("mistakes", self.machine.sanitizer)
        self.expect_found(bare, 1)
        run = self.run("mistakes", self.machine.sanitizer, options)
        self.expect_found(run, bare.status)
        kinds = [KIND.search(each.stderr)[0].decode() for each in (bare, run)]
        if kinds[0] != kinds[1]:
            raise run.failure(f"found {kinds[1]}; without the library it is {kinds[0]}")

    def found_strict(self):
        self.found("strict=1")

    def leak(self):
        """LeakSanitizer finds what the program leaves, and nothing of what the library has."""
        bare = self.run("mistakes", "none", given="detect_leaks=1")
        if bare.status != 0:
            raise Skip("LeakSanitizer does not work here")
        run = self.run("mistakes", "none", "", given="detect_leaks=1")
        run.expect_status(0)
        expect_silent(run)
        run = self.run("mistakes", "leak", "", given="detect_leaks=1:exitcode=42")
        self.expect_found(run, 42)

    # By `safecopy run`, which sets what the run-time wants, and takes nothing away that was given.

    def by_command(self, program, status, given):
        command = (ROOT / "out" / "safecopy", "run")
        self.expect_found(self.run(program, "address", command=command, given=given), status)
        if given:
            given = f"detect_leaks=0:{given}"
        run = self.run(program, "none", command=command, given=given)
        run.expect_status(0)
        expect_silent(run)

    def command(self):
        self.by_command("mistakes", 1, "")

    def command_given(self):
        self.by_command("mistakes", 42, "exitcode=42")

    def own_defaults(self):
        self.by_command("own_defaults", 43, "")

    def own_defaults_given(self):
        self.by_command("own_defaults", 42, "exitcode=42")


def checks(fixed_addresses):
    """(name, check) of all builds; `fixed_addresses` is a command before the program's, for
    ThreadSanitizer, the shadow of which has no room for the addresses of every kernel."""
    found = []
    for sanitizer in SANITIZERS:
        for compiler in COMPILERS:
            machine = SanitizedMachine(compiler, sanitizer,
                                       fixed_addresses if sanitizer == "thread" else ())
            found += [(f"{compiler} {sanitizer}/{case}", check)
                      for case, check in machine.checks()]
    return found
