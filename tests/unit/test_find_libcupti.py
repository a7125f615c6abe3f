#!/usr/bin/env python3
"""Where the library finds libcupti: layouts of toolkits and wheels, made of copies of the simulated
libraries."""

import ctypes
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT", "out")).resolve()
SIM = OUT / "sim"


def loader_has_one():
    try:
        ctypes.CDLL("libcupti.so.13")
        return True
    except OSError:
        return False


class Finding(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cupti-find-")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.put("libcuda.so.1", "driver")

    def put(self, library, *folders):
        for folder in folders:
            (self.root / folder).mkdir(parents=True, exist_ok=True)
            shutil.copy(SIM / library, self.root / folder / library)

    def found(self, *path, **environment):
        """The summary's `cupti` when the loader looks in these folders of the tree."""
        report = self.root / "report.jsonl"
        environment = {
            "PATH": os.environ["PATH"],
            "LD_LIBRARY_PATH": ":".join(str(self.root / folder) for folder in ("driver", *path)),
            "LD_PRELOAD": str(OUT / "libsafecopy.so"),
            "SAFECOPY_OPTIONS": f"cupti=require:verbosity=0:report_path={report}",
            **{name: str(self.root / value) for name, value in environment.items()},
        }
        subprocess.run([OUT / "tests" / "cupti" / "names"], env=environment, timeout=300,
                       capture_output=True)
        cupti = json.loads(report.read_text().splitlines()[-1])["cupti"]
        where = pathlib.Path(cupti["library"] or "/").resolve()
        inside = where.is_relative_to(self.root.resolve())
        return cupti["state"], str(where.relative_to(self.root.resolve())) if inside else None

    def expect(self, library, *path, **environment):
        self.assertEqual(self.found(*path, **environment), ("listening", library))

    def test_the_loader_finds_it(self):
        self.put("libcudart.so.13", "runtime")
        self.put("libcupti.so.13", "somewhere")
        self.expect("somewhere/libcupti.so.13", "runtime", "somewhere")

    def test_the_environment_names_it(self):
        self.put("libcudart.so.13", "runtime")
        self.put("libcupti.so.13", "runtime", "named/lib64")
        self.expect("named/lib64/libcupti.so.13", "runtime", CUPTI_PATH="named")
        self.expect("named/lib64/libcupti.so.13", "runtime", CUPTI_HOME="named")
        self.expect("named/lib64/libcupti.so.13", "runtime", CUPTI_PATH="named/lib64")

    def test_beside_the_runtime_of_a_toolkit(self):
        self.put("libcudart.so.13", "cuda/lib64")
        self.put("libcupti.so.13", "cuda/extras/CUPTI/lib64")
        self.expect("cuda/extras/CUPTI/lib64/libcupti.so.13", "cuda/lib64")

    def test_beside_the_runtime_comes_before_the_loader(self):
        self.put("libcudart.so.13", "runtime")
        self.put("libcupti.so.13", "runtime", "elsewhere")
        self.expect("runtime/libcupti.so.13", "elsewhere", "runtime")

    def test_in_the_wheels_of_cuda_12(self):
        self.put("libcudart.so.13", "site-packages/nvidia/cuda_runtime/lib")
        self.put("libcupti.so.13", "site-packages/nvidia/cuda_cupti/lib")
        self.expect("site-packages/nvidia/cuda_cupti/lib/libcupti.so.13",
                    "site-packages/nvidia/cuda_runtime/lib")

    def test_in_the_wheels_of_cuda_13(self):
        self.put("libcudart.so.13", "site-packages/nvidia/cu13/lib")
        self.put("libcupti.so.13", "site-packages/nvidia/cu13/lib")
        self.expect("site-packages/nvidia/cu13/lib/libcupti.so.13", "site-packages/nvidia/cu13/lib")

    @unittest.skipIf(loader_has_one(), "the system's loader finds one before")
    def test_in_a_toolkit_that_the_environment_names(self):
        self.put("libcudart.so.13", "runtime")
        self.put("libcupti.so.13", "cuda/targets/x86_64-linux/lib")
        self.expect("cuda/targets/x86_64-linux/lib/libcupti.so.13", "runtime", CUDA_HOME="cuda")

    def test_nowhere_in_the_tree(self):
        self.put("libcudart.so.13", "runtime")
        state, library = self.found("runtime")
        self.assertIsNone(library)
        self.assertIn(state, ("absent", "failed", "too-old"))  # the system may have a real one


if __name__ == "__main__":
    unittest.main()
