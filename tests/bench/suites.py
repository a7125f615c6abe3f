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
PROGRAM_WAYS = {way: CALL_WAYS[way] for way in ("none", "fix", "strict")}
PATTERN_WAYS = {way: CALL_WAYS[way] for way in ("none", "fix", "strict", "report")}

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
# The ratios to none that fix, strict and report may have; `NAME_threads` has those of NAME.
PATTERN_LIMITS = {
    "h2d_launch": (1.10, 1.25, 1.25),
    "h2d_launch_d2h_sync": (1.08, 1.20, 1.25),
    "h2d_4k": (1.20, 1.35, 1.5),
    "h2d_legacy": (1.20, 1.35, 1.5),
    "d2h_4k": (1.20, 1.35, 1.5),
    "h2d_64k": (1.25, 1.4, 1.5),
    "h2d_per_thread": (1.30, 1.5, 1.6),
    "record_wait": (1.12, 1.25, 1.25),
    "record_query": (1.12, 1.25, 1.25),
    "sync_idle": (1.12, 1.25, 1.25),
    "fill_h2d_sync": (1.02, 1.03, 1.05),
    "memset_4k": (1.05, 1.15, 1.15),
    "alloc_async": (1.05, 1.15, 1.15),
}
GROWTH_TARGETS = [(f"copy_{of}_", "flat", 1.5)
                  for of in ("inflight", "streams", "threads", "mappings", "ranges")]
PROGRAM_LIMITS = {name: (1.01, 1.05) for name in (
    "torch_train", "torch_generate", "torch_graph", "cupy_pipeline", "jax_pipeline", "cpp_stages")}


@dataclasses.dataclass
class Suite:
    """`program`: of out/bench, or a script beside this one. `targets`: of mode=fix, as above.
    `limits`: {figure: the ratios to `none` that the ways after it may have, in order}."""
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
    "patterns": Suite("patterns", PATTERN_WAYS, limits=PATTERN_LIMITS, table="ratios"),
    "growth": Suite("bench", GROWTH_WAYS, GROWTH_TARGETS, table="curves", only="copy_"),
    "parts": Suite("patterns", PARTS_WAYS, table="parts"),
    "graph_parts": Suite("graphs", PARTS_WAYS, table="parts"),
    "program_parts": Suite("programs.py", PARTS_WAYS, table="parts"),
}
