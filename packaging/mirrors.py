"""Where Debian's files are to be had."""

import os
import subprocess
import sys


def of_apt():
    """The roots of the mirrors that apt uses here, if it is Debian's."""
    try:
        said = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI)"], check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return []
    uris = [line.rstrip("/") for line in said.splitlines()]
    return list(dict.fromkeys(uri.removesuffix("/debian") for uri in uris if uri.endswith("/debian")))


def mirrors():
    """MIRROR, or apt's, without the /debian in which each has its pool."""
    named = os.environ.get("MIRROR", "").split()
    found = [uri.rstrip("/").removesuffix("/debian") for uri in named] or of_apt()
    if not found:
        sys.exit("packaging: which mirror of Debian? Its releases, or its archive of old ones, is to "
                 "be named in MIRROR=http://HOST (what lies in HOST/debian/pool)")
    return found
