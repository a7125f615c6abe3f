// expect-exit: 0
//
// Ten thousand small registered and pinned buffers come and go while others are in use: no limit is
// hit and every address can be used again.
#include "survival.h"

#include <stdbool.h>

enum { BUFFERS = 500, ROUNDS = 10, SIZE = 512 };

int main(void)
{
    static void *pinned[BUFFERS];
    static void *heap[BUFFERS];
    void *device = NULL;
    int wrong = 0;
    bool is_slow = getenv("SAFECOPY_FEW_ROUNDS") != NULL; /* an emulator takes minutes over all */
    int rounds = is_slow ? 2 : ROUNDS;
    int buffers = is_slow ? BUFFERS / 10 : BUFFERS;
    CHECK(cudaMalloc(&device, SIZE));
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < buffers; i++) {
            CHECK(cudaMallocHost(&pinned[i], SIZE));
            heap[i] = aligned_alloc(4096, 8192);
            CHECK(cudaHostRegister(heap[i], 8192, cudaHostRegisterDefault));
            memset(pinned[i], i, SIZE);
            CHECK(cudaMemcpyAsync(device, pinned[i], SIZE, cudaMemcpyHostToDevice, NULL));
            CHECK(cudaMemcpyAsync(heap[i], device, SIZE, cudaMemcpyDeviceToHost, NULL));
        }
        CHECK(cudaDeviceSynchronize());
        for (int i = 0; i < buffers; i++) {
            wrong += memcmp(heap[i], pinned[i], SIZE) != 0;
            CHECK(cudaHostUnregister(heap[i]));
            free(heap[i]);
            CHECK(cudaFreeHost(pinned[i]));
        }
    }
    printf("wrong: %d of %d\n", wrong, buffers * rounds);
    return 0;
}
