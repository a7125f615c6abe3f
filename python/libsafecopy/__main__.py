"""`python -m libsafecopy`, and the command `safecopy` of the wheel: becomes the program of that name.

    python -m libsafecopy run -- python train.py     what `safecopy` takes: run, report, watch, explain, doctor
    python -m libsafecopy --lib                      prints the path of libsafecopy.so
    python -m libsafecopy --include                  prints the folder of safecopy.h
"""

import os
import signal
import sys
from typing import Dict, NoReturn

import libsafecopy

PATHS = {"--lib": libsafecopy.library_path, "--include": libsafecopy.include_path}


def start_environment() -> Dict[bytes, bytes]:
    """What this process was started with: Python may have set LC_CTYPE since."""
    try:
        with open("/proc/self/environ", "rb") as stream:
            entries = [entry.partition(b"=") for entry in stream.read().split(b"\0") if entry]
    except OSError:
        return dict(os.environb)
    return {name: value for name, _, value in entries}


def main() -> NoReturn:
    try:
        if len(sys.argv) == 2 and sys.argv[1] in PATHS:
            print(PATHS[sys.argv[1]]())
            sys.exit(0)
        command = libsafecopy.command_path()
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores
            signal.signal(number, signal.SIG_DFL)
        os.execve(command, ["safecopy", *sys.argv[1:]], start_environment())
    except OSError as error:
        sys.exit(f"libsafecopy: {error}")


if __name__ == "__main__":
    main()
