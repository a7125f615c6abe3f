// expect: none
// sim: late=0
// summary: taken_early=2
//
// The record of an event in the legacy stream is work there: it comes after the blocking stream
// that fills the source, and the copy on another one comes after it. Calls that put nothing in a
// stream, a copy of no bytes and one that fails, change nothing of that.
#include "early.h"

static bool arrived(void *device, cudaStream_t stream)
{
    CHECK(cudaStreamSynchronize(stream));
    return device_holds(device, EARLY, WANTED);
}

int main(void)
{
    cudaStream_t filling = blocking_stream();
    cudaStream_t copying = blocking_stream();
    cudaEvent_t event = new_event();
    void *device = device_block(EARLY, 0);
    void *source = pinned_block(EARLY, FOREIGN);

    CHECK(cudaLaunchHostFunc(filling, fill_late, source));
    CHECK(cudaEventRecord(event, cudaStreamLegacy));
    CHECK(cudaMemcpyAsync(device, source, EARLY, cudaMemcpyHostToDevice, copying));
    bool right = arrived(device, copying);

    CHECK(cudaDeviceSynchronize());
    fill(source, EARLY, FOREIGN);
    CHECK(cudaLaunchHostFunc(cudaStreamLegacy, fill_late, source));
    CHECK(cudaMemcpyAsync(device, source, 0, cudaMemcpyHostToDevice, copying));
    if (cudaMemsetAsync(NULL, 0, EARLY, copying) == cudaSuccess)
        return finish(false);
    (void)cudaGetLastError();
    CHECK(cudaMemcpyAsync(device, source, EARLY, cudaMemcpyHostToDevice, copying));
    return finish(arrived(device, copying) && right);
}
