#!/usr/bin/env python3
"""`scripts/new-cuda`: what it lists of a made-up header, and that nothing of the toolkit's own is new."""

import importlib.machinery
import importlib.util
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "new-cuda"
LOADER = importlib.machinery.SourceFileLoader("new_cuda", str(SCRIPT))
SPEC = importlib.util.spec_from_loader("new_cuda", LOADER)
new_cuda = importlib.util.module_from_spec(SPEC)
LOADER.exec_module(new_cuda)
TOOLKITS = [os.environ.get("CUDA_HOME"), "/usr/local/cuda", ROOT / "out" / "cuda"]
HEADERS = ("cudaTypedefs.h", "cuda_runtime_api.h")

MADE_UP = """
/* typedef CUresult (CUDAAPI *PFN_cuOldAsync_v1000)(CUstream hStream); */
typedef CUresult (CUDAAPI *PFN_cuMemcpyHtoDAsync_v3020)(CUdeviceptr_v2 dst, const void *src, size_t n,
                                                        CUstream hStream);
typedef CUresult (CUDAAPI *PFN_cuMemcpyHtoDAsync_v7000_ptsz)(CUdeviceptr_v2 dst, const void *src,
                                                             size_t n, CUstream hStream);
typedef CUresult (CUDAAPI *PFN_cuMemcpyHtoDAsync_v99000)(CUdeviceptr_v2 dst, const void *src, size_t n,
                                                         CUstream hStream);
typedef CUresult(CUDAAPI *PFN_cuTeleport_v99000)(CUdeviceptr_v2 dst, CUstream hStream); // told by a stream
typedef CUresult (CUDAAPI *PFN_cuTeleportHome_v99000)(const void *address, size_t n);
typedef CUresult (CUDAAPI *PFN_cuTeleporterDestroy_v99000)(CUteleporter t);
typedef CUresult (CUDAAPI *PFN_cuTeleporterSynchronize_v99000)(CUteleporter t);
typedef CUresult (CUDAAPI *PFN_cuTeleportBatch_v99000)(const CUDA_TELEPORT_PARAMS *params);
typedef CUresult (CUDAAPI *PFN_cuTeleporterGetStream_v99000)(CUteleporter t, CUstream *phStream);
typedef CUresult (CUDAAPI *PFN_cuTeleporterCount_v99000)(int *count, void **pp);
typedef CUresult (CUDAAPI *PFN_cuModuleLoadData_v2000)(CUmodule *module, const void *image);
"""
RUNTIME = """
extern __host__ cudaError_t CUDARTAPI cudaMemcpyAsync(void *dst, const void *src, size_t count,
    enum cudaMemcpyKind kind, cudaStream_t stream __dv(0));
extern __host__ __cudart_builtin__ cudaError_t CUDARTAPI cudaFreeAsync_ptsz(void *p, cudaStream_t s);
extern __host__ cudaError_t CUDARTAPI cudaTeleportAsync(void *dst, cudaStream_t stream);
extern __host__ cudaError_t CUDARTAPI cudaTeleporterCount(int *count);
"""


class NewCuda(unittest.TestCase):
    def start(self, *headers):
        return subprocess.run([SCRIPT, *headers], capture_output=True, text=True, check=False)

    def show(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".h") as header:
            header.write(text)
            header.flush()
            return self.start(header.name)

    def test_a_made_up_header(self):
        run = self.show(MADE_UP)
        self.assertEqual((run.returncode, run.stderr), (1, ""))
        self.assertEqual([line.split("(")[0] for line in run.stdout.splitlines()], [
            "asynchronous, host memory: cuMemcpyHtoDAsync_v99000", "asynchronous: cuTeleport_v99000",
            "host memory: cuTeleportHome_v99000", "ends: cuTeleporterDestroy_v99000",
            "waits: cuTeleporterSynchronize_v99000", "host memory: cuTeleportBatch_v99000"])
        self.assertIn("cuTeleport_v99000(CUdeviceptr_v2 dst, CUstream hStream)\n", run.stdout)

    def test_a_made_up_runtime(self):
        run = self.show(RUNTIME)
        self.assertEqual((run.returncode, run.stdout), (
            1, "asynchronous, host memory: cudaTeleportAsync(void *dst, cudaStream_t stream)\n"))
        self.assertEqual(self.show(RUNTIME.replace("Teleport", "Memcpy")).returncode, 0)

    def test_nothing_of_the_toolkits_headers_is_new(self):
        for toolkit in filter(None, TOOLKITS):
            headers = [pathlib.Path(toolkit) / "include" / name for name in HEADERS]
            if all(header.exists() for header in headers):
                run = self.start(*headers)
                self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))
                return
        self.skipTest("no toolkit here")

    def test_each_row_of_the_table_is_read(self):
        text = new_cuda.TABLE.read_text(encoding="utf-8")
        wrapped = re.findall(r"^SC_(\w+?)(?:_SIMPLY)?\(", text, re.M)
        pairs = {"WRAP2", *re.findall(r"^#define SC_(\w+)\([^)]*\) +\\\n +SC_WRAP2\(", text, re.M)}
        self.assertEqual(pairs, {"WRAP2", *new_cuda.VARIANTS})
        self.assertEqual(len(set(new_cuda.rows(text))),
                         len(wrapped) + sum(kind in pairs for kind in wrapped))

    def test_what_is_known_has_no_row(self):
        known = new_cuda.known(new_cuda.KNOWN.read_text(encoding="utf-8"))
        rows = set(new_cuda.rows(new_cuda.TABLE.read_text(encoding="utf-8")))
        self.assertEqual(rows & set(known), set())
        self.assertTrue(all(known.values()))
        for text in ("cuX_v1\n", ": why\ncuX_v1\n: else\ncuX_v1\n"):
            self.assertRaises(ValueError, new_cuda.known, text)
        self.assertEqual(new_cuda.known("# no\n: why\n: so\na\n\n: else\nb c\n"),
                         {"a": "why so", "b": "else", "c": "else"})

    def test_what_is_no_header(self):
        for arguments, words in ((["/nowhere"], "/nowhere"), ([str(SCRIPT.parent / "setup")], "no function")):
            run = self.start(*arguments)
            self.assertEqual((run.returncode, run.stdout), (2, ""))
            self.assertIn(words, run.stderr)
        self.assertEqual(self.start("--help").returncode, 0)
        self.assertEqual(self.start().returncode, 2)


if __name__ == "__main__":
    unittest.main()
