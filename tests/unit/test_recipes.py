#!/usr/bin/env python3
"""The queries of the docs give what they say: those of a trace in SQLite (test_trace_processor.py has
Perfetto's own), those of many reports in DuckDB where Python has it."""

import os
import pathlib
import tempfile
import unittest

import memory_reports
import packages
from perfetto_tables import Tables
from recipes import blocks, perfetto_queries, statements
from test_formats import SAMPLE, as_report, report, sample_lines
from test_merged import KILLED, ODD, RANKS, rank_report

try:
    import duckdb
except ImportError:
    duckdb = None

BY_CODE = [("SC101", 1), ("SC201", 1), ("SC301", 1), ("SC401", 1)]


def check_answers(case, answers):
    """Of the sample's trace: hazards by code, all hazards, copies, who made what, memory."""
    by_code, hazards, copies, flows, memory = answers
    case.assertEqual(by_code, BY_CODE)
    case.assertEqual([row[1][:5] for row in hazards], ["SC201", "SC101", "SC401", "SC301"])
    case.assertEqual(copies[0][1:], ("stream 0x55d0c0", "cudaMemcpyAsync (cuMemcpyHtoDAsync_v2) H2D", 2.8))
    case.assertEqual(len(copies), 2)
    case.assertIn(("cudaMemcpyAsync (cuMemcpyHtoDAsync_v2) H2D", "SC201 touch"), flows)
    case.assertEqual([row[1:] for row in memory],
                     [("device 0, in use by all", 3221225472), ("memory of device 0", 3221225472),
                      ("memory of host", 67108864)])


def late_copy():
    """The trace of a copy that began on the device when what came too early was over."""
    run, hazard, timing, *_ = sample_lines()
    late = {**timing, "device_start_ns": 7_000_000, "device_end_ns": 9_000_000, "remaining_ns": 6_000_000}
    return report("--format", "perfetto", "-", stdin=as_report([run, hazard, late])).stdout


def check_flows_of_late_copy(case, flows):
    call, event = "cudaMemcpyAsync (cuMemcpyHtoDAsync_v2)", "SC201 touch"
    case.assertEqual(flows, [(call, event), (event, call + " H2D")])


class Perfetto(unittest.TestCase):
    def test_queries(self):
        tables = Tables(report("--format", "perfetto", SAMPLE).stdout)
        check_answers(self, [tables.query(query) for query in perfetto_queries()])

    def test_a_flow_leads_to_a_copy_that_ran_later(self):
        check_flows_of_late_copy(self, Tables(late_copy()).query(perfetto_queries()[3]))


@unittest.skipUnless(duckdb, packages.missing("duckdb"))
class DuckDB(unittest.TestCase):
    def test_queries(self):
        query, = blocks("deploying.md", "Many ranks in DuckDB and Spark", "sql")
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary) / "reports"
            folder.mkdir()
            for rank in range(RANKS):
                (folder / f"{rank}.jsonl").write_bytes(
                    rank_report(rank, rank != KILLED, (0, 1) if rank == ODD else (0,)))
            (folder / "holds.jsonl").write_bytes(memory_reports.as_report([
                memory_reports.run_line(), memory_reports.summary(memory_reports.memory(
                    [memory_reports.account(1 << 20, device=0), memory_reports.account(2 << 20, device=1)]))]))
            with (folder / f"{KILLED}.jsonl").open("a") as cut:
                cut.write('{"type": "hazard", "code": "SC1')
            before = os.getcwd()
            os.chdir(temporary)
            self.addCleanup(os.chdir, before)
            connection = duckdb.connect()
            answers = [connection.execute(one).fetchall() for one in statements(query)]
        self.assertEqual(answers[2], [("SC101", "free", "cuMemcpyHtoDAsync_v2", RANKS, RANKS + 1)])
        self.assertEqual([row[0] for row in answers[3]], [str(KILLED)])
        self.assertEqual(answers[4], [("train", 1, 3 << 20)])


if __name__ == "__main__":
    unittest.main()
