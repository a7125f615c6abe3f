// expect: SC501 kind=device origin=cuMemAlloc_v2 direction=H2D certainty=latent
// options: device=1
//
// The upload is long done when another stream uses the memory, but nothing says so.
#include "twin.h"

int main(void)
{
    cudaStream_t up = new_stream();
    cudaStream_t down = new_stream();
    void *source = pinned_block(SMALL, WANTED);
    void *target = pinned_block(SMALL, 0);
    void *device = device_block(SMALL, FOREIGN);

    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, up));
    sleep_patiently(DONE_US);
    if (fixed)
        CHECK(cudaStreamSynchronize(up));
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, down));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, SMALL, WANTED));
}
