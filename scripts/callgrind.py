"""Profiles of a program that runs with the library, on the simulated GPU under valgrind's callgrind."""

import collections
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "out"
COST = re.compile(r"[+*\d-]\d* \d+$")
DRIVER, LIBRARY, PROGRAM = "libcuda.so.1", "libsafecopy.so", "program"


def build(folder, text):
    """The program, of a source in C."""
    source, program = folder / "program.c", folder / PROGRAM
    source.write_text(text, encoding="utf-8")
    include = os.environ.get("CUDA_INCLUDE", "/usr/local/cuda/include")
    subprocess.run(["cc", "-g", "-O1", "-I", include, "-I", ROOT, source, "-L", OUT / "sim",
                    "-l:libcuda.so.1", "-o", program], check=True)
    return program


def run(program, arguments, **settings):
    """The profile of the program's own thread, as callgrind writes it. Other threads run by the
    clock."""
    profile = program.with_name("profile")
    environment = {**os.environ, "LD_LIBRARY_PATH": str(OUT / "sim"), "SIM_GPU": "late=0",
                   "LD_PRELOAD": str(OUT / LIBRARY), "SAFECOPY_OPTIONS": "report_path=none",
                   **settings}
    subprocess.run(["valgrind", "--quiet", "--tool=callgrind", "--separate-threads=yes",
                    f"--callgrind-out-file={profile}", program, *arguments],
                   check=True, env=environment)
    return profile.with_name("profile-01").read_text(encoding="utf-8")


class Profile:
    """What functions took themselves, who called whom how often, and what that took. A function is
    (object, name): callgrind names a file as well, but another one where a function begins with what
    is inlined. So functions of one name are one."""

    def __init__(self, text):
        self.own = collections.Counter()
        self.calls = collections.defaultdict(collections.Counter)
        self.below = collections.defaultdict(collections.Counter)
        self.names = {}
        module = function = called_module = callee = None
        is_of_callee = False
        for line in text.splitlines():
            key, _, value = line.partition("=")
            if key == "ob":
                module = self.name("object", value)
            elif key == "fn":
                function = (module, self.name("function", value))
            elif key == "cob":
                called_module = self.name("object", value)
            elif key == "cfn":
                callee = (called_module or module, self.name("function", value))
            elif key == "calls":
                self.calls[function][callee] += int(value.split()[0])
                called_module = None
                is_of_callee = True
            elif COST.match(line):
                cost = int(line.split()[1])
                if is_of_callee:
                    self.below[function][callee] += cost
                else:
                    self.own[function] += cost
                is_of_callee = False

    def subtract(self, other):
        for mine, theirs in ((self.own, other.own), *((mine[function], theirs[function])
                             for mine, theirs in ((self.calls, other.calls), (self.below, other.below))
                             for function in list(mine))):
            mine.subtract(theirs)

    def name(self, kind, value):
        """callgrind writes a name once, and its number from then on. Of an object the last part counts,
        of a recursive function no level."""
        number, _, text = value.partition(" ")
        if text:
            self.names[kind, number] = text.rpartition("/")[2] if kind == "object" else text.partition("'")[0]
        return self.names.get((kind, number), "?")
