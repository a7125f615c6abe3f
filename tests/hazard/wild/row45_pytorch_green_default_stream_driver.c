// expect: none
//
// https://github.com/pytorch/pytorch/pull/185527: with a green context current, the NULL stream is
// one of that context, and may be captured as a legacy stream may not. Work on it becomes nodes,
// also of a stream that an event draws in and joins again; allocations in its order are nodes, too.
// Of the primary context's legacy stream nothing is different meanwhile.
#include "capture.h"
#include "green.h"

int main(void)
{
    driver_start();
    CUgreenCtx green = green_context();
    CUstream side = green_stream(green);
    CUstream of_primary = driver_new_stream();
    CUcontext context = NULL;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUevent fork = NULL;
    CUevent join = NULL;
    CUdeviceptr scratch = 0;
    size_t nodes = 0;
    CUdeviceptr from = driver_device_block(SMALL, WANTED);
    CUdeviceptr between = driver_device_block(SMALL, 0);
    CUdeviceptr to = driver_device_block(SMALL, 0);
    CUdeviceptr beside = driver_device_block(SMALL, 0);
    void *image = driver_pinned_block(SMALL, FOREIGN);
    void *result = driver_pinned_block(SMALL, 0);

    CHECK(cuCtxFromGreenCtx(&context, green));
    CHECK(cuCtxPushCurrent(context));
    CHECK(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    CHECK(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    CHECK(cuMemcpyDtoDAsync(between, from, SMALL, NULL)); /* there was work before */
    CHECK(cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuMemcpyDtoDAsync(between, from, SMALL, NULL));
    CHECK(cuMemAllocAsync(&scratch, SMALL, NULL));
    CHECK(cuEventRecord(fork, NULL));
    CHECK(cuStreamWaitEvent(side, fork, 0));
    CHECK(cuMemcpyDtoDAsync(to, between, SMALL, side));
    CHECK(cuEventRecord(join, side));
    CHECK(cuMemFreeAsync(scratch, NULL));
    CHECK(cuStreamWaitEvent(NULL, join, 0));
    CHECK(cuMemcpyDtoHAsync(result, to, SMALL, NULL));

    CHECK(cuCtxPopCurrent(NULL));
    CHECK(cuMemcpyHtoD(beside, image, SMALL));
    CHECK(cuMemcpyDtoDAsync(beside, beside, 1, of_primary));
    CHECK(cuCtxPushCurrent(context));

    CHECK(cuStreamEndCapture(NULL, &graph));
    CHECK(cuGraphGetNodes(graph, NULL, &nodes));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (unsigned launch = 0; launch < 2; launch++) {
        CHECK(cuGraphLaunch(exec, NULL));
        CHECK(cuStreamSynchronize(NULL));
    }
    CHECK(cuCtxPopCurrent(NULL));
    CHECK(cuStreamSynchronize(of_primary));
    return finish(nodes == 5 && holds(result, SMALL, WANTED) &&
                  driver_device_holds(beside, SMALL, FOREIGN));
}
