// expect: SC101 action=deferred kind=registered certainty=observed
//
// The legacy stream waits for an event behind the copy while it has no blocking stream beside it.
// What a blocking stream does that is made later comes after that, and the program waits for this.
// In the racy build the later stream is not blocking.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaEvent_t event = new_event();
    void *device = device_block(SMALL, 0);
    void *other = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaEventRecord(event, stream));
    CHECK(cudaStreamWaitEvent(0, event, 0));
    cudaStream_t late = fixed ? blocking_stream() : new_stream();
    CHECK(cudaMemsetAsync(other, 0, SMALL, late));
    CHECK(cudaStreamSynchronize(late));
    if (fixed)
        CHECK(cudaHostUnregister(source));
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
