// expect: SC201 action=snapshotted
//
// A small source is written again once a host node of a graph that was launched behind its copy has
// said so. In the racy build it is launched before the copy, on another stream.
#include "flag.h"
#include "graphs.h"

enum { TINY = 256 };

int main(void)
{
    atomic_int flag = 0;
    cudaStream_t stream = new_stream();
    cudaStream_t other = new_stream();
    void *device = device_block(TINY, 0);
    void *input = pinned_block(TINY, WANTED);
    begin_capture(stream);
    CHECK(cudaLaunchHostFunc(stream, raise_flag, &flag));
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));

    if (!fixed)
        CHECK(cudaGraphLaunch(exec, other));
    CHECK(cudaMemcpyAsync(device, input, TINY, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaGraphLaunch(exec, stream));
    while (atomic_load(&flag) == 0)
        usleep(500);
    fill(input, TINY, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, TINY, WANTED));
}
