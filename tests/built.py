"""Where the tree lies, by a path of which the loader's lists can be made."""

import atexit
import pathlib
import re
import shutil
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def listable(folder):
    """The folder, or a link to it that lasts as long as this process: LD_LIBRARY_PATH and LD_PRELOAD
    are parted by blanks, colons and semicolons, and a $ in them is the loader's."""
    if not re.search(r"[\s:;$]", str(folder)):
        return folder
    place = tempfile.mkdtemp(prefix="safecopy-tree-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    link = pathlib.Path(place) / "tree"
    link.symlink_to(folder)
    return link


OUT = listable(ROOT) / "out"
