// expect: SC402 action=snapshotted certainty=observed event=cuGraphLaunch
// sim: pageable_access=1
// needs: sim
//
// A copy in the body of a conditional node reads a local. Driver 580 refuses pageable memory there;
// one whose device reads it in place may take it.
#include "conditional.h"
#include "graphs.h"

enum { BYTES = 96 };

static TWIN_HELPER CUgraphExec record(CUdeviceptr device, CUstream stream)
{
    static unsigned char kept[BYTES];
    unsigned char local[BYTES];
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    fill(fixed ? kept : local, BYTES, WANTED);
    CHECK(cuGraphCreate(&graph, 0));
    capture_into(body_of_if(graph), device, fixed ? kept : local, BYTES, stream);
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(cuGraphDestroy(graph));
    return exec;
}

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(BYTES, 0);
    CUgraphExec exec = record(device, stream);

    reuse_stack();
    driver_replay(exec, stream);
    return finish(driver_device_holds(device, BYTES, WANTED));
}
