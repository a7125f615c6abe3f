// expect: SC104 action=stalled kind=pageable certainty=observed event=madvise
//
// MADV_DONTNEED of the pageable source of a batch, which a thread of the driver's is still to read.
#include "late_copy.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(LARGE, 0);
    void *source = mapped_pages(NULL, LARGE, WANTED);

    busy(stream);
    late_copy(device, source, LARGE, stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(madvise(source, LARGE, MADV_DONTNEED));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, LARGE, WANTED));
}
