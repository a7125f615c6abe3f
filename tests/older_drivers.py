"""Programs on drivers that lack what later ones have added (tests/sim/README.md, `driver`).

They are the twins of the driver API, since the CUDA runtime is as new as its driver at most. One
that is not right there without the library needs what is lacking, and is left out. The library is
to find there what it finds elsewhere, except as NEEDED says.
"""

import fnmatch

import programs
from programs import Failure, Machine, Skip, Twin

VERSIONS = (12000, 12040)  # the Makefile: OLDER_DRIVERS

# Before 12.4 no driver says where the parameters of a kernel lie (docs/limits.md): of these programs
# only the correct one is run there, and of the last, which lean on `kernels`, not that either.
NEEDED = {"*kernel*": 12040, "sc305_structure_driver": 12040}
NOT_AT_ALL = {"none_kernel_writes_source*": 12040}


def lacks(version, needed, name):
    return any(version < least and fnmatch.fnmatchcase(name, pattern)
               for pattern, least in needed.items())


class OlderDriver(Machine):
    """The simulated GPU under a driver of that version, and nothing else."""

    def __init__(self, version):
        super().__init__()
        self.version = version
        self.driver = self.out / "sim" / f"driver-{version}" / "libcuda.so.1"

    def environment(self, directives, preload, options):
        environment = super().environment(directives, preload, options)
        environment["LD_LIBRARY_PATH"] = str(self.driver.parent)
        environment["SIM_GPU"] += f":driver={self.version}"
        return environment


class OlderTwin(Twin):
    """All checks of a twin are one here."""

    def runs_here(self):
        bare = programs.launch(self.machine, self.program("fixed"), self.directives)
        return bare.status == 0 and bare.stdout.endswith(b"data right\n")

    def check(self):
        if not self.machine.driver.exists():
            raise Failure(f"no {self.machine.driver}: make tests builds it")
        if not self.runs_here():
            raise Skip("needs a later driver")
        knows_kernels = not lacks(self.machine.version, NEEDED, self.name)
        for _, check in self.checks() if self.silent or knows_kernels else self.checks()[-1:]:
            check()


def checks():
    return [(f"{version}/{source.stem}", OlderTwin(source, OlderDriver(version)).check)
            for version in VERSIONS for source in programs.sources("hazard", "*_driver")
            if not lacks(version, NOT_AT_ALL, source.stem)]
