// expect: SC501 action=ordered kind=device origin=cuMemAlloc_v2 direction=memset certainty=observed
// options: device=1
//
// Device memory is cleared in one stream and filled in another, which nothing orders behind it.
#include "twin.h"

int main(void)
{
    cudaStream_t setter = new_stream();
    cudaStream_t up = new_stream();
    cudaEvent_t set = new_event();
    void *source = pinned_block(SMALL, WANTED);
    void *device = device_block(SMALL, FOREIGN);

    busy(setter);
    CHECK(cudaMemsetAsync(device, 0, SMALL, setter));
    CHECK(cudaEventRecord(set, setter));
    if (fixed)
        CHECK(cudaStreamWaitEvent(up, set, 0));
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, up));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED));
}
