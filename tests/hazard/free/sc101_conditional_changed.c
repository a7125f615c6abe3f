// expect: SC101 action=deferred certainty=observed direction=H2D
//
// A node in the body of a conditional node is given another source in the exec alone. That is freed
// while a launch is to read it. The former source is overwritten meanwhile, which is no mistake.
#include "conditional.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *former = driver_registered_block(SMALL, 0);
    void *source = driver_registered_block(SMALL, WANTED);
    CUgraph graph = new_graph();
    CUgraphNode node = add_copy(body_of_if(graph), device, former);
    CUgraphExec exec = exec_of(graph);
    CUgraphNodeParams params = driver_copy_params(device, source);
    CHECK(cuGraphExecMemcpyNodeSetParams(exec, node, &params.memcpy.copyParams,
                                         params.memcpy.copyCtx));

    driver_busy(stream);
    CHECK(cuGraphLaunch(exec, stream));
    fill(former, SMALL, FOREIGN);
    if (fixed) {
        CHECK(cuStreamSynchronize(stream));
        CHECK(cuMemHostUnregister(source));
    }
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
