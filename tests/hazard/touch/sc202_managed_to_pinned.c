// expect: SC202 action=stalled kind=pinned direction=D2H certainty=observed
//
// The target of a copy from managed to pinned memory is read before the copy has written it.
#include "managed.h"
#include "touch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = managed_block(SMALL, WANTED), *to = pinned_block(SMALL, FOREIGN);

    busy(stream);
    CHECK(cudaMemcpyAsync(to, from, SMALL, cudaMemcpyDefault, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    bool right = peek(to, SMALL / 2);

    CHECK(cudaDeviceSynchronize());
    return finish(right && holds(to, SMALL, WANTED));
}
