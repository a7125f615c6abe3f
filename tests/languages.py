"""Programs of other languages, whose runtimes have signals, stacks and collectors of their own: the
suites `languages` and `more-languages` of run.py.

tests/languages has a program for each. It takes the name of a case, and ends with `data right` or
`data wrong`. In most cases it makes no mistake: it copies while its collector runs, throws beside
guarded pages, is called back by the driver or starts others, and with the library it does what it
does without, and is not accused. In two it is wrong, `overwrite` and `free`, and has to be told so
and be healed. In the others it dies, and dies alike.

Some runtimes have threads that really block SIGSEGV before the first copy (libgc's markers, those
of Node, of OCaml): nothing is guarded beside them, which strict=1 says, and an overwrite may pass.

    copies      pins, copies up and down, collects meanwhile, checks, and frees what it pinned
    small       the same on stacks of 64 KB
    signals     the same under a storm of signals
    null        finds nulls by SIGSEGV while pages are guarded, and goes on; also a stack's end
    throw       throws and catches what its runtime knows by other ways, over frames of its own
    callback    a host function of the stream's comes back into the language, and collects
    spawn       starts another program while pages are guarded
    overwrite   writes to a source in flight
    free        frees a source in flight, by the collector or a finalizer where there is one
    fatal       dies of a null, a copy in flight
    overflow    dies at the end of its stack, a copy in flight

A language that is not here is left out, with a word. `more-languages` runs the right programs in
other settings of their runtimes and of the library, and again and again.
"""

import os
import pathlib
import shutil
import threading

import programs
from programs import Directives, Machine, Report, ROOT, Run, Skip, STRICT_EXIT
from toolkit import toolkit_headers

SOURCES = ROOT / "tests" / "languages"
OUT = ROOT / "out" / "tests" / "languages"
RUNTIME = ROOT / "out" / "sim" / "libcudart.so.13"

SETTINGS = ("", "strict=1", "mode=report", "guard=off")
QUICK = SETTINGS[:2]  # in `languages`
WRONG = {"overwrite": "SC201", "free": "SC101"}
BLOCKED = b"a thread has SIGSEGV blocked"
AGAIN = 5
TIMEOUT_S = 60

# When the device begins by itself: long after the mistake, also where a collector comes first. A touch
# of a source in flight waits for that.
LATE = {"overwrite": ":late_limit=1s", "free": ":late_limit=10s"}


class Language:
    """`tools` are the commands that it takes, of the Debian package. `build` is what makes `product`
    of `sources`, `command` what runs it, a case's name to follow. `dies` has what it says when it
    dies, by case. `ends_itself`: by a system call of its own, so that the library has no end to add
    to. `variants` are words after the command's first, or variables."""

    def __init__(self, name, package, tools, sources, command, product=None, build=None, right="",
                 dies=None, environment=None, ends_itself=False, variants=()):
        self.name, self.package, self.tools = name, package, tools.split()
        self.sources = [SOURCES / source for source in sources.split()]
        self.product = OUT / product if product else None
        self.build_words, self.command_words = build or (lambda language: []), command
        self.right, self.dies = right.split(), dies or {}
        self.build_environment = environment or {}
        self.ends_itself, self.variants = ends_itself, variants
        self.lock = threading.Lock()

    def missing(self):
        """Why it is left out, or None."""
        lacking = [tool for tool in self.tools
                   if not (pathlib.Path(tool).exists() or shutil.which(tool))]
        if lacking:
            return f"no {lacking[0]} here (make check-all installs {self.package})"
        return None

    def is_built(self):
        return self.product.exists() and all(
            source.stat().st_mtime < self.product.stat().st_mtime for source in self.sources)

    def build(self):
        """Once, whichever check comes first."""
        with self.lock:
            if not self.product or self.is_built():
                return
            OUT.mkdir(parents=True, exist_ok=True)
            environment = {**os.environ, **self.build_environment}
            run = Run(self.build_words(self), environment, 300)
            run.expect_status(0)

    def command(self, case, words=()):
        first, *rest = self.command_words(self)
        return [first, *words, *rest, case]

    # The checks.

    def launch(self, machine, case, options, report=None, variant=""):
        """Without the library where options is None."""
        words = variant.split()
        variables = dict(word.split("=", 1) for word in words if not word.startswith("-"))
        preload = options is not None
        environment = machine.environment(
            Directives.none(), preload, f"{report.option}:{options}" if preload else "")
        environment["SIM_GPU"] += LATE.get(case, "")
        return machine.run(self.command(case, [word for word in words if word.startswith("-")]),
                           {**environment, **variables}, TIMEOUT_S)

    def report(self):
        return Report(ends=not self.ends_itself)

    def check_right(self, machine, case, variant="", settings=QUICK):
        self.build()
        bare = self.launch(machine, case, None, variant=variant)
        if variant and bare.status != 0:
            raise Skip("not in this runtime")
        bare.expect_status(0)
        bare.expect_right()
        for options in settings:
            with self.report() as report:
                run = self.launch(machine, case, options, report, variant)
                run.expect_status(0)
                if run.stdout != bare.stdout:
                    raise run.failure("stdout differs from what it is without the library")
                says_blocked = options == "strict=1" and BLOCKED in run.stderr
                if b"safecopy:" in run.stderr and not says_blocked:
                    raise run.failure("the library has something to say")
                programs.check_hazards(run, report.hazards(run), [])
                last = report.lines(run)[-1]
                if not self.ends_itself and not last["operations"]:
                    raise run.failure("the library has seen no copy")

    def check_wrong(self, machine, case):
        self.build()
        bare = self.launch(machine, case, None)
        if bare.stdout != b"data wrong\n":
            raise bare.failure("it is not wrong without the library")
        for options in SETTINGS[:3]:
            with self.report() as report:
                run = self.launch(machine, case, options, report)
                if case == "overwrite" and self.was_blocked(run, report):
                    continue
                strict = options == "strict=1" and not self.ends_itself
                run.expect_status(STRICT_EXIT if strict else 0)
                if options != "mode=report":
                    run.expect_right()
                expected = programs.Expectation(WRONG[case])
                programs.check_hazards(run, report.hazards(run), [expected])

    def was_blocked(self, run, report):
        """Nothing was guarded, and that was counted."""
        last = report.lines(run)[-1]
        return "blocked" in last.get("unguarded", {}).get("by_reason", {})

    def check_death(self, machine, case, settings=QUICK):
        self.build()
        bare = self.launch(machine, case, None)
        if bare.status == 0:
            raise bare.failure("it does not die")
        for options in settings:
            with self.report() as report:
                run = self.launch(machine, case, options, report)
                run.expect_status(bare.status)
                for each in (bare, run):
                    if self.dies[case] not in each.stdout + each.stderr:
                        raise each.failure(f"it does not say: {self.dies[case].decode()}")

    def skip(self, why):
        raise Skip(why)

    def checks(self, machine):
        found = [(case, lambda case=case: self.check_right(machine, case)) for case in self.right]
        found += [(case, lambda case=case: self.check_wrong(machine, case)) for case in WRONG]
        found += [(case, lambda case=case: self.check_death(machine, case)) for case in self.dies]
        return self.named(found)

    def more_checks(self, machine):
        """The right programs in all variants, and all ends with all settings of the library."""
        dies = [(case, lambda case=case: self.check_death(machine, case, SETTINGS))
                for case in self.dies]
        return self.named(dies + [
            (" ".join(filter(None, (case, variant))),
             lambda case=case, variant=variant: self.check_right(
                 machine, case, variant, SETTINGS * (1 if variant else AGAIN)))
            for case in self.right for variant in ("", *self.variants)])

    def named(self, found):
        why = self.missing()
        if why:
            return [(self.name, lambda: self.skip(why))]
        return [(f"{self.name}/{case}", check) for case, check in found]


# --- the languages --------------------------------------------------------------------------------


def java_home():
    javac = shutil.which("javac")
    return pathlib.Path(javac).resolve().parent.parent if javac else None


def java_build(language):
    home = java_home()
    return ["sh", "-ec", 'javac -d "$1" "$2"\n'
            'cc -shared -fPIC -I"$3" -I"$3/linux" "$4" -o "$5" -ldl', "sh", OUT, language.sources[0],
            home / "include", language.sources[1], language.product]


def node_headers():
    """Those of the node that is here, or of Debian's libnode-dev."""
    node = shutil.which("node")
    beside = pathlib.Path(node).resolve().parent.parent / "include" / "node" if node else None
    return beside if beside and beside.exists() else pathlib.Path("/usr/include/node")


def c_build(*flags):
    return lambda language: ["cc", "-O1", f"-I{toolkit_headers()}", language.sources[0], "-o",
                             language.product, *flags, RUNTIME]


LANGUAGES = (
    Language(
        "go", "golang-go", "go cc", "copies.go", lambda language: [language.product],
        product="go",
        build=lambda language: ["go", "build", "-o", language.product, *language.sources],
        environment={"CGO_CFLAGS": f"-O1 -I{toolkit_headers()}", "CGO_LDFLAGS": str(RUNTIME),
                     "GOCACHE": str(OUT / "go-cache")},
        right="copies null callback spawn signals",
        dies={"fatal": b"panic: runtime error: invalid memory address or nil pointer dereference"},
        ends_itself=True,
        variants=("GOGC=1", "GODEBUG=clobberfree=1")),
    Language(
        "gc", "libgc-dev", "cc /usr/include/gc.h", "copies_gc.c",
        lambda language: [language.product], product="gc", build=c_build("-pthread", "-lgc"),
        right="copies small callback spawn", dies={"fatal": b""},
        variants=("GC_ENABLE_INCREMENTAL=1", "GC_NPROCS=1")),
    Language(
        "sbcl", "sbcl", "sbcl", "copies.lisp",
        lambda language: ["sbcl", "--noinform", "--no-sysinit", "--no-userinit",
                          "--disable-debugger", "--load", language.sources[0],
                          "--end-toplevel-options"],
        right="copies null spawn", dies={"fatal": b"Unhandled SB-SYS:MEMORY-FAULT-ERROR"}),
    Language(
        "d", "ldc", "ldc2 cc", "copies.d", lambda language: [language.product], product="d",
        build=lambda language: ["ldc2", "-O1", f"-od={OUT}", f"-of={language.product}",
                                *language.sources, f"-L={RUNTIME}"],
        right="copies throw spawn", dies={"fatal": b""}),
    Language(
        "java", "default-jdk-headless", "java javac cc", "Copies.java copies_jni.c",
        lambda language: ["java", "-Xmx128m", "-XX:-CreateCoredumpOnCrash", "-XX:-UsePerfData",
                          "-XX:ErrorFile=/dev/null", "-cp", OUT, "Copies", language.product],
        product="libcopies_jni.so", build=java_build, right="copies null callback spawn",
        dies={"fatal": b"SIGSEGV (0xb) at pc"},
        variants=("-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseZGC", "-XX:+UseShenandoahGC",
                  "-Xcheck:jni", "-Xint", "-XX:TieredStopAtLevel=1")),
    Language(
        "mono", "mono-mcs", "mono mcs", "Copies.cs", lambda language: ["mono", language.product],
        product="Copies.exe",
        build=lambda language: ["mcs", "-unsafe", f"-out:{language.product}", *language.sources],
        right="copies null spawn", dies={"fatal": b"System.NullReferenceException"},
        variants=("MONO_THREADS_SUSPEND=preemptive", "MONO_THREADS_SUSPEND=coop",
                  "MONO_GC_PARAMS=major=marksweep,nursery-size=1m")),
    Language(
        "ruby", "ruby", "ruby", "copies.rb", lambda language: ["ruby", *language.sources],
        right="copies throw spawn signals", dies={"fatal": b"[BUG] Segmentation fault at"},
        variants=("--jit", "--yjit")),
    Language(
        "luajit", "luajit", "luajit", "copies.lua", lambda language: ["luajit", *language.sources],
        right="copies throw spawn", dies={"fatal": b""}, variants=("-joff", "-O0")),
    Language(
        "ocaml", "ocaml-nox", "ocamlopt cc", "copies.ml copies_ml.c",
        lambda language: [language.product], product="ocaml",
        build=lambda language: [
            "sh", "-ec", 'rm -rf "$1.d"; mkdir "$1.d"; cp "$2"/copies.ml "$2"/copies_ml.c '
            '"$2"/by_name.h "$1.d"; cd "$1.d"; exec ocamlopt -I +threads unix.cmxa threads.cmxa '
            'copies_ml.c copies.ml -o "$1" -cclib -ldl', "sh", language.product, SOURCES],
        right="copies throw callback spawn signals", dies={"fatal": b""},
        variants=("OCAMLRUNPARAM=s=4k,o=20",)),
    Language(
        "php", "php-cli", "php", "copies.php", lambda language: ["php", *language.sources],
        right="copies throw spawn", dies={"fatal": b""}, variants=("-dopcache.enable_cli=1",)),
    Language(
        "node", "nodejs libnode-dev", f"node cc {node_headers() / 'node_api.h'}",
        "copies.js copies_node.c",
        lambda language: ["node", "--expose-gc", language.sources[0], language.product],
        product="copies.node",
        build=lambda language: ["cc", "-shared", "-fPIC", f"-I{node_headers()}",
                                language.sources[1], "-o", language.product, "-ldl"],
        right="copies throw callback spawn", dies={"fatal": b""},
        variants=("--stress-compaction", "--jitless")),
    Language(
        "rust", "rustc", "rustc cc", "copies.rs", lambda language: [language.product],
        product="rust",
        build=lambda language: ["rustc", "--edition", "2021", "-O", *language.sources, "-o",
                                language.product, "-C", f"link-arg={RUNTIME}"],
        right="copies throw callback spawn",
        dies={"overflow": b"has overflowed its stack", "fatal": b""}),
)


def checks():
    machine = Machine()
    return [check for language in LANGUAGES for check in language.checks(machine)]


def more_checks():
    machine = Machine()
    return [check for language in LANGUAGES for check in language.more_checks(machine)]
