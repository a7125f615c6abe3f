// expect: SC201 action=snapshotted kind=pinned
//
// Work that may write the sources comes first, and the program waits for it by an event. So what is
// copied then can be snapshotted, in each kind of stream.
#include "touch.h"

enum { PARAMETERS = 1000 };

static bool send(cudaStream_t stream)
{
    cudaEvent_t worked = new_event();
    void *device = device_block(PARAMETERS, 0);
    void *source = pinned_block(PARAMETERS, WANTED);

    CHECK(cudaLaunchHostFunc(stream, sleep_in_stream, NULL));
    CHECK(cudaEventRecord(worked, stream));
    CHECK(cudaEventSynchronize(worked));
    CHECK(cudaMemcpyAsync(device, source, PARAMETERS, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    poke(source, PARAMETERS / 2);

    CHECK(cudaStreamSynchronize(stream));
    return device_holds(device, PARAMETERS, WANTED);
}

int main(void)
{
    bool right = send(new_stream());
    right = send(blocking_stream()) && right;
    right = send(NULL) && right;
    return finish(right);
}
