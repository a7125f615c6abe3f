// expect: SC501 action=ordered kind=device direction=H2D event=cuMemsetD8Async certainty=observed
// options: device=1
//
// Of two nodes of a child graph one is given other device memory in the exec alone. Another stream
// clears what the other one writes.
#include "children.h"

int main(void)
{
    driver_start();
    CUstream work = driver_new_stream(), clear = driver_new_stream();
    CUevent done = driver_new_event();
    void *source = driver_pinned_block(SMALL, FOREIGN);
    CUdeviceptr former = driver_device_block(SMALL, 0), other = driver_device_block(SMALL, 0);
    CUdeviceptr device = driver_device_block(SMALL, 0);
    CUgraph graph = new_graph(), child = new_graph();
    CUgraphNode node = add_copy(child, former, source);
    add_copy(child, device, source);
    moved_child(graph, child);
    CUgraphExec exec = exec_of(graph);
    change_copy(exec, node, other, source);

    driver_busy(work);
    CHECK(cuGraphLaunch(exec, work));
    CHECK(cuEventRecord(done, work));
    if (fixed)
        CHECK(cuStreamWaitEvent(clear, done, 0));
    CHECK(cuMemsetD8Async(device, WANTED, SMALL, clear));

    CHECK(cuCtxSynchronize());
    return finish(true);
}
