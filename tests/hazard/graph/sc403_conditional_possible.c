// expect: SC403 action=stalled certainty=observed direction=H2D event=memory-write
// options: kernels=order
//
// A kernel stands before the conditional node, and may set the condition. So the body, which reads
// what is overwritten, is a possible use, as a kernel's is.
#include "conditional.h"
#include "kernel.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    unsigned char *source = driver_pinned_block(SMALL, WANTED);
    CUgraph graph = new_graph();
    CUgraphNode node = add_own_kernel(graph, NULL);
    CUgraphConditionalHandle handle = condition_of(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
    add_copy(bodies_behind(graph, &node, 1, handle, CU_GRAPH_COND_TYPE_IF, 1)[0], device, source);
    CUgraphExec exec = exec_of(graph);

    driver_busy(stream);
    CHECK(cuGraphLaunch(exec, stream));
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    fill(source, SMALL, FOREIGN);

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, SMALL, WANTED));
}
