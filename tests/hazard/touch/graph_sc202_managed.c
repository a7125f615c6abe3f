// expect: SC202 action=stalled kind=pinned direction=D2H certainty=observed
//
// A node copies from managed to pinned memory, which the host reads too early.
#include "managed.h"
#include "touch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = managed_block(SMALL, WANTED), *to = pinned_block(SMALL, FOREIGN);

    busy(stream);
    copy_by_node(to, from, SMALL, stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    bool right = peek(to, SMALL / 2);

    CHECK(cudaDeviceSynchronize());
    return finish(right && holds(to, SMALL, WANTED));
}
