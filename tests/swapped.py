"""Pages in flight that the machine would swap out, under either mechanism of the guard: scripts/other-kernel
KERNEL 'swap*', from Linux 5.19 on. The machine has a disk for it, and a group that is asked for its
memory."""

import ctypes
import os
import pathlib

import groups_limit
import programs

DISK = pathlib.Path("/dev/nvme0n1")
GROUP = groups_limit.GROUPS / "swapping"
PAGE, MB = 4096, 1 << 20
OPTIONS = ("guard=mprotect", "guard=uffd", "guard=on")  # which chooses mprotect where there is swap


def turn_on():
    """What mkswap writes: version 1, the last page, no bad ones, and a signature at the page's end."""
    head = bytearray(PAGE)
    head[1024:1036] = b"".join(number.to_bytes(4, "little") for number in (1, 64 * MB // PAGE - 1, 0))
    head[-10:] = b"SWAPSPACE2"
    with open(DISK, "r+b") as disk:
        disk.write(head)
    groups_limit.must(ctypes.CDLL(None, use_errno=True).swapon(bytes(DISK), 0))


def make_group():
    if not (groups_limit.GROUPS / "cgroup.controllers").exists():
        groups_limit.mount_groups()
    (groups_limit.GROUPS / "cgroup.subtree_control").write_text("+memory")
    GROUP.mkdir()


def checks(machine_of):
    """`machine_of(options)` makes a machine. (name, check)."""
    def prepare():
        if not DISK.exists():
            raise programs.Skip("no disk to swap to")
        if not GROUP.exists():
            turn_on()
            make_group()
        if not (GROUP / "memory.reclaim").exists():
            raise programs.Skip("needs Linux 5.19")
        (GROUP / "cgroup.procs").write_text(str(os.getpid()))

    def prepared(check):
        def run():
            prepare()
            return check()
        return run

    source = next(source for source in programs.sources("hazard") if source.stem == "guard_swapped")
    for options in OPTIONS:
        twin = programs.Twin(source, machine_of(options))
        twin.directives.values.setdefault("env", []).append(f"RECLAIM={GROUP}/memory.reclaim")
        for name, check in twin.checks():
            yield f"swap/{options}/{name}", prepared(check)
