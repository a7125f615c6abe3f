"""Sessions of pytest with the plugin, for its tests: what is run in them is on the simulated GPU,
by ctypes. The plugin is that of the tree or, with SAFECOPY_INSTALLED=1, of the wheel that is
installed for this Python (packaging/check)."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest


def has_module(name):
    try:
        return bool(importlib.util.find_spec(name))
    except ModuleNotFoundError:
        return False


ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT", ROOT / "out"))
IS_INSTALLED = os.environ.get("SAFECOPY_INSTALLED") == "1"
PACKAGES = [] if IS_INSTALLED else [ROOT / "python"]
HAS_XDIST = bool(importlib.util.find_spec("xdist"))
HAS_SUBTESTS = any(map(has_module, ("pytest_subtests", "_pytest.subtests")))

CUDA = '''
import ctypes
import libsafecopy

_cudart = ctypes.CDLL("libcudart.so.13")
SIZE = ctypes.c_size_t(65536)


def check(result):
    assert result == 0, result


class Block:
    """Pinned memory that is in flight to the device."""

    def __init__(self):
        self.address, device, self.stream = (ctypes.c_void_p() for _ in range(3))
        check(_cudart.cudaStreamCreate(ctypes.byref(self.stream)))
        check(_cudart.cudaMalloc(ctypes.byref(device), SIZE))
        check(_cudart.cudaMallocHost(ctypes.byref(self.address), SIZE))
        check(_cudart.cudaMemcpyAsync(device, self.address, SIZE, 1, self.stream))

    def wait(self):
        check(_cudart.cudaStreamSynchronize(self.stream))

    def free(self):
        check(_cudart.cudaFreeHost(self.address))


def right():
    block = Block()
    block.wait()
    block.free()


def wrong():
    Block().free()
'''

PLUGIN = ("-p", "libsafecopy.pytest_plugin")
RIGHT = "import cuda\ndef test_right():\n    cuda.right()\n"
WRONG = "import cuda\ndef test_wrong():\n    cuda.wrong()\n"


def library():
    if not IS_INSTALLED:
        return OUT / "libsafecopy.so"
    import libsafecopy  # pylint: disable=import-outside-toplevel
    return libsafecopy.library_path()


class Session(unittest.TestCase):
    """Each test has a folder of its own, in which pytest runs."""

    def setUp(self):
        if not importlib.util.find_spec("pytest"):
            self.skipTest("no pytest here")
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name).resolve()
        (self.folder / "cuda.py").write_text(CUDA)

    def install(self):
        """The plugin is known to pytest as that of the wheel is: by its entry point."""
        if IS_INSTALLED:
            return
        project = (ROOT / "python" / "pyproject.toml").read_text()
        points = project.split("[project.entry-points.pytest11]\n")[1].split("\n\n")[0]
        information = self.folder / "libsafecopy-0.dist-info"
        information.mkdir()
        (information / "METADATA").write_text("Name: libsafecopy\nVersion: 0\n")
        (information / "entry_points.txt").write_text(f"[pytest11]\n{points}\n".replace('"', ""))

    def path(self, *more):
        return ":".join(map(str, [*PACKAGES, self.folder, *more]))

    def run_pytest(self, tests, *arguments, preload=True, options="", plugins=PLUGIN, **variables):
        (self.folder / "test_it.py").write_text(tests)
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("LD_PRELOAD", "PYTEST_ADDOPTS")}
        environment.update(LD_LIBRARY_PATH=str(OUT / "sim"), SIM_GPU="late=1:late_limit=10s", TMPDIR=str(self.folder),
                           PYTHONPATH=self.path(), PYTHONDONTWRITEBYTECODE="1",
                           SAFECOPY_OPTIONS=options, COLUMNS="1000")
        if preload:
            environment["LD_PRELOAD"] = str(library())
        environment.update(variables)
        run = subprocess.run(
            [sys.executable, "-m", "pytest", "-rA", "-p", "no:cacheprovider", *plugins, *arguments,
             "test_it.py"],
            cwd=self.folder, env=environment, capture_output=True, text=True, timeout=300)
        self.said, self.complaints = run.stdout + run.stderr, run.stderr
        return run.returncode
