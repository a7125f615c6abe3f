"""Inside of the machine that scripts/other-pages makes: runs the checks of emulated.py, without an
emulator of its own. The last line says how large the pages are.

    inside_machine.py PATTERN...   names of checks, as ONLY has them
"""

import concurrent.futures
import fnmatch
import os
import sys

import emulated
import run


class OtherMachine(emulated.EmulatedMachine):
    emulated = False

    def __init__(self):
        super().__init__()
        self.wrapper = ()


def main(patterns):
    total = run.Tally()
    checks = [(name, check) for name, check in emulated.checks(OtherMachine(), run.units, bool)
              if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)]
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for tally, message in pool.map(lambda check: run.run_check(*check), checks):
            total.add(tally)
            if message:
                print(message, flush=True)
    print(f"pages of {os.sysconf('SC_PAGESIZE') // 1024} KB: {total}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
