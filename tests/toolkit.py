"""What there is here of NVIDIA's CUDA toolkit."""

import os
import pathlib
import shutil
import sys

from programs import ROOT


def tool(name):
    """A program of the CUDA toolkit, or None."""
    return shutil.which(name) or shutil.which(name, path="/usr/local/cuda/bin")


def toolkit_file(folders, name):
    """The first of CUDA 13: of nvcc, the toolkit, Python's wheels, or carried; or None."""
    nvcc = tool("nvcc")
    roots = [os.environ.get("CUDA_HOME"), nvcc and pathlib.Path(nvcc).resolve().parent.parent,
             "/usr/local/cuda", *(pathlib.Path(entry) / "nvidia" / "cu13" for entry in sys.path),
             ROOT / "out" / "cuda"]
    for root in filter(None, roots):
        for folder in folders:
            found = pathlib.Path(root) / folder / name
            if found.exists():
                return found
    return None


def toolkit_library(name):
    return toolkit_file(("lib64", "lib", "targets/x86_64-linux/lib", "extras/CUPTI/lib64"), name)


def toolkit_headers():
    """The folder of the headers."""
    found = toolkit_file(("include", "targets/x86_64-linux/include"), "cuda.h")
    return found.parent if found else ROOT / "out" / "cuda" / "include"


def linked_alone(library, folder):
    """A folder that holds a link to the library and nothing else; None without a library."""
    if library is None:
        return None
    alone = folder / library.name
    alone.mkdir()
    (alone / library.name).symlink_to(library)
    return alone
