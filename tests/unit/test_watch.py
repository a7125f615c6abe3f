#!/usr/bin/env python3
"""`safecopy watch`: reports that grow, are cut, renamed, replaced and removed; how it ends; what reaches
a terminal; and a collector of OpenTelemetry that is down or refuses."""

import collections
import fcntl
import http.server
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import ssl
import struct
import subprocess
import tempfile
import termios
import threading
import time
import unittest

import many_hazards
import packages
from memory_reports import GB, MB, account, line as memory_line, memory
from test_formats import HARMFUL, NASTY
from test_otlp import records, values

try:
    from test_otlp import json_format, parse
except ImportError:
    json_format = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT", ROOT / "out")).resolve()
COMMAND = str(OUT / "safecopy")
PATIENCE_S = 300
ENVIRONMENT = {**{name: value for name, value in os.environ.items()
                  if not name.startswith(("SAFECOPY_", "OTEL_", "LD_"))
                  and name.lower() not in ("http_proxy", "https_proxy", "all_proxy")},
               "HOME": "/nonexistent"}
# What the terminal is told besides lines: the other screen, the cursor, no wrapping, the rest of a line.
OWN = re.compile(r"\x1b\[(\?1049[hl]|\?25[hl]|\?7[hl]|H|K|J)")


def run_line(rank, **more):
    return {**many_hazards.run_line(), "version": "0.1.0", "pid": 100 + rank, "rank": str(rank),
            "started": rank + 1, "host": f"node{rank}", **more}


def hazard(number=0, repeat=0):
    return many_hazards.hazard_line(number, repeat, 2, False)


def summary(hazards=1, status=0):
    return {"type": "summary", "hazards": hazards, "observed": hazards, "latent": 0, "suppressed": 0,
            "by_code": {"SC101": hazards} if hazards else {}, "operations": 5, "exit_status": status}


def text(*lines):
    return "".join(json.dumps(one) + "\n" for one in lines)


class Watching(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name) / "reports"
        self.folder.mkdir()

    def write(self, name, *lines, end=""):
        with (self.folder / name).open("a") as report:
            report.write(text(*lines) + end)

    def start(self, *arguments, **more):
        process = subprocess.Popen([COMMAND, "watch", "--every", "0.05", *arguments, str(self.folder)],
                                   **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
                                      "text": True, "stdin": subprocess.DEVNULL, "env": ENVIRONMENT,
                                      **more})
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        if process.poll() is None:
            process.kill()
        for stream in (process.stdout, process.stderr):
            if stream and not stream.closed:
                stream.close()
        process.wait()

    def run_to_end(self, *arguments, **more):
        """(status, stdout, stderr) of --until-ended."""
        process = self.start("--until-ended", *arguments, **more)
        out, err = process.communicate(timeout=PATIENCE_S)
        return process.returncode, out, err

    def wait_for(self, process, words):
        """Lines up to one with the words."""
        seen = []
        while True:
            line = process.stdout.readline()
            self.assertNotEqual(line, "", (words, seen))
            seen.append(line)
            if words in line:
                return seen


class Files(Watching):
    def test_a_report_that_grows(self):
        process = self.start()
        self.write("a.jsonl", run_line(0))
        self.wait_for(process, "rank 0 train (pid 100 on node0): began")
        self.write("a.jsonl", hazard())
        found = self.wait_for(process, "SC101 source-freed-in-flight: free at ")[-1]
        self.assertRegex(found, r"free at .*stage<0>.*; cuMemcpyHtoDAsync_v2 at .*stage<0>.*"
                                r"\(observed, 1 so far, deferred\)$")
        self.write("a.jsonl", memory_line(memory([account(3 * GB), account(
            MB, kind="pinned", device=None)])))
        self.wait_for(process, "holds 3 GB, 1 MB page-locked")
        self.write("a.jsonl", summary())
        self.wait_for(process, "ended, status 0: 1 hazard in 5 operations")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE_S)
        self.assertEqual((process.returncode, err), (1, ""))
        self.assertIn("1 process: 0 run, 1 ended; 1 hazard: SC101 1\n", out)

    def test_a_line_that_is_not_whole_yet(self):
        line = json.dumps(hazard())
        process = self.start()
        self.write("a.jsonl", run_line(0), end=line[:50])
        self.wait_for(process, "began")
        self.write("b.jsonl", run_line(1))
        self.wait_for(process, "rank 1 train (pid 101 on node1): began")  # another look
        self.write("a.jsonl", end=line[50:] + "\n")
        seen = self.wait_for(process, "SC101")
        self.assertFalse([line for line in seen if "could not be read" in line], seen)

    def test_a_renamed_report_goes_on_and_is_not_read_again(self):
        process = self.start()
        self.write("a.jsonl", run_line(0), hazard(0))
        self.wait_for(process, "SC101")
        (self.folder / "a.jsonl").rename(self.folder / "a.jsonl.1")
        self.write("a.jsonl.1", hazard(1))
        self.wait_for(process, "stage<0>")
        self.write("a.jsonl", run_line(5), summary(0))
        seen = self.wait_for(process, "rank 5 train (pid 105 on node5): ended")
        self.assertEqual([line for line in seen if "rank 0" in line], [])
        process.send_signal(signal.SIGTERM)
        self.assertIn("1 run, 1 ended; 2 hazards: SC101 2\n", process.communicate()[0])

    def test_a_report_that_is_cut_is_read_from_its_beginning(self):
        process = self.start()
        self.write("a.jsonl", run_line(0), hazard(0), hazard(1))
        self.wait_for(process, "SC101")
        self.wait_for(process, "SC101")
        (self.folder / "a.jsonl").write_text(text(hazard(2)))
        self.wait_for(process, "SC101")
        process.send_signal(signal.SIGINT)
        self.assertIn("3 hazards: SC101 3\n", process.communicate()[0])

    def test_a_removed_report_is_forgotten(self):
        process = self.start()
        self.write("a.jsonl", run_line(0))
        self.wait_for(process, "began")
        (self.folder / "a.jsonl").unlink()
        self.wait_for(process, "rank 0 train (pid 100 on node0): the report was removed")
        process.send_signal(signal.SIGINT)
        self.assertIn("0 processes: 0 run, 0 ended; 0 hazards\n", process.communicate()[0])

    def test_what_cannot_be_read_is_told(self):
        self.write("a.jsonl", run_line(0), end="no line\n\n{}\n[]\n")
        self.write("a.jsonl", summary(0))
        status, out, _ = self.run_to_end()
        self.assertEqual(status, 2)
        self.assertIn("3 lines could not be read", out)

    def test_a_line_that_is_too_long_is_passed_over(self):
        self.write("a.jsonl", run_line(0), end='{"type":"' + "x" * (9 << 20) + '"}\n')
        self.write("a.jsonl", hazard(), summary())
        status, out, _ = self.run_to_end()
        self.assertEqual(status, 1)
        self.assertIn("1 lines could not be read", out)
        self.assertIn("SC101", out)

    def test_counts_are_exact(self):
        """A hazard's lines come when its count has doubled; the summary knows better."""
        self.write("a.jsonl", run_line(0), hazard(0, 0), hazard(0, 1), hazard(0, 2), hazard(1, 0))
        process = self.start()
        self.wait_for(process, "SC101")
        self.write("b.jsonl", run_line(1))
        self.wait_for(process, "rank 1")
        process.send_signal(signal.SIGINT)
        self.assertIn("5 hazards: SC101 5\n", process.communicate()[0])
        self.write("a.jsonl", summary(7))
        self.write("b.jsonl", summary(0))
        self.assertIn("7 hazards: SC101 7\n", self.run_to_end()[1])

    def test_only_reports_are_read(self):
        for name in (".a.jsonl", "a.txt", "a.jsonl.gz", "a.json"):
            self.write(name, run_line(0))
        os.mkfifo(self.folder / "b.jsonl")
        (self.folder / "c.jsonl").symlink_to(self.folder / "a.txt")
        self.write("d.jsonl", run_line(4), summary(0))
        status, out, _ = self.run_to_end()
        self.assertEqual(status, 0)
        self.assertIn("1 process: 0 run, 1 ended; 0 hazards\n", out)

    def test_the_processes_notice_nothing(self):
        """Files are open for reading, and not locked."""
        self.write("a.jsonl", run_line(0))
        process = self.start()
        self.wait_for(process, "began")
        files = [fd for fd in pathlib.Path(f"/proc/{process.pid}/fd").iterdir()
                 if str(self.folder) in os.readlink(fd)]
        self.assertEqual(len(files), 1)
        for fd in files:
            info = pathlib.Path(f"/proc/{process.pid}/fdinfo/{fd.name}").read_text()
            self.assertEqual(int(re.search(r"flags:\s+(\d+)", info)[1], 8) & os.O_ACCMODE, os.O_RDONLY)
            self.assertNotIn("lock:", info)
        with (self.folder / "a.jsonl").open("a") as report:
            fcntl.flock(report, fcntl.LOCK_EX | fcntl.LOCK_NB)


class Ending(Watching):
    def test_until_all_have_ended(self):
        self.write("a.jsonl", run_line(0), summary(0))
        process = self.start("--until-ended")
        self.wait_for(process, "ended")
        self.write("b.jsonl", run_line(1), summary(0, 3))
        out, _ = process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, 0)
        if "rank 1" in out:
            self.assertIn("status 3", out)

    def test_a_process_that_has_died(self):
        """Of this machine it is known, by its number and its start."""
        host = os.uname().nodename
        self.write("a.jsonl", run_line(0, host=host, pid=os.getpid(), started=1))
        status, out, _ = self.run_to_end()
        self.assertEqual(status, 0)
        self.assertIn("the process is no more, and has not ended normally", out)
        self.assertIn("1 process: 0 run, 0 ended, 1 died; 0 hazards\n", out)

    def test_a_process_of_another_machine_that_says_nothing_more(self):
        self.write("a.jsonl", run_line(0))
        os.utime(self.folder / "a.jsonl", (1, 1))
        process = self.start("--until-ended=60")
        self.assertIn("1 process: 1 run, 0 ended; 0 hazards\n", process.communicate()[0])
        self.assertEqual(process.returncode, 0)

    def test_a_process_that_lives(self):
        started = int(pathlib.Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        self.write("a.jsonl", run_line(0, host=os.uname().nodename, pid=os.getpid(), started=started))
        process = self.start("--until-ended")
        self.wait_for(process, "began")
        self.write("b.jsonl", run_line(1))
        self.wait_for(process, "rank 1")
        self.assertIsNone(process.poll())

    def test_signals(self):
        self.write("a.jsonl", run_line(0))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = self.start()
            self.wait_for(process, "began")
            process.send_signal(number)
            out, err = process.communicate(timeout=PATIENCE_S)
            self.assertEqual((process.returncode, err), (0, ""))
            self.assertIn("1 process: 1 run, 0 ended; 0 hazards\n", out)

    def test_nobody_reads_any_more(self):
        """Though nothing comes that it could fail to print."""
        self.write("a.jsonl", run_line(0))
        process = self.start()
        self.wait_for(process, "began")
        process.stdout.close()
        self.assertEqual(process.wait(PATIENCE_S), 0)
        self.assertEqual(process.stderr.read(), "")

    def test_what_is_wrong_on_the_command_line(self):
        for arguments, words in (
                (["--every", "0", "."], "--every takes seconds, from 0.05 to 3600, and not 0"),
                (["--every", "nan", "."], "--every takes seconds"),
                (["--until-ended=x", "."], "--until-ended takes whole seconds, and not x"),
                (["/nonexistent/x"], "cannot watch /nonexistent/x: No such file"),
                (["/dev/null"], "cannot watch /dev/null: it is neither a folder nor a file"),
                ([], "which reports?"),
                (["--state", "s", "."], "--state has nothing to hold for"),
                (["--otlp", "ftp://host", "."], "--otlp takes http://HOST:PORT or https://...")):
            run = subprocess.run([COMMAND, "watch", *arguments], capture_output=True, text=True,
                                 check=False, env=ENVIRONMENT, timeout=PATIENCE_S)
            self.assertEqual(run.returncode, 2)
            self.assertIn(words, run.stderr)


class Terminal(Watching):
    def paint(self, until, rows=24, columns=100):
        """What a terminal is sent until it has the words, and behind Ctrl-C."""
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        process = self.start(stdout=slave, stdin=slave, start_new_session=True,
                             preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(slave)
        shown = self.read(master, until)
        os.write(master, b"\x03")
        shown += self.read(master, "\x1b[?1049l")
        shown += self.read(master, None)
        self.assertIn(process.wait(PATIENCE_S), (0, 1))
        return shown.replace("^C", "")  # the terminal's echo

    def read(self, master, until):
        """None: to the end."""
        shown, begin = b"", time.monotonic()
        while until is None or until.encode() not in shown:
            self.assertLess(time.monotonic() - begin, PATIENCE_S, shown)
            if not select.select([master], [], [], 1)[0]:
                continue
            try:
                part = os.read(master, 65536)
            except OSError:
                part = b""
            if not part:
                break
            shown += part
        return shown.decode()

    def test_a_table(self):
        for rank in range(3):
            self.write(f"{rank}.jsonl", run_line(rank), *([hazard()] if rank == 1 else []))
        shown = self.paint("event recorded after it")  # Ctrl-C drops what the terminal still has
        self.assertTrue(shown.startswith("\x1b[?1049h\x1b[?25l\x1b[?7l"))
        self.assertIn("\x1b[?7h\x1b[?25h\x1b[?1049l", shown)
        self.assertIn("3 processes: 3 run, 0 ended; 1 hazard: SC101 1", shown)
        self.assertRegex(shown, r"rank 1 train \(pid 101 on node1\)  runs +SC101 1")
        self.assertRegex(shown, r"newest: rank 1 .*SC101 source-freed-in-flight\x1b\[K\r\n    "
                                r"free at .*stage<0>[^\n]*\n    cuMemcpyHtoDAsync_v2 at .*stage<0>[^\n]*\n"
                                r"    what to do: free the source only after a wait [^\n]*, or an\x1b\[K\r\n"
                                "     event recorded after it")

    def test_a_column_that_has_no_room_is_left_out(self):
        self.write("0.jsonl", run_line(0), hazard())
        self.assertRegex(self.paint("newest: ", columns=120), r"process +state +hazards +held +newest\x1b")
        self.assertRegex(self.paint("newest: ", columns=60), r"process +state +hazards +held\x1b")

    def test_ctrl_z_gives_the_screen_back(self):
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        self.write("a.jsonl", run_line(0))
        process = self.start(stdout=slave)
        os.close(slave)
        self.read(master, "1 process: 1 run")
        process.send_signal(signal.SIGTSTP)
        self.read(master, "\x1b[?1049l")
        self.assertTrue(os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1]))
        process.send_signal(signal.SIGCONT)
        self.read(master, "\x1b[?1049h")
        self.read(master, "1 process: 1 run")
        process.send_signal(signal.SIGQUIT)
        self.read(master, "\x1b[?1049l")
        self.assertEqual(process.wait(PATIENCE_S), 0)

    def test_more_reports_than_lines(self):
        for rank in range(40):
            self.write(f"{rank}.jsonl", run_line(rank), *([hazard()] if rank == 39 else []))
        painted = self.paint("and ", rows=16).partition("\x1b[?1049l")[0]
        frame = painted.rpartition("\x1b[H")[2]
        self.assertLessEqual(frame.count("\n"), 15)
        self.assertIn("rank 39 ", frame)
        self.assertIn("and 34 more", frame)

    def test_hostile_reports_steer_nothing(self):
        nasty = NASTY + "\x1b]0;title\x07\x9b2J"
        evil = {**hazard(), "label": nasty, "name": nasty,
                "event": {**hazard()["event"], "api": nasty, "stack": [
                    {"file": nasty, "line": 3, "function": nasty}]}}
        self.write("a.jsonl", {**run_line(0), "command": [nasty], "host": nasty, "rank": nasty}, evil,
                   summary())
        self.write("b.jsonl", run_line(1, version="99.0.0"), {**evil, "action": nasty})
        shown = self.paint("newest: ")
        self.assertIn("forged", shown)
        self.assertIsNone(HARMFUL.search(OWN.sub("", shown).replace("\r\n", "\n")))
        out = self.plain()
        self.assertIsNone(HARMFUL.search(out))
        self.assertNotIn("\nSC999", out)

    def plain(self):
        process = self.start()
        seen = "".join(self.wait_for(process, "rank 1"))
        process.send_signal(signal.SIGINT)
        return seen + process.communicate()[0]

    def test_lines_on_a_terminal(self):
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        self.write("a.jsonl", run_line(0), summary(0))
        process = self.start("--lines", "--until-ended", stdout=slave)
        os.close(slave)
        self.assertNotIn("\x1b", self.read(master, None))
        self.assertEqual(process.wait(PATIENCE_S), 0)


class Collector:
    """Takes OTLP on a port of its own. `answers` are given one after the other, then 200."""

    def __init__(self, answers=(), port=0, certificate=None):
        self.answers, self.taken, self.asked, self.headers = list(answers), [], [], []
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                collector.headers.append(dict(self.headers))
                answer = collector.answers.pop(0) if collector.answers else (200, {}, "{}")
                collector.asked.append((self.path, answer[0]))
                if answer[0] == 200:
                    collector.taken.append((self.path, body))
                self.send_response(answer[0])
                for name, value in answer[1].items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer[2].encode())

            def log_message(self, *_):
                pass
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"http{'s' if certificate else ''}://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def logs(self):
        return list(records(body for path, body in self.taken if path == "/v1/logs"))

    def hazards(self):
        """(pid-less) titles' codes and seq: what tells one line of a report from another."""
        return [values(record["attributes"])["safecopy.event.place"] + str(
            values(record["attributes"])["safecopy.count"])
            for record in self.logs() if record["eventName"] == "safecopy.hazard"]


@unittest.skipUnless(shutil.which("curl"), "no curl here, by which --otlp sends")
class Otlp(Watching):
    def collector(self, *answers, **more):
        collector = Collector(answers, **more)
        self.addCleanup(collector.close)
        return collector

    def write_ranks(self, ranks=5, hazards=40):
        for rank in range(ranks):
            self.write(f"{rank}.jsonl", run_line(rank), *map(hazard, range(hazards)),
                       memory_line(memory([account(rank * GB)])), summary(hazards))

    def counts(self, collector):
        return collections.Counter(collector.hazards())

    def expect_all(self, collector, ranks=5, hazards=40, times=1):
        """Each hazard of each rank, so often."""
        found = self.counts(collector)
        self.assertEqual(len(found), hazards)
        self.assertEqual(set(found.values()), {ranks * times})

    def test_hazards_and_memory_are_sent(self):
        collector = self.collector()
        self.write_ranks()
        status, _, err = self.run_to_end("--otlp", collector.url + "/")
        self.assertEqual((status, err), (1, ""))
        self.expect_all(collector)
        self.assertEqual({path for path, _ in collector.taken}, {"/v1/logs", "/v1/metrics"})
        self.assertEqual({header["Content-Type"] for header in collector.headers},
                         {"application/json"})
        self.assertEqual(sum(record["eventName"] == "safecopy.ended" for record in collector.logs()), 5)

    @unittest.skipUnless(json_format, packages.missing("opentelemetry-proto"))
    def test_the_definitions_take_what_is_sent(self):
        collector = self.collector()
        self.write_ranks()
        self.write("9.jsonl", run_line(9), end="no line\n")
        self.write("9.jsonl", {"type": "postmortem", "error": {"code": 700, "name": "E"},
                               "call": {"api": "cuCtxSynchronize", "thread": 1, "time_ns": 5,
                                        "stack": []}, "hazards": 0, "by_code": {}, "frees": [],
                               "streams": [], "in_flight": 0}, summary(0))
        self.run_to_end("--otlp", collector.url)
        for path, body in collector.taken:
            parse("otlp-logs" if path == "/v1/logs" else "otlp-metrics", body)
        names = {record["eventName"] for record in collector.logs()}
        self.assertLessEqual({"safecopy.in_doubt", "safecopy.ended"}, names)

    def test_as_they_happen(self):
        collector = self.collector()
        self.write("a.jsonl", run_line(0))
        process = self.start("--otlp", collector.url)
        self.wait_for(process, "began")
        for number in range(3):
            self.write("a.jsonl", hazard(number))
            begin = time.monotonic()
            while len(collector.hazards()) <= number:
                self.assertLess(time.monotonic() - begin, PATIENCE_S)
                time.sleep(0.02)

    def test_a_collector_that_is_down_loses_nothing(self):
        first = Collector()
        url, port = first.url, first.server.server_address[1]
        first.close()
        self.write_ranks()
        process = self.start("--until-ended", "--otlp", url)
        self.wait_for(process, "rank 4 train (pid 104 on node4): ended")
        self.assertIsNone(process.poll())
        collector = self.collector(port=port)
        process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, 1)
        self.expect_all(collector)

    def test_what_may_be_tried_again_is(self):
        now = {"Retry-After": "0"}
        collector = self.collector(*((status, now, "busy") for status in (503, 429, 502, 504)))
        self.write_ranks()
        status, _, err = self.run_to_end("--otlp", collector.url)
        self.assertEqual((status, err), (1, ""))
        self.expect_all(collector)
        self.assertEqual([status for _, status in collector.asked[:5]], [503, 429, 502, 504, 200])

    def test_what_is_refused_is_told(self):
        collector = self.collector((400, {}, "bad\n\x1b[2J"))
        self.write_ranks(1, 3)
        status, _, err = self.run_to_end("--otlp", collector.url)
        self.assertEqual(status, 2)
        self.assertEqual(err, "safecopy: the collector refuses a batch: status 400: bad\n")

    def test_part_that_is_refused_is_told(self):
        partial = {"partialSuccess": {"rejectedLogRecords": "2", "errorMessage": "too old\x1b[2J"}}
        collector = self.collector((200, {}, json.dumps(partial)))
        self.write_ranks(1, 3)
        status, _, err = self.run_to_end("--otlp", collector.url)
        self.assertEqual(status, 2)
        self.assertEqual(err, "safecopy: the collector refuses 2: too old\\u001b[2J\n")

    def test_a_refusal_stops_and_the_next_run_sends_all(self):
        state = str(self.folder.parent / "state")
        collector = self.collector((401, {}, "who are you?"))
        self.write_ranks()
        status, _, err = self.run_to_end("--otlp", collector.url, "--state", state)
        self.assertEqual(status, 2)
        self.assertIn("the collector refuses (status 401: who are you?), and nothing more is sent", err)
        self.assertIn("the next run with this --state sends the rest", err)
        self.assertEqual(collector.hazards(), [])
        status, _, err = self.run_to_end("--otlp", collector.url, "--state", state)
        self.assertEqual((status, err), (1, ""))
        self.expect_all(collector)

    def test_a_collector_for_logs_alone(self):
        collector = self.collector((200, {}, "{}"), (404, {}, "none here"))
        self.write_ranks()
        status, _, err = self.run_to_end("--otlp", collector.url)
        self.assertEqual((status, err), (1, "safecopy: the collector takes no metrics (status 404: none "
                                            "here), and only logs are sent\n"))
        self.expect_all(collector)
        self.assertEqual({path for path, _ in collector.taken}, {"/v1/logs"})

    def test_a_server_that_is_no_collector(self):
        state = str(self.folder.parent / "state")
        collector = self.collector((404, {}, "a"), (404, {}, "b"))
        self.write_ranks()
        status, _, err = self.run_to_end("--otlp", collector.url, "--state", state)
        self.assertEqual(status, 2)
        self.assertIn("nothing more is sent", err)
        self.assertEqual(self.run_to_end("--otlp", collector.url, "--state", state)[0], 1)
        self.expect_all(collector)

    def test_the_state_goes_on_where_it_was(self):
        state = str(self.folder.parent / "state")
        collector = self.collector()
        self.write_ranks(2, 3)
        self.run_to_end("--otlp", collector.url, "--state", state)
        self.expect_all(collector, 2, 3)
        (self.folder / "0.jsonl").rename(self.folder / "0.jsonl.1")
        self.write("0.jsonl", run_line(7), hazard(0), summary())
        self.write("1.jsonl", hazard(8))
        self.run_to_end("--otlp", collector.url, "--state", state)
        found = self.counts(collector)
        self.assertEqual(sum(found.values()), 2 * 3 + 1 + 1)
        counts = [point for path, body in collector.taken if path == "/v1/metrics"
                  for point in re.findall(r'"asInt":"4"', body)]
        self.assertTrue(counts, "rank 1 has had four hazards in all")

    def test_killed_it_loses_nothing(self):
        """What was under way comes twice at most."""
        state = str(self.folder.parent / "state")
        collector = self.collector(*[(503, {"Retry-After": "0"}, "")] * 3)
        self.write_ranks()
        process = self.start("--otlp", collector.url, "--state", state)
        begin = time.monotonic()
        while not collector.taken:
            self.assertLess(time.monotonic() - begin, PATIENCE_S)
            time.sleep(0.01)
        process.kill()
        process.wait()
        self.run_to_end("--otlp", collector.url, "--state", state)
        found = self.counts(collector)
        self.assertEqual(len(found), 40)
        self.assertLessEqual(set(found.values()), set(range(5, 11)))

    def test_large_backlogs_come_in_batches(self):
        collector = self.collector()
        self.write_ranks(8, 400)
        self.run_to_end("--otlp", collector.url)
        self.expect_all(collector, 8, 400)
        self.assertGreater(len(collector.taken), 4)

    def test_a_file_that_is_no_state_stays(self):
        state = self.folder.parent / "notes"
        state.write_text("{}")
        run = subprocess.run([COMMAND, "watch", "--otlp", "http://127.0.0.1:9", "--state", state,
                              self.folder], capture_output=True, text=True, check=False,
                             env=ENVIRONMENT)
        self.assertEqual((run.returncode, state.read_text()), (2, "{}"))
        self.assertIn("notes is no state of safecopy watch, and stays as it is", run.stderr)

    def test_headers_are_no_arguments(self):
        collector = self.collector()
        self.write_ranks(1, 1)
        self.run_to_end("--otlp", collector.url, env={
            **ENVIRONMENT, "OTEL_EXPORTER_OTLP_HEADERS": 'api-key=s3cret%20"x",x-other=a=b'})
        self.assertEqual((collector.headers[0]["api-key"], collector.headers[0]["x-other"]),
                         ('s3cret "x"', "a=b"))

    @unittest.skipUnless(shutil.which("openssl"), "no openssl here, which makes a certificate")
    def test_tls(self):
        """By the certificate that OpenTelemetry's variable names, and not without."""
        key, certificate = (str(self.folder.parent / name) for name in ("key", "certificate"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                        "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
                        "-keyout", key, "-out", certificate], check=True, capture_output=True)
        collector = self.collector(certificate=(certificate, key))
        self.write_ranks(1, 2)
        status, _, err = self.run_to_end("--otlp", collector.url, env={
            **ENVIRONMENT, "OTEL_EXPORTER_OTLP_CERTIFICATE": certificate})
        self.assertEqual((status, err), (1, ""))
        self.expect_all(collector, 1, 2)
        process = self.start("--otlp", collector.url)
        self.wait_for(process, "ended")
        process.send_signal(signal.SIGINT)
        self.assertIn("not all was sent", process.communicate(timeout=PATIENCE_S)[1])
        self.assertEqual(process.returncode, 2)
        self.expect_all(collector, 1, 2)

    def test_without_curl(self):
        run = subprocess.run([COMMAND, "watch", "--otlp", "http://127.0.0.1:9", self.folder],
                             capture_output=True, text=True, check=False,
                             env={**ENVIRONMENT, "PATH": "/nonexistent"})
        self.assertEqual(run.returncode, 2)
        self.assertIn("install the package curl (apt-get install curl)", run.stderr)

    def test_ctrl_c_while_the_collector_is_down(self):
        first = Collector()
        first.close()
        self.write_ranks(1, 1)
        process = self.start("--otlp", first.url)
        self.wait_for(process, "ended")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, 2)
        self.assertIn(f"not all was sent to {first.url}", err)
        self.assertIn("without --state the next run sends everything again", err)


if __name__ == "__main__":
    unittest.main()
