#include "common/depot.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "common/poison.h"

#include "common/own_pages.h"

/* Records are bump-allocated in chunks and chained in a hash table by compare-and-swap. An id is
 * the word offset of the record over all chunks. */
enum { CHUNK_SHIFT = 17, CHUNK_WORDS = 1 << CHUNK_SHIFT, FIRST_ID = 8, HEAD_WORDS = 2 };

_Static_assert(CHUNK_WORDS * sizeof(uint64_t) == SC_DEPOT_CHUNK_BYTES, "in words of 8 bytes");
_Static_assert(sizeof(struct sc_depot_record) == HEAD_WORDS * sizeof(uint64_t), "its head");

/* Returns the record with the id, which is its offset in words over all chunks. Records never
 * move. */
struct sc_depot_record *sc_depot_at(struct sc_depot *depot, uint32_t id)
{
    uint64_t *chunk = atomic_load_explicit(&depot->chunks[id >> CHUNK_SHIFT], memory_order_acquire);
    return (struct sc_depot_record *)(void *)(chunk + id % CHUNK_WORDS);
}

/* Returns a hash of the key's words, which chooses the chain that the record is in. */
static uint64_t hash_of(const void *key, uint32_t key_words)
{
    uint64_t hash = key_words, word;
    for (uint32_t i = 0; i < key_words; i++) {
        memcpy(&word, (const char *)key + i * sizeof word, sizeof word);
        hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    }
    return hash ^ hash >> 29;
}

/* Makes sure that the chunk is mapped. Two threads may map one at a time: the second unmaps its
 * own. False: no memory. */
static bool ensure_chunk(struct sc_depot *depot, uint64_t index)
{
    if (atomic_load_explicit(&depot->chunks[index], memory_order_acquire))
        return true;
    uint64_t *pages = sc_pages_map(SC_DEPOT_CHUNK_BYTES);
    uint64_t *expected = NULL;
    if (!pages)
        return false;
    if (!atomic_compare_exchange_strong(&depot->chunks[index], &expected, pages))
        sc_pages_unmap(pages, SC_DEPOT_CHUNK_BYTES);
    return true;
}

/* Reserves room for a record behind the one reserved last, by one compare-and-swap; a record that
 * would straddle two chunks begins in the next one. Returns its id; 0: it is too large, the depot
 * has `chunks_max` chunks, or there is no memory. What was reserved in a chunk that could not be
 * mapped is lost. */
uint32_t sc_depot_reserve(struct sc_depot *depot, uint64_t words, uint32_t chunks_max)
{
    uint64_t wanted = words + HEAD_WORDS;
    uint64_t used = atomic_load_explicit(&depot->words_used, memory_order_relaxed);
    uint64_t start;
    if (wanted > CHUNK_WORDS - FIRST_ID)
        return 0;
    do {
        start = used ? used : FIRST_ID;
        if (start % CHUNK_WORDS + wanted > CHUNK_WORDS)
            start = (start / CHUNK_WORDS + 1) * CHUNK_WORDS;
        if (start / CHUNK_WORDS >= chunks_max)
            return 0;
    } while (!atomic_compare_exchange_weak(&depot->words_used, &used, start + wanted));
    return ensure_chunk(depot, start >> CHUNK_SHIFT) ? (uint32_t)start : 0;
}

/* Finds the record with the key in a chain of records with the same hash bucket, from `id` up to
 * `end`, without that one; 0: none. */
static uint32_t find_in_chain(struct sc_depot *depot, uint32_t id, uint32_t end, uint64_t hash,
                              const void *key, uint32_t key_words)
{
    while (id != end) {
        const struct sc_depot_record *record = sc_depot_at(depot, id);
        if (record->hash == hash && record->key_words == key_words &&
            memcmp(record->words, key, key_words * sizeof(uint64_t)) == 0)
            return id;
        id = record->next;
    }
    return 0;
}

/* Returns the id of the published record with the key; 0: there is none. Without a lock: a record
 * is complete before it is in a chain, and never changes. */
uint32_t sc_depot_find(struct sc_depot *depot, const void *key, uint32_t key_words)
{
    uint64_t hash = hash_of(key, key_words);
    uint32_t head =
        atomic_load_explicit(&depot->buckets[hash % SC_DEPOT_BUCKETS], memory_order_acquire);
    return find_in_chain(depot, head, 0, hash, key, key_words);
}

/* Makes a record, which was reserved and written, visible to sc_depot_find. If another thread has
 * published the same key meanwhile, that one's id is returned, and this record stays unused. After
 * a lost compare-and-swap only what is new in the chain is looked at. */
uint32_t sc_depot_publish(struct sc_depot *depot, uint32_t id, uint32_t key_words)
{
    struct sc_depot_record *record = sc_depot_at(depot, id);
    record->hash = hash_of(record->words, key_words);
    record->key_words = key_words;
    _Atomic uint32_t *bucket = &depot->buckets[record->hash % SC_DEPOT_BUCKETS];
    uint32_t head = atomic_load_explicit(bucket, memory_order_acquire), looked_up_to = 0, other;
    do {
        other = find_in_chain(depot, head, looked_up_to, record->hash, record->words, key_words);
        if (other)
            return other;
        looked_up_to = record->next = head;
    } while (!atomic_compare_exchange_strong(bucket, &head, id));
    return id;
}

/* Calls `visit` for each published record until it returns true, and returns whether it did. */
bool sc_depot_visit(struct sc_depot *depot, sc_depot_visitor *visit, void *context)
{
    for (unsigned i = 0; i < SC_DEPOT_BUCKETS; i++) {
        uint32_t id = atomic_load_explicit(&depot->buckets[i], memory_order_acquire);
        for (; id; id = sc_depot_at(depot, id)->next)
            if (visit(sc_depot_at(depot, id), context))
                return true;
    }
    return false;
}
