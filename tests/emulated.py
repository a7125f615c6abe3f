"""Programs of a processor that is not here, run by qemu: the build of ARCH=aarch64.

All that is built there is run; `make check SUITES=aarch64` builds everything, and `make check-all` a
part (the Makefile: EMULATED). Memory that the emulator uses for itself, and its time, are the program's there.

What qemu 7.2 of Debian 12 lacks, by the words of `needs: kernel (WHAT)`. Small programs showed it
that do nothing else, beside the same on the kernel. test_python_walk is left out, since there is no
process_vm_readv (ENOSYS), as where a filter refuses it; test_apart since /proc/self/maps shows no
advice (`not-under: qemu`); and single tests of other files by tests/emulator.h.

    kind of a touch   no fault says whether it was a write, and each counts as one (SC203 for SC202)
    execve            starts no program of the other processor (ENOEXEC)
    seccomp           no filter is taken (EINVAL)
    sent SIGSEGV      does not wait while it is blocked: sigpending and sigwait never tell of it
    ptrace            is not there (ENOSYS)
    SS_AUTODISARM     is no flag of sigaltstack (EINVAL)
    robust futexes    a mutex whose owner has ended stays locked (set_robust_list)
    madvise           MADV_WIPEONFORK, MADV_REMOVE and what there is not succeed and change nothing
    process_madvise   is not there (ENOSYS)
    mq_notify         is not there (ENOSYS)
    RLIMIT_DATA       is set, and memory is to be had as before
    brk               a smaller break unmaps nothing
    mprotect          refuses nothing at all (a size of 0: ENOMEM)
    mremap            makes no second mapping of the same memory (an old size of 0: ENOMEM)
    statm             the emulator's own memory is the program's, and grows with what it runs
    room              blocks of one size have 64 MB, since the emulator notes each page of a mapping;
                      without that limit, in the environment, it takes minutes and 12 GB
    jumps             a jump into data faults again and again where the data could be read since
    mappings          the emulator ends the program where it gets none itself (vm.max_map_count)
    libtsan           does not start: it meets mappings that it does not expect
    stores            a load may overtake a store before it, both seq_cst (emulated_stores.h)
"""

import re
import shutil

import programs
from programs import ROOT, Machine, Run, Twin, Survivor

OUT = "out/aarch64"
GUEST = ROOT / OUT / "root"
QEMU = shutil.which("qemu-aarch64-static")

# What a program of this machine says that one of the other processor starts.
NOT_PRELOADED = re.compile(rb"^ERROR: ld\.so: object '[^']*' from LD_PRELOAD cannot be preloaded .*\n",
                           re.M)


class EmulatedMachine(Machine):
    """The simulated GPU under qemu. A copy may be complete there before anybody looks."""

    ignored = ("action", "certainty")
    emulated = True

    def __init__(self, out=OUT):
        super().__init__(out, wrapper=(QEMU, "-L", GUEST))
        self.programs = self.out / "tests"
        self.twins = self.programs / "hazard"
        self.survivors = self.programs / "survival"

    def environment(self, directives, preload, options):
        kept = super().environment(directives, preload, options)
        # qemu notes each page of a mapping, used or not.
        kept["SIM_GPU"] += ":region=64M:late_limit=1s"
        return kept

    def run_plainly(self, command, environment, timeout_s):
        return self.run(command, environment, timeout_s)

    def run(self, command, environment, timeout_s):
        slow = {"SAFECOPY_FEW_ROUNDS": "1", "CK_TIMEOUT_MULTIPLIER": "10"}
        run = Run([*self.wrapper, *command], {**environment, **slow}, 4 * timeout_s)
        run.stderr = NOT_PRELOADED.sub(b"", run.stderr)
        return run


class EmulatedExpectation(programs.Expectation):
    """qemu does not say whether the program read, and is slow: what is late elsewhere is not yet."""

    def matches(self, hazard, ignored):
        if self.code == "SC202" and hazard["code"] == "SC203":
            hazard = {**hazard, "code": "SC202"}
        return super().matches(hazard, (*ignored, "event", "certainty"))


class EmulatedTwin(Twin):
    def __init__(self, source, machine):
        super().__init__(source, machine)
        if not self.silent:
            self.expectations = [EmulatedExpectation(text) for text in self.directives.all("expect")]


def unusable():
    """Why nothing runs here, or None."""
    if not QEMU:
        return "no qemu-aarch64-static here"
    if not (GUEST / "lib").exists():
        return "no libraries for aarch64 here"
    return None


def demo(machine):
    """The first program of the demo: it is wrong, and healed."""
    def check():
        program = machine.out / "demo" / "frees"
        environment = machine.environment(programs.Directives.none(), True, "strict=1:report_path=none")
        environment["SIM_GPU"] = "region=512M"
        run = machine.run([program], environment, 120)
        run.expect_status(programs.STRICT_EXIT)
        if b"8 of 8 frames arrived as they were sent" not in run.stdout:
            raise run.failure("not healed")
    return check


def checks(machine, units, can_run):
    """(name, check) of what is built. `units` makes those of the unit tests; `can_run` says which
    other sources may be run at all."""
    found = [(name, check) for name, check in units(machine, "qemu" if machine.emulated else "")
             if (machine.programs / "unit" / name).exists()]
    for source in programs.sources("hazard"):
        if (machine.twins / f"{source.stem}.racy").exists():
            found += EmulatedTwin(source, machine).checks()
    for source in programs.sources("survival"):
        if (machine.survivors / source.stem).exists():
            found += Survivor(source, machine).checks()
    for source in programs.sources("fuzz", "fuzz_*"):
        program = machine.programs / "fuzz" / source.stem
        if program.exists() and can_run(source):
            found.append((source.stem, lambda source=source, program=program:
                          programs.self_check(machine, source, program, False)))
    if (machine.out / "demo" / "frees").exists():
        found.append(("demo", demo(machine)))
    return found
