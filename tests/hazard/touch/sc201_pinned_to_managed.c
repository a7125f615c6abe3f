// expect: SC201 action=stalled kind=pinned direction=H2D certainty=observed
//
// The source of a copy from pinned to managed memory is overwritten before the copy has read it.
#include "managed.h"
#include "touch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = pinned_block(SMALL, WANTED), *to = managed_block(SMALL, FOREIGN);

    busy(stream);
    CHECK(cudaMemcpyAsync(to, from, SMALL, cudaMemcpyDefault, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    poke(from, SMALL / 2);

    CHECK(cudaDeviceSynchronize());
    return finish(holds(to, SMALL, WANTED));
}
