// expect: SC104 action=stalled kind=pageable certainty=observed event=mprotect
//
// The pageable source of a batch is made inaccessible while a thread of the driver's is still to
// read it, which would die of that.
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
    CHECK(mprotect(source, LARGE, PROT_NONE));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, LARGE, WANTED));
}
