#include "track/stacks.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "track/pool.h"

#include "track/poison.h"

/* Stacks are bump-allocated in 1 MB chunks and chained in a hash table by compare-and-swap. An id
 * is the word offset of the stack over all chunks, so 256 chunks make 256 MB at most. */
enum {
    BUCKETS = 1 << 14,
    CHUNK_SHIFT = 17, /* in words of 8 bytes */
    CHUNKS_MAX = 256,
};

struct stack {
    uint64_t hash;
    uint32_t next;
    uint32_t count;
    void *frames[];
};

static _Atomic uint32_t buckets[BUCKETS];
static _Atomic(uint64_t *) chunks[CHUNKS_MAX];
static _Atomic uint64_t next_word = 8; /* id 0 is "no stack" */

static struct stack *stack_at(uint32_t id)
{
    uint64_t *chunk = atomic_load_explicit(&chunks[id >> CHUNK_SHIFT], memory_order_acquire);
    return (struct stack *)(void *)(chunk + (id & ((1u << CHUNK_SHIFT) - 1)));
}

static uint64_t hash_of(void *const *frames, unsigned count)
{
    uint64_t hash = count;
    for (unsigned i = 0; i < count; i++)
        hash = (hash ^ (uintptr_t)frames[i]) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 29;
}

static bool ensure_chunk(uint32_t index)
{
    if (atomic_load_explicit(&chunks[index], memory_order_acquire))
        return true;
    size_t size_bytes = sizeof(uint64_t) << CHUNK_SHIFT;
    uint64_t *pages = sc_pages_map(size_bytes);
    uint64_t *expected = NULL;
    if (!pages)
        return false;
    if (!atomic_compare_exchange_strong(&chunks[index], &expected, pages))
        sc_pages_unmap(pages, size_bytes);
    return true;
}

/* Room for one stack that does not straddle two chunks, or 0. */
static uint32_t reserve(unsigned count)
{
    uint64_t words = (sizeof(struct stack) + count * sizeof(void *)) / 8;
    uint64_t chunk_words = 1u << CHUNK_SHIFT;
    uint64_t at = atomic_load_explicit(&next_word, memory_order_relaxed);
    uint64_t start;
    do {
        start = at;
        if (start % chunk_words + words > chunk_words)
            start = (start / chunk_words + 1) * chunk_words;
        if (start / chunk_words >= CHUNKS_MAX)
            return 0;
    } while (!atomic_compare_exchange_weak(&next_word, &at, start + words));
    return ensure_chunk((uint32_t)(start >> CHUNK_SHIFT)) ? (uint32_t)start : 0;
}

static uint32_t find(uint32_t id, uint32_t end, uint64_t hash, void *const *frames, unsigned count)
{
    while (id != end) {
        struct stack *stack = stack_at(id);
        if (stack->hash == hash && stack->count == count &&
            memcmp(stack->frames, frames, count * sizeof *frames) == 0)
            return id;
        id = stack->next;
    }
    return 0;
}

uint32_t sc_stacks_put(void *const *frames, unsigned count)
{
    if (count == 0)
        return 0;
    if (count > SC_STACK_DEPTH_MAX)
        count = SC_STACK_DEPTH_MAX;
    uint64_t hash = hash_of(frames, count);
    _Atomic uint32_t *bucket = &buckets[hash % BUCKETS];
    uint32_t head = atomic_load_explicit(bucket, memory_order_acquire);
    uint32_t id = find(head, 0, hash, frames, count);
    if (id)
        return id;
    uint32_t fresh = reserve(count);
    if (!fresh)
        return 0;
    struct stack *stack = stack_at(fresh);
    stack->hash = hash;
    stack->count = count;
    memcpy(stack->frames, frames, count * sizeof *frames);
    do {
        uint32_t seen = head;
        stack->next = head;
        if (atomic_compare_exchange_strong(bucket, &head, fresh))
            return fresh;
        id = find(head, seen, hash, frames, count); /* another thread may have just put it */
    } while (!id);
    return id;
}

unsigned sc_stacks_get(uint32_t id, void *const **frames)
{
    if (!id)
        return 0;
    struct stack *stack = stack_at(id);
    *frames = stack->frames;
    return stack->count;
}
