// expect: SC204 action=ordered kind=managed direction=D2H
//
// A synchronous copy out of pageable memory may return before its bytes have landed in managed
// memory. A stream that does not wait for the legacy one carries them on.
#include "managed.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = filled_block(SMALL, WANTED), *between = managed_block(SMALL, FOREIGN);
    void *to = device_block(SMALL, 0);

    CHECK(cudaMemcpy(between, from, SMALL, cudaMemcpyHostToDevice));
    if (fixed)
        CHECK(cudaStreamSynchronize(cudaStreamLegacy));
    CHECK(cudaMemcpyAsync(to, between, SMALL, cudaMemcpyHostToDevice, stream));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED));
}
