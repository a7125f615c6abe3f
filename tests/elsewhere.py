"""Runs the tests from another place where the tree lies in one that does not do: where the loader
cannot name it, since LD_PRELOAD and LD_LIBRARY_PATH are parted by blanks, colons and semicolons and
a $ in them is the loader's, so that the library refuses to be preloaded from such a path; and below
/dev (/dev/shm), of which the command opens nothing that a report names.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
UNFIT = re.compile(r"[\s:;$]|^/dev/")


def is_needed():
    return UNFIT.search(str(ROOT)) is not None


def link_or_copy(source, target):
    try:
        os.link(source, target)
    except OSError:  # another file system, or another owner's
        shutil.copy2(source, target)


def run(names):
    """The exit status of tests/run.py in the same tree elsewhere."""
    where = tempfile.gettempdir()
    with tempfile.TemporaryDirectory(prefix="safecopy-tree-",
                                     dir="/tmp" if UNFIT.search(where) else where) as place:
        os.chmod(place, 0o755)  # for the tests that go on as nobody
        tree = pathlib.Path(place) / "tree"
        shutil.copytree(ROOT, tree, symlinks=True, copy_function=link_or_copy)
        return subprocess.run([sys.executable, tree / "tests" / "run.py", *names], check=False,
                              env={**os.environ, "SAFECOPY_BUILT_IN": str(ROOT)}).returncode
