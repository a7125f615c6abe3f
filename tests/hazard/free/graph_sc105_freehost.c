// expect: SC105 action=deferred certainty=observed origin=cuMem*Host*
//
// cudaFreeHost while a launch waits to read the buffer.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = pinned_block(SMALL, WANTED);
    cudaGraphExec_t exec = captured_exec(device, source, SMALL, cudaMemcpyHostToDevice, stream);

    busy(stream);
    CHECK(cudaGraphLaunch(exec, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFreeHost(source));

    void *owner = pinned_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    bool right = device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN);
    CHECK(cudaFreeHost(owner));
    return finish(right);
}
