// expect-exit: 0
// options: device=1
//
// Batches take no more from their arrays than they name: one set of attributes, and one index, hold
// for all copies, and lie at the end of a page with nothing behind. What the driver refuses fails
// with its own codes, and does nothing.
#include "survival.h"

#include <sys/mman.h>

enum { COPIES = 4, BYTES = 3000, PAGE_BYTES = 4096, LARGE = 300 << 10 };

static struct cudaMemcpyAttributes order_of(enum cudaMemcpySrcAccessOrder order)
{
    struct cudaMemcpyAttributes attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.srcAccessOrder = order;
    attributes.flags = cudaMemcpyFlagPreferOverlapWithCompute;
    return attributes;
}

/* A copy of the object at the end of a page; behind it nothing can be read. */
static void *at_end_of_page(const void *object, size_t size_bytes)
{
    char *pages = (char *)mmap(NULL, 2 * PAGE_BYTES, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + PAGE_BYTES, PAGE_BYTES, PROT_NONE) != 0)
        _exit(3);
    return memcpy(pages + PAGE_BYTES - size_bytes, object, size_bytes);
}

static bool arrived(void *device, size_t size_bytes, int value)
{
    unsigned char *bytes = (unsigned char *)malloc(size_bytes);
    bool right = true;
    CHECK(cudaMemcpy(bytes, device, size_bytes, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < size_bytes; i++)
        right = right && bytes[i] == value;
    free(bytes);
    return right;
}

int main(void)
{
    static unsigned char bytes[COPIES][BYTES];
    unsigned char *large = (unsigned char *)malloc(LARGE);
    unsigned char *device = NULL;
    void *targets[COPIES];
    const void *sources[COPIES];
    size_t sizes[COPIES] = {BYTES, BYTES, BYTES, BYTES};
    size_t first[COPIES] = {0, 2, 3, 3};
    struct cudaMemcpyAttributes orders[COPIES];
    cudaStream_t stream = NULL;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc((void **)&device, LARGE + COPIES * BYTES));
    CHECK(cudaMemset(device, 0, LARGE + COPIES * BYTES));
    CHECK(cudaDeviceSynchronize());
    memset(large, 9, LARGE);
    for (int i = 0; i < COPIES; i++) {
        targets[i] = device + i * BYTES;
        sources[i] = bytes[i];
        memset(bytes[i], 5, BYTES);
        orders[i] = order_of(i % 2 ? cudaMemcpySrcAccessOrderAny : cudaMemcpySrcAccessOrderStream);
    }

    struct cudaMemcpyAttributes *order =
        (struct cudaMemcpyAttributes *)at_end_of_page(&orders[0], sizeof orders[0]);
    size_t *index = (size_t *)at_end_of_page(&first[0], sizeof first[0]);
    void **last_targets = (void **)at_end_of_page(targets, sizeof targets);
    const void **last_sources = (const void **)at_end_of_page(sources, sizeof sources);
    size_t *last_sizes = (size_t *)at_end_of_page(sizes, sizeof sizes);
    SHOW(cudaMemcpyBatchAsync(last_targets, last_sources, last_sizes, COPIES, order, index, 1,
                              stream));
    SHOW(cudaStreamSynchronize(stream));
    printf("arrived: %d\n", arrived(device, COPIES * BYTES, 5));

    SHOW(cudaMemcpyBatchAsync(targets, sources, sizes, 0, orders, first, 1, stream));
    SHOW(cudaMemcpyBatchAsync(targets, sources, sizes, COPIES, orders, first, 0, stream));
    SHOW(cudaMemcpyBatchAsync(targets, sources, sizes, 1, orders, first, 2, stream));
    SHOW(cudaMemcpyBatchAsync(targets, sources, sizes, COPIES, orders, first + 1, 1, stream));
    SHOW(cudaMemcpyBatchAsync(targets, sources, sizes, COPIES, orders, first, 4, stream));
    orders[3] = order_of((enum cudaMemcpySrcAccessOrder)77);
    SHOW(cudaMemcpyBatchAsync(targets, sources, sizes, COPIES, orders + 3, first, 1, stream));
    SHOW(cudaMemcpyBatchAsync(targets, sources, sizes, COPIES, orders, first, 3, stream));
    SHOW(cudaMemcpyBatchAsync(targets, sources, sizes, COPIES, orders, first, 1, NULL));
    sizes[1] = 0;
    SHOW(cudaMemcpyBatchAsync(targets, sources, sizes, COPIES, orders, first, 2, stream));
    SHOW(cudaStreamSynchronize(stream));

    /* One that is made in pieces, and one that is refused behind it. */
    sources[0] = large + 100;
    targets[0] = device;
    sizes[0] = LARGE - 200;
    targets[1] = device + LARGE;
    sizes[1] = (size_t)1 << 40;
    SHOW(cudaMemcpyBatchAsync(targets, sources, sizes, 2, orders + 1, first, 1, stream));
    SHOW(cudaStreamSynchronize(stream));
    SHOW(cudaMemcpyBatchAsync(targets, sources, sizes, 1, orders + 1, first, 1, stream));
    SHOW(cudaStreamSynchronize(stream));
    printf("arrived: %d\n", arrived(device, LARGE - 200, 9));
    free(large);
    SHOW(cudaFree(device));
    return 0;
}
