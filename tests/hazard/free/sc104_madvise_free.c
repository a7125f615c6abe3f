// expect: SC104 action=stalled kind=registered certainty=observed event=madvise
//
// MADV_FREE gives the pages of a source back, of which one is written again at once.
#include "mapping.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = registered_pages(SMALL, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(source));
    }
    CHECK(madvise(source, SMALL, MADV_FREE));
    fill(source, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(source, SMALL, FOREIGN));
}
