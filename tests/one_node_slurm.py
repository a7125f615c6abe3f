"""Slurm with one node, this machine, for a test: munged, slurmctld and slurmd in a folder of their own,
with ports of their own, until the test is over. Wants root, and the packages slurm-wlm and munge."""

import contextlib
import os
import shutil
import socket
import subprocess
import time

NEEDED = ("srun", "sinfo", "slurmctld", "slurmd", "munged")
SBIN = "/usr/sbin:/sbin:" + os.environ.get("PATH", "")
CONFIGURATION = """\
ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs={ranks} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def missing():
    """What there is not here of what it takes; None if all is."""
    if os.geteuid() != 0:
        return "no root"
    return next((name for name in NEEDED if not shutil.which(name, path=SBIN)), None)


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def is_idle(environment):
    told = subprocess.run(["sinfo", "-h", "-o", "%T"], env=environment, capture_output=True, text=True)
    return told.stdout.strip() == "idle"


@contextlib.contextmanager
def one_node(folder, ranks):
    """The variables with which srun finds it, once the node is idle. FOLDER is empty."""
    host = socket.gethostname().partition(".")[0]
    for name in ("state", "spool"):
        (folder / name).mkdir()
    folder.chmod(0o755)
    configuration = folder / "slurm.conf"
    configuration.write_text(CONFIGURATION.format(folder=folder, host=host, ranks=ranks,
                                                  ports=free_ports(2)))
    (folder / "munge.key").write_bytes(os.urandom(1024))
    (folder / "munge.key").chmod(0o400)
    environment = {"PATH": SBIN, "SLURM_CONF": str(configuration)}
    commands = (
        ["munged", "--foreground", "--force", f"--key-file={folder}/munge.key",
         f"--socket={folder}/munge.socket", f"--pid-file={folder}/munged.pid",
         f"--log-file={folder}/munged.log", f"--seed-file={folder}/munge.seed"],
        ["slurmctld", "-D", "-f", configuration, "-L", folder / "slurmctld.log"],
        ["slurmd", "-D", "-f", configuration, "-N", host, "-L", folder / "slurmd.log"])
    with contextlib.ExitStack() as running:
        for command in commands:
            process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            running.callback(process.wait)
            running.callback(process.terminate)
            time.sleep(1)
        for _ in range(60):
            if is_idle(environment):
                break
            time.sleep(1)
        else:
            raise OSError("the node is not idle: " + (folder / "slurmctld.log").read_text()[-500:])
        yield environment
