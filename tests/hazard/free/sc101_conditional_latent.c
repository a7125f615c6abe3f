// expect: SC101 certainty=latent direction=H2D
// sim: late=0
//
// What the body of a conditional node has read is freed, though nothing says that it has.
#include "conditional.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_registered_block(SMALL, WANTED);
    CUgraph graph = new_graph();
    add_copy(body_of_if(graph), device, source);
    CUgraphExec exec = exec_of(graph);

    CHECK(cuGraphLaunch(exec, stream));
    sleep_patiently(DONE_US);
    if (fixed) {
        CHECK(cuStreamSynchronize(stream));
        CHECK(cuMemHostUnregister(source));
    }
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
