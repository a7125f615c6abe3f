// expect: SC403 action=stalled
//
// A copy stands behind a node that writes a value, which tells the program that the launch has
// begun. The racy build takes that for the end of the copy.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *input = driver_pinned_block(SMALL, WANTED);
    volatile uint32_t *begun = (volatile uint32_t *)driver_pinned_block(4096, 0);
    *begun = 0;
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CHECK(cuStreamWriteValue32(stream, (CUdeviceptr)(uintptr_t)begun, 1, 0));
    CHECK(cuMemcpyHtoDAsync(device, input, SMALL, stream));
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));

    CHECK(cuGraphLaunch(exec, stream));
    while (*begun == 0)
        usleep(500);
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    fill(input, SMALL, FOREIGN);

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, SMALL, WANTED));
}
