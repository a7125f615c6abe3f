#include "track/pool.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "track/checks.h"
#include "track/kernel.h"

#include "track/poison.h"

/* System calls, since mmap, munmap and madvise are hooks of ours that take the lock which is held
 * here. */
void *sc_pages_map(size_t size_bytes)
{
    long pages = sc_kernel_call(SYS_mmap, NULL, size_bytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages < 0 ? NULL : (void *)pages;
}

void sc_pages_unmap(void *pages, size_t size_bytes)
{
    if (pages)
        sc_kernel_call(SYS_munmap, pages, size_bytes);
}

/* Every spare record was handed out, and none is spare twice. */
static SC_CHECKER void check_spare(struct sc_pool *pool)
{
    uint32_t count = 0;
    for (uint32_t id = pool->free_list; id;) {
        SC_ASSERT(id < sc_pool_unused(pool));
        SC_ASSERT(++count < sc_pool_unused(pool));
        id = (uint32_t)atomic_load_explicit(sc_pool_words(pool, id), memory_order_relaxed);
    }
    SC_ASSERT(pool->live + count <= sc_pool_unused(pool)); /* with the one that comes back */
}

static size_t chunk_bytes(const struct sc_pool *pool)
{
    return pool->record_bytes << SC_POOL_CHUNK_SHIFT;
}

void sc_pool_init(struct sc_pool *pool, size_t record_bytes)
{
    memset(pool, 0, sizeof *pool);
    pool->record_bytes = (record_bytes + 7) & ~(size_t)7;
    atomic_store_explicit(&pool->unused, 1, memory_order_relaxed);
}

uint32_t sc_pool_take_unused(struct sc_pool *pool)
{
    SC_ASSERT_GUARDED(pool);
    uint32_t id = sc_pool_unused(pool);
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

/* A reader without a lock may still look at a recycled record, so it is written in whole words,
 * and by releases: who sees the new words also sees that the grid has changed. */
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

static void release_pages(struct sc_pool *pool)
{
    for (uint32_t i = 1; i <= sc_pool_unused(pool) >> SC_POOL_CHUNK_SHIFT && i < SC_POOL_CHUNKS_MAX;
         i++) {
        char *chunk = atomic_load_explicit(&pool->chunks[i], memory_order_relaxed);
        if (chunk)
            sc_kernel_call(SYS_madvise, chunk, chunk_bytes(pool), MADV_DONTNEED);
    }
    atomic_store_explicit(&pool->unused, 1, memory_order_relaxed);
    pool->free_list = 0;
}

void sc_pool_give(struct sc_pool *pool, uint32_t id)
{
    SC_ASSERT_GUARDED(pool);
    SC_ASSERT(id != 0 && id < sc_pool_unused(pool));
    SC_ASSERT(id != pool->free_list);
    SC_ASSERT(pool->live > 0);
    atomic_store_explicit(sc_pool_words(pool, id), pool->free_list, memory_order_release);
    pool->free_list = id;
    SC_CHECK_OF(sc_pool_unused(pool), check_spare(pool));
    if (--pool->live == 0 && sc_pool_unused(pool) >> SC_POOL_CHUNK_SHIFT > 4)
        release_pages(pool);
}

void sc_pool_destroy(struct sc_pool *pool)
{
    for (uint32_t i = 0; i < SC_POOL_CHUNKS_MAX; i++)
        sc_pages_unmap(atomic_load_explicit(&pool->chunks[i], memory_order_relaxed),
                       chunk_bytes(pool));
    memset(pool, 0, sizeof *pool);
}

enum {
    ARENA_CHUNK_BYTES = 1 << 20,
    ARENA_BLOCK_MIN_SHIFT = 5,
    ARENA_BLOCK_LARGE_SHIFT = 18, /* from here on a block has pages of its own */
};

/* Too large for a class: mapped when it is taken, and unmapped when it is given back. */
static bool is_huge(size_t size_bytes)
{
    return size_bytes > (size_t)1 << (SC_ARENA_CLASSES - 1);
}

static unsigned size_class(size_t size_bytes)
{
    unsigned shift = ARENA_BLOCK_MIN_SHIFT;
    while (((size_t)1 << shift) < size_bytes)
        shift++;
    return shift;
}

static bool add_chunk(struct sc_arena *arena)
{
    char *pages = sc_pages_map(ARENA_CHUNK_BYTES);
    size_t head_bytes = (size_t)1 << ARENA_BLOCK_MIN_SHIFT;
    if (!pages)
        return false;
    memcpy(pages, &arena->chunks, sizeof(void *));
    arena->chunks = pages;
    arena->bump = pages + head_bytes;
    arena->bump_left_bytes = ARENA_CHUNK_BYTES - head_bytes;
    return true;
}

void *sc_arena_take(struct sc_arena *arena, size_t size_bytes)
{
    SC_ASSERT_GUARDED(arena);
    if (is_huge(size_bytes))
        return sc_pages_map(size_bytes);
    unsigned shift = size_class(size_bytes);
    size_t block_bytes = (size_t)1 << shift;
    void *block = arena->free_lists[shift];
    if (block) {
        memcpy(&arena->free_lists[shift], block, sizeof(void *));
        return block;
    }
    if (shift >= ARENA_BLOCK_LARGE_SHIFT)
        return sc_pages_map(block_bytes);
    if (arena->bump_left_bytes < block_bytes && !add_chunk(arena))
        return NULL;
    block = arena->bump;
    SC_ASSERT(block_bytes <= arena->bump_left_bytes);
    arena->bump += block_bytes;
    arena->bump_left_bytes -= block_bytes;
    return block;
}

void sc_arena_give(struct sc_arena *arena, void *block, size_t size_bytes)
{
    SC_ASSERT_GUARDED(arena);
    if (is_huge(size_bytes)) {
        sc_pages_unmap(block, size_bytes);
        return;
    }
    unsigned shift = size_class(size_bytes);
    SC_ASSERT(block != NULL && block != arena->free_lists[shift]);
    memcpy(block, &arena->free_lists[shift], sizeof(void *));
    arena->free_lists[shift] = block;
}

void *sc_arena_grow(struct sc_arena *arena, void *list, uint32_t *capacity, size_t record_bytes,
                    uint32_t first)
{
    SC_ASSERT_GUARDED(arena);
    SC_ASSERT((list != NULL) == (*capacity != 0));
    uint32_t more = *capacity ? *capacity * 4 : first;
    void *larger = sc_arena_take(arena, more * record_bytes);
    if (!larger)
        return NULL;
    if (list) {
        memcpy(larger, list, *capacity * record_bytes);
        sc_arena_give(arena, list, *capacity * record_bytes);
    }
    *capacity = more;
    return larger;
}

static void unmap_list(void *first, size_t size_bytes)
{
    while (first) {
        void *block = first;
        memcpy(&first, block, sizeof(void *));
        sc_pages_unmap(block, size_bytes);
    }
}

void sc_arena_destroy(struct sc_arena *arena)
{
    for (unsigned shift = ARENA_BLOCK_LARGE_SHIFT; shift < SC_ARENA_CLASSES; shift++)
        unmap_list(arena->free_lists[shift], (size_t)1 << shift);
    unmap_list(arena->chunks, ARENA_CHUNK_BYTES);
    memset(arena, 0, sizeof *arena);
}
