// expect: none
//
// A copy stands before a node that writes a value, for which the program waits before it fills the
// source.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    bool right = true;
    CUstream stream = driver_new_stream();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *input = driver_pinned_block(SMALL, 0);
    volatile uint32_t *copied = (volatile uint32_t *)driver_pinned_block(4096, 0);
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CHECK(cuMemcpyHtoDAsync(device, input, SMALL, stream));
    CHECK(cuStreamWriteValue32(stream, (CUdeviceptr)(uintptr_t)copied, 1, 0));
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));

    for (int turn = 0; turn < 3; turn++) {
        fill(input, SMALL, WANTED);
        *copied = 0;
        driver_busy(stream);
        CHECK(cuGraphLaunch(exec, stream));
        while (*copied == 0)
            usleep(500);
        fill(input, SMALL, FOREIGN);
        CHECK(cuCtxSynchronize());
        right = right && driver_device_holds(device, SMALL, WANTED);
    }
    return finish(right);
}
