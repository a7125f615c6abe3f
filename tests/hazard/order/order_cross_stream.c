// expect: SC101 action=deferred kind=registered certainty=observed
//
// Established across three streams: each waits for an event of the one before, and the program
// synchronises the last. In the racy build the middle one does not wait.
#include "twin.h"

int main(void)
{
    cudaStream_t first = new_stream();
    cudaStream_t middle = new_stream();
    cudaStream_t last = new_stream();
    cudaEvent_t one = new_event();
    cudaEvent_t two = new_event();
    void *device = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);

    busy(first);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, first));
    CHECK(cudaEventRecord(one, first));
    if (fixed)
        CHECK(cudaStreamWaitEvent(middle, one, 0));
    CHECK(cudaEventRecord(two, middle));
    CHECK(cudaStreamWaitEvent(last, two, 0));
    CHECK(cudaStreamSynchronize(last));
    if (fixed)
        CHECK(cudaHostUnregister(source));
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
