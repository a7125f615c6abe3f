// expect: SC101 action=deferred certainty=observed
//
// Launched on the legacy stream, established by cudaDeviceSynchronize. The racy build synchronises
// a non-blocking stream.
#include "graphs.h"

int main(void)
{
    cudaStream_t other = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);
    cudaGraphExec_t exec = captured_exec(device, source, SMALL, cudaMemcpyHostToDevice, other);

    busy(0);
    CHECK(cudaGraphLaunch(exec, 0));
    if (fixed) {
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaHostUnregister(source));
    } else {
        CHECK(cudaStreamSynchronize(other));
    }
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
