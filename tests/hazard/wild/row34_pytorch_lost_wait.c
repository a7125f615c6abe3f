// expect: SC202 action=stalled kind=pinned
//
// docs/wild-bugs.md, row 34: two results are downloaded into pinned memory, with an event behind
// them. Compiled code has lost the wait for the event, and puts the two together on the host.
#include "touch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaEvent_t downloaded = new_event();
    void *devices[2] = {device_block(SMALL, WANTED), device_block(SMALL, FOREIGN)};
    void *results[2] = {pinned_block(SMALL, 0), pinned_block(SMALL, 0)};
    unsigned char *both = (unsigned char *)filled_block(2 * SMALL, 0);

    busy(stream);
    for (int i = 0; i < 2; i++)
        CHECK(cudaMemcpyAsync(results[i], devices[i], SMALL, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaEventRecord(downloaded, stream));
    if (fixed)
        CHECK(cudaEventSynchronize(downloaded));
    memcpy(both, results[0], SMALL);
    memcpy(both + SMALL, results[1], SMALL);

    CHECK(cudaStreamSynchronize(stream));
    return finish(holds(both, SMALL, WANTED) && holds(both + SMALL, SMALL, FOREIGN));
}
