// expect-exit: 0
// needs: sim
//
// As closed_all, and the stacks that are walked afterwards are deep: to walk one, libunwind asks
// which memory can be read. What it once opened for that is not its own any more. A real driver
// does not outlive the end of its own descriptors.
#include "descriptors.h"

enum { FILES = 16, DEEP = 40, LOCAL = 512 };

static void upload(void *device, cudaStream_t stream)
{
    struct cudaMemcpyAttributes attributes;
    char local[LOCAL];
    const void *source = local;
    size_t size = sizeof local, first = 0;
    memset(&attributes, 0, sizeof attributes);
    memset(local, 7, sizeof local);
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderAny;
    CHECK(cudaMemcpyBatchAsync(&device, &source, &size, 1, &attributes, &first, 1, stream));
    CHECK(cudaStreamSynchronize(stream));
}

static SURVIVAL_HELPER void upload_deep_down(int depth, void *device, cudaStream_t stream)
{
    volatile char frame[4096];
    frame[0] = (char)depth;
    if (depth > 0)
        upload_deep_down(depth - 1, device, stream);
    else
        upload(device, stream);
    frame[1] = frame[0];
}

static void upload_from_everywhere(void *device, cudaStream_t stream)
{
    for (int depth = 0; depth < DEEP; depth += 3)
        upload_deep_down(depth, device, stream);
}

int main(void)
{
    int files[FILES];
    void *device = NULL;
    cudaStream_t stream = NULL;
    CHECK(cudaMalloc(&device, LOCAL));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    upload_from_everywhere(device, stream);

    for (int i = 3; i < 256; i++)
        close(i);
    for (int i = 0; i < FILES; i++) {
        files[i] = open_scratch();
        if (files[i] != i + 3 || write(files[i], "own", 3) != 3 || lseek(files[i], 0, SEEK_SET))
            puts("a descriptor was not free");
    }
    upload_from_everywhere(device, stream);

    for (int i = 0; i < FILES; i++)
        printf("file %d: at %ld of %ld\n", i, (long)lseek(files[i], 0, SEEK_CUR),
               size_of(files[i]));
    return 0;
}
