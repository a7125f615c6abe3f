"""The queries of the docs, as they stand there."""

import pathlib
import re

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


def blocks(page, section, language):
    """Texts of the blocks of code in a section."""
    text = (DOCS / page).read_text(encoding="utf-8")
    body = re.search(rf"^(#+) {re.escape(section)}\n(.*?)(?=^#{{1,3}} |\Z)", text, re.M | re.S)[2]
    return re.findall(rf"^```{language}\n(.*?)^```$", body, re.M | re.S)


def statements(text):
    return [one.strip() for one in text.split(";") if one.strip()]


def perfetto_queries():
    return statements("".join(blocks("report.md", "Queries of a trace", "sql")))
