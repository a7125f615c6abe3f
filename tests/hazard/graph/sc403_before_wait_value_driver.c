// expect: SC403 action=stalled certainty=observed
//
// A copy stands before a node that waits for a value, which tells nobody that the copy is done. A
// host function writes the value. The racy build fills the source before the launch is done.
#include "twin_driver.h"

static void release(void *go)
{
    *(volatile uint32_t *)go = 1;
}

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUstream other = driver_new_stream();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *input = driver_pinned_block(SMALL, WANTED);
    volatile uint32_t *go = (volatile uint32_t *)driver_pinned_block(4096, 0);
    *go = 0;
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CHECK(cuMemcpyHtoDAsync(device, input, SMALL, stream));
    CHECK(cuStreamWaitValue32(stream, (CUdeviceptr)(uintptr_t)go, 1, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));

    driver_busy(stream);
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuLaunchHostFunc(other, release, (void *)(uintptr_t)go));
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    fill(input, SMALL, FOREIGN);

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, SMALL, WANTED));
}
