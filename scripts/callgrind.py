"""Profiles of a program that runs with the library, on the simulated GPU under valgrind's callgrind."""

import collections
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "out"
COST = re.compile(r"[+*\d-]\d* \d+$")
DRIVER, LIBRARY = "libcuda.so.1", "libsafecopy.so"


def build(folder, text):
    """The program, of a source in C."""
    source, program = folder / "program.c", folder / "program"
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
    (object, file, name): the file that callgrind names, which is another one's where the function
    begins with an inlined one."""

    def __init__(self, text):
        self.own = collections.Counter()
        self.calls = collections.defaultdict(collections.Counter)
        self.below = collections.defaultdict(collections.Counter)
        self.names = {}
        module = file = function = None
        called_module = called_file = callee = None
        is_of_callee = False
        for line in text.splitlines():
            key, _, value = line.partition("=")
            if key == "ob":
                module = self.name("object", value)
            elif key == "fl":
                file = self.name("file", value)
            elif key in ("fi", "fe"):
                self.name("file", value)
            elif key == "fn":
                function = (module, file, self.name("function", value))
            elif key == "cob":
                called_module = self.name("object", value)
            elif key in ("cfi", "cfl"):
                called_file = self.name("file", value)
            elif key == "cfn":
                callee = (called_module or module, called_file or file, self.name("function", value))
            elif key == "calls":
                self.calls[function][callee] += int(value.split()[0])
                called_module = called_file = None
                is_of_callee = True
            elif COST.match(line):
                cost = int(line.split()[1])
                if is_of_callee:
                    self.below[function][callee] += cost
                else:
                    self.own[function] += cost
                is_of_callee = False

    def name(self, kind, value):
        """callgrind writes a name once, and its number from then on. Of an object, the last part."""
        number, _, text = value.partition(" ")
        if text:
            self.names[kind, number] = text.rpartition("/")[2] if kind == "object" else text
        return self.names.get((kind, number), "?")
