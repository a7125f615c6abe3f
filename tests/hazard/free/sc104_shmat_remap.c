// expect: SC104 action=stalled kind=registered certainty=observed event=shmat
//
// A segment is attached in place of pages that a copy still reads.
#include "segment.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = registered_pages(SMALL, WANTED);
    int segment = new_segment(SMALL);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(source));
    }
    void *owner = attached(segment, source);
    forget_segment(segment);
    fill(owner, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    bool right = owner == source && device_holds(device, SMALL, WANTED);
    return finish(right && holds(owner, SMALL, FOREIGN));
}
