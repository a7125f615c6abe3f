// expect: SC403 action=stalled certainty=observed
//
// The copy stands before a host node, and is in flight until that runs. The racy build does not
// wait for the flag that it raises.
#include "flag.h"
#include "graphs.h"

int main(void)
{
    atomic_int flag = 0;
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *input = pinned_block(SMALL, WANTED);
    begin_capture(stream);
    CHECK(cudaMemcpyAsync(device, input, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaLaunchHostFunc(stream, raise_flag, &flag));
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));

    busy(stream);
    CHECK(cudaGraphLaunch(exec, stream));
    while (fixed && atomic_load(&flag) == 0)
        usleep(500);
    fill(input, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED));
}
