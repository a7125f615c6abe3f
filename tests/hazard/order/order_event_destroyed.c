// expect: SC101 action=deferred kind=registered certainty=observed
//
// The event behind the copy is destroyed while the copy is in flight, and the next event, which
// may well have its handle, is waited for. Destroying waits for nothing; what another stream was
// told to wait for while the event lived stays an order.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t follower = new_stream();
    cudaEvent_t event = new_event();
    void *device = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaEventRecord(event, stream));
    if (fixed)
        CHECK(cudaStreamWaitEvent(follower, event, 0));
    CHECK(cudaEventDestroy(event));
    event = new_event();
    CHECK(cudaEventRecord(event, follower));
    CHECK(cudaEventSynchronize(event));
    if (fixed)
        CHECK(cudaHostUnregister(source));
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
