// expect: SC201 action=stalled kind=registered certainty=observed
//
// A megabyte is cleared for its next use, by libc, which stores whole vectors.
#include "touch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(LARGE, 0);
    void *source = registered_page_block(LARGE, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, LARGE, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    memset(source, 0xee, LARGE);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, LARGE, WANTED) && *(unsigned char *)source == 0xee);
}
