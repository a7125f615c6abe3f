#include "common/pool.h"

#include <string.h>
#include <sys/mman.h>

#include "common/checks.h"
#include "common/kernel.h"
#include "common/own_pages.h"

#include "common/poison.h"

/* For debug builds: asserts that every free record was once allocated, and that none is free
 * twice. */
static SC_CHECKER void check_spare(struct sc_pool *pool)
{
    uint32_t count = 0;
    for (uint32_t id = pool->free_list; id;) {
        SC_ASSERT(id < sc_pool_first_unused(pool));
        SC_ASSERT(++count < sc_pool_first_unused(pool));
        id = (uint32_t)atomic_load_explicit(sc_pool_words(pool, id), memory_order_relaxed);
    }
    SC_ASSERT(pool->live + count <= sc_pool_first_unused(pool)); /* with the one that comes back */
}

/* Returns the size of a chunk, the piece of memory by which a pool grows. */
static size_t chunk_bytes(const struct sc_pool *pool)
{
    return pool->record_bytes << SC_POOL_CHUNK_SHIFT;
}

/* Makes the pool ready for records of this size, which is rounded up to words. Id 0 is never used,
 * so that it can mean "none". */
void sc_pool_init(struct sc_pool *pool, size_t record_bytes)
{
    memset(pool, 0, sizeof *pool);
    pool->record_bytes = (record_bytes + 7) & ~(size_t)7;
    atomic_store_explicit(&pool->unused, 1, memory_order_relaxed);
}

/* Returns the id of a record that was never used, and maps its chunk if that is the first of it.
 * 0: no memory, or no id is left. Called when no freed record can be recycled. */
uint32_t sc_pool_take_unused(struct sc_pool *pool)
{
    SC_ASSERT_GUARDED(pool);
    uint32_t id = sc_pool_first_unused(pool);
    SC_ASSERT(id != 0 && pool->record_bytes != 0);
    uint32_t chunk = id >> SC_POOL_CHUNK_SHIFT;
    if (chunk >= SC_POOL_CHUNKS_MAX)
        return 0;
    if (!atomic_load_explicit(&pool->chunks[chunk], memory_order_relaxed)) {
        char *pages = sc_pages_map(chunk_bytes(pool));
        if (!pages)
            return 0;
        atomic_store_explicit(&pool->chunks[chunk], pages, memory_order_release);
    }
    atomic_store_explicit(&pool->unused, id + 1, memory_order_release);
    return id;
}

/* Returns the id of the record that has this address; 0: it is none of the pool's. */
uint32_t sc_pool_id_of(struct sc_pool *pool, const void *record)
{
    uintptr_t at = (uintptr_t)record;
    for (uint32_t chunk = 0; chunk < SC_POOL_CHUNKS_MAX; chunk++) {
        uintptr_t first =
            (uintptr_t)atomic_load_explicit(&pool->chunks[chunk], memory_order_relaxed);
        if (!first)
            break;
        if (at - first < chunk_bytes(pool))
            return chunk << SC_POOL_CHUNK_SHIFT | (uint32_t)((at - first) / pool->record_bytes);
    }
    return 0;
}

/* Allocates a zeroed record. It is zeroed in whole words by release stores, since a thread without
 * the lock may still be reading the record that it was before: one that sees a new word also sees
 * the change of the index by which it came, and starts again. */
uint32_t sc_pool_take(struct sc_pool *pool)
{
    SC_ASSERT_GUARDED(pool);
    uint32_t id = sc_pool_take_as_is(pool);
    size_t count = id ? pool->record_bytes / 8 : 0;
    _Atomic uint64_t *words = id ? sc_pool_words(pool, id) : NULL;
    for (size_t i = 0; i < count; i++)
        atomic_store_explicit(&words[i], 0, memory_order_release);
    return id;
}

/* Gives the memory of all chunks but the first back to Linux; called when no record is in use, so
 * all ids count as never used again, and the free list, which lies in the records, is emptied. The
 * pages stay mapped and read as zeros, since a thread without the lock may still read there. */
static void release_pages(struct sc_pool *pool)
{
    for (uint32_t i = 1;
         i <= sc_pool_first_unused(pool) >> SC_POOL_CHUNK_SHIFT && i < SC_POOL_CHUNKS_MAX; i++) {
        char *chunk = atomic_load_explicit(&pool->chunks[i], memory_order_relaxed);
        if (chunk)
            sc_kernel_call(SYS_madvise, chunk, chunk_bytes(pool), MADV_DONTNEED);
    }
    atomic_store_explicit(&pool->unused, 1, memory_order_relaxed);
    pool->free_list = 0;
}

/* Frees the record for the next allocation. With the last record the memory of a large pool goes
 * back to Linux, so that a peak does not last. */
void sc_pool_release(struct sc_pool *pool, uint32_t id)
{
    SC_ASSERT_GUARDED(pool);
    SC_ASSERT(id != 0 && id < sc_pool_first_unused(pool));
    SC_ASSERT(id != pool->free_list);
    SC_ASSERT(pool->live > 0);
    atomic_store_explicit(sc_pool_words(pool, id), pool->free_list, memory_order_release);
    pool->free_list = id;
    SC_CHECK_OF(sc_pool_first_unused(pool), check_spare(pool));
    if (--pool->live == 0 && sc_pool_first_unused(pool) >> SC_POOL_CHUNK_SHIFT > 4)
        release_pages(pool);
}

/* Unmaps all memory of the pool. No other thread may use it any more. */
void sc_pool_destroy(struct sc_pool *pool)
{
    for (uint32_t i = 0; i < SC_POOL_CHUNKS_MAX; i++)
        sc_pages_unmap(atomic_load_explicit(&pool->chunks[i], memory_order_relaxed),
                       chunk_bytes(pool));
    memset(pool, 0, sizeof *pool);
}
