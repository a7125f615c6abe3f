#!/usr/bin/env python3
"""How long the page of a report takes to load in headless Chromium, and to go to a place of it.

page.py [--places N] [--rounds N]

The report is that of report_scale.py: hazards of 25 frames each, N places. Loaded is when the page's
`load` event has ended: the data is read, the overview is made, and so are the cards that are seen.
Shown is when two pictures are drawn behind that. The table has the medians. The exit status is 1
where loading takes longer than the limit, and 0 with a word where there is no Chromium.
"""

import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import report_scale

sys.path.insert(0, str(report_scale.ROOT / "tests"))
import chromium  # noqa: E402  (found by the path above)

LIMIT_S = 2
LOADED = "performance.timing.loadEventEnd - performance.timing.navigationStart"
GO_TO = """(() => {{ const cards = document.querySelectorAll(".card");
location.hash = "#" + cards[Math.floor(cards.length * {share})].id; }})()"""


def measure(browser, page, round_number):
    """Seconds until it is loaded, until it is shown, and to another place; its elements."""
    browser.look(1400, 1000)
    start = time.monotonic()
    browser.open(page)
    shown = time.monotonic() - start
    loaded = browser.run(LOADED) / 1000
    elements = browser.run("document.querySelectorAll('*').length")
    start = time.monotonic()
    browser.run(GO_TO.format(share=(round_number % 7 + 1) / 8))
    browser.settle()
    return loaded, shown, time.monotonic() - start, elements


def write_page(folder, places):
    report_scale.write_reports(folder, places, 0)
    page = folder / "page.html"
    subprocess.run([report_scale.COMMAND, "report", "--format", "html", "-o", page, folder / "many.jsonl"],
                   check=False)
    return page


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--places", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    if not chromium.find():
        print("page: no Chromium here; skipped")
        return 0
    with tempfile.TemporaryDirectory() as folder, chromium.Browser() as browser:
        page = write_page(pathlib.Path(folder), asked.places)
        rounds = [measure(browser, page, number) for number in range(asked.rounds)]
        size = page.stat().st_size / 1e6
    loaded, shown, moved, elements = map(statistics.median, zip(*rounds))
    print("| places | page, MB | loaded, s | shown, s | to a place, s | elements |\n"
          "| --- | --- | --- | --- | --- | --- |\n"
          f"| {asked.places:,} | {size:.1f} | {loaded:.2f} | {shown:.2f} | {moved:.2f} | {elements:,.0f} |")
    return int(loaded > LIMIT_S)


if __name__ == "__main__":
    sys.exit(main())
