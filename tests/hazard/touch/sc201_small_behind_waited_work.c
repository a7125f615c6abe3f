// expect: SC201 action=snapshotted kind=registered
//
// A stream comes after work of another one that may write host memory, and the host waits for that
// work, on its own stream or by the event. So what is copied then can be snapshotted: a small
// source in heap memory, on a page that it shares with other blocks.
#include "touch.h"

enum { PARAMETERS = 1000 };

static bool send(cudaStream_t worker, cudaStream_t stream, bool by_event)
{
    cudaEvent_t worked = new_event();
    void *device = device_block(PARAMETERS, 0);
    void *source = registered_block(PARAMETERS, WANTED);

    busy(worker);
    CHECK(cudaEventRecord(worked, worker));
    CHECK(cudaStreamWaitEvent(stream, worked, 0));
    if (by_event)
        CHECK(cudaEventSynchronize(worked));
    else
        CHECK(cudaStreamSynchronize(worker));
    CHECK(cudaMemcpyAsync(device, source, PARAMETERS, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    poke(source, PARAMETERS / 2);

    CHECK(cudaStreamSynchronize(stream));
    return device_holds(device, PARAMETERS, WANTED);
}

int main(void)
{
    bool right = send(new_stream(), new_stream(), false);
    right = send(new_stream(), new_stream(), true) && right;
    right = send(blocking_stream(), new_stream(), false) && right;
    right = send(new_stream(), blocking_stream(), true) && right;
    return finish(right);
}
