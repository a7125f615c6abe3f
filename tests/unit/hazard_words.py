"""The rows of common/hazard.def and common/op_kinds.def, for tests in Python."""

import pathlib
import re

WORDS = pathlib.Path(__file__).resolve().parents[2] / "common"
TEXT = (WORDS / "hazard.def").read_text() + (WORDS / "op_kinds.def").read_text()


def rows(macro):
    """(first argument, second argument) of each."""
    return re.findall(rf'^{macro}\((\w+), "([^"]*)"', TEXT, re.M)


CODES = [code for code, _ in rows("SC_HAZARD")]
