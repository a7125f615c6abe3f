// expect: SC104 action=stalled kind=registered certainty=observed event=madvise
//
// MADV_DONTNEED drops registered pages while a copy waits to read them.
#include "mapping.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(LARGE, 0);
    void *source = registered_pages(LARGE, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, LARGE, cudaMemcpyHostToDevice, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(source));
    }
    CHECK(madvise(source, LARGE, MADV_DONTNEED));

    bool right = *(volatile unsigned char *)source == 0;
    CHECK(cudaDeviceSynchronize());
    return finish(right && device_holds(device, LARGE, WANTED));
}
