#!/usr/bin/env python3
"""What stands in the page of `safecopy report --format html`, without a browser: the data of its
script, and what allows no other. `test_page.py --write` notes the hashes of the script and the style
in as_html.c."""

import base64
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from test_formats import COMMAND, HARMFUL, NASTY, ROOT, SAMPLE, Tags, as_counted, as_report, sample_lines, spoilt

FORMATS = ROOT / "report" / "command" / "formats"
HASHED = {"SCRIPT": "page.js", "STYLE": "page.css"}
UPLOAD = """\
#include <cuda_runtime_api.h>
void upload(struct camera *camera, cudaStream_t stream)
{
    CHECK(cudaMemcpyAsync(camera->on_device, camera->staging, size(camera, 3), cudaMemcpyHostToDevice,
                          stream));
}
void close_all(struct camera *cameras)
{
    for (int i = 0; i < 8; i++)
        free(cameras[i].staging);
    camera->staging[3] = ',';
}
void order(void)
{
    cudaMemcpyAsync(a, b, 4, kind, first);
    more();
    cudaMemcpyAsync(c, a, 4, kind, second);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    cudaMalloc(&p, 3);
}
void close_one(struct camera *camera)
{
    cudaFreeHost(camera->staging);
    cudaHostUnregister(camera->staging);
    munmap(camera->staging, 4096);
    cudaGraphLaunch(exec, stream);
}
"""
ORDER = {"event": ("cudaMemcpyAsync", 17, "order"), "copy": ("cudaMemcpyAsync", 15, "order")}
WAIT = "+    cudaStreamSynchronize(stream);"
WRITE = [WAIT, "     camera->staging[3] = ',';"]
IN_ORDER = ["     cudaMemcpyAsync(a, b, 4, kind, first);", "+    cudaEventRecord(done, first);", ".",
            "+    cudaStreamWaitEvent(second, done, 0);", "     cudaMemcpyAsync(c, a, 4, kind, second);"]
EXCHANGE = "+    cudaThreadExchangeStreamCaptureMode(&mode);"
# What each code with a sketch is asked by, and the lines of the sketch.
SKETCHES = {
    "SC101": ({}, [WAIT, "     for (int i = 0; i < 8; i++)", "         free(cameras[i].staging);"]),
    "SC102": ({"direction": "D2H"}, [WAIT, "     for (int i = 0; i < 8; i++)",
                                     "         free(cameras[i].staging);"]),
    "SC103": ({"event": ("cudaHostUnregister", 24, "close_one")},
              [WAIT, "     cudaHostUnregister(camera->staging);"]),
    "SC104": ({"event": ("munmap", 25, "close_one")}, [WAIT, "     munmap(camera->staging, 4096);"]),
    "SC105": ({"event": ("cudaFreeHost", 23, "close_one")}, [WAIT, "     cudaFreeHost(camera->staging);"]),
    "SC201": ({"event": ("memory write", 11, "close_all")}, WRITE),
    "SC202": ({"event": ("memory read", 11, "close_all"), "direction": "D2H"}, WRITE),
    "SC203": ({"event": ("memory write", 11, "close_all"), "direction": "D2H"}, WRITE),
    "SC204": (ORDER, IN_ORDER),
    "SC302": ({"event": ("cudaMalloc", 19, "order"), "copy": ("cudaStreamBeginCapture", 18, "order"),
               "direction": "none"},
              ["+    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;", EXCHANGE,
               "     cudaMalloc(&p, 3);", EXCHANGE]),
    "SC303": ({"event": ("cudaMalloc", 19, "order"), "copy": ("cudaStreamBeginCapture", 18, "order"),
               "direction": "none"},
              ["-    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);",
               "+    cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal);"]),
    "SC403": ({"event": ("memory write", 11, "close_all"), "copy": ("cudaGraphLaunch", 26, "close_one")},
              WRITE),
    "SC501": ({**ORDER, "kind": "device"}, IN_ORDER),
}


def data_of(page):
    text = re.search('<script type="application/json" id="report">(.*?)</script>', page, re.S)[1]
    return text, json.loads(text)


def code_frame(file, line, function):
    return {"file": str(file), "line": line, "function": function}


class Page(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)
        self.source = self.folder / "upload.c"
        self.source.write_text(UPLOAD)

    def html(self, lines, *flags):
        run = subprocess.run([COMMAND, "report", "--format", "html", *flags, "-"], cwd=ROOT,
                             input=as_report(lines), stdout=subprocess.PIPE, check=False,
                             env={**os.environ, "HOME": "/nonexistent", "GITHUB_WORKSPACE": "/nowhere"})
        return run.stdout.decode()

    def data(self, lines, *flags):
        return data_of(self.html(lines, *flags))[1]

    def hazard(self, code="SC101", event=("free", 10, "close_all"), copy=("cudaMemcpyAsync", 4, "upload"),
               direction="H2D", kind="pinned", certainty="observed", **more):
        """A hazard of two calls in upload.c; frames are Python's, which have lines without a build."""
        line = dict(sample_lines()[3], code=code, certainty=certainty, **more)
        line["buffer"] = {**line["buffer"], "kind": kind}
        for side, (api, number, function) in ("event", event), ("copy", copy):
            line[side] = {**line[side], "api": api, "stack": [
                code_frame(self.source, number, function)] if number else []}
        line["copy"]["direction"] = direction
        return line

    def one(self, **more):
        return self.data([sample_lines()[0], self.hazard(**more)])["hazards"][0]

    def sentence(self, **more):
        return "".join(self.one(**more)["mistake"])


class Policy(Page):
    def test_it_allows_its_own_script_and_style_and_no_other(self):
        page = self.html(sample_lines())
        for element, source in ("script", "page.js"), ("style", "page.css"):
            text = re.search(f"<{element}>(.*?)</{element}>", page, re.S)[1]
            self.assertEqual(text, (FORMATS / source).read_text(encoding="utf-8"))
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            self.assertIn(f"{element}-src 'sha256-{digest}'", page, "test_page.py --write")
        self.assertIn("default-src 'none'", page)
        self.assertNotIn("unsafe", page.split("<style>", maxsplit=1)[0])

    def test_no_element_has_a_style_or_a_handler(self):
        for _, attributes in Tags(self.html(sample_lines())).seen:
            for name in attributes:
                self.assertFalse(name == "style" or name.startswith("on"), name)

    def test_the_script_reads_no_text_as_markup(self):
        script = (FORMATS / "page.js").read_text(encoding="utf-8")
        self.assertNotRegex(script, r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|"
                                    r"\bFunction\(|fetch\(|XMLHttpRequest|import\(|srcdoc|DOMParser")

    def test_nothing_of_a_report_ends_the_data(self):
        pages = [self.html(spoilt(sample_lines(), word)) for word in ("x", NASTY, "<!--<script>", "</script>")]
        plain = Tags(pages[0]).seen
        for page in pages:
            text, data = data_of(page)
            self.assertNotRegex(text, "[<>&]")
            self.assertIsNone(HARMFUL.search(text))
            self.assertEqual(Tags(page).seen, plain)
            self.assertEqual(len(data["hazards"]), 4)
        self.assertIn("<!--<script>", data_of(pages[2])[1]["hazards"][0]["label"])

    def test_source_with_whatever_bytes(self):
        self.source.write_bytes(b"\xff</script>\x1b\n" * 3 + UPLOAD.split("\n", 3)[3].encode())
        _, data = data_of(self.html([sample_lines()[0], self.hazard(event=("free", 2, "f"))]))
        self.assertIn("\\xff</script>\\u001b", data["sources"][str(data["hazards"][0]["sides"][0]["source"])])


class Headline(Page):
    def test_a_call_with_its_argument_and_both_places(self):
        self.assertEqual(self.one()["mistake"], ["", "free(cameras[i].staging)", " at upload.c:10 while ",
                                                 "upload:4", " was still reading it"])

    def test_what_is_latent_is_not_called_observed(self):
        self.assertEqual(self.sentence(certainty="latent"),
                         "free(cameras[i].staging) at upload.c:10 with no wait for upload:4, which reads it")

    def test_a_touch_is_named_by_the_copys_argument(self):
        self.assertEqual(self.sentence(code="SC201", event=("memory write", 11, "close_all")),
                         "Write to camera->staging at upload.c:11 while upload:4 was still reading it")
        self.assertEqual(self.sentence(code="SC202", direction="D2H", event=("memory read", 16, "order")),
                         "Read at upload.c:16 while upload:4 was still writing into it")

    def test_who_found_a_change_later_is_not_called_its_author(self):
        text = self.sentence(code="SC201", event=("cuStreamSynchronize", 0, ""), found_later=True)
        self.assertEqual(text, "cuStreamSynchronize found the source of upload at upload.c:4 overwritten in flight")

    def test_a_graph_has_three_places(self):
        freed = {**self.hazard()["event"], "stack": [code_frame(self.source, 10, "close_all")]}
        text = self.sentence(code="SC401", event=("cudaGraphLaunch", 0, ""), freed=freed)
        self.assertEqual(text, "cudaGraphLaunch launched a graph in which upload at upload.c:4 still names "
                               "memory that close_all at upload.c:10 gave back")

    def test_without_source_there_are_still_places(self):
        self.source.unlink()
        hazard = self.one()
        self.assertEqual("".join(hazard["mistake"]), "free at upload.c:10 while upload:4 was still reading it")
        self.assertNotIn("hint", hazard)
        self.assertNotIn("mark", hazard["sides"][0])

    def test_an_advisory_accuses_nobody(self):
        self.assertEqual(self.sentence(code="SC305", certainty="latent", event=("cudaMemsetAsync", 0, "")),
                         "cudaMemsetAsync ran once, beside the capture, and the graph with upload at upload.c:4 "
                         "lacks it")
        hazard = self.one(code="SC305", certainty="latent", event=("cudaMemsetAsync", 0, ""), advisory=True)
        self.assertEqual("".join(hazard["mistake"]), "cudaMemsetAsync ran once, beside a capture; after a launch "
                                                     "of the graph upload at upload.c:4 used the memory")
        self.assertIs(hazard["advisory"], True)

    def test_each_code_has_a_sentence(self):
        table = (ROOT / "report/command/mistakes.def").read_text(encoding="utf-8")
        codes = re.findall(r"^SC_HAZARD\((SC\d+),", (ROOT / "common/hazard.def").read_text(encoding="utf-8"), re.M)
        self.assertGreater(len(codes), 20)
        self.assertEqual(re.findall(r"^SC_MISTAKE\((SC\d+),", table, re.M), codes)
        for code in codes:
            self.assertNotIn("$", self.sentence(code=code))
            self.assertIn("upload", self.sentence(code=code))


class Source(Page):
    def marked(self, side):
        index, before, marked = side["mark"]
        line = self.data_of_last["sources"][str(side["source"])][1 + index]
        self.assertEqual(line[len(before):len(before) + len(marked)], marked)
        return marked

    def marks(self, **more):
        self.data_of_last = self.data([sample_lines()[0], self.hazard(**more)])
        return [self.marked(side) if "mark" in side else None
                for side in self.data_of_last["hazards"][0]["sides"]]

    def test_the_argument_at_fault_is_marked(self):
        self.assertEqual(self.marks(), ["cameras[i].staging", "camera->staging"])
        self.assertEqual(self.marks(direction="D2H"), ["cameras[i].staging", "camera->on_device"])
        self.assertEqual(self.marks(code="SC201", event=("memory write", 11, "f")),
                         ["camera->staging", "camera->staging"])

    def test_device_memory_is_the_other_argument(self):
        self.assertEqual(self.marks(code="SC501", kind="device", event=("cudaMemcpyAsync", 17, "order"),
                                    copy=("cudaMemcpyAsync", 15, "order")), ["a", "a"])

    def test_a_call_that_is_not_in_the_line_marks_nothing(self):
        self.assertEqual(self.marks(event=("cudaFreeHost", 10, "f"), copy=("cudaMemsetAsync", 16, "f")),
                         [None, None])

    def test_a_call_that_goes_on_behind_the_lines_marks_nothing(self):
        self.source.write_text("f(\n  cudaMemcpyAsync(a,\n\n\n\n\n\n b, c);\n free(x);\n")
        self.assertEqual(self.marks(event=("free", 9, "f"), copy=("cudaMemcpyAsync", 2, "f")), ["x", None])

    def test_brackets_and_strings_are_no_ends_of_arguments(self):
        self.source.write_text("cudaMemcpyAsync(f(\"),(\", ')'), p[g(1, 2)].q, 3, kind, s);\n\n\nfree(x);\n")
        self.assertEqual(self.marks(event=("free", 4, "f"), copy=("cudaMemcpyAsync", 1, "f"))[1], "p[g(1, 2)].q")


class Sketch(Page):
    def hint(self, **more):
        return ["{0}{2}".format(*line) for line in self.one(**more).get("hint", [])]

    def test_each_code_has_its_own_or_none(self):
        for code in re.findall(r"^SC_HAZARD\((SC\d+)", (ROOT / "common" / "hazard.def").read_text(), re.M):
            asked, lines = SKETCHES.get(code, ({}, []))
            with self.subTest(code):
                self.assertEqual(self.hint(code=code, **asked), lines)

    def test_the_driver_has_its_own_names(self):
        self.source.write_text("cuMemcpyHtoDAsync(d, h, 3, s);\nh[0] = 1;\n"
                               "cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL);\ncuMemAlloc(&d, 3);\n")
        self.assertEqual(self.hint(code="SC201", event=("memory write", 2, "f"),
                                   copy=("cuMemcpyHtoDAsync_v2", 1, "f")),
                         ["+cuStreamSynchronize(s);", " h[0] = 1;"])
        self.assertEqual(self.hint(code="SC303", direction="none", event=("cuMemAlloc_v2", 4, "f"),
                                   copy=("cuStreamBeginCapture_v2", 3, "f"))[1],
                         "+cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);")
        self.assertEqual(self.hint(code="SC302", direction="none", event=("cuMemAlloc_v2", 4, "f"),
                                   copy=("cuStreamBeginCapture_v2", 3, "f")),
                         ["+CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;",
                          "+cuThreadExchangeStreamCaptureMode(&mode);", " cuMemAlloc(&d, 3);",
                          "+cuThreadExchangeStreamCaptureMode(&mode);"])

    def test_the_docs_name_the_codes(self):
        text = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
        named = re.search(r"\*\*What to do\*\* comes next, and for (.*?)\s+a\s+sketch", text, re.S)[1]
        codes = set(re.findall(r"SC\d+", named))
        for first, last in re.findall(r"SC(\d+)\s+to\s+SC(\d+)", named):
            codes |= {f"SC{number}" for number in range(int(first), int(last) + 1)}
        self.assertEqual(codes, set(SKETCHES))

    def test_none_where_the_kind_or_the_source_allows_none(self):
        self.assertEqual(self.hint(code="SC402"), [])
        self.assertEqual(self.hint(code="SC201", event=("cudaMalloc", 19, "f"), found_later=True), [])
        self.assertEqual(self.hint(code="SC204", event=("cudaMemcpyAsync", 17, "f")), [])
        self.source = self.folder / "upload.py"
        self.source.write_text(UPLOAD)
        self.assertEqual(self.hint(), [])

    def test_pytorchs_own_wait_in_python(self):
        self.source = self.folder / "upload.py"
        self.source.write_text("x = y\nstaging.zero_()\n")
        hazard = self.hazard(code="SC201", event=("memory write", 2, "f"), copy=("cudaMemcpyAsync", 1, "f"))
        hazard["copy"]["stack"].insert(0, {"module": "/venv/site-packages/torch/lib/libc10.so", "offset": "0x1",
                                           "symbol": None})
        made = self.data([sample_lines()[0], hazard])["hazards"][0]
        self.assertEqual(made["hint"][0], ["+", 0, "torch.cuda.current_stream().synchronize()"])


class Overview(Page):
    def test_a_run_has_its_date_version_device_and_options(self):
        path = self.folder / "r.jsonl"
        run, *rest = sample_lines()
        run = {**run, "version": "0.1.0", "devices": ["A", "A"], "driver_version": 12080,
               "options": {"mode": "report", "guard": "on", "report_path": "x", "device_heap": "64M"}}
        path.write_bytes(as_report(as_counted([run, *rest])))
        os.utime(path, (86400, 86400))
        page = subprocess.run([COMMAND, "report", "--format", "html", path], cwd=ROOT, stdout=subprocess.PIPE,
                              check=False).stdout.decode()
        made = data_of(page)[1]["runs"][0]
        self.assertEqual({key: made[key] for key in ("written", "version", "driver", "devices", "options")},
                         {"written": 86400, "version": "0.1.0", "driver": "12.8", "devices": ["A", "A"],
                          "options": ["mode=report", "device_heap=64M"]})
        self.assertEqual((made["operations"], made["ended"], "doubt" in made), (20, True, False))

    def test_a_note_says_what_no_column_does(self):
        lines = [line for line in sample_lines() if line["type"] != "summary"]
        ended = {"type": "summary", "hazards": 8, "observed": 7, "latent": 1, "suppressed": 0, "operations": 20,
                 "by_code": {"SC201": 8}, "exit_status": 3}
        run = self.data(as_counted([*lines, ended]))["runs"][0]
        self.assertEqual(run["status"], 3)
        self.assertFalse([note for note in run["notes"] if "in 20 operations" in note], run["notes"])
        run = self.data(as_counted([*lines, {**ended, "suppressed": 2}]))["runs"][0]
        self.assertIn("8 hazards in 20 operations, 2 suppressed, exit status 3", run["notes"])

    def test_nothing_found_is_said_first(self):
        run = sample_lines()[0]
        ended = {"type": "summary", "hazards": 0, "observed": 0, "latent": 0, "suppressed": 0, "operations": 20,
                 "by_code": {}, "exit_status": 0}
        self.assertIn("<h1>No hazards were found</h1>", self.html([run, ended]))
        self.assertIn("<h1>No hazards in what could be read</h1>", self.html([run, {"type": "what?"}]))
        self.assertIn("<h1>4 places with hazards</h1>", self.html(sample_lines()))

    def test_standard_input_has_no_date(self):
        self.assertNotIn("written", self.data(sample_lines())["runs"][0])

    def test_of_merged_runs_it_is_not_known_what_differs(self):
        data = self.data(sample_lines(), "--merged")
        self.assertNotIn("options", data["runs"][0])

    def test_what_has_to_be_mended_is_counted(self):
        self.assertEqual(self.data(sample_lines())["open_count"], 3)

    def test_codes_count_places_and_times(self):
        codes = {code["code"]: code for code in self.data(sample_lines())["codes"]}
        self.assertEqual(codes["SC201"], {"code": "SC201", "places": 1, "observed": 1, "times": 4})
        self.assertEqual(codes["SC101"], {"code": "SC101", "places": 1, "observed": 0, "times": 1})

    def test_what_is_left_out_is_counted(self):
        import many_hazards
        lines = "".join(many_hazards.report(10003, frames=1))
        run = subprocess.run([COMMAND, "report", "--format", "html", "-"], input=lines.encode(),
                             stdout=subprocess.PIPE, check=False)
        data = data_of(run.stdout.decode())[1]
        self.assertEqual((data["place_count"], data["shown"], len(data["hazards"])), (10003, 10000, 10000))
        self.assertEqual(sum(code["places"] for code in data["codes"]), 10003)

    def test_a_fingerprint_is_the_address_of_a_place(self):
        first, second = self.data([sample_lines()[0], self.hazard()]), self.data(
            [{**sample_lines()[0], "pid": 1}, {**self.hazard(), "count": 9}])
        self.assertRegex(first["hazards"][0]["id"], "^[0-9a-f]{32}$")
        self.assertEqual(first["hazards"][0]["id"], second["hazards"][0]["id"])


class Times(Page):
    def times(self, lines):
        return {key: value for key, value in self.data(lines)["hazards"][0].items() if key.endswith("_ns")}

    def test_they_are_those_of_the_calls_and_the_device(self):
        self.assertEqual(self.times(sample_lines()[:3]),
                         {"event_ns": 2000000, "start_ns": 500000, "end_ns": 3300000})

    def test_without_timing_the_device_has_none(self):
        self.assertEqual(self.times(sample_lines()[:2]), {"event_ns": 2000000})

    def test_all_are_of_the_occurrence_that_had_longest_left(self):
        run, hazard, timing, *_ = sample_lines()
        again = {**hazard, "count": 8, "copy": {**hazard["copy"], "seq": 4, "time_ns": 91_000_000},
                 "event": {**hazard["event"], "time_ns": 92_000_000}}
        short = {**timing, "seq": 4, "event_time_ns": 92_000_000, "device_start_ns": 91_500_000,
                 "device_end_ns": 92_100_000, "remaining_ns": 100_000}
        self.assertEqual(self.times([run, hazard, timing, again, short]), self.times([run, hazard, timing]))

    def test_none_that_are_not_in_order(self):
        run, hazard, timing, *_ = sample_lines()
        self.assertEqual(self.times([run, hazard, {**timing, "device_start_ns": 1}]), {"event_ns": 2000000})
        hazard["event"]["time_ns"] = 1
        self.assertEqual(self.times([run, hazard]), {})


class WithoutAScript(Page):
    def test_there_is_a_list(self):
        page = self.html(sample_lines())
        listed = re.search("<noscript>(.*?)</noscript>", page, re.S)[1]
        self.assertEqual(listed.count("<strong>SC"), 4)
        for words in ("What to do: write into the source again", "while <code>step:7</code> was still reading it",
                      "python train.py --epochs 2 (pid 4711 on node1)", "8 hazards in 20 operations"):
            self.assertIn(words, listed)


def write_hashes():
    path = FORMATS / "as_html.c"
    text = path.read_text(encoding="utf-8")
    for name, source in HASHED.items():
        digest = base64.b64encode(hashlib.sha256((FORMATS / source).read_bytes()).digest()).decode()
        text = re.sub(rf'({name}_SHA256) "[^"]*"', rf'\1 "{digest}"', text, count=1)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        write_hashes()
    else:
        unittest.main()
