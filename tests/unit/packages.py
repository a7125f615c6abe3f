"""Python packages that read what the command writes: those of this Python, or of out/packages, where
`scripts/setup check-all` puts them."""

import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "out" / "packages"
if FOLDER.is_dir():
    sys.path.append(str(FOLDER))


def missing(name):
    return f"no Python package {name} here: scripts/setup check-all fetches it"
