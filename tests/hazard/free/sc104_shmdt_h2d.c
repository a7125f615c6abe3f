// expect: SC104 action=stalled kind=registered certainty=observed event=shmdt
// needs: kernel (mremap)
//
// A registered System V segment is detached while a copy waits to read it, and goes with that.
#include "segment.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(LARGE, 0);
    int segment = new_segment(LARGE);
    void *source = registered_segment(segment, LARGE, WANTED);
    forget_segment(segment);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, LARGE, cudaMemcpyHostToDevice, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(source));
    }
    CHECK(shmdt(source));

    void *owner = mapped_pages(NULL, LARGE, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, LARGE, WANTED) && holds(owner, LARGE, FOREIGN));
}
