// expect: none
// summary: taken_early=1
//
// An event is recorded on the blocking stream before the copy: the event comes after the legacy
// stream's work, and the stream goes on not to know of that.
#include "early.h"

int main(void)
{
    cudaStream_t stream = blocking_stream();
    cudaEvent_t event = new_event();
    void *device = device_block(EARLY, 0);
    void *source = pinned_block(EARLY, FOREIGN);
    CHECK(cudaLaunchHostFunc(cudaStreamLegacy, fill_late, source));
    CHECK(cudaEventRecord(event, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpyAsync(device, source, EARLY, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamSynchronize(stream));
    return finish(device_holds(device, EARLY, WANTED));
}
