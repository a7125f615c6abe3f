/* Arrays that end where nobody may read on. Single-threaded. */
#ifndef SC_TESTS_HAZARD_FENCED_H
#define SC_TESTS_HAZARD_FENCED_H

#include "twin.h"

#include <sys/mman.h>

/* The last bytes before a page that is not accessible; for as long as the program runs. */
static TWIN_HELPER void *fenced_block(size_t size_bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t room = (size_bytes + page - 1) / page * page;
    char *pages =
        mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + room, page, PROT_NONE) != 0)
        exit(3);
    return pages + room - size_bytes;
}

/* Of a batch: so many copies of `size_bytes` each, which all have the one set of attributes. */
struct fenced_batch {
    size_t count;
    void **targets;
    const void **sources;
    size_t *sizes;
    struct cudaMemcpyAttributes *attributes;
    size_t *first;
};

static TWIN_HELPER struct fenced_batch fenced_batch(void *to, const void *from, size_t count,
                                                    size_t size_bytes)
{
    struct fenced_batch batch = {
        .count = count,
        .targets = (void **)fenced_block(count * sizeof *batch.targets),
        .sources = (const void **)fenced_block(count * sizeof *batch.sources),
        .sizes = (size_t *)fenced_block(count * sizeof *batch.sizes),
        .attributes =
            (struct cudaMemcpyAttributes *)fenced_block(sizeof(struct cudaMemcpyAttributes)),
        .first = (size_t *)fenced_block(sizeof(size_t)),
    };
    for (size_t i = 0; i < count; i++) {
        batch.targets[i] = (char *)to + i * size_bytes;
        batch.sources[i] = (const char *)from + i * size_bytes;
        batch.sizes[i] = size_bytes;
    }
    batch.attributes->srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    return batch;
}

static inline cudaError_t issue_fenced(const struct fenced_batch *batch, cudaStream_t stream)
{
    return cudaMemcpyBatchAsync((void *const *)batch->targets, (const void *const *)batch->sources,
                                batch->sizes, batch->count, batch->attributes, batch->first, 1,
                                stream);
}

#endif
