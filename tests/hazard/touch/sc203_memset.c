// expect: SC203 action=stalled kind=pinned certainty=observed
//
// An asynchronous memset of pinned memory, which the program fills meanwhile.
#include "touch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *target = pinned_block(SMALL, 0);

    busy(stream);
    CHECK(cudaMemsetAsync(target, 0, SMALL, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    fill(target, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, SMALL, FOREIGN));
}
