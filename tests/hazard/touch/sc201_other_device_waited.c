// expect: SC201 kind=pinned
// sim: devices=4
// needs: multi-gpu
//
// Two devices fetch the halves of a portable buffer, each with an event behind it. The half of one
// is filled anew behind the other's event.
#include "peers.h"

int main(void)
{
    const int other = second_device();
    cudaStream_t here = stream_of(0), there = stream_of(other);
    cudaEvent_t fetched_here = event_of(0), fetched_there = event_of(other);
    char *low = block_of(0, LARGE, 0), *high = block_of(other, LARGE, 0);
    char *source = NULL;
    CHECK(cudaHostAlloc((void **)&source, 2 * LARGE, cudaHostAllocPortable));
    fill(source, LARGE, WANTED);
    fill(source + LARGE, LARGE, WANTED);

    CHECK(cudaSetDevice(0));
    CHECK(cudaMemcpyAsync(low, source, LARGE, cudaMemcpyHostToDevice, here));
    CHECK(cudaEventRecord(fetched_here, here));
    CHECK(cudaSetDevice(other));
    busy(there);
    CHECK(cudaMemcpyAsync(high, source + LARGE, LARGE, cudaMemcpyHostToDevice, there));
    CHECK(cudaEventRecord(fetched_there, there));

    CHECK(cudaEventSynchronize(fixed ? fetched_there : fetched_here));
    fill(source + LARGE, LARGE, FOREIGN);
    synchronize(other);
    return finish(device_holds(low, LARGE, WANTED) && device_holds(high, LARGE, WANTED));
}
