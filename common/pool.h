/* A pool: allocates records of one size, in pages mapped by the library (own_pages.h).
 *
 * A record is identified by a 32-bit id and never moves. Its pages stay mapped for ever
 * ("type-stable"). So a reader without a lock may access a record that was just recycled, if it
 * checks what it has read. Id 0 is never used.
 *
 * Pools do not lock: the caller's lock guards every call. Only sc_pool_at and sc_pool_first_unused
 * are safe from any thread, sc_pool_at for an id that was once allocated. */
#ifndef SC_TOOLS_POOL_H
#define SC_TOOLS_POOL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "common/checks.h"

enum { SC_POOL_CHUNK_SHIFT = 12, SC_POOL_CHUNKS_MAX = 4096 };

struct sc_pool {
    _Atomic(char *) chunks[SC_POOL_CHUNKS_MAX];
    size_t record_bytes; /* a multiple of 8; set once by sc_pool_init */
    /* Ids from this one on were never allocated; written with the lock held. */
    _Atomic uint32_t unused;
    uint32_t free_list;
    uint32_t live;
#ifdef SC_DEBUG
    const struct sc_brief_lock *guard; /* the lock that guards the pool; NULL: not a brief lock */
#endif
};

/* Makes a pool of records of this size, in memory that has any contents. Nothing is allocated
 * yet. */
void sc_pool_init(struct sc_pool *pool, size_t record_bytes);

/* Allocates a zeroed record. Returns its id; 0: memory or ids are used up. */
uint32_t sc_pool_take(struct sc_pool *pool);

/* Allocates a record that keeps its former contents, for large records that are overwritten anyway.
 * Returns its id; 0: memory or ids are used up. Members that are read without the lock must be
 * stored with release. */
static inline uint32_t sc_pool_take_as_is(struct sc_pool *pool);
/* Allocates a record that was never used, for sc_pool_take_as_is, which counts it. Returns its id;
 * 0: memory or ids are used up. */
uint32_t sc_pool_take_unused(struct sc_pool *pool);

/* Frees a record. When the last record of a large pool is freed, the memory of all chunks but the
 * first is given to Linux, and the chunks stay mapped. */
void sc_pool_release(struct sc_pool *pool, uint32_t id);

/* Unmaps all memory of the pool, which must not be used before the next sc_pool_init. */
void sc_pool_destroy(struct sc_pool *pool);

/* Returns the first id that was never allocated. Needs no lock. */
static inline uint32_t sc_pool_first_unused(const struct sc_pool *pool)
{
    return atomic_load_explicit(&pool->unused, memory_order_acquire);
}

/* Returns the record with the id, which must once have been allocated; safe without the lock. */
static inline void *sc_pool_at(struct sc_pool *pool, uint32_t id)
{
    char *chunk =
        atomic_load_explicit(&pool->chunks[id >> SC_POOL_CHUNK_SHIFT], memory_order_acquire);
    return chunk + (size_t)(id & ((1u << SC_POOL_CHUNK_SHIFT) - 1)) * pool->record_bytes;
}

/* Returns the record with the id, for a caller that knows the record size at compile time, so that
 * the compiler can simplify the address. */
static inline void *sc_pool_at_of(struct sc_pool *pool, uint32_t id, size_t record_bytes)
{
    char *chunk =
        atomic_load_explicit(&pool->chunks[id >> SC_POOL_CHUNK_SHIFT], memory_order_acquire);
    return chunk + (id & ((1u << SC_POOL_CHUNK_SHIFT) - 1)) * record_bytes;
}

/* Returns the id of the record at this address; 0: there is none. Checks each chunk. */
uint32_t sc_pool_id_of(struct sc_pool *pool, const void *record);

/* Returns the record as words that are read and written atomically. The first word of a free
 * record has the id of the next free one. */
static inline _Atomic uint64_t *sc_pool_words(struct sc_pool *pool, uint32_t id)
{
    return sc_pool_at(pool, id);
}

/* Allocates a record that keeps the contents of the one that was freed, for large records that are
 * overwritten anyway. Returns its id; 0: memory or ids are used up. Members that are read without
 * the lock must be stored with release. */
static inline uint32_t sc_pool_take_as_is(struct sc_pool *pool)
{
    SC_ASSERT_GUARDED(pool);
    uint32_t id = pool->free_list;
    SC_ASSERT(id < sc_pool_first_unused(pool));
    if (id)
        pool->free_list =
            (uint32_t)atomic_load_explicit(sc_pool_words(pool, id), memory_order_relaxed);
    else
        id = sc_pool_take_unused(pool);
    pool->live += id != 0;
    return id;
}

#endif
