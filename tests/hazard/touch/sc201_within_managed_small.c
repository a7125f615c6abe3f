// expect: SC201 action=snapshotted kind=managed direction=H2D
//
// A small source in managed memory is overwritten on its way to other managed memory.
#include "managed.h"

enum { PART = 4096 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = managed_block(PART, WANTED), *to = managed_block(PART, FOREIGN);

    CHECK(cudaMemcpyAsync(to, from, PART, cudaMemcpyDefault, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    fill(from, PART, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(holds(to, PART, WANTED) && holds(from, PART, FOREIGN));
}
