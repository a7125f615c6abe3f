#!/usr/bin/env python3
"""The page of `safecopy report --format html` in Chromium, where one is installed: that it is built,
that names stay text, what links, keys, search and paper do, and what axe-core says of it where
scripts/fetch-axe has fetched that."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import many_hazards
import memory_reports
from test_formats import COMMAND, NASTY, ROOT, SAMPLE, as_report, sample_lines, spoilt

sys.path.insert(0, str(ROOT / "tests"))
import chromium  # noqa: E402  (found by the path above)

OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT", ROOT / "out"))
AXE = ROOT / "out" / "axe" / "axe.min.js"
LOOKS = [(width, dark) for width in (360, 800, 1400) for dark in (False, True)]
UNBUILT = "document.querySelectorAll('.card.pending').length"
CURRENT = "document.querySelector('.card.current').id"


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.browser = chromium.Browser()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.addClassCleanup(cls.browser.__exit__)

    def page(self, lines, name="page.html"):
        path = self.folder / name
        subprocess.run([COMMAND, "report", "--format", "html", "-o", path, "-"], cwd=ROOT, check=False,
                       input=lines if isinstance(lines, bytes) else as_report(lines),
                       env={**os.environ, "HOME": "/nonexistent"})
        return path

    def open(self, path, fragment="", width=1400, dark=False, height=900):
        self.browser.look(width, height, dark)
        self.browser.open(path, fragment)

    def run_script(self, script):
        return self.browser.run(script)

    def texts(self, selector):
        return self.run_script(f"Array.from(document.querySelectorAll('{selector}'), one => one.textContent)")

    def search(self, words):
        self.run_script(f"(() => {{ const field = document.querySelector('[name=search]'); field.value = {words!r};"
                        "field.dispatchEvent(new Event('input', {bubbles: true})); })()")
        self.run_script("new Promise(done => setTimeout(done, 300))")
        self.browser.settle()


class Built(Page):
    def test_it_has_what_the_report_says_and_asks_nobody(self):
        path = self.page(sample_lines())
        self.open(path)
        self.assertEqual(self.browser.complaints(), [])
        self.assertEqual(self.browser.requests(), [path.as_uri()])
        self.assertEqual(self.texts(".card h3")[0], "touch at train.py:8 while step:7 was still reading it")
        self.assertEqual(self.texts("#runs tbody tr .command"), ["python train.py --epochs 2 (pid 4711 on node1)"])
        self.assertEqual(self.texts("#codes .sum")[0], "1 place, 4 times")
        self.assertEqual(len(self.texts("#list .row")), 4)
        self.assertEqual(self.texts(".timeline li b"), ["0", "+500 \u00b5s", "+2 ms", "+3.3 ms"])
        self.assertIn("1.3 ms too early", self.texts(".timeline li.touch")[0])

    def test_nothing_is_wider_than_the_screen(self):
        wide = spoilt(sample_lines(), "w" * 400)
        for lines in (sample_lines(), wide):
            path = self.page(lines)
            for width, dark in LOOKS:
                self.open(path, width=width, dark=dark)
                self.run_script("document.querySelectorAll('details').forEach(one => { one.open = true; })")
                self.browser.settle()
                with self.subTest(width=width, dark=dark, wide=lines is wide):
                    self.assertEqual(self.run_script("document.documentElement.scrollWidth"), width)

    def test_many_runs_leave_room_for_the_places(self):
        paths = [self.folder / f"{rank}.jsonl" for rank in range(64)]
        for path in paths:
            path.write_bytes(as_report(sample_lines()))
        page = self.folder / "ranks.html"
        subprocess.run([COMMAND, "report", "--format", "html", "-o", page, *paths], cwd=ROOT, check=False)
        for width in (360, 800, 1400):
            self.open(page, width=width)
            with self.subTest(width=width):
                self.assertEqual(len(self.texts("#runs tbody tr")), 64)
                self.assertLess(self.run_script("document.getElementById('places').offsetTop"), 1600)
                self.assertEqual(self.run_script("document.getElementById('runs').tabIndex"), 0)
                self.assertEqual(*self.run_script("(() => { const runs = document.getElementById('runs');"
                                                  "return [runs.scrollWidth, runs.clientWidth]; })()"))

    def test_a_line_of_source_goes_on_behind_a_bracket(self):
        self.open(self.page(sample_lines()), height=4000)
        before = self.run_script("Array.from(document.querySelectorAll('.source wbr'), "
                                 "one => one.previousSibling.textContent.slice(-1))")
        self.assertTrue(before)
        self.assertEqual(set(before), {"("})

    def test_the_themes_differ(self):
        path = self.page(sample_lines())
        backs = set()
        for dark in (False, True):
            self.open(path, dark=dark)
            backs.add(self.run_script("getComputedStyle(document.body).backgroundColor"))
        self.assertEqual(len(backs), 2)

    def test_details_are_folded_once(self):
        self.open(self.page(sample_lines()), height=4000)
        self.assertEqual(self.run_script("document.querySelectorAll('.card details').length"), 4)
        self.assertEqual(self.run_script("document.querySelectorAll('.card details details').length"), 0)
        self.run_script("document.querySelector('.card details').open = true")
        self.browser.settle()
        self.assertEqual(len(self.texts(".card ol.stack")), 3)
        self.assertIn("upload::copy_async", "".join(self.texts(".card ol.stack .library")))

    def test_words_are_explained_where_they_stand(self):
        self.open(self.page(sample_lines()), height=4000)
        self.assertIn("before the operation was complete", self.run_script(
            "document.querySelector('.card .badge.observed').title"))
        self.assertIn("latent: nothing kept it from coming too early", self.texts("#codes .legend")[0])
        self.run_script("document.querySelector('.card details').open = true")
        self.browser.settle()
        self.assertIn("safecopy explain SC201", self.texts(".card .more code"))

    def test_without_a_script_it_is_a_list(self):
        path = self.page(sample_lines())
        self.browser.call("Emulation.setScriptExecutionDisabled", value=True)
        try:
            self.browser.look(360, 900)
            self.browser.load("about:blank")
            self.browser.load(path.as_uri())
            text = self.run_script("document.body.innerText")
        finally:
            self.browser.call("Emulation.setScriptExecutionDisabled", value=False)
        self.assertIn("touch at train.py:8 while step:7 was still reading it", text)
        self.assertNotIn("Overview", text)


class Hostile(Page):
    def test_names_stay_text(self):
        shapes = []
        for word in ("x", NASTY):
            self.open(self.page(spoilt(sample_lines(), word)), height=20000)
            self.assertEqual(self.run_script(UNBUILT), 0)
            self.run_script("document.querySelectorAll('details').forEach(one => { one.open = true; })")
            self.browser.settle()
            shapes.append(self.run_script("Array.from(document.body.querySelectorAll('*'), one => one.tagName)"
                                          ".filter(tag => !['SPAN', 'CODE'].includes(tag))"))
            self.assertEqual(self.browser.complaints(), [])
            self.assertEqual(len(self.browser.requests()), 1)
        self.assertEqual(shapes[1], shapes[0])
        self.assertNotIn("IMG", shapes[1])
        self.assertIn("<img src=x onerror=alert(1)>", "".join(self.texts(".card h3, .card .facts")))

    def test_nor_does_the_policy_let_a_script_of_theirs_run(self):
        self.open(self.page(sample_lines()))
        self.run_script("(() => { const script = document.createElement('script');"
                        "script.textContent = 'window.harmed = true'; document.body.append(script); })()")
        self.assertIsNone(self.run_script("window.harmed"))


class Use(Page):
    def test_an_address_leads_to_its_place(self):
        path = self.page(sample_lines())
        self.open(path)
        key = self.run_script("document.querySelectorAll('.card')[2].id")
        self.assertRegex(key, "^SC[0-9]{3}-[0-9a-f]{12}$")
        self.open(path, "#" + key)
        self.assertEqual(self.run_script(CURRENT), key)
        self.assertLess(self.run_script("document.querySelector('.card.current').getBoundingClientRect().top"), 900)
        self.assertEqual(self.texts("#list .row.current .code"), [key[:5]])

    def test_equal_fingerprints_have_addresses_of_their_own(self):
        run, hazard, *_ = sample_lines()
        other = {**hazard, "event": {**hazard["event"], "stack": [
            {**frame, "line": 9} if frame.get("line") == 8 else frame for frame in hazard["event"]["stack"]]}}
        self.open(self.page([run, hazard, other]))
        first, second = self.run_script("Array.from(document.querySelectorAll('.card'), card => card.id)")
        self.assertEqual(second, first + "-2")

    def test_keys(self):
        self.open(self.page(sample_lines()))
        keys = self.run_script("Array.from(document.querySelectorAll('.card'), card => card.id)")
        seen = []
        for key in "jjk":
            self.browser.press(key)
            seen.append(self.run_script(CURRENT))
        self.assertEqual(seen, [keys[0], keys[1], keys[0]])
        self.assertEqual(self.run_script("location.hash"), "#" + keys[0])
        self.browser.press("d")
        self.assertTrue(self.run_script("document.querySelector('.card.current details').open"))
        self.browser.press("/")
        self.assertEqual(self.run_script("document.activeElement.name"), "search")
        self.browser.press("j")
        self.assertEqual(self.run_script("document.activeElement.value + location.hash"), "j#" + keys[0])
        self.browser.press("Escape")
        self.browser.press("?")
        self.assertTrue(self.run_script("document.getElementById('keys').open"))

    def test_search_and_choices(self):
        self.open(self.page(sample_lines()))
        self.search("drop_batch cuGraphLaunch")
        self.assertEqual(self.texts(".card .permalink"), ["SC401"])
        self.assertEqual(self.texts("#shown"), ["1 of 4 places"])
        self.assertEqual(len(self.texts("#list .row")), 1)
        self.search("")
        self.run_script("document.querySelectorAll('#codes button')[0].click()")
        self.browser.settle()
        self.assertEqual(len(self.texts(".card")), 1)

    def test_the_order(self):
        self.open(self.page(sample_lines()))
        self.run_script("(() => { const select = document.querySelector('[name=sort]'); select.value = 'code';"
                        "select.dispatchEvent(new Event('input', {bubbles: true})); })()")
        self.run_script("new Promise(done => setTimeout(done, 100))")
        self.assertEqual(self.run_script("Array.from(document.querySelectorAll('.card'), card => card.id.slice(0, 5))"),
                         ["SC101", "SC201", "SC301", "SC401"])

    def test_an_address_of_what_is_filtered_out_shows_it(self):
        self.open(self.page(sample_lines()))
        key = self.run_script("document.querySelectorAll('.card')[1].id")
        self.search("nothing has this")
        self.assertEqual(self.texts(".card"), [])
        self.run_script(f"location.hash = '#{key}'")
        self.browser.settle()
        self.assertEqual(self.run_script(CURRENT), key)

    def test_where_nothing_fits_a_button_shows_all(self):
        self.open(self.page(sample_lines()))
        self.search("nothing has this")
        self.assertEqual(self.texts("#cards"), ["No place fits what is searched for and chosen. Show all"])
        self.run_script("document.querySelector('#cards button').click()")
        self.browser.settle()
        self.assertEqual((len(self.texts(".card")), len(self.texts("#cards .none"))), (4, 0))

    def test_a_place_is_copied_as_markdown(self):
        for word in ("x", "`*<b>@all\n# "):
            self.open(self.page(spoilt(sample_lines(), word)), height=4000)
            self.run_script("navigator.clipboard.writeText = async text => { window.copied = text; }")
            self.run_script("document.querySelector('.card .copy').click()")
            self.browser.settle()
            lines = self.run_script("window.copied").split("\n")
            with self.subTest(word=word):
                self.assertRegex(lines[0], r"^\*\*SC201 source-overwritten-in-flight\*\*, observed, ")
                self.assertEqual([line[:2] for line in lines[1:6]], ["", "`" + lines[2][1], "", "- ", "- "])
                for line in lines[2:6]:  # names stand in code
                    self.assertRegex(line, "^(?:(?:- [A-Z][a-z ]+: |- [A-Z][a-z ]+: `[^`]*` at )?`[^`]*`)?$")
                self.assertEqual(lines[-1], "`" + self.run_script("document.querySelector('.card').id") + "`")
        self.assertEqual(self.texts(".card .copy")[0], "Copied")

    def test_a_key_opens_all_details(self):
        self.open(self.page(sample_lines()), height=4000)
        self.browser.press("D")
        self.assertEqual(self.run_script("document.querySelectorAll('.card details[open]').length"), 4)
        self.browser.press("D")
        self.assertEqual(self.run_script("document.querySelectorAll('.card details[open]').length"), 0)

    def test_a_box_of_a_flame_graph_becomes_as_wide_as_the_whole(self):
        held = memory_reports.memory([
            memory_reports.account(size << 20, stack=[memory_reports.native(name), memory_reports.native("main")])
            for name, size in (("load", 3), ("serve", 1))])
        self.open(self.page([memory_reports.run_line(), memory_reports.summary(held)]))
        widths = "Array.from(document.querySelectorAll('.flames g'), one => [one.querySelector('text').textContent" \
                 ".split(',')[0], one.getAttribute('class'), Number(one.querySelector('rect').getAttribute('width'))])"
        before = self.run_script(widths)
        self.assertEqual([row[0] for row in before if row[0] in ("main", "load", "serve")], ["main", "load", "serve"])
        self.run_script("Array.from(document.querySelectorAll('.flames g')).find(one => "
                        "one.querySelector('title').textContent.startsWith('serve'))"
                        ".dispatchEvent(new MouseEvent('click'))")
        after = {name: (kind, width) for name, kind, width in self.run_script(widths)}
        self.assertEqual((after["main"][0], after["serve"]), ("above", ("", before[0][2])))
        self.run_script("document.querySelector('.flames button').click()")
        self.assertEqual([row[2] for row in self.run_script(widths)], [row[2] for row in before])
        self.browser.look(360, 900)
        self.browser.settle()
        self.assertEqual(*self.run_script("(() => { const svg = document.querySelector('.flames svg');"
                                          "return [svg.viewBox.baseVal.width, svg.clientWidth]; })()"))


class Large(Page):
    def test_places_are_built_when_they_are_scrolled_to(self):
        self.open(self.page("".join(many_hazards.report(10000, frames=3)).encode()))
        unbuilt = self.run_script(UNBUILT)
        self.assertGreater(unbuilt, 9900)
        self.run_script("window.scrollTo(0, document.body.scrollHeight / 2)")
        self.browser.settle()
        self.assertLess(self.run_script(UNBUILT), unbuilt)
        key = self.run_script("document.querySelectorAll('.card')[7777].id")
        self.run_script(f"location.hash = '#{key}'")
        self.browser.settle()
        top = self.run_script("document.querySelector('.card.current').getBoundingClientRect().top")
        self.assertTrue(0 <= top < 900, top)
        self.assertEqual(len(self.texts("#list .row.current")), 1)
        self.assertGreater(self.run_script(UNBUILT), 9900)

    def test_a_key_opens_the_details_of_places_that_are_built_later(self):
        self.open(self.page("".join(many_hazards.report(10000, frames=3)).encode()))
        for wanted in (True, False):
            self.browser.press("D")
            self.run_script(f"document.querySelectorAll('.card')[{7777 if wanted else 4444}].scrollIntoView()")
            self.browser.settle()
            with self.subTest(open=wanted):
                self.assertGreater(self.run_script(UNBUILT), 9900)
                self.assertEqual(set(self.run_script("Array.from(document.querySelectorAll('.card details'), "
                                                     "one => one.open)")), {wanted})
                self.assertEqual(self.run_script("document.querySelectorAll('.card[id] details[open] .more').length"),
                                 self.run_script("document.querySelectorAll('.card details[open]').length"))


class Paper(Page):
    def test_it_has_the_places_and_nothing_to_click(self):
        path = self.page("".join(many_hazards.report(120, frames=3)).encode())
        self.open(path)
        self.browser.paper(self.folder / "page.pdf")
        self.assertGreater((self.folder / "page.pdf").stat().st_size, 10000)
        self.assertEqual(self.run_script(UNBUILT), 20)
        self.browser.look(700, 900, media="print")
        shown = "Array.from(document.querySelectorAll('{}')).filter(one => one.offsetParent).length"
        self.assertEqual(self.run_script(shown.format(".card")), 100)
        self.assertEqual(self.run_script(shown.format("#filters, #list, #parts")), 0)
        self.assertIn("20 more places not printed", self.run_script("document.body.dataset.more"))
        self.assertLessEqual(self.run_script("document.documentElement.scrollWidth"), 700)


class Accessible(Page):
    def test_axe_finds_no_violation(self):
        if not AXE.exists():
            self.skipTest("no axe-core in out/axe (scripts/fetch-axe)")
        axe = AXE.read_text(encoding="utf-8")
        path = self.folder / "page.html"
        subprocess.run([COMMAND, "report", "--format", "html", "-o", path, SAMPLE], cwd=ROOT, check=False)
        for width, dark in LOOKS:
            self.open(path, width=width, dark=dark)
            self.run_script("document.querySelectorAll('details').forEach(one => { one.open = true; })")
            self.browser.press("j")
            self.run_script(axe + ";0")
            found = self.run_script("axe.run().then(result => result.violations.map(one => one.id + ': ' + "
                                    "one.nodes.slice(0, 5).map(node => node.html.slice(0, 200) + ' ' + "
                                    "node.failureSummary).join('; ')))")
            with self.subTest(width=width, dark=dark):
                self.assertEqual(found, [])


if __name__ == "__main__":
    if not chromium.find():
        print("no Chromium here (apt-get install chromium)")
        sys.exit(77)
    unittest.main()
