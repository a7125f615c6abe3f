"""Programs under valgrind's memcheck, which must find nothing: the suite `valgrind` of run.py.

Any program of tests/hazard, tests/survival and tests/cupti may be named here but those that

    touch registered memory of malloc in flight: valgrind maps it executable, so it is not guarded
        (sc201_aligned, sc203_first_byte, row15_tensorflow_host_kernel)
    give memory back by operator delete, which memcheck takes over (twins in C++)
    touch by an atomic operation, which memcheck makes a read and a write (sc203_atomic)
    look at how much memory the process has, or has open (process_memory.h, descriptor_numbers,
        no_descriptors)
    err on purpose, which memcheck tells (io_errors, heap_errors, heap_calls, segv_fatal,
        segv_alternate_stack, signal_sent)
    start themselves anew by /proc/self/exe, which is valgrind (descriptors.h, exec_from_thread)
    meet valgrind's own faults: posix_spawn of what is not there says nothing (spawn), and mremap of
        what is not mapped ends it (mapping_calls)
    want 64 GB of addresses (preloaded_allocator), or do what the launcher shows, which is preloaded
        as well (cuda_in_constructor)
    detach a registered segment, the pages of which the simulated GPU exchanges there (alias.c), or end
        a thread with copies in flight on its stack, the frames of which are kept from below the
        stack pointer on (sc104_shmdt_h2d, sc104_thread_end)
    take long (many_buffers, pinned_many).
"""

import pathlib
import subprocess
import tempfile

import programs
from programs import Machine, ROOT, Run, Settled, Survivor, Twin

COMMAND = (
    "valgrind", "--quiet", "--vgdb=no",
    # The library's memory is mapped pages, of which a leak check knows nothing.
    "--leak-check=no", "--run-libc-freeres=no", "--run-cxx-freeres=no",
    # One thread runs at a time, and one that spins would run for seconds.
    "--fair-sched=yes",
    # The library's free is to be called, and not taken for an allocator's.
    "--soname-synonyms=somalloc=nouserintercepts",
    # A touch of a guarded page is repeated with the registers as they were.
    "--px-default=allregs-at-mem-access",
    f"--suppressions={ROOT / 'tests' / 'valgrind.supp'}",
)

TWINS = """none_conditional_body none_graph_exec_updated none_graph_fork sc101_free_h2d
    sc101_realloc_h2d sc102_free_d2h sc103_unregister_d2h sc104_dlclose sc104_madvise_h2d
    sc104_mremap_h2d sc105_freehost_d2h
    sc201_many_threads sc201_small sc202_other_thread sc203_memset sc204_d2h_h2d
    sc301_memcpy_h2d sc302_free_host sc304_batch_h2d sc401_realloc sc402_local
    sc403_64k""".split()

SURVIVORS = """atfork capture closed_modules context_lost dlopen_local exceptions fork_before_cuda fork_in_flight
    io_cancel io_messages longjmp_waits pinned_contexts pinned_threads segv_recovered
    signal_own_pages small_stack thread_cancel thread_stacks tls_destructor""".split()

SETTLED = """alone_graph forks hooks_after_jump missed_all names_graph threads timeline_graph
    yields""".split()


class Memchecked(Run):
    """A run with which memcheck finds no fault, in whatever process of it."""

    def __init__(self, command, environment, timeout_s):
        settings = {"SAFECOPY_FEW_ROUNDS": "1", "CK_TIMEOUT_MULTIPLIER": "10"}
        with tempfile.TemporaryDirectory(prefix="safecopy-") as folder:
            super().__init__([*COMMAND, f"--log-file={folder}/%p", *command],
                             {**environment, **settings}, timeout_s)
            found = "".join(log.read_text(errors="replace")
                            for log in sorted(pathlib.Path(folder).iterdir()))
        self.command = [*COMMAND, *command]  # to be repeated by hand
        if found:
            raise self.failure(f"memcheck says:\n{found[:8000]}")


class SlowMachine(Machine):
    """The simulated GPU under memcheck: a copy may be complete there before anybody looks."""

    ignored = ("action", "certainty")

    def run(self, command, environment, timeout_s):
        return Memchecked(command, environment, timeout_s)


def unusable():
    """Why memcheck does not run here, or None."""
    try:
        probe = subprocess.run([*COMMAND, "true"], capture_output=True, text=True)
    except OSError:
        return "no valgrind here"
    return None if probe.returncode == 0 else f"valgrind does not run: {probe.stderr.strip()}"


def checks(machine):
    """(name, check) of the programs."""
    found = [check for folder, names, kind in (("hazard", TWINS, Twin),
                                               ("survival", SURVIVORS, Survivor),
                                               ("cupti", SETTLED, Settled))
             for source in programs.chosen(folder, names) for check in kind(source, machine).checks()]
    return [(name, check) for name, check in found if not name.endswith(("/strict", "/reported"))]
