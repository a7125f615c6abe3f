/* Two devices read one pinned buffer, and the host waits for one of them before it fills the buffer
 * anew. A rank with an odd number waits for both, and rank 5 dies (docs/several-gpus.md,
 * docs/many-ranks.md). */
#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 1 << 20 };

int main(void)
{
    char *source, *blocks[2], next = 1;
    cudaStream_t streams[2];
    const char *rank = getenv("RANK");
    cudaHostAlloc((void **)&source, BYTES, cudaHostAllocPortable);
    memset(source, next++, BYTES);
    for (int i = 0; i < 2; i++) {
        cudaSetDevice(i);
        cudaStreamCreate(&streams[i]);
        cudaMalloc((void **)&blocks[i], BYTES);
        cudaMemcpyAsync(blocks[i], source, BYTES, cudaMemcpyHostToDevice, streams[i]);
    }
    cudaStreamSynchronize(streams[0]); /* and not streams[1] */
    if (rank && atoi(rank) % 2)
        cudaStreamSynchronize(streams[1]);
    if (rank && atoi(rank) == 5)
        abort();
    memset(source, next++, BYTES);
    for (int i = 0; i < 2; i++) {
        cudaSetDevice(i);
        cudaDeviceSynchronize();
    }
    return 0;
}
