"""The rows of track/hazard.def, for tests in Python."""

import pathlib
import re

TEXT = (pathlib.Path(__file__).resolve().parents[2] / "track" / "hazard.def").read_text()


def rows(macro):
    """(first argument, second argument) of each."""
    return re.findall(rf'^{macro}\((\w+), "([^"]*)"', TEXT, re.M)


CODES = [code for code, _ in rows("SC_HAZARD")]
