"""What of the library can be counted: code, circles, the doors of track/ and of the guard, records of
an access, assertions."""

import re

from circles import circles
from modules import arrows, between_folders

FOLDERS = ("interpose", "common", "track", "ledger", "report", "cupti_hooks")
OUTSIDE = ("interpose/", "ledger/", "report/", "cupti_hooks/")
GUARD = ("interpose/guard/", "interpose/signals/", "interpose/system_calls/")
LEDGER = re.compile(r"ledger/|interpose/ledger/|report/(?:memory_\w+|oom_line)\.|"
                    r"interpose/(?:calls/memory(?:_calls)?|entry/(?:memory_lines|never_freed))\.")
BESIDE_THE_LEDGER = re.compile(r"(?:interpose/)?ledger/(?:limits|limit_events|cubin|managed\w*|moves|"
                               r"residence)\.")
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|("(?:\\.|[^"\\\n])*")', re.S)
DECLARED = re.compile(r"^(?!static\b|typedef\b)[A-Za-z_][\w ]*[ *](sc_\w+)\([^;{]*\)[^;{]*;", re.M)
INLINE = re.compile(r"^static inline [\w *]*?\b(sc_\w+)\(", re.M)
NAMED = re.compile(r"\bsc_\w+\b")
PEEK = re.compile(r"\bsc_track\.\w")
STRUCT = re.compile(r"^struct (\w+)\s*\{(.*?)^\}", re.M | re.S)
OF_AN_ACCESS = re.compile(r"\b(?:struct sc_shape|enum sc_direction)\s+\w+(?:\[\w*\])?\s*[;,]")
ASSERTION = re.compile(r"\bSC_(?:ASSERT|ASSERT_HELD|ASSERT_GUARDED|CHECK|CHECK_OF)\(")


def code_of(text):
    """Without comments and blank lines; strings stay."""
    bare = COMMENT.sub(lambda match: match[1] or " ", text)
    return "\n".join(line for line in bare.split("\n") if line.strip())


def lines_by_folder(codes):
    """The command, which is report/command/, is no part of what runs in the process."""
    count = dict.fromkeys((*FOLDERS, "report/command"), 0)
    for path, code in codes.items():
        folder = "report/command" if path.startswith("report/command/") else path.split("/")[0]
        count[folder] += code.count("\n") + 1
    return count


def lines_of_the_ledger(codes):
    """Of who holds which memory, wherever it lies: limits of contexts, and managed memory that is more
    than a device has, are another matter, though they lie in the same folders."""
    return sum(code.count("\n") + 1 for path, code in codes.items()
               if LEDGER.match(path) and not BESIDE_THE_LEDGER.match(path))


def functions_of(codes, folders):
    """Those that headers of these folders declare or define, and those of them that others name."""
    public = {name for path, code in codes.items() if path.startswith(folders) and path.endswith(".h")
              for pattern in (DECLARED, INLINE) for name in pattern.findall(code)}
    named = {name for path, code in codes.items() if not path.startswith(folders)
             for name in NAMED.findall(code)}
    return public, public & named


def functions_of_the_tracker(codes):
    return {name for name in functions_of(codes, "track/")[1] if name.startswith("sc_track_")}


def functions_of_the_guard(codes):
    return functions_of(codes, GUARD)[1]


def peeks(codes):
    return sum(len(PEEK.findall(code)) for path, code in codes.items() if path.startswith(OUTSIDE))


def structs_of_an_access(codes):
    return sorted({f"{name} ({path})" for path, code in codes.items()
                   for name, body in STRUCT.findall(code) if OF_AN_ACCESS.search(body)
                   and not path.startswith("report/command/")})


def assertions(codes):
    return sum(len(ASSERTION.findall(code)) for path, code in codes.items()
               if path != "common/checks.h")


def of_interpose(texts):
    return {path: text for path, text in texts.items() if path.startswith("interpose/")}


def counted(texts):
    """What scripts/limits has limits of, but for who includes what (scripts/check-limits)."""
    codes = {path: code_of(text) for path, text in texts.items()}
    graph = arrows(of_interpose(texts))
    found = circles(graph)
    lines = lines_by_folder(codes)
    return {
        "lines of code in the process": sum(lines.values()) - lines["report/command"],
        "lines of code of the ledger of memory": lines_of_the_ledger(codes),
        "structs with a shape or a direction": len(structs_of_an_access(codes)),
        "circles of folders": len(circles(between_folders(graph))),
        "circles of modules": len(found),
        "modules of a circle": max(map(len, found), default=0),
        "peeks into sc_track": peeks(codes),
        "functions of track/ that others call": len(functions_of(codes, "track/")[1]),
        "functions of the tracker that others call": len(functions_of_the_tracker(codes)),
        "functions of the guard that others call": len(functions_of_the_guard(codes)),
        "assertions": assertions(codes),
    }


def show(texts):
    codes = {path: code_of(text) for path, text in texts.items()}
    print("\n| code | lines |\n| --- | ---: |")
    for folder, lines in lines_by_folder(codes).items():
        print(f"| {folder}/ | {lines} |")
    print(f"\nfunctions of track/: {len(functions_of(codes, 'track/')[0])}")
    for name, number in counted(texts).items():
        print(f"{name}: {number}")
    print("the structs:")
    for name in structs_of_an_access(codes):
        print(f"  {name}")
