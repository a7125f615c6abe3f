// expect: SC101 action=deferred kind=registered certainty=observed
//
// Established by cudaEventSynchronize. The racy build asks the event once and ignores the answer,
// cudaErrorNotReady.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaEvent_t event = new_event();
    void *device = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaEventRecord(event, stream));
    if (fixed)
        CHECK(cudaEventSynchronize(event));
    else if (cudaEventQuery(event) != cudaErrorNotReady)
        return 3;
    if (fixed)
        CHECK(cudaHostUnregister(source));
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
