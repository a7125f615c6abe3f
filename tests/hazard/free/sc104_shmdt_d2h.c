// expect: SC104 action=stalled kind=registered certainty=observed event=shmdt
// needs: kernel (mremap)
// not-by: halves
//
// The target of an unfinished copy is detached: whoever has the segment must find the copy's bytes
// there from then on. How many have it attached is as without the library at every moment.
#include "segment.h"

static int attaches(int segment)
{
    struct shmid_ds about;
    CHECK(shmctl(segment, IPC_STAT, &about));
    return (int)about.shm_nattch;
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    int segment = new_segment(SMALL);
    void *target = registered_segment(segment, SMALL, 0);
    void *other = attached(segment, NULL);

    busy(stream);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(target));
    }
    int before = attaches(segment); /* the simulated GPU has it attached, too */
    CHECK(shmdt(target));
    bool right = attaches(segment) == before - 1;

    CHECK(cudaDeviceSynchronize());
    right = right && holds(other, SMALL, WANTED);
    forget_segment(segment);
    return finish(right);
}
