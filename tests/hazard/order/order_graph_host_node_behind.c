// expect: SC201 action=stalled certainty=observed
//
// Established by a host node of a graph that is launched behind the copy, whose flag the program
// waits for. The racy build does not wait for it.
#include "flag.h"
#include "graphs.h"

int main(void)
{
    atomic_int flag = 0;
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *input = pinned_block(SMALL, WANTED);
    begin_capture(stream);
    CHECK(cudaLaunchHostFunc(stream, raise_flag, &flag));
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));

    busy(stream);
    CHECK(cudaMemcpyAsync(device, input, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaGraphLaunch(exec, stream));
    while (fixed && atomic_load(&flag) == 0)
        usleep(500);
    fill(input, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED));
}
