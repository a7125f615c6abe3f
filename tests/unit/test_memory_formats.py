#!/usr/bin/env python3
"""What `safecopy report` shows of memory: several processes side by side, what has grown, what
differs from a baseline, and other formats of it. Programs run on the simulated GPU."""

import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from memory_reports import (GB, MB, account, as_report, frame, line, memory, native, run_line,
                            summary)
from test_formats import NASTY, Tags, fields, spoilt

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT", ROOT / "out")).resolve()
ENVIRONMENT = {**{name: value for name, value in os.environ.items()
                  if not name.startswith(("SAFECOPY_", "LD_", "CUDA_", "GITHUB_"))},
               "HOME": "/nonexistent", "LD_LIBRARY_PATH": str(OUT / "sim")}


class Reports(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def report(self, *arguments, status=0):
        run = subprocess.run([OUT / "safecopy", "report", *arguments], cwd=self.folder, check=False,
                             capture_output=True, env=ENVIRONMENT)
        self.assertEqual((run.returncode, run.stderr), (status, b""))
        return run.stdout

    def shown(self, *arguments, name="memory"):
        return self.report("--format", name, *arguments).decode()

    def write(self, name, *lines):
        path = self.folder / name
        path.write_bytes(as_report(lines))
        return path

    def of_run(self, name, accounts, **run):
        return self.write(name, run_line(**run), summary(memory(accounts)))

    def ran(self, file, *arguments, name="memory_sites"):
        """The report of a run of the program."""
        path = self.folder / file
        subprocess.run([ROOT / "out" / "tests" / "survival" / name, *arguments],
                       cwd=self.folder, check=True, capture_output=True, timeout=300,
                       env={**ENVIRONMENT, "LD_PRELOAD": str(OUT / "libsafecopy.so"),
                            "SAFECOPY_OPTIONS": f"report_path={path}"})
        return path


class Ranks(Reports):
    def ranks(self, count, **odd):
        """Ranks with a device each, of which some have other accounts."""
        def accounts(rank):
            device = rank % 8
            return [account(4 * GB + rank % 5 * MB, device=device, owner="PyTorch",
                            stack=[frame("load")]),
                    account(256 * MB, kind="pinned", device=None, api="cuMemHostAlloc")]
        return [self.of_run(f"{rank}.jsonl", accounts(rank) + odd.get(f"r{rank}", []),
                            command=("python", "train.py", "--local-rank", str(rank)), pid=100 + rank,
                            rank=str(rank), host=f"node{rank // 8}") for rank in range(count)]

    def standing_out(self, text):
        return [text_.split(": ")[1] for text_ in text.splitlines() if "stands out: " in text_]

    def test_of_64_the_two_that_differ_are_named(self):
        files = self.ranks(64, r17=[account(1 * GB, device=1, owner="NCCL", stack=[frame("reduce")])],
                           r3=[account(2 * MB, device=0, owner="train", stack=[frame("ping")])])
        text = self.shown(*files)
        self.assertEqual(sorted(self.standing_out(text)), ["rank 17", "rank 3"])
        self.assertRegex(text, r"rank 17: .*: holds 1 GB more than most\n"
                               r"    \+1 GB, \+1 block, \+1 GB at the peak: NCCL, device, by "
                               r"cuMemAlloc_v2 at /home/ada/train.py:8 in reduce\n")
        self.assertRegex(text, r"rank 3: .*: has memory of device 0 besides.*\n"
                               r"    2 MB in 1 block, 2 MB at the peak: train, device, by "
                               r"cuMemAlloc_v2\n        #0 ping /home/ada/train.py:8\n")
        self.assertIn("\n64 processes\n", "\n" + text)

    def test_a_context_alone_is_a_stray_one(self):
        """Whoever asks device 0 what is free before it chooses its own has a context there."""
        step = {"bytes": 500 * MB, "times": 1, "api": "cuDevicePrimaryCtxRetain",
                "stack": [frame("ask_what_is_free")]}
        unaccounted = {"bytes": 500 * MB, "peak_bytes": 500 * MB, "driver_bytes": 500 * MB}
        files = []
        for rank in range(8):
            member = memory([account(4 * GB, device=rank)],
                            unaccounted={**unaccounted, "steps": [step]})
            if rank == 3:
                stray = memory([account(0, device=0)], unaccounted={**unaccounted, "steps": [step]})
                member["devices"].insert(0, {**stray["devices"][0], "bytes": 0, "blocks": 0,
                                             "kinds": {}, "contexts": [{
                                                 "count": 1, "api": "cuDevicePrimaryCtxRetain",
                                                 "stack": [frame("ask_what_is_free")]}]})
            files.append(self.write(f"{rank}.jsonl", run_line(rank=str(rank), pid=1 + rank),
                                    summary(member)))
        text = self.shown(*files)
        self.assertEqual(self.standing_out(text), ["rank 3"])
        self.assertRegex(text, r"rank 3: .*: has a context on device 0 besides.*\n"
                               r"      1 context, by cuDevicePrimaryCtxRetain\n"
                               r"        #0 ask_what_is_free /home/ada/train.py:8\n"
                               r"    unaccounted: 500 MB, 500 MB at most; the driver says the process "
                               r"has 500 MB\n      500 MB behind cuDevicePrimaryCtxRetain\n"
                               r"        #0 ask_what_is_free /home/ada/train.py:8\n")
        self.assertIn("<summary>contexts", self.shown(*files, name="html"))
        self.assertIn("<summary>unaccounted <span", self.shown(*files, name="html"))
        self.assertEqual(self.shown(*files, name="prometheus").count(
            "\nsafecopy_memory_unaccounted_bytes{"), 9)

    def test_what_is_not_known_of_some_sets_none_apart(self):
        """Of two ranks nobody has asked NVML, or it did not list them."""
        def files(**more):
            for rank in range(8):
                bytes_ = more.get(f"r{rank}", 500 * MB)
                known = {"bytes": bytes_, "peak_bytes": bytes_, "driver_bytes": 5 * GB, "steps": []}
                member = memory([account(4 * GB, device=rank)], **(
                    {2: {"unaccounted": None}, 5: {}}.get(rank, {"unaccounted": known})))
                yield self.write(f"{rank}.jsonl", run_line(rank=str(rank), pid=1 + rank),
                                 summary(member))
        self.assertEqual(self.standing_out(self.shown(*files())), [])
        text = self.shown(*files(r6=2 * GB))
        self.assertEqual(self.standing_out(text), ["rank 6"])
        self.assertIn(" more unaccounted than most", text)

    def test_what_is_shared_counts_once(self):
        """The importer has it in no sum; and two hosts may have a device 0 each."""
        files = [self.of_run("a", [account(256 * MB), account(MB, kind="pinned", device=None)]),
                 self.of_run("b", [account(256 * MB, kind="imported", api="cuIpcOpenMemHandle_v2"),
                                   account(4 * MB)], pid=8),
                 self.of_run("c", [account(3 * MB, kind="pinned", device=None)], pid=9,
                             host="node2")]
        text = self.shown(*files)
        self.assertIn("     260 MB together: GPU-73696d75-6c61-7465-642d-6770752d3000, by 2 processes\n"
                      "       3 MB together: host of node2, by 1 process\n"
                      "       1 MB together: host of node1, by 1 process\n", text)

    def test_what_a_process_was_before_it_became_another_program_is_in_no_sum(self):
        """exec gives all memory back: three programs in turn are one process."""
        lines = []
        for mb in 100, 50:
            lines += [run_line(), line(memory([account(mb * MB)], time_ns=mb))]
        one = self.write("one.jsonl", *lines, run_line(), summary(memory([account(MB)])))
        text = self.shown(one)
        self.assertNotRegex(text, "processes|together|stands out")
        self.assertIn("  as its last line says: the process went on as another program\n", text)
        for name in "collapsed", "collapsed-peak":
            put, = self.shown(one, name=name).splitlines()
            self.assertTrue(put.endswith(f" {MB}"), put)
        self.assertEqual([values["inuse_space"] for values, _, _ in
                          samples_of(self.report("--format", "pprof", one))], [MB])
        site, = json.loads(self.report("--json", one))["memory"]
        self.assertEqual((site["bytes"], site["peak_bytes"]), (MB, MB))
        old = self.of_run("old.jsonl", [account(MB)])
        self.assertNotIn("-99 MB", self.shown("--baseline", one, old))
        self.assertIn("no difference", self.shown("--baseline", one, old))

    def test_of_equal_ones_nobody_is(self):
        self.assertEqual(self.standing_out(self.shown(*self.ranks(64))), [])

    def test_another_program_is_compared_with_its_own_kind(self):
        """A server beside its workers; and of two nobody knows which is the odd one."""
        files = self.ranks(8)
        files += [self.of_run("server", [account(9 * GB)], command=("server",), pid=1),
                  self.of_run("a", [account(1 * GB)], command=("two",), pid=2),
                  self.of_run("b", [account(7 * GB)], command=("two",), pid=3)]
        self.assertEqual(self.standing_out(self.shown(*files)), [])

    def test_stages_that_differ_all_are_as_most_are(self):
        """Of a pipeline each rank has more than the one before it."""
        files = [self.of_run(f"{rank}", [account((2 + rank) * GB)], rank=str(rank), pid=1 + rank)
                 for rank in range(8)]
        self.assertEqual(self.standing_out(self.shown(*files)), [])

    def test_page_locked_memory_counts_apart(self):
        more = [account(3 * GB, kind="pinned", device=None, api="cuMemHostAlloc",
                        stack=[frame("cache")])]
        text = self.shown(*self.ranks(8, r5=more))
        self.assertEqual(self.standing_out(text), ["rank 5"])
        self.assertIn("has 3 GB more page-locked than most", text)


class Growth(Reports):
    def lines(self, *held):
        """A report with a line a second, of which each is a list of accounts."""
        lines = [line(memory(accounts, time_ns=(1 + second) * 10**9, most=10))
                 for second, accounts in enumerate(held)]
        return self.write("r.jsonl", run_line(), *lines, summary(memory(held[-1])))

    def test_each_site_that_grows(self):
        text = self.shown(self.lines(*(
            [account(512 * MB, stack=[frame("load")]),
             account(requests * 8 * MB, blocks=requests, stack=[frame("serve")])]
            for requests in range(1, 11))))
        self.assertIn("  since the first line, 9 s before: +72 MB device 0, +0 B host\n", text)
        self.assertRegex(text, r"  since one in the middle, \d s before: \+\d\d MB device 0,")
        self.assertIn("    +72 MB, +9 blocks: train, device, by cuMemAlloc_v2 at "
                      "/home/ada/train.py:8 in serve\n", text)
        self.assertNotIn("in load\n    no", text)
        self.assertEqual(text.count("+72 MB, "), 1)

    def test_what_has_not_grown(self):
        text = self.shown(self.lines(*3 * [[account(512 * MB)]]))
        self.assertIn("  since the first line, 2 s before: +0 B device 0, +0 B host\n", text)
        self.assertIn("    no difference\n", text)

    def test_execs_without_bytes(self):
        """Live execs of graphs have no bytes of their own (llama.cpp#25835)."""
        text = self.shown(self.lines(*(
            [account(0, blocks=count, kind="graph_execs", api="cuGraphInstantiateWithFlags",
                     stack=[native("decode")])] for count in (10, 20, 30))))
        self.assertIn("    +0 B, +20 blocks: train, graph_execs, by cuGraphInstantiateWithFlags at "
                      "decode (train+0x4200)\n", text)

    def test_each_label(self):
        text = self.shown(self.lines(
            [account(8 * MB, label="warm up"), account(MB, label="request")],
            [account(8 * MB, label="warm up"), account(33 * MB, blocks=2, label="request")]))
        self.assertIn("  the same by label\n    +32 MB, +1 block: request\n", text)

    def test_between_two_lines(self):
        path = self.lines(*([account(2 ** second * MB, stack=[frame("serve")])]
                            for second in range(20)))
        for between, change in (("3,7", "4 s before: +60 MB"), ("2s,6s", "4 s before: +60 MB"),
                                ("19", "1 s before: +256 GB"), ("3500ms,1m", "")):
            text = self.shown("--between", between, path)
            if change:
                self.assertIn(f"  between these two lines, since the first, {change}",
                              text)
            else:
                self.assertIn("  there are no such two lines about memory\n", text)
            self.assertNotIn("since the first line", text)
        self.assertIn("    +60 MB: train, device, by cuMemAlloc_v2 at /home/ada/train.py:8 in serve\n",
                      self.shown("--between", "3,7", path))
        self.assertIn("<h4>Between the two lines</h4>\n", self.shown("--between=3,7", path, name="html"))

    def test_what_are_no_two_lines(self):
        path = self.lines([account(MB)], [account(MB)])
        for between in ("", "0", "7,3", "3,3", "a,b", "3,", "3,7,9", "3x,7", "9999999999", "-1,2"):
            run = subprocess.run([OUT / "safecopy", "report", f"--between={between}", path],
                                 check=False, capture_output=True, text=True, env=ENVIRONMENT)
            self.assertEqual((run.returncode, run.stdout), (2, ""), between)
            self.assertIn("--between takes two lines", run.stderr)

    def test_a_single_line_is_compared_with_none(self):
        self.assertNotIn("since", self.shown(self.lines([account(MB)])))

    def test_a_line_is_all_that_is_known_of_a_run_that_was_killed(self):
        path = self.write("r.jsonl", run_line(), line(memory([account(3 * GB)])))
        run = subprocess.run([OUT / "safecopy", "report", "--format", "memory", path], check=False,
                             capture_output=True, text=True, env=ENVIRONMENT)
        self.assertEqual(run.returncode, 2)
        self.assertIn("as its last line says: the run did not end normally\n  device 0", run.stdout)

    def test_of_many_lines_some_are_kept(self):
        """Memory of the command does not grow with the lines."""
        path = self.lines(*([account(second * MB)] for second in range(1, 3001)))
        run, = json.loads(self.report("--json", path))["runs"]
        self.assertLessEqual(len(run["memory_lines"]), 8)
        times = [point["time_ns"] // 10**9 for point in run["memory_points"]]
        self.assertTrue(128 < len(times) <= 256, len(times))
        self.assertEqual({after - before for before, after in zip(times, times[1:])},
                         {times[1] - times[0]})
        self.assertEqual(run["memory"]["memory"]["devices"][0]["bytes"], 3000 * MB)


class Kept(Reports):
    def test_what_others_have_open(self):
        """Exports of a device, and children that live on."""
        member = memory([account(256 * MB)], time_ns=5_000_000_000, exports=[
            {"kind": "device", "bytes": 256 * MB, "since_ns": 2_000_000_000,
             "api": "cuIpcGetMemHandle", "stack": [frame("share")]}])
        member["children"] = [{"pid": 8, "name": "worker"}, {"pid": 9, "name": "tuner"}]
        path = self.write("r.jsonl", run_line(), summary(member))
        text, page = self.shown(path), self.shown(path, name="html")
        self.assertIn("    open to others:\n      256 MB of device, by cuIpcGetMemHandle, 3 s before\n"
                      "        #0 share /home/ada/train.py:8\n", text)
        children = "children live on and have a device open: 8 (worker) 9 (tuner)"
        self.assertIn(f"  {children}\n", text)
        self.assertIn(f"<p>{children}</p>", page)
        self.assertIn("<summary>open to others</summary><ul>\n<li>256 MB of device, by", page)


class OwnPools(Reports):
    def test_a_pool_stands_below_its_owner_or_by_itself(self):
        """What a suballocator has taken is its owner's; of another name nobody knows whose it is."""
        def pool(owner, **more):
            return {"owner": owner, "reserved_bytes": 8 * GB, "used_bytes": 5 * GB, "told_ns": 1,
                    "given_back_by": None, **more}
        member = memory([account(9 * GB, owner="PyTorch")], suballocators=[
            pool("PyTorch", given_back_by="torch.cuda.empty_cache()"), pool("arena<b>")])
        path = self.write("r.jsonl", run_line(), summary(member))
        self.assertIn("    PyTorch: 9 GB, 9 GB at the peak\n      of that its own pool has 8 GB, 5 GB in "
                      "use; 3 GB unused, which torch.cuda.empty_cache() gives back\n"
                      "    arena<b>: its own pool has 8 GB, 5 GB in use; 3 GB unused\n", self.shown(path))
        page = self.shown(path, name="html")
        self.assertIn("<li>of that its own pool has 8 GB, 5 GB in use; 3 GB unused, which", page)
        self.assertNotIn("arena<b>", page)


class Left(Reports):
    def test_what_the_report_leaves_out_is_one_row(self):
        """The rows add up to what each kind has."""
        accounts = [account((100 - at) * MB, stack=[frame(f"f{at}")]) for at in range(60)]
        text = self.shown(self.of_run("r.jsonl", accounts))
        rest = sum(one["bytes"] for one in accounts[48:]) // MB
        self.assertIn(f"    {rest} MB in 12 blocks, 0 B at the peak: device of others, with less\n",
                      text)


class Failures(Reports):
    def test_the_last_failure_is_told(self):
        oom = {"type": "oom", "api": "cuMemAlloc_v2", "device": 0, "size": 200 * MB, "count": 512,
               "thread": 7, "time_ns": 9, "stack": [frame("grow")], "verdict": "pool_keeps_unused",
               "pool": "0x7f", "given_back_by": "cuCtxSynchronize", "unused_bytes": 928 * MB,
               "own_bytes": 928 * MB, "free_bytes": 96 * MB, "total_bytes": GB,
               "memory": memory([account(1)])}
        path = self.write("r.jsonl", run_line(), oom, summary(memory([account(1)])))
        text = self.shown(path)
        self.assertIn("<p>failed for want of memory, 512 times: ", self.shown(path, name="html"))
        self.assertIn("  failed for want of memory, 512 times: cuMemAlloc_v2 of 200 MB: a pool's "
                      "memory is freed behind work that is not done, 928 MB, which "
                      "cuCtxSynchronize gives back; the process "
                      "had 928 MB, and 96 MB of 1 GB was free\n        #0 grow /home/ada/train.py:8\n",
                      text)

    def test_lines_of_threads_come_in_any_order(self):
        def oom(count):
            return {"type": "oom", "api": "cuMemAlloc_v2", "device": 0, "size": count, "count": count,
                    "thread": 7, "time_ns": 9, "stack": [], "verdict": "full", "unused_bytes": 0,
                    "own_bytes": 0}
        for failures, lines, seen in ((1000, [4, 512, 1], 1000), (0, [512, 2], 512),
                                      (600, [512, 256], 600)):
            path = self.write("r.jsonl", run_line(), *map(oom, lines),
                              summary({**memory([account(1)]), "failures": failures}))
            self.assertIn(f"failed for want of memory, {seen} times: cuMemAlloc_v2 of 512 B",
                          self.shown(path))
            self.assertRegex(self.shown(path, name="prometheus"),
                             rf"(?m)^safecopy_memory_failures_total\{{.*\}} {seen}$")


class Baseline(Reports):
    SAME = "    no difference\n"

    def since(self, old, *new):
        text = self.shown("--baseline", old, *new)
        self.assertIn("since the baseline (", text)
        return text[text.index("since the baseline ("):].split("\n", 1)[1]

    def test_two_runs_of_one_program(self):
        old, new, more = self.ran("a.jsonl"), self.ran("b.jsonl"), self.ran("c.jsonl", "more")
        kept = self.folder / "a.json"
        self.report("--json", "-o", kept, old)
        for before in old, kept:
            with self.subTest(before.name):
                self.assertEqual(self.since(before, new), self.SAME)
                self.assertRegex(self.since(before, more),
                                 r"^    \+10 MB, \+1 block, \+10 MB at the peak: memory_sites, device, "
                                 r"by cuMemAlloc_v2 at \S*memory_sites.c:\d+ in cache_weights, "
                                 r"from main\n$")
        self.assertRegex(self.since(more, new), r"^    -10 MB, -1 block, -10 MB at the peak: [^\n]*\n$")

    def test_json_has_both_sides(self):
        old = self.of_run("a.jsonl", [account(8 * MB)])
        new = self.of_run("b.jsonl", [account(9 * MB, blocks=2)])
        site, = json.loads(self.report("--json", "--baseline", old, new))["memory"]
        self.assertRegex(site.pop("fingerprint"), "^[0-9a-f]{32}$")
        self.assertEqual(site, {
            "title": "train, device, by cuMemAlloc_v2 at /home/ada/train.py:8 in step",
            "bytes": 9 * MB, "blocks": 2, "peak_bytes": 9 * MB, "baseline_bytes": 8 * MB,
            "baseline_blocks": 1, "baseline_peak_bytes": 8 * MB})

    def test_lines_addresses_and_the_frames_of_libraries_do_not_count(self):
        def of(name, offset, at):
            return self.of_run(name, [account(8 * MB, stack=[
                native("c10_alloc", "/opt/conda/lib/libc10_cuda.so", offset),
                frame("step", line=at)])])
        self.assertEqual(self.since(of("a.jsonl", "0x12", 8), of("b.jsonl", "0x99", 80)), self.SAME)

    def test_several_processes_are_added_up(self):
        old = self.of_run("a.jsonl", [account(8 * MB)])
        text = self.since(old, *(self.of_run(f"{pid}.jsonl", [account(8 * MB)], pid=pid)
                                 for pid in (1, 2)))
        self.assertIn("    +8 MB, +1 block, +8 MB at the peak: ", text)


def many():
    """Accounts of every kind at two devices and the host, more than a report has."""
    accounts = [account((1 + at) * MB, blocks=1 + at, device=at % 2, kind=kind, owner=owner,
                        peak=(3 + at) * MB, stack=[native(f"leaf{at % 7}"), frame(f"outer{at % 5}")])
                for at, (kind, owner) in enumerate(
                    (kind, owner) for kind in ("device", "pooled", "array", "physical", "managed",
                                               "mapped", "imported")
                    for owner in ("PyTorch", "NCCL", "train", "cuBLAS", "lib;x"))]
    accounts += [account((1 + at) * MB, kind="pinned", device=None, api="cuMemHostAlloc",
                         stack=[native(f"pin{at % 3}")]) for at in range(30)]
    return accounts


def samples_of(profile):
    """The samples of a profile: values by type, names of the frames, labels."""
    strings, types, functions, locations, samples = [], [], {}, {}, []
    for field, value in fields(gzip.decompress(profile)):
        if field == 6:
            strings.append(value.decode())
        elif field == 1:
            types.append(dict(fields(value))[1])
        elif field == 5:
            functions[dict(fields(value))[1]] = dict(fields(value))[2]
        elif field == 4:
            inner = dict(fields(value))
            locations[inner[1]] = dict(fields(inner[4]))[1]
        elif field == 2:
            samples.append(list(fields(value)))

    def label(bytes_):
        inner = dict(fields(bytes_))
        return strings[inner[1]], strings[inner[2]] if 2 in inner else inner[3]
    return [({strings[type_]: value for type_, value in
              zip(types, [value for field, value in sample if field == 2])},
             [strings[functions[locations[value]]] for field, value in sample if field == 1],
             dict(label(value) for field, value in sample if field == 3)) for sample in samples]


class Stacks(Reports):
    """Sums of each format are those of the report, whatever it leaves out."""

    def setUp(self):
        super().setUp()
        self.member = memory(many())
        self.path = self.write("r.jsonl", run_line(rank="3"), summary(self.member))
        self.places = [*self.member["devices"], self.member["host"]]

    def sum_of(self, key):
        return sum(place[key] for place in self.places)

    def test_collapsed_stacks_add_up(self):
        self.assertGreater(self.member["accounts_left_out"], 10)
        for name, key in ("collapsed", "bytes"), ("collapsed-peak", "peak_bytes"):
            lines = [re.fullmatch(r"(.+) (\d+)", text) for text in
                     self.shown(self.path, name=name).splitlines()]
            self.assertEqual(sum(int(match[2]) for match in lines), self.sum_of(key))
            for match in lines:
                self.assertRegex(match[1], r"^rank 3: /home/ada/train \(pid 7 on node1\);"
                                           r"(device [01]|host);((outer\d;leaf\d;|pin\d;)cuMem\w+|"
                                           r"(any kind|\w+) of others, with less)$")

    def profile(self, *paths):
        return samples_of(self.report("--format", "pprof", *paths))

    def test_a_profile_adds_up(self):
        samples = self.profile(self.path)
        for type_, key in ("inuse_space", "bytes"), ("inuse_objects", "blocks"), ("peak_space",
                                                                                  "peak_bytes"):
            self.assertEqual(sum(values[type_] for values, _, _ in samples), self.sum_of(key))
        shown = [one for one in self.member["accounts"] if one["kind"] in
                 ("device", "pooled", "array", "physical", "pinned")]
        for type_, key, now in (("alloc_space", "ever_bytes", "bytes"),
                                ("alloc_objects", "ever_blocks", "blocks")):
            left_out = self.sum_of(now) - sum(one[now] for one in shown)
            self.assertGreater(left_out, 0)
            self.assertEqual(sum(values[type_] for values, _, _ in samples),
                             sum(one[key] for one in shown) + left_out)
        of_kind = {}
        for values, names, labels in samples:
            self.assertGreater(len(names), 0)
            self.assertEqual((labels["rank"], labels["pid"]), ("3", 7))
            place = labels["device"], labels["kind"]
            of_kind[place] = of_kind.get(place, 0) + values["inuse_space"]
        for number, place in zip(("device 0", "device 1", "host"), self.places):
            for kind in {"device", "pooled", "array", "physical", "pinned"} & set(place["kinds"]):
                self.assertEqual(of_kind[number, kind], place["kinds"][kind]["bytes"])

    def test_frames_are_innermost_first(self):
        path = self.of_run("r.jsonl", [account(MB, stack=[native("leaf"), frame("outer")])])
        (_, names, labels), = self.profile(path)
        self.assertEqual((names, labels["owner"], labels["call"]),
                         (["leaf", "outer"], "train", "cuMemAlloc_v2"))

    @unittest.skipUnless(shutil.which("go"), "no go here (golang-go)")
    def test_go_reads_a_profile(self):
        path = self.folder / "r.pb.gz"
        self.report("--format", "pprof", "-o", path, self.path)
        for type_, key in ("inuse_space", "bytes"), ("peak_space", "peak_bytes"):
            run = subprocess.run(["go", "tool", "pprof", "-top", "-unit=B", f"-sample_index={type_}",
                                  "-nodecount=1000", path], check=True, capture_output=True, text=True,
                                 cwd=self.folder, env={**ENVIRONMENT, "HOME": str(self.folder)})
            self.assertIn("File: train\n", run.stdout)
            flat = [int(line_.split()[0].removesuffix("B")) for line_ in run.stdout.splitlines()
                    if re.match(r" *\d+B? ", line_)]
            self.assertEqual(sum(flat), self.sum_of(key))


class Shared(Reports):
    def test_two_processes_and_a_forked_one(self):
        """tests/survival/memory_shared.c: what is exported is the exporter's alone."""
        self.ran("%p.jsonl", name="memory_shared")
        reports = sorted(self.folder.glob("*.jsonl"))
        self.assertEqual(len(reports), 2, "the forked child has nothing to report")
        members = [json.loads(path.read_text().splitlines()[-1])["memory"] for path in reports]
        kinds = [member["devices"][0]["kinds"] for member in members]
        self.assertEqual(sorted(list(kind) for kind in kinds), [["device"], ["imported"]])
        text = self.shown(*reports)
        self.assertRegex(text, r"\n +256 MB together: GPU-[0-9a-f-]+, by 1 process\n")
        self.assertEqual(sum(int(one.rsplit(" ", 1)[1]) for one in
                             self.shown(*reports, name="collapsed").splitlines()), 256 * MB)


class Kinds(Reports):
    """tests/survival/memory_kinds.c has memory of every kind."""

    def test_formats_agree_to_the_byte(self):
        path = self.ran("r.jsonl", "1", name="memory_kinds")
        member = json.loads(path.read_text().splitlines()[-1])["memory"]
        device, = member["devices"]
        wanted = {(place, kind): count["bytes"]
                  for place, record in (("device 0", device), ("host", member["host"]))
                  for kind, count in record["kinds"].items()
                  if kind not in ("managed", "imported", "mapped", "addresses", "graph_execs")}
        self.assertGreater(len(wanted), 6)
        profile, text = {}, {}
        for values, _, labels in samples_of(self.report("--format", "pprof", path)):
            key = labels["device"], labels["kind"]
            profile[key] = profile.get(key, 0) + values["inuse_space"]
        for place, kind, value in re.findall(
                r'^safecopy_memory_bytes\{place="([^"]+)".*,kind="(\w+)"\} (\d+)$',
                self.shown(path, name="prometheus"), re.M):
            text[place, kind] = int(value)
        self.assertEqual(profile, wanted)
        self.assertEqual({key: text[key] for key in wanted}, wanted)
        self.assertEqual(sum(int(one.rsplit(" ", 1)[1]) for one in
                             self.shown(path, name="collapsed").splitlines()), sum(wanted.values()))


class Prometheus(Reports):
    def families(self, *paths):
        try:
            from prometheus_client.parser import text_string_to_metric_families
        except ImportError:
            self.skipTest("no Python package prometheus-client here")
        text = self.shown(*paths, name="prometheus")
        families = list(text_string_to_metric_families(text))
        self.assertEqual(text.count("# TYPE "), len(families))
        samples = [(sample.name, tuple(sorted(sample.labels.items()))) for family in families
                   for sample in family.samples]
        self.assertEqual(len(set(samples)), len(samples), "a sample is there twice")
        return {family.name: family for family in families}

    def test_it_agrees_with_the_report(self):
        member = memory(many())
        families = self.families(self.write("r.jsonl", run_line(rank="3"), summary(member)))
        by_place = {"device 0": member["devices"][0], "device 1": member["devices"][1],
                    "host": member["host"]}
        for name, key in ("safecopy_memory_bytes", "bytes"), ("safecopy_memory_blocks", "blocks"):
            self.assertEqual(
                {(sample.labels["place"], sample.labels["kind"]): sample.value
                 for sample in families[name].samples},
                {(name_, kind): count[key] for name_, place in by_place.items()
                 for kind, count in place["kinds"].items()})
        self.assertEqual({sample.labels["place"]: sample.value
                          for sample in families["safecopy_memory_peak_bytes"].samples},
                         {name: place["peak_bytes"] for name, place in by_place.items()})
        of_owners = {}
        for sample in families["safecopy_memory_owner_bytes"].samples:
            place = sample.labels["place"]
            of_owners[place] = of_owners.get(place, 0) + sample.value
            self.assertEqual((sample.labels["rank"], sample.labels["pid"]), ("3", "7"))
        self.assertEqual(of_owners, {name: place["bytes"] for name, place in by_place.items()})
        self.assertEqual([sample.value for sample in families["hw_gpu_memory_usage_bytes"].samples],
                         [20 * GB, 20 * GB])
        self.assertEqual([sample.value for sample in families["hw_gpu_memory_limit_bytes"].samples],
                         [80 * GB, 80 * GB])

    def test_what_pools_of_each_place_keep(self):
        member = memory(many())
        for bytes_, place in (3 * MB, member["devices"][0]), (5 * MB, member["host"]):
            place["pools"] = [{"pool": "0x7f", "made_by": "cuMemPoolCreate", "bytes": 0, "blocks": 0,
                               "peak_bytes": 0, "unused_bytes": bytes_}] * 2
        text = self.shown(self.write("r.jsonl", run_line(), summary(member)), name="prometheus")
        self.assertEqual(dict(re.findall(
            r'^safecopy_memory_pool_unused_bytes\{place="([^"]+)".*\} (\d+)$', text, re.M)),
            {"device 0": str(6 * MB), "device 1": "0", "host": str(10 * MB)})

    def test_runs_of_one_process_and_users_of_one_device(self):
        """A name that a parser would stumble over, a process after exec, and two on one GPU."""
        old, new = run_line(pid=1), run_line(pid=1)
        path = self.write("a.jsonl", old, summary(memory([account(MB)])), new,
                          summary(memory([account(3 * MB, owner='a"b\\c\n{} 1')])))
        other = self.of_run("b.jsonl", [account(5 * MB)], pid=2)
        families = self.families(path, other)
        self.assertEqual({sample.labels["pid"]: sample.value for sample in
                          families["safecopy_memory_owner_bytes"].samples},
                         {"1": 3 * MB, "2": 5 * MB})
        self.assertIn('a"b\\c\\u000a{} 1', {sample.labels["owner"] for sample in
                                             families["safecopy_memory_owner_bytes"].samples})
        self.assertEqual(len(families["hw_gpu_memory_limit_bytes"].samples), 1)

    def test_devices_without_a_uuid_are_their_hosts(self):
        paths = []
        for host in "node1", "node2":
            member = memory([account(MB)])
            member["devices"][0]["uuid"] = None
            paths.append(self.write(f"{host}.jsonl", run_line(host=host), summary(member)))
        limit = self.families(*paths)["hw_gpu_memory_limit_bytes"]
        self.assertEqual({(sample.labels["hw_id"], sample.labels["host"]) for sample in limit.samples},
                         {("device 0", "node1"), ("device 0", "node2")})

    def test_names_are_opentelemetrys(self):
        try:
            from opentelemetry.semconv._incubating.metrics import hw_metrics
        except ImportError:
            self.skipTest("no Python package opentelemetry-semantic-conventions here")
        families = self.families(self.of_run("r.jsonl", [account(MB)]))
        for name in hw_metrics.HW_GPU_MEMORY_USAGE, hw_metrics.HW_GPU_MEMORY_LIMIT:
            self.assertIn(name.replace(".", "_") + "_bytes", families)


class Counters(Reports):
    def test_a_place_over_time(self):
        more = {"unaccounted": {"bytes": 7 * MB, "peak_bytes": 7 * MB, "driver_bytes": 8 * MB,
                                "steps": []}}
        lines = [line(memory([account(second * MB)], time_ns=second * 10**9, **more))
                 for second in (1, 2, 4)]
        path = self.write("r.jsonl", run_line(), *lines,
                          summary(memory([account(6 * MB, peak=9 * MB)], time_ns=5 * 10**9)))
        packets = [dict(fields(packet)) for _, packet in
                   fields(self.report("--format", "perfetto", path))]
        tracks = {track[1]: track for track in
                  (dict(fields(packet[60])) for packet in packets if 60 in packet)}
        values = {}
        for packet in packets:
            event = dict(fields(packet.get(11, b"")))
            if event.get(9) == 4:
                values.setdefault(tracks[event[11]][2].decode(), []).append(
                    (packet[8] // 10**9, event[30] // MB))
                self.assertEqual(dict(fields(tracks[event[11]][8])), {3: 3})
        self.assertEqual(values["memory of device 0"], [(1, 1), (2, 2), (3, 9), (4, 4), (5, 6)])
        self.assertEqual(values["device 0, in use by all"],
                         [(second, 20 * 1024) for second in (1, 2, 4, 5)])
        self.assertEqual(values["device 0, unaccounted"], [(second, 7) for second in (1, 2, 4)])


class Page(Reports):
    """The section on memory of the page."""

    def lines(self, member):
        held = [line(memory([account(second * MB, peak=50 * MB), account(MB, kind="pinned",
                                                                         device=None)],
                            time_ns=second * 10**9)) for second in range(1, 41)]
        return [run_line(rank="3"), *held, summary({**member, "time_ns": 42 * 10**9})]

    def page(self, *paths):
        page = self.shown(*paths, name="html")
        tags = Tags(page)
        self.assertEqual(tags.open, [])
        self.assertLessEqual({link for link in tags.links if link.startswith("#")}, tags.ids)
        self.assertNotRegex(page, r"(?:https?:|//)[a-z]+\.|@import|url\(")
        return page, tags

    def test_what_it_has(self):
        page, _ = self.page(self.write("r.jsonl", *self.lines(memory(many()))))
        for title in ("Memory of device 0 over time", "Memory of host over time",
                      "Memory of device 1 now", "Memory of device 1 at the peak"):
            self.assertIn(title + "</title><desc ", page)
        self.assertEqual(page.count('role="img"'), page.count("</desc>"))
        ids = re.findall(r' id="([^"]+)"', page)
        self.assertEqual(len(ids), len(set(ids)))
        for label in re.findall(r'aria-labelledby="([^"]+)"', page):
            self.assertLessEqual(set(label.split()), set(ids))
        self.assertIn("<summary>NCCL <span", page)
        self.assertIn("<summary>in no sum <span", page)
        self.assertIn(">Since the first line</h4>", page)

    def test_what_stays_the_same_is_no_picture(self):
        def page(second_bytes):
            held = [memory([account(3 * MB), account(MB, kind="pinned", device=None)], time_ns=10**9),
                    memory([account(second_bytes), account(MB, kind="pinned", device=None)], time_ns=2 * 10**9)]
            return self.page(self.write("r.jsonl", run_line(), line(held[0]), summary(held[1])))[0]
        self.assertIn("Memory of device 0 over time", page(4 * MB))
        self.assertNotIn("over time", page(3 * MB))

    def test_a_flame_graph_folds_what_every_program_runs_on(self):
        below_main = [native(name, "/lib/x86_64-linux-gnu/libc.so.6") for name in ("__libc_start_call_main", "_start")]
        page, _ = self.page(self.write("r.jsonl", run_line(), summary(memory([
            account(3 * MB, stack=[frame("load"), frame("main"), *below_main]),
            account(MB, stack=[frame("serve"), frame("main"), *below_main])]))))
        graph = re.search(r"(?s)<title[^>]*>Memory of device 0 now<.*?</svg>", page)[0]
        self.assertEqual(re.findall("<g><title>(.*?)</title>", graph)[:3],
                         ["2 frames of libc.so.6: 4 MB, 100 %", "main: 4 MB, 100 %", "load: 3 MB, 75 %"])
        self.assertEqual(re.findall("<text[^>]*>(.*?)</text>", graph)[1], "main, 4 MB")

    def numbers(self, page, pattern):
        return [float(number) for number in re.findall(pattern, page)]

    def test_nothing_is_drawn_outside(self):
        page, _ = self.page(self.write("r.jsonl", *self.lines(memory(many()))))
        for picture in re.findall(r"<svg.*?</svg>", page, re.S):
            width, height = map(int, re.match(r'<svg viewBox="0 0 (\d+) (\d+)"', picture).groups())
            for x, y, wide, high in re.findall(
                    r'<rect class="[^"]+" x="([\d.-]+)" y="([\d.-]+)" width="(\d+)" height="(\d+)"',
                    picture):
                self.assertTrue(float(x) >= 0 and float(x) + int(wide) <= width + 1)
                self.assertTrue(0 <= int(y) and int(y) + int(high) <= height)
            for path in re.findall(r' d="([^"]+)"', picture):
                xs = self.numbers(path, r"[MH](-?\d+)")
                ys = self.numbers(path, r"V(-?\d+)")
                self.assertTrue(all(0 <= x <= width for x in xs), path)
                self.assertTrue(all(0 <= y <= height for y in ys), path)

    def test_names_stay_text(self):
        texts = []
        for word in "x", NASTY:
            page = self.shown(self.write("r.jsonl", *spoilt(self.lines(memory(many()[:20])), word)),
                              name="html")
            texts.append(Tags(page))
            self.assertIn("forged" if word == NASTY else "x", page)
        self.assertEqual(texts[1].seen, texts[0].seen)
        self.assertEqual(texts[1].links, ["data:,", "#cards"])

    def test_processes_that_stand_out_come_first(self):
        files = [self.of_run(f"{pid}.jsonl", [account(GB if pid == 5 else MB)], pid=pid)
                 for pid in range(1, 30)]
        page, _ = self.page(*files)
        self.assertRegex(page, r"(?s)<tbody>\s*<tr><th scope=\"row\">\S+ \(pid 5 on node1\) <span "
                               r'class="badge new">holds 1023 MB more than most</span></th>')
        self.assertEqual(page.count('<article class="panel">'), 16)
        self.assertIn("<p>13 more processes are left out here.</p>", page)

    def test_a_deep_stack_and_many_accounts(self):
        deep = account(GB, stack=[frame(f"f{at}", line=at) for at in range(300)])
        page, _ = self.page(self.write("r.jsonl", run_line(), summary(memory(
            [deep, *(account(MB + at, stack=[frame(f"g{at}")]) for at in range(2000))], most=3000))))
        self.assertIn("<p>and others, with less</p>", page)
        self.assertLess(len(page), 2 * MB)

    def test_without_memory_there_is_no_section(self):
        end = {key: value for key, value in summary(None).items() if key != "memory"}
        page = self.shown(self.write("r.jsonl", run_line(), end), name="html")
        self.assertNotIn('id="memory"', page)


if __name__ == "__main__":
    unittest.main()
