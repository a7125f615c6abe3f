// expect: none
//
// A synchronous copy out of pageable memory has landed in managed memory when it returns, unlike
// one to the device: a stream that does not wait for the legacy one carries the bytes on.
#include "managed.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = filled_block(SMALL, WANTED), *between = managed_block(SMALL, FOREIGN);
    void *to = device_block(SMALL, 0);

    CHECK(cudaMemcpy(between, from, SMALL, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyAsync(to, between, SMALL, cudaMemcpyDefault, stream));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED));
}
