// expect: SC501 action=stalled kind=device origin=cuMemAlloc_v2 direction=H2D certainty=observed
// options: device=1
//
// A synchronous download, which waits for no non-blocking stream, reads what one is to upload.
#include "twin.h"

int main(void)
{
    cudaStream_t up = new_stream();
    void *source = pinned_block(SMALL, WANTED);
    void *target = pinned_block(SMALL, 0);
    void *device = device_block(SMALL, FOREIGN);

    busy(up);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, up));
    if (fixed)
        CHECK(cudaStreamSynchronize(up));
    CHECK(cudaMemcpy(target, device, SMALL, cudaMemcpyDeviceToHost));

    bool right = holds(target, SMALL, WANTED);
    CHECK(cudaDeviceSynchronize());
    return finish(right);
}
