// expect: SC201 action=snapshotted kind=pinned direction=H2D
//
// A small source on its way to managed memory is filled with the next bytes at once.
#include "managed.h"

enum { PART = 4096 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = pinned_block(PART, WANTED), *to = managed_block(PART, FOREIGN);

    CHECK(cudaMemcpyAsync(to, from, PART, cudaMemcpyDefault, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    fill(from, PART, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(holds(to, PART, WANTED) && holds(from, PART, FOREIGN));
}
