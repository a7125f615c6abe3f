// expect: none
//
// cudaFreeHost and cudaHostUnregister of other memory wait for the context, so that a copy out of
// what a copy on another stream has brought comes after that one.
#include "twin.h"

int main(void)
{
    cudaStream_t first = new_stream(), second = new_stream();
    void *from = device_block(SMALL, WANTED), *to = device_block(SMALL, 0);
    void *between = pinned_block(SMALL, 0), *pinned = pinned_block(SMALL, 0);
    void *registered = registered_block(SMALL, 0);

    CHECK(cudaMemcpyAsync(between, from, SMALL, cudaMemcpyDeviceToHost, first));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaMemcpyAsync(to, between, SMALL, cudaMemcpyHostToDevice, second));
    CHECK(cudaHostUnregister(registered));
    CHECK(cudaMemcpyAsync(between, from, SMALL, cudaMemcpyDeviceToHost, first));
    CHECK(cudaStreamSynchronize(first));
    return finish(device_holds(to, SMALL, WANTED) && holds(between, SMALL, WANTED));
}
