// expect: SC204 action=ordered kind=managed certainty=observed
//
// The same by copies whose kind names managed memory as the device's.
#include "managed.h"

int main(void)
{
    cudaStream_t stream = new_stream(), other = new_stream();
    cudaEvent_t copied = new_event();
    void *from = pinned_block(SMALL, WANTED), *between = managed_block(SMALL, FOREIGN);
    void *to = pinned_block(SMALL, 0);

    busy(stream);
    CHECK(cudaMemcpyAsync(between, from, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaEventRecord(copied, stream));
    if (fixed)
        CHECK(cudaStreamWaitEvent(other, copied, 0));
    CHECK(cudaMemcpyAsync(to, between, SMALL, cudaMemcpyDeviceToHost, other));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(to, SMALL, WANTED));
}
