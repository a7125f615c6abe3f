// expect: none
//
// Kernels write managed memory behind copies that read it, large and small: on the stream of the
// copy, on another one that waits for it, and in a graph. What differs from what the copy was to
// read is what the kernel has written.
#include "graphs_driver.h"
#include "kernel.h"

enum { PART = 4096 };

static CUfunction kernel;
static CUstream stream, other;
static CUdeviceptr to, result, managed;

/* The source again, and nothing in flight. */
static bool begin_again(size_t size_bytes)
{
    CHECK(cuCtxSynchronize());
    bool right =
        driver_device_holds(to, size_bytes, WANTED) && holds((void *)managed, SMALL, FOREIGN);
    fill((void *)managed, SMALL, WANTED);
    return right;
}

static bool on_its_stream(size_t size_bytes)
{
    CHECK(cuMemcpyHtoDAsync(to, (void *)managed, size_bytes, stream));
    launch_copy(kernel, managed, result, stream);
    return begin_again(size_bytes);
}

static bool on_another_stream(size_t size_bytes)
{
    CUevent copied = driver_new_event();
    CHECK(cuMemcpyAsync(to, managed, size_bytes, stream));
    CHECK(cuEventRecord(copied, stream));
    CHECK(cuStreamWaitEvent(other, copied, 0));
    launch_copy(kernel, managed, result, other);
    CHECK(cuEventDestroy(copied));
    return begin_again(size_bytes);
}

static bool in_a_graph(size_t size_bytes)
{
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    launch_copy(kernel, managed, result, stream);
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    CHECK(cuMemcpyHtoDAsync(to, (void *)managed, size_bytes, stream));
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuGraphDestroy(graph));
    return begin_again(size_bytes);
}

int main(void)
{
    driver_start();
    kernel = copying_kernel();
    stream = driver_new_stream();
    other = driver_new_stream();
    to = driver_device_block(SMALL, 0);
    result = driver_device_block(SMALL, FOREIGN);
    CHECK(cuMemAllocManaged(&managed, SMALL, CU_MEM_ATTACH_GLOBAL));
    fill((void *)managed, SMALL, WANTED);
    bool right = true;
    for (int large = 0; large < 2; large++) {
        const size_t size_bytes = large ? SMALL : PART;
        right = on_its_stream(size_bytes) && right;
        right = on_another_stream(size_bytes) && right;
        right = in_a_graph(size_bytes) && right;
    }
    return finish(right);
}
