// expect: SC104 action=stalled kind=registered certainty=observed event=shmdt
// needs: kernel (mremap)
//
// The target of an unfinished copy is detached, which is made to wait for it. A signal that comes
// to its thread meanwhile is taken at once.
#include "interrupted.h"
#include "segment.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    int segment = new_segment(SMALL);
    void *target = registered_segment(segment, SMALL, 0);
    void *other = attached(segment, NULL);

    busy(stream);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    expect_interruption(stream);
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(target));
    }
    CHECK(shmdt(target));

    CHECK(cudaDeviceSynchronize());
    bool right = was_interrupted() && holds(other, SMALL, WANTED);
    forget_segment(segment);
    return finish(right);
}
