// expect-exit: 0
//
// Ten thousand small registered and pinned buffers come and go while others are in use: no limit is
// hit and every address can be used again.
#include "survival.h"

enum { BUFFERS = 500, ROUNDS = 10, SIZE = 512 };

int main(void)
{
    static void *pinned[BUFFERS];
    static void *heap[BUFFERS];
    void *device = NULL;
    int wrong = 0;
    CHECK(cudaMalloc(&device, SIZE));
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < BUFFERS; i++) {
            CHECK(cudaMallocHost(&pinned[i], SIZE));
            heap[i] = aligned_alloc(4096, 8192);
            CHECK(cudaHostRegister(heap[i], 8192, cudaHostRegisterDefault));
            memset(pinned[i], i, SIZE);
            CHECK(cudaMemcpyAsync(device, pinned[i], SIZE, cudaMemcpyHostToDevice, NULL));
            CHECK(cudaMemcpyAsync(heap[i], device, SIZE, cudaMemcpyDeviceToHost, NULL));
        }
        CHECK(cudaDeviceSynchronize());
        for (int i = 0; i < BUFFERS; i++) {
            wrong += memcmp(heap[i], pinned[i], SIZE) != 0;
            CHECK(cudaHostUnregister(heap[i]));
            free(heap[i]);
            CHECK(cudaFreeHost(pinned[i]));
        }
    }
    printf("wrong: %d of %d\n", wrong, BUFFERS * ROUNDS);
    return 0;
}
