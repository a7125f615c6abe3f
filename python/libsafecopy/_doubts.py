"""What the command `safecopy` says of reports and hazards: why a report cannot be called clean, for
which it knows each line that the library writes and each contradiction between them, and what to do
about a hazard."""

import functools
import json
import os
import re
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired, run

import libsafecopy

# No hazard fits, so that no function has to be named. What cannot be read is told all the same.
NO_HAZARDS = "code=SC101,!code=SC101"
PATIENCE_S = 300
NO_END = "has no summary: the process was killed, or went on as another program"
CUT = "the last line is cut"
LINES_SHOWN = 3


def path_beside_library():
    """The command that the preloaded library was installed with; "" without one."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        paths = {line.split(maxsplit=5)[5].rstrip("\n") for line in maps
                 if line.rstrip("\n").endswith("/libsafecopy.so")}
    for folder in map(os.path.dirname, sorted(paths)):
        for path in (f"{folder}/safecopy", f"{folder}/../bin/safecopy"):
            if os.access(path, os.X_OK):
                return os.path.abspath(path)
    return ""


def command_path():
    """"" where there is none."""
    try:
        return libsafecopy.command_path()
    except FileNotFoundError:
        return path_beside_library()


COMMAND = command_path()


def ask(stream):
    """The exit status of the command, and what it says on stdout and stderr."""
    os.lseek(stream.fileno(), 0, os.SEEK_SET)
    with Popen([COMMAND, "report", "--json", "--filter", NO_HAZARDS, "-"],
               stdin=stream, stdout=PIPE, stderr=PIPE, env={}) as command:
        try:
            said, complaints = command.communicate(timeout=PATIENCE_S)
        except TimeoutExpired:
            command.kill()
            raise
        return command.returncode, said, complaints


@functools.lru_cache(maxsize=None)
def remedy(code):
    """"What to do: ...", in one line; "" where nothing can be learnt."""
    if not COMMAND or not re.fullmatch(r"SC\d+", code, re.ASCII):
        return ""
    try:
        said = run([COMMAND, "explain", code], stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL, env={},
                   timeout=PATIENCE_S, encoding="utf-8", errors="replace", check=False).stdout
    except (OSError, TimeoutExpired):
        return ""
    found = re.search(r"^What to do: .*?(?=\n\n)", said, re.M | re.S)
    return " ".join(found[0].split()) if found else ""


def having(count):
    return f"has {count} line{'' if count == 1 else 's'} that cannot be read"


def of_lines(run, has_end):
    """A process that was killed may leave its last line cut."""
    named = run.get("unread", [])
    lines = [f"line {line['line']}: {line['problem']}" for line in named
             if has_end or line["problem"] != CUT]
    count = run["bad_lines"] - len(named) + len(lines)
    more = count - LINES_SHOWN
    shown = lines[:LINES_SHOWN] + ([f"{more} more"] if more > 0 else [])
    return f"{having(count)}: {'; '.join(shown)}" if count else ""


def of_run(run, may_lack_end):
    has_end, is_unreadable = isinstance(run["summary"], dict), "unreadable" in run
    lines = of_lines(run, has_end)
    if is_unreadable:
        yield f"cannot be read: {run['unreadable']}"
    if lines:
        yield lines
    if "lines_missing" in run:
        yield "lacks lines of hazards that its summary counts"
    if not isinstance(run["run"], dict) and not is_unreadable:
        yield "has no line that says what ran"
    if not (has_end or is_unreadable or may_lack_end or "replaced" in run):
        yield NO_END


def of(stream, may_lack_end):
    """Reasons in words; none: the report tells all. `may_lack_end`: the process still runs, or it
    is known why it was killed."""
    if not COMMAND:
        return ["cannot be read: the command safecopy is not there"]
    try:
        status, said, complaints = ask(stream)
        runs = json.loads(said)["runs"]
        reasons = [reason for run in runs for reason in of_run(run, may_lack_end)]
    except TimeoutExpired:
        return [f"takes safecopy report longer than {PATIENCE_S} s"]
    except OSError as error:
        return [f"cannot be read: safecopy report cannot be run: {error}"]
    except (ValueError, KeyError, TypeError):
        status, reasons = -1, []
    is_unexplained = not reasons and status != 0 and not (may_lack_end and status == 2)
    why = complaints.decode(errors="replace").strip().splitlines()[-1:]
    return [f"cannot be read: {''.join(why)}"] if is_unexplained else reasons
