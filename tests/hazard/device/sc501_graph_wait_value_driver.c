// expect: SC501 action=ordered kind=device direction=H2D event=cuGraphLaunch certainty=observed
// options: device=1
//
// A graph waits for a value, and copies one buffer behind the wait and another one beside it. The
// stream that fills both buffers writes the value then. In the racy build it fills the second one
// without an order. One kind of node does not keep what stands beside it from being judged.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUstream work = driver_new_stream(), branch = driver_new_stream(), up = driver_new_stream();
    CUevent forked = driver_new_event(), joined = driver_new_event(), filled = driver_new_event();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUdeviceptr to[2], from[2];
    void *source = driver_pinned_block(SMALL, WANTED);
    CUdeviceptr word = (CUdeviceptr)(uintptr_t)driver_pinned_block(4096, 0);
    *(volatile uint32_t *)(uintptr_t)word = 0;
    for (int i = 0; i < 2; i++) {
        to[i] = driver_device_block(SMALL, 0);
        from[i] = driver_device_block(SMALL, FOREIGN);
    }
    CHECK(cuStreamBeginCapture(work, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CHECK(cuEventRecord(forked, work));
    CHECK(cuStreamWaitEvent(branch, forked, 0));
    CHECK(cuMemcpyDtoDAsync(to[1], from[1], SMALL, branch));
    CHECK(cuStreamWaitValue32(work, word, 1, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK(cuMemcpyDtoDAsync(to[0], from[0], SMALL, work));
    CHECK(cuEventRecord(joined, branch));
    CHECK(cuStreamWaitEvent(work, joined, 0));
    CHECK(cuStreamEndCapture(work, &graph));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));

    driver_busy(up);
    CHECK(cuMemcpyHtoDAsync(from[1], source, SMALL, up));
    CHECK(cuEventRecord(filled, up));
    CHECK(cuMemcpyHtoDAsync(from[0], source, SMALL, up));
    CHECK(cuStreamWriteValue32(up, word, 1, 0));
    if (fixed)
        CHECK(cuStreamWaitEvent(work, filled, 0));
    CHECK(cuGraphLaunch(exec, work));

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(to[0], SMALL, WANTED) &&
                  driver_device_holds(to[1], SMALL, WANTED));
}
