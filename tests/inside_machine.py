"""Inside of the machine that scripts/other-kernel makes: runs checks under its kernel, without an
emulator of its own. The last line names the kernel and says how large the pages are.

    inside_machine.py OUT PATTERN...   where the programs are; names of checks, as ONLY has them
"""

import concurrent.futures
import fnmatch
import functools
import os
import sys

import emulated
import groups_limit
import on_nfs
import run
import swapped


PROGRESS = 20  # checks: it is slow there


class OtherMachine(emulated.EmulatedMachine):
    emulated = False

    def __init__(self, out, options=""):
        super().__init__(out)
        self.wrapper = ()
        self.options = options


def main(out, patterns):
    total = run.Tally()
    machine = OtherMachine(out)
    every = [*emulated.checks(machine, run.units, bool),
             ("memory.max", functools.partial(groups_limit.check, machine)),
             ("nfs", functools.partial(on_nfs.check, machine)),
             *swapped.checks(functools.partial(OtherMachine, out))]
    checks = [(name, check) for name, check in every
              if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)]
    at_a_time = 1 if any(name.startswith("swap/") for name, check in checks) else os.cpu_count()
    with concurrent.futures.ThreadPoolExecutor(max_workers=at_a_time) as pool:
        results = pool.map(lambda check: run.run_check(*check), checks)
        for number, (tally, message) in enumerate(results, 1):
            total.add(tally)
            if message:
                print(message, flush=True)
            if number % PROGRESS == 0:
                print(f"{number} of {len(checks)} checks: {total}", flush=True)
    print(f"Linux {os.uname().release}, pages of {os.sysconf('SC_PAGESIZE') // 1024} KB: {total}",
          flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
