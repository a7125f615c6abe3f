// expect: none
// options: device=1
//
// A pool hands memory on from stream to stream while copies of it are in flight. Each allocation
// comes after the free of what it is given, without a word of the program's.
#include "twin.h"

enum { ROUNDS = 60, STREAMS = 3 };

int main(void)
{
    cudaStream_t streams[STREAMS] = {new_stream(), new_stream(), new_stream()};
    unsigned char *targets = (unsigned char *)pinned_block((size_t)ROUNDS * SMALL, 0);
    unsigned char *sources = (unsigned char *)pinned_block((size_t)ROUNDS * SMALL, 0);
    bool right = true;

    for (int i = 0; i < ROUNDS; i++) {
        cudaStream_t stream = streams[i % STREAMS];
        unsigned char *source = sources + (size_t)i * SMALL;
        void *device = NULL;
        memset(source, i + 1, SMALL);
        CHECK(cudaMallocAsync(&device, SMALL, stream));
        CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
        CHECK(cudaMemcpyAsync(targets + (size_t)i * SMALL, device, SMALL, cudaMemcpyDeviceToHost,
                              stream));
        CHECK(cudaFreeAsync(device, stream));
    }
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < ROUNDS; i++)
        right &= memcmp(targets + (size_t)i * SMALL, sources + (size_t)i * SMALL, SMALL) == 0;
    return finish(right);
}
