"""What tests of `safecopy run` share: programs, the environment, a folder to run in."""

import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT", ROOT / "out"))
SAFECOPY = str(OUT / "safecopy")
RUN = [SAFECOPY, "run", "--format", "text"]
STRICT = [SAFECOPY, "run", "--strict"]
LIBRARY = str((OUT / "libsafecopy.so").resolve())
HAZARDS = OUT / "tests" / "hazard"
RACY, CORRECT = (str(HAZARDS / f"sc101_free_h2d.{variant}") for variant in ("racy", "fixed"))
ENVIRONMENT = {**{name: value for name, value in os.environ.items()
                  if not name.startswith(("SAFECOPY_", "LD_", "CUDA_"))},
               "LD_LIBRARY_PATH": str(OUT / "sim"), "SIM_GPU": "late=1"}
PATIENCE_S = 300

# Frees a source in flight, says so, waits, and does the same again.
HOLDS = """
import ctypes
runtime, libc = ctypes.CDLL("libcudart.so.13"), ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
SIZE = 1 << 16
device = ctypes.c_void_p()
runtime.cudaMalloc(ctypes.byref(device), ctypes.c_size_t(SIZE))
def free_in_flight():
    source = ctypes.c_void_p(libc.malloc(ctypes.c_size_t(SIZE)))
    runtime.cudaHostRegister(source, ctypes.c_size_t(SIZE), 0)
    runtime.cudaMemcpyAsync(device, source, ctypes.c_size_t(SIZE), 1, None)
    libc.free(source)
    runtime.cudaDeviceSynchronize()
free_in_flight()
print("ready", flush=True)
input()
free_in_flight()
"""


class Runs(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name).resolve()

    def start(self, *command, **more):
        return subprocess.run(command, **{
            "cwd": self.folder, "env": ENVIRONMENT, "stdin": subprocess.DEVNULL, "timeout": PATIENCE_S,
            "capture_output": True, "text": True, "check": False, **more})
