// Downloads into many small pinned buffers, some of which lie beside each other. When the stream
// was waited for, Linux may read and write every one of them, before the program has touched it.
#include "survival.h"

enum { COUNT = 400, SIZE_BYTES = 4096 };

static unsigned char *buffers[COUNT];

int main(void)
{
    cudaStream_t stream = NULL;
    void *device = NULL;
    int ends[2];
    int written = 0;
    int right = 0;
    CHECK(pipe(ends));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&device, SIZE_BYTES));
    CHECK(cudaMemsetAsync(device, 7, SIZE_BYTES, stream));
    for (int i = 0; i < COUNT; i++)
        CHECK(cudaMallocHost((void **)&buffers[i], SIZE_BYTES));
    for (int i = 0; i < COUNT; i += 2)
        CHECK(cudaMemcpyAsync(buffers[i], device, SIZE_BYTES, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < COUNT; i += 2) {
        written += write(ends[1], buffers[i], SIZE_BYTES) == SIZE_BYTES &&
                   read(ends[0], buffers[i + 1], SIZE_BYTES) == SIZE_BYTES;
        right += buffers[i + 1][SIZE_BYTES - 1] == 7;
    }
    printf("%d of %d written, %d right\n", written, COUNT / 2, right);
}
