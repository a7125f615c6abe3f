// expect: SC201 action=reported kind=managed direction=H2D
//
// Managed memory is never protected: that the first bytes of a large source were changed is found
// by what they were, and not healed.
#include "managed.h"
#include "touch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = managed_block(SMALL, WANTED), *to = device_block(SMALL, FOREIGN);

    CHECK(cudaMemcpyAsync(to, from, SMALL, cudaMemcpyDefault, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    poke(from, 8);

    CHECK(cudaDeviceSynchronize());
    return finish(!fixed || device_holds(to, SMALL, WANTED));
}
