#!/usr/bin/env python3
"""What is sent and written arrives: in a collector of OpenTelemetry, behind that in VictoriaMetrics, and
in Prometheus by way of its node exporter. These programs are looked for in the folder that
SAFECOPY_COLLECTORS names and in PATH; what is not here is skipped."""

import functools
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

import many_hazards
from test_formats import COMMAND, NASTY, SAMPLE, as_report, sample_lines, spoilt
from test_watch import ENVIRONMENT

PATIENCE_S = 300
PROGRAMS = {"collector": ("otelcol", "otelcol-contrib", "opentelemetry-collector"),
            "store": ("victoria-metrics", "victoria-metrics-prod"), "prometheus": ("prometheus",),
            "promtool": ("promtool",), "exporter": ("prometheus-node-exporter", "node_exporter")}
LOOK_IN = os.pathsep.join(filter(None, (os.environ.get("SAFECOPY_COLLECTORS"), os.environ["PATH"])))
FOUND = {kind: next(filter(None, (shutil.which(name, path=LOOK_IN) for name in names)), None)
         for kind, names in PROGRAMS.items()}

COLLECTOR = """\
receivers: {otlp: {protocols: {http: {endpoint: "127.0.0.1:%(port)d"}}}}
exporters:
  debug: {verbosity: detailed}
  otlphttp: {endpoint: "http://127.0.0.1:%(store)d/opentelemetry"}
service:
  telemetry: {metrics: {level: none}}
  pipelines:
    logs: {receivers: [otlp], exporters: [debug]}
    metrics: {receivers: [otlp], exporters: [%(exporters)s]}
"""
SCRAPED = """\
scrape_configs:
  - {job_name: node, scrape_interval: 1s, static_configs: [{targets: ["127.0.0.1:%d"]}]}
"""


def needs(*kinds):
    lacking = [PROGRAMS[kind][0] for kind in kinds if not FOUND[kind]]
    return unittest.skipIf(lacking, f"no {', '.join(lacking)} here (SAFECOPY_COLLECTORS=FOLDER)")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def ask(port, path, **parameters):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}?{urllib.parse.urlencode(parameters)}",
                                timeout=PATIENCE_S) as answer:
        return answer.read().decode()


class Programs(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        (self.folder / "reports").mkdir()

    def start(self, kind, *arguments, port):
        """A program that listens, and what it says."""
        log = self.folder / f"{kind}.log"
        with log.open("wb") as output:
            program = subprocess.Popen([FOUND[kind], *arguments], stdout=output, stderr=output,
                                       stdin=subprocess.DEVNULL, cwd=self.folder)
        self.addCleanup(self.end, program)
        self.wait_until(functools.partial(self.listens, program, port, log))
        return program, log

    def listens(self, program, port, log):
        self.assertIsNone(program.poll(), log.read_text(errors="replace"))
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", port)) == 0

    def wait_until(self, holds):
        end = time.monotonic() + PATIENCE_S
        while not holds():
            self.assertLess(time.monotonic(), end, holds)
            time.sleep(0.1)

    def end(self, program):
        """Ends it as an operator would: it passes on what it still has."""
        if program.poll() is None:
            program.send_signal(signal.SIGTERM)
        program.wait(PATIENCE_S)

    def collector(self, port, store=None):
        (self.folder / "collector.yaml").write_text(COLLECTOR % {
            "port": port, "store": store or 1, "exporters": "debug, otlphttp" if store else "debug"})
        return self.start("collector", "--config", self.folder / "collector.yaml", port=port)

    def watch(self, port):
        return subprocess.Popen([COMMAND, "watch", "--every", "0.05", "--until-ended=1", "--lines", "--otlp",
                                 f"http://127.0.0.1:{port}", self.folder / "reports"], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT)

    def send(self, port, *reports):
        for index, text in enumerate(reports):
            (self.folder / "reports" / f"{index}.jsonl").write_bytes(text)
        _, err = self.watch(port).communicate(timeout=2 * PATIENCE_S)
        self.assertEqual(err, "")


@needs("collector")
class Collector(Programs):
    def said(self, *reports):
        port = free_port()
        program, log = self.collector(port)
        self.send(port, *reports)
        self.end(program)
        return log.read_text(encoding="utf-8")

    def test_logs(self):
        said = self.said(SAMPLE.read_bytes())
        self.assertEqual(re.findall(r"^SeverityText: (\w+)\nSeverityNumber: (\w+)\(\d+\)\nEventName: ([\w.]+)", said, re.M),
                         [("ERROR", "Error", "safecopy.hazard"), ("WARN", "Warn", "safecopy.hazard"),
                          ("ERROR", "Error", "safecopy.hazard"), ("INFO", "Info", "safecopy.hazard"),
                          ("FATAL", "Fatal", "safecopy.postmortem"), ("INFO", "Info", "safecopy.ended")])
        for words in ("Body: Str(SC201 source-overwritten-in-flight: touch at tests/unit/formats/train.py:8 in step;",
                      "-> safecopy.code: Str(SC201)", "-> safecopy.count: Int(4)", "-> process.pid: Int(4711)",
                      "-> service.instance.id: Str(node1:4711:99)",
                      '-> process.command_args: Slice(["python","train.py","--epochs","2"])'):
            self.assertIn(words, said)

    def test_metrics(self):
        said = self.said(SAMPLE.read_bytes())
        self.assertEqual(dict(re.findall(r"-> Name: ([\w.]+)\n(?:.*\n){2} +-> DataType: (\w+)", said)),
                         {"safecopy.hazards": "Sum", "safecopy.operations": "Sum", "safecopy.memory.usage": "Sum",
                          "safecopy.memory.peak": "Gauge", "hw.gpu.memory.usage": "Sum", "hw.gpu.memory.limit": "Sum"})
        self.assertEqual(set(re.findall("AggregationTemporality: (.*)", said)), {"Cumulative"})

    def test_hostile_names(self):
        for word in (NASTY, "\x7f\u202e"):
            said = self.said(as_report(spoilt(sample_lines(), word)))
            with self.subTest(word=word):
                self.assertEqual(len(re.findall("^LogRecord #", said, re.M)), 6)
                self.assertIn("-> host.name: Str(node1" + word.replace("\r", "\n") + ")\n", said)

    def test_many_come_once_each(self):
        said = self.said("".join(many_hazards.report(3000, frames=3)).encode())
        bodies = re.findall(r"^Body: Str\((SC.*)\)$", said, re.M)
        self.assertEqual((len(bodies), len(set(bodies))), (3000, 3000))

    def test_one_that_is_started_later(self):
        port = free_port()
        (self.folder / "reports" / "r.jsonl").write_bytes(SAMPLE.read_bytes())
        watch = self.watch(port)
        self.addCleanup(watch.kill)
        while "ended, status 0" not in watch.stdout.readline():  # all is read, and nobody takes it
            self.assertIsNone(watch.poll())
        program, log = self.collector(port)
        watch.communicate(timeout=2 * PATIENCE_S)
        self.end(program)
        self.assertEqual(log.read_text(encoding="utf-8").count("LogRecord #"), 6)


@needs("collector", "store")
class Store(Programs):
    def test_series(self):
        store, port = free_port(), free_port()
        self.start("store", f"-storageDataPath={self.folder}/data", f"-httpListenAddr=127.0.0.1:{store}", port=store)
        self.collector(port, store)
        self.send(port, SAMPLE.read_bytes())

        def stored():
            ask(store, "/internal/force_flush")
            lines = ask(store, "/api/v1/export", **{"match[]": '{__name__=~".+"}'}).splitlines()
            return [json.loads(line) for line in lines]
        self.wait_until(stored)
        series = stored()
        found = {tuple(one["metric"].get(key) for key in ("__name__", "safecopy.code", "safecopy.place", "safecopy.kind")):
                 one["values"] for one in series}
        self.assertEqual({key[1]: values for key, values in found.items() if key[0] == "safecopy.hazards"},
                         {"SC201": [4], "SC101": [1], "SC401": [2], "SC301": [1]})
        self.assertEqual(found["safecopy.memory.usage", None, "device 0", "pooled"], [268435456])
        self.assertEqual({(one["metric"]["service.instance.id"], one["metric"]["service.name"]) for one in series},
                         {("node1:4711:99", "python")})


class Scraped(Programs):
    def text(self, report):
        path = self.folder / "reports" / "safecopy.prom"
        subprocess.run([COMMAND, "report", "--format", "prometheus", "-o", path, "-"], input=report, env=ENVIRONMENT,
                       stderr=subprocess.DEVNULL, check=False)
        return path

    @needs("promtool")
    def test_promtool_has_nothing_to_say(self):
        for lines in (sample_lines(), spoilt(sample_lines(), NASTY), sample_lines() + [{**sample_lines()[0], "pid": 7}]):
            with self.text(as_report(lines)).open() as text:
                run = subprocess.run([FOUND["promtool"], "check", "metrics"], stdin=text, capture_output=True, check=False)
            self.assertEqual((run.returncode, run.stdout + run.stderr), (0, b""))

    @needs("prometheus", "exporter")
    def test_prometheus_has_each_sample(self):
        path, exporter, port = self.text(SAMPLE.read_bytes()), free_port(), free_port()
        self.start("exporter", "--collector.disable-defaults", "--collector.textfile",
                   f"--collector.textfile.directory={path.parent}", f"--web.listen-address=127.0.0.1:{exporter}", port=exporter)
        (self.folder / "prometheus.yml").write_text(SCRAPED % exporter)
        self.start("prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=data",
                   f"--web.listen-address=127.0.0.1:{port}", port=port)

        def samples():
            try:
                text = ask(port, "/api/v1/query", query='{__name__=~"(safecopy|hw)_.*"}')
            except urllib.error.HTTPError:  # it is not ready yet
                return []
            return json.loads(text)["data"]["result"]
        self.wait_until(samples)
        written = {line for line in path.read_text().splitlines() if line and line[0] != "#"}
        self.assertEqual(len(samples()), len(written))
        self.assertEqual({one["metric"]["code"]: one["value"][1] for one in samples()
                          if one["metric"]["__name__"] == "safecopy_hazards_total"},
                         {"SC201": "4", "SC101": "1", "SC401": "2", "SC301": "1"})


if __name__ == "__main__":
    if not any(FOUND.values()):
        print("no collector, and no Prometheus here (SAFECOPY_COLLECTORS=FOLDER)")
        sys.exit(77)
    unittest.main()
