// expect: SC104 action=stalled kind=pageable certainty=observed event=mprotect
//
// The pageable target of a batch is made read-only while the driver is still to write it. The
// memory stays the program's, and so does the copy: once the stream has been waited for it may go.
#include "late_copy.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(LARGE, WANTED);
    void *target = mapped_pages(NULL, LARGE, 0);

    busy(stream);
    late_copy(target, device, LARGE, stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(mprotect(target, LARGE, PROT_READ));

    CHECK(cudaDeviceSynchronize());
    bool right = holds(target, LARGE, WANTED);
    CHECK(munmap(target, LARGE));
    return finish(right);
}
