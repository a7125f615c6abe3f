// expect: SC203 action=stalled kind=registered direction=D2H certainty=observed
//
// The target of a copy from managed to registered memory is written before the copy has done so,
// whose bytes come last then.
#include "managed.h"
#include "touch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = managed_block(SMALL, WANTED), *to = registered_page_block(SMALL, FOREIGN);

    busy(stream);
    CHECK(cudaMemcpyAsync(to, from, SMALL, cudaMemcpyDefault, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    poke(to, SMALL / 2);

    CHECK(cudaDeviceSynchronize());
    return finish(holds_poked(to, SMALL, SMALL / 2));
}
