// expect: none
// options: stall_limit=60s
//
// A graph waits for a word that the host writes. Behind its launch stand copies on the same stream
// and, behind a second launch of it, on another one: their sources are still to be filled.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUstream stream = driver_new_stream();
    CUstream other = driver_new_stream();
    CUdeviceptr one = driver_device_block(SMALL, 0);
    CUdeviceptr two = driver_device_block(SMALL, 0);
    void *first = driver_pinned_block(SMALL, 0);
    void *second = driver_pinned_block(SMALL, 0);
    volatile uint32_t *go = (volatile uint32_t *)driver_pinned_block(4096, 0);
    *go = 0;
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuStreamWaitValue32(stream, (CUdeviceptr)(uintptr_t)go, 1, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));

    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuMemcpyHtoDAsync(one, first, SMALL, stream));
    CHECK(cuGraphLaunch(exec, other));
    CHECK(cuMemcpyHtoDAsync(two, second, SMALL, other));
    fill(first, SMALL, WANTED);
    fill(second, SMALL, WANTED);
    *go = 1;

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(one, SMALL, WANTED) &&
                  driver_device_holds(two, SMALL, WANTED));
}
