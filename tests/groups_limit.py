"""The limit of memory that cgroups of the second version set, in a machine whose groups are free to be
made: scripts/other-kernel KERNEL memory.max. Groups of the first version have test_ranks.py."""

import ctypes
import json
import os
import pathlib
import subprocess

import programs

GROUPS = pathlib.Path("/sys/fs/cgroup")
NEW_MOUNTS, NEW_GROUPS, DETACH = 0x20000, 0x2000000, 2
MB = 1 << 20


def must(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def mount_groups():
    must(ctypes.CDLL(None, use_errno=True).mount(b"cgroup2", bytes(GROUPS), b"cgroup2", 0, None))


def enter(group, as_container):
    """In the child: a container sees its own group as the root of all."""
    (group / "cgroup.procs").write_text("0")
    if as_container:
        libc = ctypes.CDLL(None, use_errno=True)
        must(libc.unshare(NEW_MOUNTS | NEW_GROUPS))
        must(libc.umount2(bytes(GROUPS), DETACH))
        mount_groups()


def limits_of(machine, group, as_container):
    program = machine.twins / "none_two_readers.fixed"
    with programs.Report() as report:
        environment = machine.environment(programs.Directives.none(), True, report.option)
        run = subprocess.run([program], env=environment, capture_output=True, check=False,
                             preexec_fn=lambda: enter(group, as_container))
        if run.returncode != 0:
            raise programs.Failure(f"status {run.returncode}: {run.stderr.decode(errors='replace')}")
        return json.loads(report.path.read_text().splitlines()[0]).get("memory_limits")


def expect(found, source, value):
    wanted = [{"source": source, "value": str(value)}] if source else None
    if found != wanted:
        raise programs.Failure(f"memory_limits is {found}, not {wanted}")


def check(machine):
    """The lowest limit of a group and those that it lies in; None where there is no limit."""
    if not (GROUPS / "cgroup.controllers").exists():
        mount_groups()
    outer, inner = GROUPS / "job", GROUPS / "job" / "step"
    (GROUPS / "cgroup.subtree_control").write_text("+memory")
    outer.mkdir()
    (outer / "cgroup.subtree_control").write_text("+memory")
    inner.mkdir()
    expect(limits_of(machine, inner, False), None, 0)
    (outer / "memory.max").write_text(str(1024 * MB))
    (inner / "memory.max").write_text(str(2048 * MB))
    expect(limits_of(machine, inner, False), f"{outer}/memory.max", 1024 * MB)
    (inner / "memory.max").write_text(str(512 * MB))
    expect(limits_of(machine, inner, False), f"{inner}/memory.max", 512 * MB)
    expect(limits_of(machine, inner, True), f"{GROUPS}/memory.max", 512 * MB)
