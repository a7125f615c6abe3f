// expect: SC202 action=stalled certainty=observed
//
// The result of a launch is copied on before it is there.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(LARGE, WANTED);
    void *target = pinned_block(LARGE, 0);
    void *kept = filled_block(LARGE, 0);
    cudaGraphExec_t exec = captured_exec(target, device, LARGE, cudaMemcpyDeviceToHost, stream);

    busy(stream);
    CHECK(cudaGraphLaunch(exec, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    memcpy(kept, target, LARGE);

    CHECK(cudaDeviceSynchronize());
    return finish(holds(kept, LARGE, WANTED));
}
