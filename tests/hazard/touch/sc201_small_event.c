// expect: SC201 action=snapshotted kind=pinned
//
// The event that the program waits for is recorded in front of the copy, not behind it.
#include "touch.h"

enum { PARAMETERS = 1000 };

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaEvent_t sent = new_event();
    void *device = device_block(PARAMETERS, 0);
    void *source = pinned_block(PARAMETERS, WANTED);

    if (!fixed)
        CHECK(cudaEventRecord(sent, stream));
    CHECK(cudaMemcpyAsync(device, source, PARAMETERS, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaEventRecord(sent, stream));
    CHECK(cudaEventSynchronize(sent));
    poke(source, PARAMETERS / 2);

    CHECK(cudaStreamSynchronize(stream));
    return finish(device_holds(device, PARAMETERS, WANTED));
}
