// expect: SC403 action=stalled kind=pinned certainty=observed direction=none event=memory-write
// in-place: none
// in-place: wrong
// options: kernels=order
//
// The next input is written into pinned memory that a kernel of a graph is still to read.
#include "graphs_driver.h"
#include "kernel.h"

int main(void)
{
    driver_start();
    CUfunction kernel = copying_kernel();
    CUstream stream = driver_new_stream();
    CUdeviceptr result = driver_device_block(SMALL, 0);
    void *input = driver_pinned_block(SMALL, WANTED);
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    launch_copy(kernel, result, address_of(input), stream);
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphInstantiate(&exec, graph, 0));

    driver_busy(stream);
    CHECK(cuGraphLaunch(exec, stream));
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    fill(input, SMALL, FOREIGN);

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(result, SMALL, WANTED) && holds(input, SMALL, FOREIGN));
}
