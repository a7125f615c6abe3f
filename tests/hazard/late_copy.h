/* A copy of which the driver uses pageable memory after the call has returned: a batch of one, from
 * 1 MB on in either direction. */
#ifndef SC_TESTS_HAZARD_LATE_COPY_H
#define SC_TESTS_HAZARD_LATE_COPY_H

#include "mapping.h"

/* Inline, since it must call the variant of the API that the twin is built for. */
static inline void late_copy(void *target, const void *source, size_t size_bytes,
                             cudaStream_t stream)
{
    struct cudaMemcpyAttributes order = {.srcAccessOrder = cudaMemcpySrcAccessOrderAny};
    size_t first = 0;
    CHECK(cudaMemcpyBatchAsync(&target, &source, &size_bytes, 1, &order, &first, 1, stream));
}

#endif
