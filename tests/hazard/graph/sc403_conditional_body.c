// expect: SC403 action=stalled certainty=observed direction=H2D event=memory-write
//
// The body of a conditional node, which runs in every launch, is still to read what is overwritten.
#include "conditional.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_pinned_block(SMALL, WANTED);
    CUgraph graph = new_graph();
    capture_into(body_of_if(graph), device, source, SMALL, stream);
    CUgraphExec exec = exec_of(graph);

    driver_busy(stream);
    CHECK(cuGraphLaunch(exec, stream));
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    fill(source, SMALL, FOREIGN);

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, SMALL, WANTED));
}
