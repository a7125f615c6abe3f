/* Batch copies under one set of attributes. */
#ifndef SC_TESTS_HAZARD_BATCH_H
#define SC_TESTS_HAZARD_BATCH_H

#include "twin.h"

/* Inline, since they must call the variant of the API that the twin is built for. */
static inline void batch_copies(void **targets, const void **sources, size_t *sizes, size_t count,
                                enum cudaMemcpySrcAccessOrder order, cudaStream_t stream)
{
    struct cudaMemcpyAttributes attributes;
    size_t first = 0;
    memset(&attributes, 0, sizeof attributes);
    attributes.srcAccessOrder = order;
    attributes.flags = cudaMemcpyFlagPreferOverlapWithCompute;
    CHECK(cudaMemcpyBatchAsync(targets, sources, sizes, count, &attributes, &first, 1, stream));
}

static inline void batch_copy(void *target, const void *source, size_t size_bytes,
                              enum cudaMemcpySrcAccessOrder order, cudaStream_t stream)
{
    batch_copies(&target, &source, &size_bytes, 1, order, stream);
}

#endif
