// expect: none
// options: cupti=off
//
// Contexts come and go with their execs, which nobody destroys. Memory that only those named is
// free for others. Without CUPTI, which keeps 9 MB of each context.
#include "tests/process_memory.h"
#include "twin_driver.h"

enum { CONTEXTS = 10 };

static const size_t BYTES = (size_t)16 << 20;

static void launch_once(CUdeviceptr device, const void *source)
{
    CUstream stream = driver_new_stream();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CHECK(cuMemcpyHtoDAsync(device, source, BYTES, stream));
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(cuGraphDestroy(graph));
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuStreamSynchronize(stream));
}

static bool use_context(void)
{
    CUcontext context = NULL;
    CHECK(cuCtxCreate(&context, NULL, 0, 0));
    CUdeviceptr device = driver_device_block(BYTES, 0);
    void *source = filled_block(BYTES, WANTED);
    launch_once(device, source);
    bool right = driver_device_holds(device, BYTES, WANTED);
    CHECK(cuCtxDestroy(context));
    free(source);
    return right;
}

int main(void)
{
    bool right = true;
    driver_start();
    for (int i = 0; i < 2; i++)
        right = use_context() && right;
    size_t before = resident_bytes();
    for (int i = 0; i < CONTEXTS; i++)
        right = use_context() && right;
    return finish(right && resident_bytes() < before + CONTEXTS / 2 * BYTES);
}
