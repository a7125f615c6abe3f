// expect: SC101 action=deferred kind=registered certainty=observed
//
// Established by polling cudaEventQuery until it succeeds. The racy build polls an event of
// another stream.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t other = new_stream();
    cudaEvent_t event = new_event();
    void *device = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaEventRecord(event, fixed ? stream : other));
    cudaError_t result;
    while ((result = cudaEventQuery(event)) == cudaErrorNotReady)
        usleep(500);
    CHECK(result);
    if (fixed)
        CHECK(cudaHostUnregister(source));
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
