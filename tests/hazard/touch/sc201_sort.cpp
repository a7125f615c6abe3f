// expect: SC201 action=stalled kind=pinned certainty=observed
//
// The keys are sorted on the host as soon as they have been sent as they were.
#include "touch.h"

#include <algorithm>

int main()
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    unsigned char *keys = static_cast<unsigned char *>(pinned_block(SMALL, WANTED));

    busy(stream);
    CHECK(cudaMemcpyAsync(device, keys, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    std::sort(keys, keys + SMALL);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && std::is_sorted(keys, keys + SMALL));
}
