// expect: SC101 action=deferred kind=registered certainty=observed
//
// The event is recorded before the copy that it is meant to cover.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaEvent_t event = new_event();
    void *device = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);

    CHECK(cudaEventRecord(event, stream));
    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaEventRecord(event, stream));
    CHECK(cudaEventSynchronize(event));
    if (fixed)
        CHECK(cudaHostUnregister(source));
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
