"""Memory of each kind behaves with the library as without it: virtual, shared, pooled and graphs'
memory, arrays, limits. What the conformance programs are answered, results and waits, is the same."""

import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT") or ROOT / "out")

# Questions whose mistakes are healed: unmapping in flight, and calls that captures forbid.
HEALED = {"unmap-in-flight", "captures", "more-captures", "ipc-captures", "late-limits"}


def answers(program, options, questions=()):
    environment = dict(os.environ, LD_LIBRARY_PATH=str(OUT / "sim"), SIM_GPU="late=1")
    if options is not None:
        environment.update(LD_PRELOAD=str(OUT / "libsafecopy.so"),
                           SAFECOPY_OPTIONS=f"report_path=none:verbosity=0:{options}")
    run = subprocess.run([OUT / "gpu" / program, *questions], env=environment, text=True,
                         capture_output=True, timeout=300)
    # Where a thread of the library's maps memory meanwhile, an address that was free is not.
    return [row for row in run.stdout.splitlines() if "an address that is free" not in row]


def questions_of(program):
    source = (ROOT / "tests" / "gpu" / f"{program}.c").read_text()
    return re.findall(r'\{\.name = "([\w-]+)"', source)


class AsWithout(unittest.TestCase):
    maxDiff = None

    def check(self, program):
        plain = answers(program, None)
        self.assertGreater(len(plain), 100)
        self.assertEqual(answers(program, "mode=report:device=1"), plain)
        questions = [name for name in questions_of(program) if name not in HEALED]
        plain = answers(program, None, questions)
        for options in "", "device=1":
            with self.subTest(options=options):
                self.assertEqual(answers(program, options, questions), plain)

    def test_virtual_memory(self):
        self.check("conformance_virtual")

    def test_other_memory(self):
        self.check("conformance_memory")


class Healed(unittest.TestCase):
    def test_unmapping_in_flight_waits(self):
        rows = answers("conformance_virtual", "device=1", ["unmap-in-flight"])
        self.assertEqual([row.split(" | ")[-1] for row in rows], ["0 blocks", "0"])

    def test_captures_last(self):
        rows = answers("conformance_memory", "", ["captures"])
        self.assertEqual([row for row in rows if not row.endswith(" 0/0")
                          and "cuMemPoolGetAttribute" not in row], [])


if __name__ == "__main__":
    unittest.main()
