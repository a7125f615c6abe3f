// expect: SC403 action=stalled certainty=observed direction=H2D event=memory-write
// needs: sim
//
// A loop, which begins as true, reads in each turn what is overwritten before the first one. It
// ends by a kernel that only the simulated GPU knows.
#include "counting.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_pinned_block(SMALL, WANTED);
    CUgraph graph = new_graph();
    add_copy(body_of_loop(graph, 3), device, source);
    CUgraphExec exec = exec_of(graph);

    driver_busy(stream);
    CHECK(cuGraphLaunch(exec, stream));
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    fill(source, SMALL, FOREIGN);

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, SMALL, WANTED));
}
