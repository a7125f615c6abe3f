// expect-exit: 0
// needs: userfaultfd
// timeout: 30
//
// Pages of a pinned source, of which a copy is in flight, leave the page tables by an instruction:
// the memory is shared, so the bytes stay, and the synchronise finds them at once.
#include "raw_mask.h"
#include "survival.h"

#include <sys/mman.h>

enum { BYTES = 200 << 10 };

int main(void)
{
    unsigned char *source, *result;
    void *device;
    cudaStream_t stream;
    CHECK(cudaMallocHost((void **)&source, 2 * BYTES));
    CHECK(cudaMalloc(&device, BYTES));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    result = source + BYTES;
    for (int round = 1; round <= 4; round++) {
        memset(source, round, BYTES);
        CHECK(cudaMemcpyAsync(device, source, BYTES, cudaMemcpyHostToDevice, stream));
        CHECK(cudaMemcpyAsync(result, device, BYTES, cudaMemcpyDeviceToHost, stream));
        raw_call(SYS_madvise, (long)source, BYTES & ~4095, MADV_DONTNEED, 0);
        CHECK(cudaStreamSynchronize(stream));
        if (result[0] != round || result[BYTES - 1] != round)
            return 4;
    }
    printf("%d\n", result[1]);
    return 0;
}
