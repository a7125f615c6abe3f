"""packages.lock, read."""

import pathlib
import re
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
NAMED = re.compile(r"(?P<package>[^_]+)_(?P<version>[^_]+)(?:_(?P<arch>[^_.]+))?\.")


class Row:
    """A file: its hash, its size, and where mirrors have it."""

    def __init__(self, digest, size, path):
        self.digest, self.size, self.path = digest, int(size), path
        self.name = path.rsplit("/", 1)[1]
        self.quoted = urllib.parse.quote(path)
        self.source = path.rsplit("/", 2)[1]  # the source package, whose folder it is
        named = NAMED.match(self.name)
        self.package, self.version, self.arch = named["package"], named["version"], named["arch"]


class Lock:
    """The rows of each section."""

    def __init__(self, path=HERE / "packages.lock"):
        self.sections = {}
        rows = None
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("["):
                rows = self.sections.setdefault(line.strip("[]"), [])
            elif line and not line.startswith("#"):
                rows.append(Row(*line.split()))

    def files(self):
        """Each file once."""
        return list({row.name: row for rows in self.sections.values() for row in rows}.values())
