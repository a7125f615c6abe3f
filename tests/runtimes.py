"""What NVIDIA's CUDA runtimes look up in the driver, and who answers: the toolkit's, and the others
that are here (Makefile: RUNTIMES, NEWER).

A runtime looks up all of the driver when it is first used, which it does on the simulated driver as
on a real one. It goes no further there (tests/sim/README.md). A check is two runs of a program under
tests/survival/lib/driver_asked.c, one of them with the library.
"""

import pathlib
import re
import tempfile

import programs
from programs import Directives, Machine, ROOT, Skip
from toolkit import linked_alone, toolkit_library

PROGRAM = "sc101_free_h2d"
WRAPPERS = ROOT / "interpose" / "driver" / "api.def"
WRAPPED = re.compile(r"^SC_(?!USE)\w+\(\s*(\w+),", re.M)
DRIVER = ROOT / "tests" / "sim" / "cuda" / "driver.def"
HAS = re.compile(r"^SIM_(?:FUNCTION|STUB)\(\w+, (\w+), (\d+),", re.M)

# What the simulated driver does not have: what shares memory with graphics, and most of what is
# later than its headers.
GRAPHICS = re.compile(r"GL|VDPAU|EglFrame")
HEADERS = 13000

# With this version the driver hands out what CUDA 13.1 to 13.4 have added and the library wraps.
LATEST = 13050

OLDER = {"cuda11": "libcudart.so.11.0", "cuda12": "libcudart.so.12"}


class Asked:
    """A line of the tool's: what was looked up, what the answer was, and whose it is."""

    def __init__(self, line):
        self.name, version, flags, result, status, file = line.split("|")
        self.version, self.file = int(version), pathlib.Path(file).name
        self.answer = (self.name, version, flags, result, status, file == "none")

    def __str__(self):
        return f"{self.name} of {self.version}"

    def is_of_simulation(self):
        """Whether the simulated driver is to have it. The first look-up of some is without a name."""
        return self.name and self.version <= HEADERS and not GRAPHICS.search(self.name)


class RuntimeMachine(Machine):
    """The simulated driver under one runtime of NVIDIA's, and nothing else of either folder."""

    def __init__(self, library, runtime=None):
        super().__init__(runtime=runtime)
        self.cudart = library

    def environment(self, directives, preload, options):
        environment = super().environment(directives, preload, options)
        tool = self.programs / "survival" / "lib" / "libdriver_asked.so"
        environment["LD_PRELOAD"] = ":".join(
            filter(None, (str(tool), environment.get("LD_PRELOAD"))))
        environment["SIM_GPU"] += f":driver={LATEST}"
        return environment

    def asked(self, preload):
        """One run of the program, and what its runtime looked up."""
        program = self.twins / f"{PROGRAM}.fixed"
        directives = Directives(programs.chosen("hazard", [PROGRAM])[0])
        if self.partial and not program.exists():
            raise Skip("no program of this runtime here (make other-runtimes)")
        with tempfile.TemporaryDirectory(prefix="runtime-") as scratch:
            folder = pathlib.Path(scratch)
            log = folder / "log"
            alone = (linked_alone(self.cudart, folder),
                     linked_alone(self.out / "sim" / "libcuda.so.1", folder))
            environment = self.environment(directives, preload, "cupti=off")
            environment["LD_LIBRARY_PATH"] = ":".join(map(str, alone))
            environment["ASKED_LOG"] = str(log)
            run = self.run([program], environment, directives.timeout_s())
            return run, [Asked(line) for line in log.read_text().splitlines()] if log.exists() else []

    def check(self):
        wrapped = set(WRAPPED.findall(WRAPPERS.read_text()))
        has = {(name, int(version)) for name, version in HAS.findall(DRIVER.read_text())}
        bare, plain = self.asked(preload=False)
        run, asked = self.asked(preload=True)
        if not asked or [one.answer for one in asked] != [one.answer for one in plain]:
            raise run.failure(f"{len(asked)} answers of the library's, {len(plain)} of the driver's,"
                              " and not the same")
        if (run.status, run.stdout, run.stderr) != (bare.status, bare.stdout, bare.stderr):
            raise run.failure("not as without the library")
        lacking = [str(one) for one in asked
                   if one.is_of_simulation() and (one.name, one.version) not in has]
        if lacking:
            raise run.failure(f"the simulated driver lacks {', '.join(lacking)}")
        past = [str(one) for one in asked
                if one.name in wrapped and one.file not in ("none", self.library.name)]
        if past:
            raise run.failure(f"no wrapper answers for {', '.join(past)}")


def found():
    """(name, library, runtime) of every runtime that is here."""
    yield "toolkit", toolkit_library("libcudart.so.13"), None
    for folder, name in OLDER.items():
        yield folder, ROOT / "out" / folder / "lib" / name, folder.removeprefix("cuda")
    for library in sorted((ROOT / "out").glob("cuda13.*/lib/libcudart.so.13")):
        yield library.parent.parent.name, library, None


def checks():
    def check(library, runtime):
        if library is None or not library.exists():
            raise Skip("not here")
        RuntimeMachine(library, runtime).check()
    return [(name, lambda library=library, runtime=runtime: check(library, runtime))
            for name, library, runtime in found()]
