// expect: SC202 action=stalled certainty=observed direction=D2H event=memory-read
//
// Of three bodies the condition chooses the last one, whose result is read before it is there.
#include "conditional.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, WANTED);
    void *result = driver_pinned_block(SMALL, 0);
    CUgraph graph = new_graph();
    add_download(bodies_of(graph, CU_GRAPH_COND_TYPE_SWITCH, 3, 2)[2], result, device);
    CUgraphExec exec = exec_of(graph);

    driver_busy(stream);
    CHECK(cuGraphLaunch(exec, stream));
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    bool right = holds(result, SMALL, WANTED);

    CHECK(cuCtxSynchronize());
    return finish(right);
}
