// expect: SC105 action=deferred kind=pinned certainty=observed
//
// Pinned memory is freed while a graph is still to copy from it to managed memory.
#include "managed.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = pinned_block(SMALL, WANTED), *to = managed_block(SMALL, FOREIGN);

    busy(stream);
    copy_captured(to, from, SMALL, stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFreeHost(from));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(to, SMALL, WANTED));
}
