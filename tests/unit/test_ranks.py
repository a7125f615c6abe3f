#!/usr/bin/env python3
"""Reports of many ranks: a launcher's variables, one path for all, ranks that die, and what `safecopy
report` makes of them. 8 ranks; RANKS=64 is what test_ranks_many.py runs."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import one_node_slurm  # noqa: E402  (found by the path above)
from safecopy_runs import (  # noqa: E402
    CORRECT, ENVIRONMENT, HOLDS, LIBRARY, OUT, PATIENCE_S, RACY, ROOT, Runs, SAFECOPY)

RANKS = int(os.environ.get("RANKS", "8"))
RACY_RANKS = (0, 1, 2, RANKS - 1)
KILLED, ABORTED = 4, 5  # ranks
SPANS = f"0-2, {RANKS - 1}"
SECTION = (ROOT / "docs" / "options.md").read_text().partition("\n#### Ranks\n")[2].partition("\n#")[0]
VARIABLES = re.findall(r"^\| `(\w+)` \|", SECTION, re.M)
ABORTS = str(OUT / "tests" / "survival" / "abort")
OPENS = str(OUT / "tests" / "hazard" / "sc501_ipc_driver.fixed")


class Ranks(Runs):
    def environment(self, pattern, variable, rank, options=""):
        return {**ENVIRONMENT, "SIM_GPU": "late=1:devices=2", variable: str(rank), "LD_PRELOAD": LIBRARY,
                "SAFECOPY_OPTIONS": f"verbosity=0:report_path={self.folder}/{pattern}{options}"}

    def launch(self, command, pattern="%h.%r.%p.jsonl", variable="RANK", ranks=range(RANKS)):
        """All at once, as a launcher has it. `command` of the rank."""
        started = [subprocess.Popen(command(rank), cwd=self.folder, stdin=subprocess.DEVNULL,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                    env=self.environment(pattern, variable, rank))
                   for rank in ranks]
        return [process.wait(300) for process in started]

    def mixed(self, rank):
        return [RACY if rank in RACY_RANKS else CORRECT]

    def report(self, *more):
        return self.start(SAFECOPY, "report", *more, *map(str, sorted(self.folder.glob("*.jsonl*"))))

    def hold(self, rank, pattern="%h.%r.%p.jsonl"):
        """A rank that has had a hazard, and waits to be told to have another one."""
        return subprocess.Popen(
            [sys.executable, "-c", HOLDS], cwd=self.folder, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, env=self.environment(pattern, "RANK", rank))

    def kill(self, rank):
        """SIGKILL, in the midst of its work: a hazard is on disk by then."""
        process = self.hold(rank)
        self.assertEqual(process.stdout.readline(), "ready\n")
        until_s = time.monotonic() + PATIENCE_S
        while not any("SC101" in path.read_text().rpartition("\n")[0]  # in whole lines
                      for path in self.folder.glob(f"*.{rank}.*.jsonl")):
            self.assertLess(time.monotonic(), until_s)
            time.sleep(0.01)
        process.kill()
        process.communicate()

    def test_a_report_a_rank_and_one_place(self):
        for variable in VARIABLES[0], VARIABLES[-1]:
            with self.subTest(variable):
                self.assertEqual(set(self.launch(self.mixed, variable=variable)), {0})
                names = sorted(path.name.split(".")[-3] for path in self.folder.glob("*.jsonl"))
                self.assertEqual(names, sorted(str(rank) for rank in range(RANKS)))
                run = self.report()
                self.assertEqual(run.returncode, 1, run.stderr)
                self.assertIn(f"{RANKS} runs of several ranks\n", run.stdout)
                rows = re.findall(r"^    (\d+) +\S+ +\d+ +1 +([01]) +status 0 ", run.stdout, re.M)
                self.assertEqual(rows, [(str(rank), str(int(rank in RACY_RANKS)))
                                        for rank in range(RANKS)])
                self.assertIn("1 place with hazards\n", run.stdout)
                self.assertIn(f"4 times in 4 runs (ranks {SPANS}): deferred", run.stdout)
                self.assertIn(f"\n    ranks 0-{RANKS - 1}: not watched: 1 operation", run.stdout)
            for path in self.folder.glob("*.jsonl"):
                path.unlink()

    def test_the_first_variable_that_is_set_is_the_rank(self):
        """In the order of docs/options.md: all of them are set, then all but the first, and so on. One
        that is empty is as one that is not set."""
        self.assertGreater(len(VARIABLES), 4)
        for at, variable in enumerate(VARIABLES):
            with self.subTest(variable):
                environment = self.environment("%r.jsonl", variable, at + 1)
                environment.update({later: "no" for later in VARIABLES[at + 1:]})
                environment.update({before: "" for before in VARIABLES[:at]})
                self.assertEqual(self.start(CORRECT, env=environment).returncode, 0)
                line = (self.folder / f"{at + 1}.jsonl").read_text().partition("\n")[0]
                self.assertEqual(json.loads(line)["rank"], str(at + 1))
        self.start(CORRECT, env={**self.environment("%r.jsonl", "LOCAL_RANK", 5), "MPI_LOCALRANKID": "6"})
        self.assertIsNone(json.loads((self.folder / "0.jsonl").read_text().partition("\n")[0])["rank"])

    def test_ranks_in_json_and_on_pages(self):
        self.launch(self.mixed)
        document = json.loads(self.report("--format", "json").stdout)
        self.assertEqual([hazard["ranks"] for hazard in document["hazards"]], [SPANS])
        for form in ("markdown", "html"):
            self.assertIn(f"(ranks {SPANS})", self.report("--format", form).stdout, form)

    def test_one_rank_is_as_ever(self):
        self.launch(self.mixed, ranks=[1])
        run = self.report()
        self.assertNotIn("several ranks", run.stdout)
        self.assertIn("observed, 1 time: deferred", run.stdout)
        self.assertNotIn("ranks", json.loads(self.report("--format", "json").stdout)["hazards"][0])

    def test_ranks_that_die_are_named_and_keep_their_reports(self):
        died = (KILLED, ABORTED)
        self.launch(self.mixed, ranks=[rank for rank in range(RANKS) if rank not in died])
        self.launch(lambda _: [ABORTS], ranks=[ABORTED])
        self.kill(KILLED)
        run = self.report()
        self.assertEqual(run.returncode, 1, run.stderr)
        for rank in died:
            self.assertRegex(run.stdout, rf"(?m)^    {rank} +\S+ +\d+ +\? +\? +no ")
        self.assertRegex(run.stdout, rf"ranks? .*{KILLED}.*: no summary: the run did not end")
        self.assertIn(f"(rank {KILLED})", run.stdout)  # its hazard, of another program
        self.assertNotIn("no report here", run.stdout)

    def test_ranks_without_a_report_are_named(self):
        self.launch(self.mixed, ranks=[rank for rank in range(RANKS) if rank not in (1, 3, 4)])
        self.assertIn("    no report here of ranks 1, 3, 4\n", self.report().stdout)

    def test_one_path_for_all(self):
        """As on a shared file system: while all live, who comes second neither waits nor overwrites."""
        held = [self.hold(rank, "all.jsonl") for rank in range(RANKS)]
        self.assertEqual({process.stdout.readline() for process in held}, {"ready\n"})
        for process in held:
            process.communicate("\n")
        self.assertEqual(len(list(self.folder.glob("all.jsonl*"))), RANKS)
        self.assertIn(f"(ranks 0-{RANKS - 1})", self.report().stdout)

    def test_hosts_are_told_apart(self):
        """Containers have the same process numbers and names of their own."""
        names = [["unshare", "-u", "sh", "-c", f'hostname {host}; exec "$0"', CORRECT]
                 for host in ("node0", "node1")]
        if subprocess.run(["unshare", "-u", "true"], capture_output=True).returncode != 0:
            self.skipTest("no host name of one's own to be had")
        self.launch(lambda rank: names[rank % 2], pattern="%h.%r.jsonl")
        found = sorted(path.name for path in self.folder.glob("*.jsonl"))
        self.assertEqual(found, sorted(f"node{rank % 2}.{rank}.jsonl" for rank in range(RANKS)))
        self.assertRegex(self.report().stdout, r"(?m)^    1 +node1 ")

    def test_memory_of_another_process_is_counted(self):
        options = ":strict=1:device=1:verbosity=1"
        run = self.start(OPENS, env=self.environment("%r.%p.jsonl", "RANK", 0, options))
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stderr.count("whose work there is not seen: 2\n"), 1, run.stderr)
        self.assertIn("whose work there is not seen: 2\n", self.report().stdout)

    def test_limits_have_a_source(self):
        environment = {**self.environment("%p.jsonl", "RANK", 0),
                       "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT": "0=2G"}
        groups = pathlib.Path("/proc/self/cgroup").read_text()
        group = re.search(r":memory:(/.*)", groups)
        below = pathlib.Path(f"/sys/fs/cgroup/memory{group[1] if group else ''}/safecopy{os.getpid()}")
        enter = ""
        try:
            below.mkdir()
            self.addCleanup(below.rmdir)
            (below / "memory.limit_in_bytes").write_text(str(3 << 30))
            enter = f"echo $$ >{below}/cgroup.procs; "
        except OSError:
            pass  # none of one's own to be had
        self.start("sh", "-c", f'{enter}exec "$0"', CORRECT, env=environment)
        shown = self.report("--format", "memory").stdout
        self.assertIn("  limit: 0=2G, by CUDA_MPS_PINNED_DEVICE_MEM_LIMIT\n", shown)
        if enter:
            self.assertIn(f"  limit: {3 << 30}, by {below}/memory.limit_in_bytes\n", shown)

    def test_ranks_whose_memory_stands_out(self):
        self.assertEqual(set(self.launch(lambda _: [str(OUT / "demo" / "keeps"), "ranks"])), {0})
        text = self.report("--format", "memory").stdout
        self.assertIn(f"{RANKS} processes\n", text)
        self.assertEqual(sorted(re.findall(r"(?m)^  stands out: (rank \d+): ", text)),
                         ["rank 2", "rank 3"])
        self.assertRegex(text, r"rank 2: .*: holds 256 MB more than most\n    \+256 MB, .*"
                               r"in load_weights, from keep_a_copy, be_a_rank\n")
        self.assertRegex(text, r"rank 3: .*: has memory of device 0 besides, .*\n    2 MB .*\n"
                               r"(.*\n)? *#\d allocate_scratch ")

    def test_the_program_of_the_docs(self):
        """docs/many-ranks.md"""
        self.launch(lambda _: [str(OUT / "demo" / "portable")])
        run = self.report()
        some = ", ".join(str(rank) for rank in range(0, RANKS, 2)) if RANKS == 8 else "0, 2, 4, 6"
        self.assertIn(f"(ranks {some}", run.stdout)
        self.assertIn("rank 5: no summary: the run did not end normally", run.stdout)
        self.assertRegex(run.stdout, r"device 1, thread \d+")

    def by_launcher(self, *launcher, variable, **environment):
        """Reports that a launcher's ranks have left, some of which have a hazard."""
        script = self.folder / "rank.sh"
        script.write_text(f'case ${variable} in 0|1|2|{RANKS - 1}) exec "{RACY}" ;; esac\n'
                          f'exec "{CORRECT}"\n')
        run = self.start(SAFECOPY, "run", "--format", "text", "--report-dir", self.folder / "reports",
                         "--", *launcher, "sh", script, env={**ENVIRONMENT, **environment})
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn(f"{RANKS} runs of several ranks", run.stdout + run.stderr)
        self.assertIn(f"(ranks {SPANS})", run.stdout + run.stderr)

    def test_mpirun(self):
        if not shutil.which("mpirun"):
            self.skipTest("no mpirun here")
        self.by_launcher("mpirun", "--oversubscribe", "-n", str(RANKS), variable="OMPI_COMM_WORLD_RANK",
                         OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")

    def test_srun(self):
        if one_node_slurm.missing():
            self.skipTest(f"no Slurm here: {one_node_slurm.missing()}")
        folder = self.folder / "slurm"
        folder.mkdir()
        with one_node_slurm.one_node(folder, RANKS) as slurm:
            self.by_launcher("srun", "-n", str(RANKS), variable="SLURM_PROCID", **slurm)

    def test_torchrun(self):
        if not shutil.which("torchrun"):
            self.skipTest("no torchrun here")
        self.by_launcher("torchrun", "--no-python", f"--nproc-per-node={RANKS}", variable="RANK")


if __name__ == "__main__":
    unittest.main()
