// expect: SC102 action=deferred kind=registered certainty=observed event=free
// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// Two mistakes in a row: a buffer is freed while one stream still fills it, and then a graph on
// another stream carries it on to the device.
#include "graphs.h"

int main(void)
{
    cudaStream_t down = new_stream();
    cudaStream_t up = new_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *between = registered_block(SMALL, FOREIGN);
    cudaGraphExec_t exec = captured_exec(to, between, SMALL, cudaMemcpyHostToDevice, up);

    busy(down);
    CHECK(cudaMemcpyAsync(between, from, SMALL, cudaMemcpyDeviceToHost, down));
    if (fixed) {
        CHECK(cudaStreamSynchronize(down));
        replay(exec, up);
    }
    free(between);
    if (!fixed)
        replay(exec, up);

    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED));
}
