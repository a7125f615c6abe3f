// expect: none
// options: kernels=order
// needs: preload
//
// Kernels write the sources of small copies that they come behind: on the stream of the copy, on
// another one that waits for it, in graphs, and in a graph that tells of its copy by an event. What
// differs from the snapshot in the end is what the kernel has written.
#include "graphs_driver.h"
#include "kernel.h"
#include "touch.h"

enum { SOURCE_BYTES = 4096 };

static CUfunction kernel;
static CUstream stream, other;
static CUdeviceptr to, result;
static char *buffer;

/* The source again, and nothing in flight. */
static bool begin_again(void)
{
    CHECK(cuCtxSynchronize());
    bool right = driver_device_holds(to, SOURCE_BYTES, WANTED) && holds(buffer, SMALL, FOREIGN);
    fill(buffer, SMALL, WANTED);
    CHECK(cuMemsetD8(to, 0, SOURCE_BYTES));
    CHECK(cuCtxSynchronize());
    return right;
}

static bool on_its_stream(void)
{
    CHECK(cuMemcpyHtoDAsync(to, buffer, SOURCE_BYTES, stream));
    launch_copy(kernel, address_of(buffer), result, stream);
    return begin_again();
}

static bool on_another_stream(void)
{
    CUevent copied = driver_new_event();
    CHECK(cuMemcpyHtoDAsync(to, buffer, SOURCE_BYTES, stream));
    CHECK(cuEventRecord(copied, stream));
    CHECK(cuStreamWaitEvent(other, copied, 0));
    launch_copy(kernel, address_of(buffer), result, other);
    CHECK(cuEventDestroy(copied));
    return begin_again();
}

/* The kernel begins in the middle of the copied bytes; what lies before is the copy's. */
static bool in_its_middle(void)
{
    CHECK(cuMemcpyHtoDAsync(to, buffer, SOURCE_BYTES, stream));
    launch_copy(kernel, address_of(buffer) + SOURCE_BYTES / 2, result, stream);
    CHECK(cuStreamSynchronize(stream));
    bool right = holds(buffer, SOURCE_BYTES / 2, WANTED);
    fill(buffer, SMALL, FOREIGN);
    return begin_again() && right;
}

static void replay(CUgraph graph)
{
    CUgraphExec exec = NULL;
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    CHECK(cuMemcpyHtoDAsync(to, buffer, SOURCE_BYTES, stream));
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuGraphDestroy(graph));
}

static bool in_a_graph(void)
{
    CUgraph graph = NULL;
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    launch_copy(kernel, address_of(buffer), result, stream);
    CHECK(cuStreamEndCapture(stream, &graph));
    replay(graph);
    return begin_again();
}

/* A launch of which the library judges nothing, since a node tells how far it has come. */
static bool in_a_graph_that_tells(void)
{
    CUgraph graph = NULL;
    CUevent written = driver_new_event();
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    launch_copy(kernel, address_of(buffer), result, stream);
    CHECK(cuEventRecordWithFlags(written, stream, CU_EVENT_RECORD_EXTERNAL));
    CHECK(cuStreamEndCapture(stream, &graph));
    replay(graph);
    CHECK(cuEventDestroy(written));
    return begin_again();
}

/* The copy is on a stream that the launch comes behind by an event which a node waits for. */
static bool in_a_graph_that_waits(void)
{
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUevent copied = driver_new_event();
    CHECK(cuStreamBeginCapture(other, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CHECK(cuStreamWaitEvent(other, copied, CU_EVENT_WAIT_EXTERNAL));
    launch_copy(kernel, address_of(buffer), result, other);
    CHECK(cuStreamEndCapture(other, &graph));
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    CHECK(cuMemcpyHtoDAsync(to, buffer, SOURCE_BYTES, stream));
    CHECK(cuEventRecord(copied, stream));
    CHECK(cuGraphLaunch(exec, other));
    CHECK(cuCtxSynchronize());
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuGraphDestroy(graph));
    CHECK(cuEventDestroy(copied));
    return begin_again();
}

int main(void)
{
    driver_start();
    kernel = copying_kernel();
    stream = driver_new_stream();
    other = driver_new_stream();
    result = driver_device_block(SMALL, FOREIGN);
    to = driver_device_block(SMALL, 0);
    buffer = driver_pinned_block(2 * SMALL, WANTED);
    bool right = true;
    for (int turn = 0; turn < 2; turn++) {
        right &= on_its_stream() && on_another_stream() && in_its_middle() && in_a_graph() &&
                 in_a_graph_that_tells() && in_a_graph_that_waits();
    }
    CHECK(cuMemFreeHost(buffer));
    return finish(right);
}
