// expect: SC501 action=ordered kind=device direction=memset event=cuMemcpyHtoDAsync_v2
// options: device=1
//
// A graph clears two buffers, and a node behind the first memset writes a value. The program waits
// for the value and fills a buffer in another stream. The racy build fills the second one.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUstream work = driver_new_stream(), up = driver_new_stream();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUdeviceptr first = driver_device_block(SMALL, 0), second = driver_device_block(SMALL, 0);
    void *source = driver_pinned_block(SMALL, WANTED);
    volatile uint32_t *cleared = (volatile uint32_t *)driver_pinned_block(4096, 0);
    CHECK(cuStreamBeginCapture(work, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CHECK(cuMemsetD8Async(first, 0, SMALL, work));
    CHECK(cuStreamWriteValue32(work, (CUdeviceptr)(uintptr_t)cleared, 1, 0));
    CHECK(cuMemsetD8Async(second, 0, SMALL, work));
    CHECK(cuStreamEndCapture(work, &graph));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));

    for (int turn = 0; turn < 2; turn++) {
        *cleared = 0;
        driver_busy(work);
        CHECK(cuGraphLaunch(exec, work));
        while (*cleared == 0)
            usleep(500);
        CHECK(cuMemcpyHtoDAsync(fixed ? first : second, source, SMALL, up));
        CHECK(cuStreamSynchronize(up));
        if (turn == 0)
            CHECK(cuCtxSynchronize());
    }
    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(fixed ? first : second, SMALL, WANTED));
}
