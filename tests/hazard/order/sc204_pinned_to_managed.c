// expect: SC204 action=ordered kind=managed certainty=observed
//
// One stream brings data to managed memory, another carries it on to the device, and no event joins
// the two.
#include "managed.h"

int main(void)
{
    cudaStream_t stream = new_stream(), other = new_stream();
    cudaEvent_t copied = new_event();
    void *from = pinned_block(SMALL, WANTED), *between = managed_block(SMALL, FOREIGN);
    void *to = device_block(SMALL, 0);

    busy(stream);
    CHECK(cudaMemcpyAsync(between, from, SMALL, cudaMemcpyDefault, stream));
    CHECK(cudaEventRecord(copied, stream));
    if (fixed)
        CHECK(cudaStreamWaitEvent(other, copied, 0));
    CHECK(cudaMemcpyAsync(to, between, SMALL, cudaMemcpyDefault, other));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED));
}
