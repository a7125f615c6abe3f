#!/usr/bin/env python3
"""Perfetto's trace processor opens the trace that the command writes, and answers the queries of the
docs. PyPI's package fetches the program itself from Perfetto's server, once; SAFECOPY_TRACE_PROCESSOR
names one that is here. Where neither can be had this is skipped, and test_recipes.py has asked SQLite
and test_formats.py the definitions of the messages."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import packages
from recipes import perfetto_queries
from test_formats import SAMPLE, report
from test_recipes import check_answers, check_flows_of_late_copy, late_copy

FETCH_LIMIT_S = 120
FETCH = ("from perfetto.trace_processor.platform import PlatformDelegate;"
         "print(PlatformDelegate().get_shell_path(None))")

try:
    from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig
except ImportError:
    TraceProcessor = None


def fetch():
    """(path, None) or (None, why there is none)."""
    path = os.environ.get("SAFECOPY_TRACE_PROCESSOR")
    if path:
        return path, None
    try:
        run = subprocess.run([sys.executable, "-c", FETCH], capture_output=True, text=True,
                             timeout=FETCH_LIMIT_S, check=False,
                             env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    except subprocess.TimeoutExpired:
        return None, f"nothing came in {FETCH_LIMIT_S} s"
    if run.returncode == 0:
        return run.stdout.split()[-1], None
    return None, (run.stderr.strip().splitlines() or ["?"])[-1]


class Opened(unittest.TestCase):
    def open(self, content):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        trace = pathlib.Path(temporary.name) / "r.pftrace"
        trace.write_bytes(content)
        processor = TraceProcessor(trace=str(trace), config=TraceProcessorConfig(bin_path=SHELL))
        self.addCleanup(processor.close)

        def ask(query):
            return [tuple(vars(row).values()) for row in processor.query(query)]
        problems = ask("SELECT name, value FROM stats WHERE severity = 'error' AND value > 0")
        self.assertEqual(problems, [], json.dumps(problems))
        return ask

    def test_queries(self):
        ask = self.open(report("--format", "perfetto", SAMPLE).stdout)
        check_answers(self, [ask(query) for query in perfetto_queries()])

    def test_a_flow_leads_to_a_copy_that_ran_later(self):
        check_flows_of_late_copy(self, self.open(late_copy())(perfetto_queries()[3]))


if __name__ == "__main__":
    if not TraceProcessor:
        print(packages.missing("perfetto"))
        sys.exit(77)
    SHELL, WHY = fetch()
    if not SHELL:
        print("the package perfetto is here, and the trace_processor_shell that it fetches is not: "
              f"{WHY}; SAFECOPY_TRACE_PROCESSOR names one")
        sys.exit(77)
    unittest.main()
