"""The suites of benchmarks: their programs, the ways that these are run in, and what their figures
are held against."""

import dataclasses

# way: the library preloaded or None, its options, and arguments of the program. The report is really
# written.
CALL_WAYS = {
    "none": (None, "", ()),
    "nop": ("libsafecopy-nop.so", "", ()),
    "fix": ("libsafecopy.so", "mode=fix", ()),
    "report": ("libsafecopy.so", "mode=report", ()),
    "strict": ("libsafecopy.so", "mode=fix:strict=1", ()),
    "cupti": ("libsafecopy.so", "mode=fix:cupti=require", ()),
    "timeline": ("libsafecopy.so", "mode=fix:timeline=1", ()),
}
GUARD_WAYS = {
    "none": (None, "", ()),
    "sync": (None, "", ("--sync-each",)),
    "off": ("libsafecopy.so", "guard=off:snapshot_max=0", ()),
    "fix": ("libsafecopy.so", "mode=fix", ()),
    "driver": ("libsafecopy.so", "pinned=driver", ()),
    "strict": ("libsafecopy.so", "mode=fix:strict=1", ()),
}

GRAPH_WAYS = {way: CALL_WAYS[way] for way in ("none", "nop", "fix", "report")}
PYTHON_WAYS = {
    "none": (None, "", ()),
    "nop": ("libsafecopy-nop.so", "", ()),
    "native": ("libsafecopy.so", "python=0", ()),
    "site": ("libsafecopy.so", "stacks=site", ()),
    "fix": ("libsafecopy.so", "mode=fix", ()),
}

GROWTH_WAYS = {way: CALL_WAYS[way][:2] + (("--fine",),) for way in ("none", "fix", "report")}
PROGRAM_WAYS = {way: CALL_WAYS[way] for way in ("none", "fix", "strict", "report")}
GPU_WAYS = {"none": CALL_WAYS["none"], "again": CALL_WAYS["none"], "fix": CALL_WAYS["fix"]}
PATTERN_WAYS = {way: CALL_WAYS[way] for way in ("none", "fix", "strict", "report")}
WORKER_WAYS = {
    "none": (None, "", ()),
    "fix": ("libsafecopy.so", "mode=fix", ()),
    "mprotect": ("libsafecopy.so", "guard=mprotect", ()),
    "guard=off": ("libsafecopy.so", "guard=off", ()),
    "report": ("libsafecopy.so", "mode=report", ()),
}
LLAMA_WAYS = WORKER_WAYS | {"off": ("libsafecopy.so", "mode=off", ())}
# All are of in_turn, which has the driver's own calls beside them.
IN_TURN_WAYS = {
    "fix": ("libsafecopy.so", "mode=fix", ()),
    "guard=off": ("libsafecopy.so", "guard=off", ()),
    "blocking": ("libsafecopy.so", "mode=fix", ("--blocking",)),
    "legacy": ("libsafecopy.so", "mode=fix", ("--legacy",)),
    "cold": ("libsafecopy.so", "mode=fix", ("--cold",)),
    "threads": ("libsafecopy.so", "mode=fix", ("--threads=16",)),
}

# Each has one part more than the one before. The first is the interception alone; `look-up` is the
# ranges, the record of operations, their order and their marks.
BARE = "guard=off:snapshot_max=0"
PARTS_WAYS = {
    "none": (None, "", ()),
    "interposition": ("libsafecopy-nop.so", "", ()),
    "look-up": ("libsafecopy.so", f"{BARE}:stacks=none:python=0:postmortem=0", ()),
    "history": ("libsafecopy.so", f"{BARE}:stacks=none:python=0", ()),
    "stacks": ("libsafecopy.so", f"{BARE}:stacks=full", ()),
    "snapshots": ("libsafecopy.so", "guard=off:stacks=full", ()),
    "guard": ("libsafecopy.so", "stacks=full", ()),
}

# What is held against the limit: `ratio` fix/none; `flat` how fix has grown since the first figure
# of its family, the driver's own growth taken out; `added` fix - none; `value` fix itself.
CALL_TARGETS = [
    ("issue_htod_4k", "added", 600),  # with its snapshot
    ("kernel_launch", "ratio", 1.02),
    ("malloc_free_idle", "ratio", 1.15),
    ("malloc_free_registered", "ratio", 1.5),
    ("malloc_free_pinned", "ratio", 1.5),
    ("lock_unlock", "added", 3),
    ("lock_unlock_pinned", "added", 15),
    ("copy_inflight_", "flat", 1.5),
    ("copy_streams_", "flat", 1.5),
    ("copy_ranges_", "flat", 1.5),
    ("copy_threads_", "ratio", 1.5),
    ("copy_mappings_", "flat", 1.5),
    ("bytes_per_operation", "added", 256),
    ("free_host_busy", "value", 50),
]
GUARD_TARGETS = [
    ("issue_4k", "added", 0.6),
    *((f"produce_{size}", "ratio", 1.05) for size in ("1m", "16m", "64m")),
    *((f"pipeline_{size}", "ratio", 1.02) for size in ("1m", "16m", "64m")),
    *((f"alloc_{size}", "ratio", 1.0) for size in ("4k", "64k", "1m", "16m", "64m")),
    ("training_step", "ratio", 1.01),
]
GRAPH_TARGETS = [
    ("launch_", "ratio", 1.05),
    ("capture", "ratio", 1.10),
]
# The ratios to none that a way may have. mode=report may cost so many times what mode=fix does.
REPORT_TIMES_FIX = 2


def ratios_to_none(fix, strict=None):
    """{figure: {way: ratio}} from {figure: ratio of fix} and {figure: ratio of strict}."""
    return {figure: {"fix": limit, "report": ("fix", REPORT_TIMES_FIX)} |
            ({"strict": strict[figure]} if strict and figure in strict else {})
            for figure, limit in fix.items()}


PATTERN_LIMITS = ratios_to_none({
    "h2d_launch": 1.10,
    "h2d_launch_d2h_sync": 1.08,
    "h2d_4k": 1.20,
    "h2d_legacy": 1.20,
    "d2h_4k": 1.20,
    "h2d_64k": 1.25,
    "h2d_per_thread": 1.30,
    "record_wait": 1.12,
    "record_query": 1.12,
    "sync_idle": 1.12,
    "fill_h2d_sync": 1.02,
    "memset_4k": 1.05,
    "alloc_async": 1.05,
    "h2d_launch_d2h_sync_threads": 2.2,
    "d2h_4k_threads": 1.7,
    "h2d_64k_threads": 1.7,
}, strict={
    "h2d_launch": 1.25,
    "h2d_launch_d2h_sync": 1.20,
    "h2d_4k": 1.35,
    "h2d_legacy": 1.35,
    "d2h_4k": 1.35,
    "h2d_64k": 1.4,
    "h2d_per_thread": 1.5,
    "record_wait": 1.25,
    "record_query": 1.25,
    "sync_idle": 1.25,
    "fill_h2d_sync": 1.03,
    "memset_4k": 1.15,
    "alloc_async": 1.15,
})
WORKER_LIMITS = ratios_to_none({
    "workers_1_4k": 1.25,
    "workers_1_64k": 1.41,
    "workers_4_64k": 2.3,
    "workers_16_4k": 2.0,
    "workers_16_64k": 1.45,
    "workers_16_256k": 1.08,
})
# Of tokens a second 0.85, 0.92 and 0.95, and 0.98 with mode=off.
LLAMA_FIX = {"llama_host_cache_pp512": 1.18, "llama_host_cache_tg128": 1.09,
             "llama_no_graphs_tg128": 1.05}
LLAMA_LIMITS = {figure: limits | {"off": 1.02}
                for figure, limits in ratios_to_none(LLAMA_FIX).items()}
PROGRAM_LIMITS = ratios_to_none({
    "torch_train": 1.02,
    "torch_generate": 1.06,
    "torch_graph": 1.01,
    "cupy_pipeline": 1.15,
    "jax_pipeline": 1.15,
    "cpp_stages": 1.08,
}, strict={"torch_graph": 1.05})
GROWTH_TARGETS = [(f"copy_{of}_", "flat", 1.5)
                  for of in ("inflight", "streams", "threads", "mappings", "ranges")]


@dataclasses.dataclass
class Suite:
    """`program`: of out/bench, or a script beside this one. `targets`: of mode=fix, as above.
    `limits`: {figure: {way: the ratio to `none` that it may have, or (another way, the times that
    way's ratio)}}."""
    program: str
    ways: dict
    targets: list = dataclasses.field(default_factory=list)
    limits: dict = dataclasses.field(default_factory=dict)
    table: str = "targets"  # of tables.py
    only: str = ""  # what the names of its benchmarks begin with


SUITES = {
    "calls": Suite("bench", CALL_WAYS, CALL_TARGETS),
    "guard": Suite("guard", GUARD_WAYS, GUARD_TARGETS),
    "graphs": Suite("graphs", GRAPH_WAYS, GRAPH_TARGETS),
    "python": Suite("python_copies.py", PYTHON_WAYS),
    "programs": Suite("programs.py", PROGRAM_WAYS, limits=PROGRAM_LIMITS,
                      table="programs"),
    "gpus": Suite("gpus.py", GPU_WAYS, table="gpus"),
    "patterns": Suite("patterns", PATTERN_WAYS, limits=PATTERN_LIMITS, table="ratios"),
    "in_turn": Suite("in_turn", IN_TURN_WAYS,
                     limits={figure: {"fix": limits["fix"]} for figure, limits in PATTERN_LIMITS.items()},
                     table="in_turn"),
    "workers": Suite("workers", WORKER_WAYS, limits=WORKER_LIMITS, table="workers"),
    "llama": Suite("llama.py", LLAMA_WAYS, limits=LLAMA_LIMITS, table="llama"),
    "growth": Suite("bench", GROWTH_WAYS, GROWTH_TARGETS, table="curves", only="copy_"),
    "parts": Suite("patterns", PARTS_WAYS, table="parts"),
    "graph_parts": Suite("graphs", PARTS_WAYS, table="parts"),
    "gpu_parts": Suite("gpus.py", PARTS_WAYS, table="parts"),
    "program_parts": Suite("programs.py", PARTS_WAYS, table="parts"),
}
