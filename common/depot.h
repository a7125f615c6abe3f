/* A depot: stores records that are never removed, each identified by a small id.
 *
 * A record is a sequence of words that begins with its key; records with the same key are stored
 * once. Lock-free. Memory comes from mmap, never from malloc, and only for a new record. Ids are
 * never reused; 0 means "no record". A depot has a maximum size. Safe from any thread, inside libc
 * hooks, and in a signal handler. */

/* Terms (docs/glossary.md):
 *   hook: our function in the place of one of the C library's
 */

#ifndef SC_TOOLS_DEPOT_H
#define SC_TOOLS_DEPOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { SC_DEPOT_BUCKETS = 1 << 14, SC_DEPOT_CHUNKS_MAX = 256, SC_DEPOT_CHUNK_BYTES = 1 << 20 };

/* A store of records that are never removed. All zero at first. */
struct sc_depot {
    _Atomic uint32_t buckets[SC_DEPOT_BUCKETS];
    _Atomic(uint64_t *) chunks[SC_DEPOT_CHUNKS_MAX];
    _Atomic uint64_t words_used;
};

/* A record: its words begin with the key, `key_words` long. `next` is the id of the next record in
 * its chain. */
struct sc_depot_record {
    uint64_t hash;
    uint32_t next;
    uint32_t key_words;
    uint64_t words[];
};

/* Returns the id of the published record with this key; 0: there is none. A key is a run of words
 * of 8 bytes. */
uint32_t sc_depot_find(struct sc_depot *depot, const void *key, uint32_t key_words);

/* Reserves room for a record of so many words, which cannot be found before it is published.
 * Returns its id; 0: no room. The depot uses at most `chunks_max` chunks of SC_DEPOT_CHUNK_BYTES
 * each. */
uint32_t sc_depot_reserve(struct sc_depot *depot, uint64_t words, uint32_t chunks_max);

/* Publishes a reserved record, whose words the caller has written: it can be found from now on.
 * Returns the id of the record with this key, which may be one that another thread has published
 * before. */
uint32_t sc_depot_publish(struct sc_depot *depot, uint32_t id, uint32_t key_words);

/* Calls `visit` for each record that is published, until it returns true. Returns whether it did.
 */
typedef bool sc_depot_visitor(struct sc_depot_record *record, void *context);
bool sc_depot_visit(struct sc_depot *depot, sc_depot_visitor *visit, void *context);

/* Returns the record of an id that sc_depot_reserve returned. */
struct sc_depot_record *sc_depot_at(struct sc_depot *depot, uint32_t id);

#endif
