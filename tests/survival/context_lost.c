// expect-exit: 0
// link: cuda
// options: verbosity=0
//
// A kernel fails, and the context is lost. The next calls say so (719), which wait: among them the
// free and the unregister of memory that a graph names.
#include "faulting.h"

enum { SIZE = 64 << 10 };

static CUgraphExec exec_of(const void *from, CUdeviceptr to, CUstream stream)
{
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuMemcpyHtoDAsync(to, from, SIZE, stream));
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuStreamSynchronize(stream));
    return exec;
}

int main(void)
{
    CUfunction fault = faulting_kernel();
    CUstream stream = faulting_stream();
    CUdeviceptr to = 0;
    void *pinned = NULL;
    void *registered = malloc(SIZE);
    CHECK(cuMemAlloc(&to, SIZE));
    CHECK(cuMemAllocHost(&pinned, SIZE));
    CHECK(cuMemHostRegister(registered, SIZE, 0));
    CHECK(exec_of(pinned, to, stream) == NULL);
    CHECK(exec_of(registered, to, stream) == NULL);

    SHOW(cuLaunchKernel(fault, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
    SHOW(cuMemFreeHost(pinned));
    SHOW(cuMemHostUnregister(registered));
    SHOW(cuCtxSynchronize());
    SHOW(cuMemAllocHost(&pinned, SIZE));
    return 0;
}
