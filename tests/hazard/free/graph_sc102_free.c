// expect: SC102 action=deferred certainty=observed
//
// Registered heap memory is freed while a launch is still to write to it.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    void *target = registered_block(SMALL, 0);
    cudaGraphExec_t exec = captured_exec(target, device, SMALL, cudaMemcpyDeviceToHost, stream);

    busy(stream);
    CHECK(cudaGraphLaunch(exec, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(target));
    }
    free(target);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(holds(owner, SMALL, FOREIGN));
}
