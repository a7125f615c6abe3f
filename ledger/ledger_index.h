/* The blocks of the ledger by their names: hash tables under a lock each.
 *
 * All zero is an empty index. A table grows with what it holds. An entry takes 40 bytes, and 4 to 8
 * more of the table.
 */
#ifndef SC_LEDGER_LEDGER_INDEX_H
#define SC_LEDGER_LEDGER_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "ledger/ledger_words.h"
#include "track/brief_lock.h"
#include "track/checks.h"
#include "track/pool.h"

struct sc_ledger_entry {
    uint64_t name;
    uint64_t size_bytes;
    union {
        uint64_t of; /* of a mapping the memory's handle; of pooled memory the pool's */
        struct {
            uint32_t references, mappings; /* of what may have more than one */
        };
    };
    uint32_t next;
    uint32_t account; /* accounts.h */
    uint32_t context;
    uint8_t space, kind, place;
    bool leaves; /* it is counted no more, and the driver has not answered yet */
};

struct sc_ledger_shard {
    struct sc_brief_lock lock;
    struct sc_pool entries; /* under the lock, as is all below */
    uint32_t *heads;        /* of chains; NULL: there was nothing yet */
    uint32_t cells;         /* a power of two */
};

enum { SC_LEDGER_SHARDS = 16 };

struct sc_ledger_index {
    struct sc_ledger_shard shards[SC_LEDGER_SHARDS];
};

struct sc_ledger_shard *sc_ledger_index_shard(struct sc_ledger_index *index,
                                              enum sc_ledger_space space, uint64_t name);

/* The id of the entry, or 0. */
uint32_t sc_ledger_index_find(struct sc_ledger_shard *shard, enum sc_ledger_space space,
                              uint64_t name) SC_REQUIRES(shard->lock);

/* Adds the entry. Needs: there is none of that name. Its id, or 0 without memory. */
uint32_t sc_ledger_index_add(struct sc_ledger_shard *shard, const struct sc_ledger_entry *entry)
    SC_REQUIRES(shard->lock);

void sc_ledger_index_drop(struct sc_ledger_shard *shard, uint32_t id) SC_REQUIRES(shard->lock);

static inline struct sc_ledger_entry *sc_ledger_index_at(struct sc_ledger_shard *shard, uint32_t id)
{
    return sc_pool_at(&shard->entries, id);
}

void sc_ledger_index_destroy(struct sc_ledger_index *index);

#endif
