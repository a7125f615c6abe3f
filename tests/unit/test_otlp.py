#!/usr/bin/env python3
"""What is written for OpenTelemetry is what its definitions say: --format otlp-logs and otlp-metrics
against PyPI's opentelemetry-proto where Python has it, and against a reader of this file anyway."""

import json
import re
import subprocess
import unittest

import packages
from test_formats import COMMAND, NASTY, ROOT, SAMPLE, as_report, report, sample_lines, spoilt

try:
    from google.protobuf import json_format
    from opentelemetry.proto.collector.logs.v1 import logs_service_pb2
    from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2
except ImportError:
    json_format = None

NOW = "1700000000000000000"  # test_formats.report


def parse(name, line):
    """A line as the message that a collector takes; unknown members are errors."""
    message = (logs_service_pb2.ExportLogsServiceRequest() if name == "otlp-logs" else
               metrics_service_pb2.ExportMetricsServiceRequest())
    return json_format.Parse(line, message, ignore_unknown_fields=False)


def lines_of(name, text=None):
    run = report("--format", name, "-" if text else SAMPLE, stdin=text)
    return run.stdout.decode().splitlines()


def values(attributes):
    """{key: value}; 64-bit numbers are strings, as OTLP has them."""
    def of(value):
        (kind, one), = value.items()
        if kind == "intValue":
            assert isinstance(one, str), one
            return int(one)
        if kind == "arrayValue":
            return [of(inner) for inner in one["values"]]
        assert kind == "stringValue", kind
        return one
    return {attribute["key"]: of(attribute["value"]) for attribute in attributes}


def records(lines):
    for line in lines:
        for resource in json.loads(line)["resourceLogs"]:
            for scope in resource["scopeLogs"]:
                yield from scope["logRecords"]


def points(lines):
    """(metric, attributes, value) of all."""
    for line in lines:
        for resource in json.loads(line)["resourceMetrics"]:
            for scope in resource["scopeMetrics"]:
                for metric in scope["metrics"]:
                    for point in metric.get("sum", metric.get("gauge"))["dataPoints"]:
                        yield metric["name"], values(point["attributes"]), int(point["asInt"])


class Logs(unittest.TestCase):
    def test_each_hazard_is_a_record(self):
        found = [record for record in records(lines_of("otlp-logs"))
                 if record["eventName"] == "safecopy.hazard"]
        self.assertEqual([(values(record["attributes"])["safecopy.code"], record["severityText"],
                           record["severityNumber"]) for record in found],
                         [("SC201", "ERROR", 17), ("SC401", "ERROR", 17), ("SC301", "INFO", 9),
                          ("SC101", "WARN", 13)])
        attributes = values(found[0]["attributes"])
        self.assertEqual(attributes["safecopy.event.place"],
                         "tests/unit/formats/train.py:8 in step")
        self.assertEqual(attributes["safecopy.copy.place"], "tests/unit/formats/train.py:7 in step")
        self.assertEqual(attributes["safecopy.count"], 4)
        self.assertTrue(found[0]["body"]["stringValue"].startswith("SC201 "))
        self.assertEqual({record["observedTimeUnixNano"] for record in found}, {NOW})
        self.assertFalse([record for record in found if "timeUnixNano" in record])

    def test_what_is_not_known_is_told(self):
        lines = sample_lines()
        text = as_report([line for line in lines if line["type"] != "summary"]) + b"no line\n"
        names = [record["eventName"] for record in records(lines_of("otlp-logs", text))]
        for name in ("safecopy.not_ended", "safecopy.in_doubt", "safecopy.postmortem"):
            self.assertIn(name, names)

    def test_the_process(self):
        resource = json.loads(lines_of("otlp-logs")[0])["resourceLogs"][0]["resource"]
        self.assertEqual(values(resource["attributes"]), {
            "service.name": "python", "service.instance.id": "node1:4711:99", "host.name": "node1",
            "process.pid": 4711,
            "process.command_args": ["python", "train.py", "--epochs", "2"]})

    def test_the_service_may_have_a_name(self):
        run = subprocess.run([COMMAND, "report", "--format", "otlp-metrics", SAMPLE], cwd=ROOT,
                             capture_output=True, text=True, check=False,
                             env={"OTEL_SERVICE_NAME": "trainer"})
        self.assertIn('"service.name","value":{"stringValue":"trainer"}', run.stdout)


class Metrics(unittest.TestCase):
    def test_hazards_and_memory(self):
        found = list(points(lines_of("otlp-metrics")))
        counts = {attributes["safecopy.code"]: value for name, attributes, value in found
                  if name == "safecopy.hazards"}
        self.assertEqual(counts, {"SC101": 1, "SC201": 4, "SC301": 1, "SC401": 2})
        usage = {(attributes["safecopy.place"], attributes["safecopy.kind"]): value
                 for name, attributes, value in found if name == "safecopy.memory.usage"}
        self.assertEqual(usage["device 0", "pooled"], 268435456)
        self.assertEqual(usage["host", "pinned"], 67108864)
        self.assertIn(("safecopy.operations", {}, 20), found)

    def test_sums_say_what_they_are(self):
        line, = lines_of("otlp-metrics")
        metrics, = json.loads(line)["resourceMetrics"][0]["scopeMetrics"]
        kinds = {metric["name"]: metric.get("sum", {}).get("isMonotonic")
                 for metric in metrics["metrics"]}
        self.assertEqual(kinds, {"safecopy.hazards": True, "safecopy.operations": True,
                                 "safecopy.memory.usage": False, "safecopy.memory.peak": None,
                                 "hw.gpu.memory.usage": False, "hw.gpu.memory.limit": False})

    def test_a_run_that_goes_on_has_what_its_lines_tell(self):
        text = as_report([line for line in sample_lines() if line["type"] != "summary"])
        counts = {attributes["safecopy.code"]: value
                  for name, attributes, value in points(lines_of("otlp-metrics", text))
                  if name == "safecopy.hazards"}
        self.assertEqual(counts["SC201"], 4)


class Prometheus(unittest.TestCase):
    def samples(self, lines):
        text = report("--format", "prometheus", "-", stdin=as_report(lines)).stdout.decode()
        return dict(re.findall(r'^safecopy_(?:hazards_total\{.*code="(.*)"|(?=ended)).*\} (\d+)$', text,
                               re.M)), text

    def test_hazards_by_code_and_the_end(self):
        counts, text = self.samples(sample_lines())
        self.assertEqual(counts, {"SC101": "1", "SC201": "4", "SC301": "1", "SC401": "2", "": "1"})
        self.assertIn("\nsafecopy_operations_total{", text)

    def test_a_run_that_goes_on(self):
        """Its lines tell how many there are at least; operations are not known."""
        lines = [line for line in sample_lines() if line["type"] != "summary"]
        counts, text = self.samples(lines)
        self.assertEqual((counts["SC201"], counts[""]), ("4", "0"))
        self.assertNotIn("safecopy_operations_total", text)

    def test_each_process_has_its_own(self):
        lines = sample_lines()
        other = [{**lines[0], "pid": 7, "rank": "3"}, *lines[1:]]
        _, text = self.samples(lines + other)
        self.assertEqual(len(re.findall(r'^safecopy_hazards_total\{pid="(?:7|4711)",', text, re.M)), 8)
        self.assertIn('safecopy_ended{pid="7",host="node1",rank="3"} 1\n', text)


@unittest.skipUnless(json_format, packages.missing("opentelemetry-proto"))
class Definitions(unittest.TestCase):
    def test_the_definitions_take_all(self):
        for name in ("otlp-logs", "otlp-metrics"):
            for line in lines_of(name):
                message = parse(name, line)
                self.assertEqual(json.loads(json_format.MessageToJson(message)),
                                 self.as_they_write(json.loads(line)))

    def as_they_write(self, value):
        """Enumerations by name, and no member that is empty."""
        names = {("severityNumber", 9): "SEVERITY_NUMBER_INFO",
                 ("severityNumber", 13): "SEVERITY_NUMBER_WARN",
                 ("severityNumber", 17): "SEVERITY_NUMBER_ERROR",
                 ("severityNumber", 21): "SEVERITY_NUMBER_FATAL",
                 ("aggregationTemporality", 2): "AGGREGATION_TEMPORALITY_CUMULATIVE"}
        if isinstance(value, dict):
            return {key: names[key, inner] if (key, str(inner)) in {(k, str(i)) for k, i in names}
                    else self.as_they_write(inner) for key, inner in value.items()
                    if inner not in ([], False)}
        if isinstance(value, list):
            return [self.as_they_write(inner) for inner in value]
        return value

    def test_hostile_reports(self):
        for word in (NASTY, "\x7f\u202e", "x" * 70000):
            text = as_report(spoilt(sample_lines(), word))
            for name in ("otlp-logs", "otlp-metrics"):
                for line in lines_of(name, text):
                    parse(name, line)
                    self.assertIsNone(re.search("[^ -~]", line))


if __name__ == "__main__":
    unittest.main()
