// expect: SC202 action=stalled kind=pinned certainty=observed
//
// The results are sorted before they are there: the copy then lands on the sorted zeros.
#include "touch.h"

#include <algorithm>

int main()
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    unsigned char *keys = static_cast<unsigned char *>(pinned_block(SMALL, 0));

    busy(stream);
    CHECK(cudaMemcpyAsync(keys, device, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    std::sort(keys, keys + SMALL);

    CHECK(cudaDeviceSynchronize());
    return finish(std::is_sorted(keys, keys + SMALL));
}
