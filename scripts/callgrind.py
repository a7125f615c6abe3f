"""Profiles of a program that runs with the library, on the simulated GPU under valgrind's callgrind."""

import collections
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "out"
# The program makes what its first argument names, so often as its second says, on streams of the kind
# that its third names: "blocking", or "legacy" for the context's legacy stream; else non-blocking ones.
SOURCE = r"""
#define __CUDA_API_VERSION_INTERNAL 1
#include <cuda.h>
#include <stdlib.h>
#include <string.h>
#include "tests/spinning_kernel.h"
enum { BYTES = 4096, AT_A_TIME = 200, BLOCKS = 3200, LARGE = 256 << 10 };
static CUcontext context;
static CUstream stream, other;
static CUdeviceptr device;
static CUmodule module;
static CUfunction kernel;
static CUevent event, done;
static void *pinned, *heap, *blocks[BLOCKS], *source, *target;
static void upload(int i)
{
    cuMemcpyHtoDAsync_v2(device, pinned, BYTES, stream);
    if (i % AT_A_TIME == AT_A_TIME - 1)
        cuStreamSynchronize(stream);
}
static void upload_wait(int i)
{
    (void)i;
    cuMemcpyHtoDAsync_v2(device, pinned, BYTES, stream);
    cuStreamSynchronize(stream);
}
static void download(int i)
{
    cuMemcpyDtoHAsync_v2(pinned, device, BYTES, stream);
    if (i % AT_A_TIME == AT_A_TIME - 1)
        cuStreamSynchronize(stream);
}
static void download_wait(int i)
{
    (void)i;
    cuMemcpyDtoHAsync_v2(pinned, device, BYTES, stream);
    cuStreamSynchronize(stream);
}
static void pipeline(int i)
{
    unsigned long long ns = 0;
    void *parameters[] = {&ns};
    (void)i;
    cuMemcpyHtoDAsync_v2(device, source, LARGE, stream);
    cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL);
    cuMemcpyDtoHAsync_v2(target, device, LARGE, stream);
    cuStreamSynchronize(stream);
}
static void record(int i)
{
    (void)i;
    cuEventRecord(event, stream);
}
static void record_wait_query(int i)
{
    (void)i;
    cuEventRecord(event, stream);
    cuStreamWaitEvent(other, event, 0);
    cuEventQuery(event);
}
static void record_legacy(int i)
{
    (void)i;
    cuEventRecord(event, NULL);
}
static void record_new(int i)
{
    CUevent made;
    (void)i;
    cuEventCreate(&made, CU_EVENT_DISABLE_TIMING);
    cuEventRecord(made, NULL);
    cuEventDestroy_v2(made);
}
static void sync_context(int i)
{
    (void)i;
    cuCtxSynchronize_v2(context);
}
/* The steps of PyTorch's and NCCL's all-reduce: `other` is NCCL's own stream, which is ordered with the
 * stream of the kernel. */
static void reduce_on(CUstream on)
{
    unsigned long long ns = 0;
    void *parameters[] = {&ns};
    const CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, on, NULL, 0};
    cuEventRecord(event, other);
    cuStreamWaitEvent(on, event, 0);
    cuLaunchKernelEx(&config, kernel, parameters, NULL);
    cuEventRecord(event, on);
    cuStreamWaitEvent(other, event, 0);
    cuEventRecordWithFlags(done, on, 0);
    cuStreamWaitEvent(NULL, done, 0);
}
static void all_reduce(int i)
{
    reduce_on(NULL);
    sync_context(i);
}
static void all_reduce_beside(int i)
{
    cuEventRecord(done, NULL);
    cuStreamWaitEvent(stream, done, 0);
    reduce_on(stream);
    sync_context(i);
}
static void launch(int i)
{
    unsigned long long ns = 0;
    void *parameters[] = {&ns};
    cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL);
    if (i % AT_A_TIME == AT_A_TIME - 1)
        cuStreamSynchronize(stream);
}
static void launch_legacy(int i)
{
    unsigned long long ns = 0;
    void *parameters[] = {&ns};
    cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL);
    if (i % AT_A_TIME == AT_A_TIME - 1)
        cuStreamSynchronize(NULL);
}
static void free_beside(int i)
{
    free(blocks[i]);
}
static void sync_idle(int i)
{
    (void)i;
    cuStreamSynchronize(stream);
}
static void allocate(int i)
{
    CUdeviceptr block;
    (void)i;
    cuMemAllocAsync(&block, BYTES, stream);
    cuMemFreeAsync(block, stream);
}
static __attribute__((noinline)) void allocate_below(int depth)
{
    depth ? allocate_below(depth - 1) : allocate(0);
    __asm__ volatile("");
}
static void allocate_new(int i)
{
    allocate_below(i % AT_A_TIME);
}
static const struct {
    const char *name;
    void (*round)(int);
} cases[] = {{"upload", upload}, {"upload-wait", upload_wait}, {"download", download},
             {"download-wait", download_wait}, {"pipeline", pipeline}, {"record", record},
             {"record-wait-query", record_wait_query}, {"record-legacy", record_legacy},
             {"record-new", record_new}, {"sync-context", sync_context}, {"all-reduce", all_reduce},
             {"all-reduce-beside", all_reduce_beside}, {"launch", launch}, {"launch-legacy", launch_legacy},
             {"free", free_beside},
             {"sync-idle", sync_idle}, {"allocate", allocate}, {"allocate-new", allocate_new}};
int main(int argc, char **argv)
{
    int rounds = argc > 2 ? atoi(argv[2]) : 0;
    const char *kind = argc > 3 ? argv[3] : "";
    unsigned flags = strcmp(kind, "blocking") ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT;
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
        cuStreamCreate(&stream, flags) || cuStreamCreate(&other, flags) || cuMemAlloc_v2(&device, LARGE) ||
        cuMemAllocHost_v2(&pinned, BYTES) || cuMemAllocHost_v2(&source, LARGE) ||
        cuMemAllocHost_v2(&target, LARGE) || cuModuleLoadData(&module, spinning_kernel_text) ||
        cuModuleGetFunction(&kernel, module, "spin") || cuEventCreate(&event, 0) ||
        cuEventCreate(&done, CU_EVENT_DISABLE_TIMING))
        return 1;
    memset(pinned, 1, BYTES);
    if (!strcmp(kind, "legacy"))
        stream = CU_STREAM_LEGACY;
    if (!strcmp(argv[1], "free")) {
        heap = aligned_alloc(BYTES, BYTES);
        if (cuMemHostRegister_v2(heap, BYTES, 0) ||
            cuMemcpyHtoDAsync_v2(device, heap, BYTES, stream))
            return 1;
    }
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = malloc(64);
    for (unsigned c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int i = 0; !strcmp(argv[1], cases[c].name) && i < rounds; i++)
            cases[c].round(i);
    return cuCtxSynchronize();
}
"""

COST = re.compile(r"[+*\d-]\d* \d+$")
DRIVER, LIBRARY, PROGRAM = "libcuda.so.1", "libsafecopy.so", "program"


def build(folder):
    source, program = folder / "program.c", folder / PROGRAM
    source.write_text(SOURCE, encoding="utf-8")
    include = os.environ.get("CUDA_INCLUDE", "/usr/local/cuda/include")
    subprocess.run(["cc", "-g", "-O1", "-I", include, "-I", ROOT, source, "-L", OUT / "sim",
                    "-l:libcuda.so.1", "-o", program], check=True)
    return program


def run(program, arguments, **settings):
    """The profile of the program's own thread, as callgrind writes it. Other threads run by the
    clock."""
    profile = program.with_name("profile")
    environment = {**os.environ, "LD_LIBRARY_PATH": str(OUT / "sim"), "SIM_GPU": "late=0",
                   "LD_PRELOAD": str(OUT / LIBRARY), "SAFECOPY_OPTIONS": "report_path=none",
                   **settings}
    subprocess.run(["valgrind", "--quiet", "--tool=callgrind", "--separate-threads=yes",
                    f"--callgrind-out-file={profile}", program, *arguments],
                   check=True, env=environment)
    return profile.with_name("profile-01").read_text(encoding="utf-8")


class Profile:
    """What functions took themselves, who called whom how often, and what that took. A function is
    (object, name): callgrind names a file as well, but another one where a function begins with what
    is inlined. So functions of one name are one, and `files` has all that were named."""

    def __init__(self, text):
        self.own = collections.Counter()
        self.calls = collections.defaultdict(collections.Counter)
        self.below = collections.defaultdict(collections.Counter)
        self.files = collections.defaultdict(set)
        self.names = {}
        module = function = called_module = callee = file = None
        is_of_callee = False
        for line in text.splitlines():
            key, _, value = line.partition("=")
            if key == "ob":
                module = self.name("object", value)
            elif key in ("fl", "fi", "fe", "cfi", "cfl"):
                named = self.name("file", value)
                file = named if key == "fl" else file
            elif key == "fn":
                function = (module, self.name("function", value))
                self.files[function].add(file)
            elif key == "cob":
                called_module = self.name("object", value)
            elif key == "cfn":
                callee = (called_module or module, self.name("function", value))
            elif key == "calls":
                self.calls[function][callee] += int(value.split()[0])
                called_module = None
                is_of_callee = True
            elif COST.match(line):
                cost = int(line.split()[1])
                if is_of_callee:
                    self.below[function][callee] += cost
                else:
                    self.own[function] += cost
                is_of_callee = False

    def subtract(self, other):
        for mine, theirs in ((self.own, other.own), *((mine[function], theirs[function])
                             for mine, theirs in ((self.calls, other.calls), (self.below, other.below))
                             for function in list(mine))):
            mine.subtract(theirs)

    def name(self, kind, value):
        """callgrind writes a name once, and its number from then on. Of an object the last part counts,
        of a recursive function no level."""
        number, _, text = value.partition(" ")
        if text:
            self.names[kind, number] = text.rpartition("/")[2] if kind == "object" else text.partition("'")[0]
        return self.names.get((kind, number), "?")
