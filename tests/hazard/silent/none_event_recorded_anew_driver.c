// expect: none
//
// An event that a call had recorded before, and that is done, is recorded anew: by a node of a
// graph, or by the launch of a kernel itself. The kernel before it writes the source of a small
// copy in another stream, which waits for the event and has to have the new bytes.
#include "kernel.h"

enum { BYTES = 4096, TURNS = 3 };

struct anew {
    CUstream first, second;
    CUevent event;
    CUfunction kernel;
    void **parameters; /* to the source of the copy */
};

static CUgraphExec graph_of(const struct anew *anew)
{
    CUgraph graph = NULL;
    CUgraphNode copying = NULL, recording = NULL;
    CUgraphExec exec = NULL;
    CUDA_KERNEL_NODE_PARAMS node = copy_node_params(anew->kernel, anew->parameters);
    node.gridDimX = BYTES / 256;
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddKernelNode(&copying, graph, NULL, 0, &node));
    CHECK(cuGraphAddEventRecordNode(&recording, graph, &copying, 1, anew->event));
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    return exec;
}

static void launch_recording(const struct anew *anew)
{
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT};
    attribute.value.programmaticEvent.event = anew->event;
    CUlaunchConfig config = {.gridDimX = BYTES / 256,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 256,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .hStream = anew->first,
                             .attrs = &attribute,
                             .numAttrs = 1};
    CHECK(cuLaunchKernelEx(&config, anew->kernel, anew->parameters, NULL));
}

/* The event as a call records it, behind a kernel: both streams and the host know all of it. */
static void record_by_call(const struct anew *anew)
{
    CUdeviceptr to = driver_device_block(SMALL, 0), from = driver_device_block(SMALL, 0);
    launch_copy(anew->kernel, to, from, anew->first);
    CHECK(cuEventRecord(anew->event, anew->first));
    CHECK(cuStreamWaitEvent(anew->second, anew->event, 0));
    CHECK(cuCtxSynchronize());
}

int main(void)
{
    driver_start();
    CUdeviceptr image = driver_device_block(BYTES, WANTED);
    CUdeviceptr device = driver_device_block(BYTES, 0);
    void *source = driver_pinned_block(BYTES, 0);
    CUdeviceptr to = address_of(source);
    unsigned count = BYTES;
    void *parameters[] = {&to, &image, &count};
    const struct anew anew = {driver_new_stream(), driver_new_stream(), driver_new_event(),
                              copying_kernel(), parameters};
    CUgraphExec exec = graph_of(&anew);
    bool right = true;

    for (unsigned i = 0; i < 2 * TURNS; i++) {
        record_by_call(&anew);
        fill(source, BYTES, FOREIGN);
        driver_busy(anew.first);
        if (i % 2 == 0)
            CHECK(cuGraphLaunch(exec, anew.first));
        else
            launch_recording(&anew);
        CHECK(cuStreamWaitEvent(anew.second, anew.event, 0));
        CHECK(cuMemcpyHtoDAsync(device, source, BYTES, anew.second));
        CHECK(cuStreamSynchronize(anew.second));
        right = right && driver_device_holds(device, BYTES, WANTED);
    }
    return finish(right);
}
