// expect: none
// options: device=1
//
// A pool hands memory that one stream has freed to another, which the driver orders by itself.
#include "twin.h"

enum { ROUNDS = 50 };

int main(void)
{
    cudaStream_t streams[] = {new_stream(), new_stream(), blocking_stream()};
    void *target = pinned_block(SMALL, 0);
    bool right = true;

    for (int i = 0; i < ROUNDS; i++) {
        cudaStream_t stream = streams[i % 3];
        void *device = NULL;
        CHECK(cudaMallocAsync(&device, SMALL, stream));
        CHECK(cudaMemsetAsync(device, i, SMALL, stream));
        CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaFreeAsync(device, stream));
        if (i % 3 == 0)
            CHECK(cudaStreamSynchronize(stream));
        else
            CHECK(cudaDeviceSynchronize());
        right &= *(unsigned char *)target == i;
    }
    return finish(right);
}
