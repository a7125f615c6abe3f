// expect: SC101 action=deferred kind=registered certainty=observed
//
// The legacy stream, which has no blocking stream beside it, waits for an event behind the copy,
// and the program waits for the legacy stream. In the racy build the legacy stream does not wait.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaEvent_t event = new_event();
    void *device = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);

    CHECK(cudaEventRecord(event, stream));
    CHECK(cudaStreamWaitEvent(0, event, 0)); /* orders nothing */
    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaEventRecord(event, stream));
    if (fixed)
        CHECK(cudaStreamWaitEvent(0, event, 0));
    CHECK(cudaStreamSynchronize(0));
    if (fixed)
        CHECK(cudaHostUnregister(source));
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
