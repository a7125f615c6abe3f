"""What a tool that NVTX loads is shown of programs (tests/survival/lib/nvtx_tool.c), and that nobody
else meets any of it. A check is one run of a twin, or of the program nvtx_own."""

import pathlib
import re
import tempfile

import programs
from programs import Directives, Report

OURS = "safecopy"
MARKS = "stream||1|safecopy: marks behind the legacy stream"


class Shown:
    """One run of a program under the tool, and the rows that it was shown: kind, domain, number and
    words. `log` is None where the tool was not loaded."""

    def __init__(self, machine, program, options="", arguments=(), **environment):
        folder = "survival" if program.parent == machine.survivors else "hazard"
        directives = Directives(programs.chosen(folder, [program.stem])[0])
        with Report() as report, tempfile.TemporaryDirectory(prefix="nvtx-") as scratch:
            log = pathlib.Path(scratch) / "log"
            given = {**machine.environment(directives, True, f"{report.option}:{options}"),
                     "NVTX_INJECTION64_PATH": str(
                         machine.programs / "survival" / "lib" / "libnvtx_tool.so"),
                     "NVTX_LOG": str(log), **environment}
            self.run = machine.run([program, *arguments], given, directives.timeout_s())
            self.hazards = [line for line in report.lines(self.run) if line["type"] == "hazard"]
            self.log = log.read_text() if log.exists() else None
        rows = [line.split("|", 4) for line in (self.log or "").splitlines()]
        self.ours = [(kind, domain, number, words) for kind, thread, domain, number, words in rows
                     if thread == "safecopy-nvtx"]
        self.others = [(kind, domain, number, words) for kind, thread, domain, number, words in rows
                       if thread != "safecopy-nvtx"]

    def words(self, kind):
        return [words for found, _, _, words in self.ours if found == kind]

    def expect(self, holds, what):
        if not holds:
            raise self.run.failure(f"not so: {what}; the tool was shown:\n{self.log}")


def expect_marks(shown, pattern):
    """One for each hazard, of the category that bears its code."""
    marks = shown.words("mark")
    shown.expect(shown.hazards and len(marks) == len(shown.hazards), "a mark for each hazard")
    categories = {number: words for kind, _, number, words in shown.ours if kind == "category"}
    for kind, domain, number, words in shown.ours:
        if kind == "mark":
            shown.expect(re.fullmatch(pattern, words), f"{words} is like {pattern}")
            shown.expect(domain == OURS and words.startswith(categories[number] + ": "),
                         f"{words} is of its code's category")


def expect_ranges(shown, pattern):
    starts = {number: words for kind, _, number, words in shown.ours if kind == "start"}
    ends = [number for kind, _, number, _ in shown.ours if kind == "end"]
    shown.expect(starts and sorted(ends) == sorted(starts), "each range ends once")
    for words in starts.values():
        shown.expect(re.fullmatch(pattern, words), f"{words} is like {pattern}")


def expect_nothing(shown):
    shown.expect(shown.log is None, "the tool is not loaded")


def checks(machine):
    def twin(name, build="racy"):
        return machine.twins / f"{name}.{build}"

    own = machine.survivors / "nvtx_own"

    def hazard():
        shown = Shown(machine, twin("sc101_free_h2d"))
        shown.run.expect_right()
        expect_marks(shown, r"SC101 source-freed-in-flight: free against cuda?MemcpyAsync.*|"
                            r"SC101 source-freed-in-flight: free against cuMemcpy\w*, observed, "
                            r"deferred, thread \d+")

    def stall(name, words):
        def check():
            shown = Shown(machine, twin(name))
            shown.run.expect_right()
            expect_marks(shown, r"SC[12]0\d [a-z-]+: .* against \w+, observed, stalled, "
                                r"thread \d+")
            expect_ranges(shown, rf"stalled: {words}, thread \d+")
        return check

    def free_beyond_limit():
        shown = Shown(machine, twin("sc101_free_h2d"), "max_held=0")
        expect_ranges(shown, r"stalled: free, thread \d+")

    def stream():
        shown = Shown(machine, twin("sc202_legacy"))
        shown.expect(shown.words("stream") == [MARKS.rpartition("|")[2]], "the stream has a name")

    def reported():
        shown = Shown(machine, twin("sc101_free_h2d"), "mode=report")
        expect_marks(shown, r".*, observed, reported, thread \d+")
        shown.expect(not shown.words("start"), "nobody waits")

    def halted():
        shown = Shown(machine, twin("sc101_free_h2d"), "halt_on_error=1:verbosity=0")
        shown.run.expect_status(-6)
        expect_marks(shown, r"SC101 .*")

    def fixed():
        expect_nothing(Shown(machine, twin("sc101_free_h2d", "fixed"), "strict=1"))

    def off():
        expect_nothing(Shown(machine, twin("sc101_free_h2d"), "nvtx=off"))

    def no_tool():
        expect_nothing(Shown(machine, twin("sc101_free_h2d"), NVTX_INJECTION64_PATH=""))

    def useless_tool(path, **environment):
        def check():
            shown = Shown(machine, twin("sc101_free_h2d"),
                          **{**({"NVTX_INJECTION64_PATH": path} if path else {}), **environment})
            shown.run.expect_status(0)
            shown.run.expect_right()
            shown.expect(shown.hazards, "the report has the hazard")
        return check

    def beside_own():
        shown = Shown(machine, own, arguments=["mistake"])
        expect_marks(shown, r"SC101 .*")
        shown.expect(shown.others == [
            ("loaded", "", "0", ""), ("domain", "program", "0", ""), ("mark", "", "0", "before CUDA"),
            ("end", "program", "7", ""), ("mark", "", "0", "in the child"),
            ("mark", "", "0", "behind CUDA")], "the program's own NVTX is its own")

    return [
        ("hazard", hazard),
        ("touch_stalled", stall("sc202_one_page", "memory read")),
        ("call_stalled", stall("sc202_sync_default", r"cuMemcpy\w*")),
        ("unmap_stalled", stall("sc104_mremap_d2h", "mremap")),
        ("free_stalled", free_beyond_limit),
        ("stream", stream),
        ("reported", reported),
        ("halted", halted),
        ("fixed", fixed),
        ("off", off),
        ("no_tool", no_tool),
        ("tool_missing", useless_tool("/nonexistent")),
        ("tool_is_none", useless_tool(str(machine.survivors / "lib" / "libprivate.so"))),
        ("tool_refuses", useless_tool("", NVTX_TOOL="refuses")),
        ("tool_stays", useless_tool("", NVTX_TOOL="stays")),
        ("beside_own", beside_own),
    ]
