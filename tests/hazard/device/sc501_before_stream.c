// expect: SC501 action=ordered kind=device origin=cuMemAlloc_v2 direction=H2D
// options: device=1
//
// The first stream of the process is made when what it uses has been uploaded, as weights are
// before a model runs.
#include "twin.h"

int main(void)
{
    void *source = filled_block(4096, WANTED);
    void *target = pinned_block(4096, 0);
    void *device = device_block(4096, FOREIGN);

    CHECK(cudaMemcpy(device, source, 4096, cudaMemcpyHostToDevice));
    if (fixed)
        CHECK(cudaStreamSynchronize(cudaStreamLegacy));
    CHECK(cudaMemcpyAsync(target, device, 4096, cudaMemcpyDeviceToHost, new_stream()));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, 4096, WANTED));
}
