// expect: SC204 action=ordered kind=managed certainty=observed
//
// The same by batch copies within managed memory.
#include "managed.h"

int main(void)
{
    cudaStream_t stream = new_stream(), other = new_stream();
    cudaEvent_t copied = new_event();
    void *from = managed_block(SMALL, WANTED), *between = managed_block(SMALL, FOREIGN);
    void *to = managed_block(SMALL, 0);

    busy(stream);
    copy_in_batch(between, from, SMALL, stream);
    CHECK(cudaEventRecord(copied, stream));
    if (fixed)
        CHECK(cudaStreamWaitEvent(other, copied, 0));
    copy_in_batch(to, between, SMALL, other);

    CHECK(cudaDeviceSynchronize());
    return finish(holds(to, SMALL, WANTED));
}
