// expect: SC104 action=stalled kind=registered certainty=observed event=madvise
//
// MADV_DONTNEED drops the pages that an unfinished copy is to write. What the program writes there
// afterwards must stay.
#include "mapping.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    void *target = registered_pages(SMALL, 0);

    busy(stream);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(target));
    }
    CHECK(madvise(target, SMALL, MADV_DONTNEED));
    fill(target, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, SMALL, FOREIGN));
}
