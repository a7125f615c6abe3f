"""Which checks run where: `make check` is the gate, `make check-ci` that and one fixed lot of the
rest, and `make check-all` has everything. The Makefile's GATE and CI name the suites as well, since
it builds what they run.

A lot has for each suite patterns of its checks, as the shell has them. What any of those that begin
with ! names is not in the lot.
"""

import fnmatch

# What tells of a change within minutes. Left out is what goes a way once more: strict=1 is what the
# fixed twins are run with, which of a program without a mistake is the same program, and that is run
# so alone; the older of two drivers lacks all that the newer one lacks; pinned_* are programs of
# survival with pinned memory as they are; NAME' is another CPython of the same version; of the ways
# of twins a few of each; of mistakes with guard=mprotect those that a guard tells of. The units and
# programs that are named have to take their time. In the build that checks itself run the first
# random programs of those that CI has there, and stress in the settings that differ most.
GATE = {
    "arrows": "*",
    "format": "*",
    "conformance": "*",
    "unit": "* !test_damaged_*.py !test_ranks_many.py !test_nfs.py !test_trace_processor.py !test_collectors.py "
            "!test_makefile.py !test_pytest_[!p]* !test_page_browser.py",
    "sim": "*",
    "twins": "* !*/strict !none_*/healed !none_*/reported !none_filled_while_others_wait/*",
    "ways": "sc20[13]_[a-f]*/*-reported sc202_[a-f]*/*-fixed",
    "cupti": "* !timeline_dropped/*",
    "nvtx": "*",
    "drivers": "12000/*",
    "runtime": "*",
    "survival": "* !*/strict !signal_stepped/* !streams_many/* !fork_at_map_limit/* "
                "!touch_cancelled/* !set_ids/*",
    "pinned": "*/preloaded !pinned_*/* !signal_stepped/* !fork_at_map_limit/*",
    "mprotect": "*sc20[123]*/healed *sc403*/healed */preloaded !*_64m/* !signal_stepped/* !fork_at_map_limit/*",
    "python": "* !*'/*",
    "debug": "fewer/* stress/strict=1 stress/mode=report stress/guard=uffd* "
             "stress/strict=1:guard=mprotect stress/strict=1:device=1",
}

# Besides the gate, ways that it does not go: other devices and ways in, other languages, the address
# sanitizer with that of undefined behaviour, memcheck, more random programs in the build that checks
# itself.
CI = {
    **dict.fromkeys(GATE, "*"),
    "unit": "* !test_nfs.py !test_trace_processor.py !test_collectors.py",
    "in-place": "*",
    "behind-copies": "*",
    "ways": "sc20[123]_[a-f]*/*",
    "alone": "*",
    "languages": "*",
    "demo": "*",
    "nvcc": "*",
    "sanitizers": "address/test_*",
    "sanitized-programs": "*",
    "valgrind": "* !test_*",
    "debug": "few*/* stress/*",
}

LOTS = {"check": GATE, "ci": CI}
# How long stress takes in them, all its settings together.
STRESS_SECONDS = {"check": 5, "ci": 12}


def wanted(lot, suite, names):
    """Those of a suite's checks that a lot has, in their order."""
    patterns = LOTS[lot].get(suite, "").split()

    def fits(name, pattern):
        return fnmatch.fnmatchcase(name, pattern)
    return [name for name in names
            if any(fits(name, pattern) for pattern in patterns if pattern[0] != "!")
            and not any(fits(name, pattern[1:]) for pattern in patterns if pattern[0] == "!")]
