"""Reports on a file system that two hosts share: a server of NFS 4.2 and two clients of it, with a network
and a host's name each, in a machine of its own: scripts/other-kernel KERNEL nfs.

What holds there as on a disk: of two processes that make the same name at once each keeps its report,
and none waits for one that lives. Only the server has a folder in which all names are seen."""

import ctypes
import json
import pathlib
import socket
import subprocess
import sys
import time

import programs

sys.path.insert(0, str(programs.ROOT / "tests" / "unit"))
from safecopy_runs import HOLDS  # noqa: E402  (found by the path above)

MODULES = "/kernel"  # where scripts/other-kernel has put them
SERVED = pathlib.Path("/srv")
ROUNDS = 8
PATIENCE_S = 300  # nothing speeds the machine up
NEW_NAMES = 0x4000000


def must(*command, **more):
    run = subprocess.run(command, capture_output=True, text=True, check=False, **more)
    if run.returncode != 0:
        raise programs.Failure(f"{' '.join(command)}: {run.stderr}")


def serve():
    """Without a wait for clients of before (the time of grace), of which there are none."""
    must("depmod", "-a", "-b", MODULES)
    for module in "veth", "nfsd", "nfsv4":
        must("modprobe", "-d", MODULES, module)
    pathlib.Path("/var/lib/nfs/v4recovery").mkdir(parents=True, exist_ok=True)
    SERVED.mkdir(exist_ok=True)
    must("mount", "-t", "tmpfs", "srv", str(SERVED))
    must("mount", "-t", "nfsd", "nfsd", "/proc/fs/nfsd")
    for name in "nfsv4leasetime", "nfsv4gracetime":
        pathlib.Path("/proc/fs/nfsd", name).write_text("10")
    pathlib.Path("/etc/exports").write_text(f"{SERVED} *(rw,sync,fsid=0,no_root_squash,no_subtree_check,insecure)\n")
    must("ip", "link", "set", "lo", "up")
    must("rpc.mountd", "-N", "3")
    must("exportfs", "-r")
    must("rpc.nfsd", "-N", "3", "2")


class Host:
    """A network and a name of its own; its processes see what the server has at `folder`."""

    def __init__(self, machine, number):
        self.machine, self.name = machine, f"host{number}"
        self.folder = pathlib.Path("/hosts") / self.name
        self.folder.mkdir(parents=True)
        near, far, net = f"up{number}", f"down{number}", f"10.0.{number}"
        must("ip", "netns", "add", self.name)
        must("ip", "link", "add", near, "type", "veth", "peer", "name", far, "netns", self.name)
        must("ip", "addr", "add", f"{net}.1/24", "dev", near)
        must("ip", "link", "set", near, "up")
        must("ip", "-n", self.name, "addr", "add", f"{net}.2/24", "dev", far)
        must("ip", "-n", self.name, "link", "set", far, "up")
        must("nsenter", f"--net=/run/netns/{self.name}", "mount", "-t", "nfs", "-o", "vers=4.2",
             f"{net}.1:/", str(self.folder), preexec_fn=self.take_name)
        expect(f" {self.folder} nfs4 " in pathlib.Path("/proc/mounts").read_text(), True, "a file system of NFS")

    def take_name(self):
        """In the child."""
        if ctypes.CDLL(None, use_errno=True).unshare(NEW_NAMES) != 0:
            raise OSError(ctypes.get_errno(), "unshare")
        socket.sethostname(self.name)

    def start(self, command, pattern, rank):
        """In the background, with its report there."""
        option = f"verbosity=0:report_path={self.folder}/{pattern}"
        environment = {**self.machine.environment(programs.Directives.none(), True, option), "RANK": str(rank)}
        return subprocess.Popen(command, env=environment, preexec_fn=self.take_name, text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def end(process, said=None):
    output, errors = process.communicate(said, timeout=PATIENCE_S)
    if process.returncode != 0:
        raise programs.Failure(f"status {process.returncode}: {output}{errors}")


def expect(found, wanted, what):
    if found != wanted:
        raise programs.Failure(f"{what}: {found}, not {wanted}")


def report(path):
    """Its host and how many hazards it tells of; a report that is not whole has no summary."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    expect((lines[0]["type"], lines[-1]["type"]), ("run", "summary"), path.name)
    expect(sum(line["type"] == "hazard" for line in lines) > 0, True, f"hazards in {path.name}")
    return lines[0]["host"], lines[-1]["hazards"]


def take_reports():
    """All that there are, which are removed."""
    found = {path.name: report(path) for path in sorted(SERVED.glob("*.jsonl*"))}
    for name in found:
        (SERVED / name).unlink()
    return found


def at_once(hosts, racy):
    """Each round, one of both has the name, and the other one its own number behind it."""
    for number in range(ROUNDS):
        started = [host.start([racy], f"{number}.jsonl", host.name[-1]) for host in hosts]
        for process in started:
            end(process)
        found = take_reports()
        apart = [f"{number}.jsonl.{process.pid}" for process in started]
        expect(sorted(host for host, _ in found.values()), [host.name for host in hosts], sorted(found))
        expect(f"{number}.jsonl" in found and any(name in found for name in apart), True, sorted(found))


def beside_a_living_one(hosts, racy):
    """It lives until the other one has ended."""
    first = hosts[0].start([sys.executable, "-c", HOLDS], "held.jsonl", 0)
    expect(first.stdout.readline(), "ready\n", "the first")
    second = hosts[1].start([racy], "held.jsonl", 1)
    end(second)
    expect(first.poll(), None, "the first")
    end(first, "\n")
    expect(take_reports(), {"held.jsonl": ("host1", 2), f"held.jsonl.{second.pid}": ("host2", 1)},
           "beside a living one")


def in_turn(hosts, racy):
    """Where both have ended one has replaced the other, unless the name has the host in it."""
    for pattern, wanted in (("one.jsonl", {"one.jsonl": ("host2", 1)}),
                            ("%h.%r.jsonl", {"host1.1.jsonl": ("host1", 1), "host2.2.jsonl": ("host2", 1)})):
        for host in hosts:
            end(host.start([racy], pattern, host.name[-1]))
        expect(take_reports(), wanted, pattern)


def check(machine):
    serve()
    hosts = [Host(machine, number) for number in (1, 2)]
    racy = machine.twins / "sc101_free_h2d.racy"
    begun = time.monotonic()
    for tried in at_once, beside_a_living_one, in_turn:
        tried(hosts, racy)
        print(f"nfs: {tried.__name__} after {time.monotonic() - begun:.0f} s", flush=True)
