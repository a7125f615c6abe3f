// expect: SC201 action=reported kind=managed direction=H2D
//
// A small source in managed memory, copied to pinned memory. Out of a snapshot the copy would be
// one between host memory, for which the call waits, so that there is none.
#include "managed.h"

enum { PART = 4096 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = managed_block(PART, WANTED), *to = pinned_block(PART, FOREIGN);

    CHECK(cudaMemcpyAsync(to, from, PART, cudaMemcpyDefault, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    fill(from, PART, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(!fixed || holds(to, PART, WANTED));
}
