// expect: none
// options: device=1
//
// Memory that is freed and allocated again is other memory: whatever was done there is over.
#include "twin.h"

enum { ROUNDS = 20 };

int main(void)
{
    cudaStream_t streams[] = {new_stream(), new_stream()};
    void *source = pinned_block(LARGE, WANTED);

    for (int i = 0; i < ROUNDS; i++) {
        void *device = NULL;
        CHECK(cudaMalloc(&device, LARGE));
        CHECK(cudaMemcpyAsync(device, source, LARGE, cudaMemcpyHostToDevice, streams[i % 2]));
        CHECK(cudaFree(device));
    }
    CHECK(cudaDeviceSynchronize());
    return finish(true);
}
