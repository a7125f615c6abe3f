// expect: SC501 action=reported nodes=memset-write-by-cuMemsetD8Async,H2D-write-by-cuMemcpyH*
// options: device=1
//
// Two branches of a graph, of which one clears what the other one fills. Another node waits for a
// value, and neither of the two stands behind it.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUstream work = driver_new_stream(), branch = driver_new_stream();
    CUevent forked = driver_new_event(), cleared = driver_new_event(), joined = driver_new_event();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUdeviceptr shared = driver_device_block(SMALL, FOREIGN);
    void *source = driver_pinned_block(SMALL, WANTED);
    CUdeviceptr word = (CUdeviceptr)(uintptr_t)driver_pinned_block(4096, 0);
    *(volatile uint32_t *)(uintptr_t)word = 1;
    CHECK(cuStreamBeginCapture(work, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CHECK(cuEventRecord(forked, work));
    CHECK(cuStreamWaitEvent(branch, forked, 0));
    CHECK(cuMemsetD8Async(shared, 0, SMALL, work));
    CHECK(cuEventRecord(cleared, work));
    if (fixed)
        CHECK(cuStreamWaitEvent(branch, cleared, 0));
    CHECK(cuMemcpyHtoDAsync(shared, source, SMALL, branch));
    CHECK(cuStreamWaitValue32(branch, word, 1, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK(cuEventRecord(joined, branch));
    CHECK(cuStreamWaitEvent(work, joined, 0));
    CHECK(cuStreamEndCapture(work, &graph));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));

    CHECK(cuGraphLaunch(exec, work));

    CHECK(cuCtxSynchronize());
    return finish(!fixed || driver_device_holds(shared, SMALL, WANTED));
}
