/* Memory pools that the program makes for itself. */
#ifndef SC_TESTS_HAZARD_POOLS_H
#define SC_TESTS_HAZARD_POOLS_H

#include "twin.h"

/* A pool of device 0 that keeps what is freed, up to so many bytes. */
static TWIN_HELPER cudaMemPool_t new_pool(uint64_t threshold_bytes)
{
    struct cudaMemPoolProps properties;
    cudaMemPool_t pool = NULL;
    memset(&properties, 0, sizeof properties);
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    CHECK(cudaMemPoolCreate(&pool, &properties));
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold_bytes));
    return pool;
}

/* Inline, since it must call the variant of the API that the twin is built for. */
static inline void *pool_block(size_t size_bytes, cudaMemPool_t pool, cudaStream_t stream)
{
    void *block = NULL;
    CHECK(cudaMallocFromPoolAsync(&block, size_bytes, pool, stream));
    return block;
}

#endif
