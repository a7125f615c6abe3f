// expect: SC104 action=stalled kind=registered certainty=observed event=shmdt
// needs: kernel (mremap)
//
// The first page of the segment is unmapped already and another one protected, so that what shmdt
// takes away are several mappings, none of which begins where the segment was attached.
#include "segment.h"

int main(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t kept = LARGE - 4 * page;
    cudaStream_t stream = new_stream();
    void *device = device_block(kept, 0);
    int segment = new_segment(LARGE);
    unsigned char *place = (unsigned char *)attached(segment, NULL);
    unsigned char *source = place + 4 * page;
    forget_segment(segment);
    CHECK(munmap(place, page));
    CHECK(mprotect(place + 2 * page, page, PROT_READ));
    fill(source, kept, WANTED);
    CHECK(cudaHostRegister(source, kept, cudaHostRegisterDefault));

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, kept, cudaMemcpyHostToDevice, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(source));
    }
    CHECK(shmdt(place));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, kept, WANTED));
}
