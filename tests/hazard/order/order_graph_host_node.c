// expect: SC403 action=stalled certainty=observed
//
// Established by a host node behind the copy's node, whose flag the program waits for. In the racy
// build a host function before the launch raises it, and another holds the launch up.
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
    if (fixed)
        CHECK(cudaLaunchHostFunc(stream, raise_flag, &flag));
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));

    if (!fixed)
        CHECK(cudaLaunchHostFunc(stream, raise_flag, &flag));
    busy(stream);
    CHECK(cudaGraphLaunch(exec, stream));
    while (atomic_load(&flag) == 0)
        usleep(500);
    fill(input, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED));
}
