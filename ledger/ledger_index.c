#include "ledger/ledger_index.h"

#include <stddef.h>

#include "track/own_pages.h"
#include "track/poison.h"

enum { FIRST_CELLS = 256, CELLS_MAX = 1 << 26 };

_Static_assert(sizeof(struct sc_ledger_entry) == 40, "a million blocks take 48 MB at most");

static uint64_t hash_of(enum sc_ledger_space space, uint64_t name)
{
    uint64_t hash = (name ^ (uint64_t)space << 56) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 32;
}

struct sc_ledger_shard *sc_ledger_index_shard(struct sc_ledger_index *index,
                                              enum sc_ledger_space space, uint64_t name)
{
    return &index->shards[hash_of(space, name) % SC_LEDGER_SHARDS];
}

static uint32_t *cell_of(const struct sc_ledger_shard *shard, enum sc_ledger_space space,
                         uint64_t name)
{
    return &shard->heads[hash_of(space, name) / SC_LEDGER_SHARDS & (shard->cells - 1)];
}

uint32_t sc_ledger_index_find(struct sc_ledger_shard *shard, enum sc_ledger_space space,
                              uint64_t name)
{
    SC_ASSERT_HELD(&shard->lock);
    if (!shard->heads)
        return 0;
    uint32_t id = *cell_of(shard, space, name);
    while (id) {
        const struct sc_ledger_entry *entry = sc_ledger_index_at(shard, id);
        if (entry->name == name && entry->space == space)
            break;
        id = entry->next;
    }
    return id;
}

static void link_in(struct sc_ledger_shard *shard, uint32_t id)
{
    struct sc_ledger_entry *entry = sc_ledger_index_at(shard, id);
    uint32_t *cell = cell_of(shard, entry->space, entry->name);
    entry->next = *cell;
    *cell = id;
}

/* Without memory chains grow longer instead. */
static bool grow(struct sc_ledger_shard *shard) SC_REQUIRES(shard->lock)
{
    uint32_t *old = shard->heads, old_cells = shard->cells;
    uint32_t cells = old ? old_cells * 2 : FIRST_CELLS;
    uint32_t *heads = cells <= CELLS_MAX ? sc_pages_map(cells * sizeof *heads) : NULL;
    if (!heads)
        return old;
    shard->heads = heads;
    shard->cells = cells;
    for (uint32_t i = 0; old && i < old_cells; i++)
        for (uint32_t id = old[i], next; id; id = next) {
            next = sc_ledger_index_at(shard, id)->next;
            link_in(shard, id);
        }
    sc_pages_unmap(old, old_cells * sizeof *old);
    return true;
}

/* Of a pool that is all zero: its pages are touched as they are needed. */
static void begin(struct sc_ledger_shard *shard)
{
    if (shard->entries.record_bytes)
        return;
    shard->entries.record_bytes = sizeof(struct sc_ledger_entry);
    atomic_store_explicit(&shard->entries.unused, 1, memory_order_relaxed);
    SC_GUARD(&shard->entries, &shard->lock);
}

uint32_t sc_ledger_index_add(struct sc_ledger_shard *shard, const struct sc_ledger_entry *entry)
{
    SC_ASSERT_HELD(&shard->lock);
    begin(shard);
    if (shard->entries.live >= shard->cells && !grow(shard))
        return 0;
    uint32_t id = sc_pool_take_as_is(&shard->entries);
    if (!id)
        return 0;
    *sc_ledger_index_at(shard, id) = *entry;
    link_in(shard, id);
    return id;
}

void sc_ledger_index_drop(struct sc_ledger_shard *shard, uint32_t id)
{
    SC_ASSERT_HELD(&shard->lock);
    const struct sc_ledger_entry *entry = sc_ledger_index_at(shard, id);
    uint32_t *link = cell_of(shard, entry->space, entry->name);
    while (*link != id)
        link = &sc_ledger_index_at(shard, *link)->next;
    *link = entry->next;
    sc_pool_give(&shard->entries, id);
}

void sc_ledger_index_destroy(struct sc_ledger_index *index)
{
    for (unsigned i = 0; i < SC_LEDGER_SHARDS; i++) {
        struct sc_ledger_shard *shard = &index->shards[i];
        sc_pages_unmap(shard->heads, shard->cells * sizeof *shard->heads);
        sc_pool_destroy(&shard->entries);
        shard->heads = NULL;
        shard->cells = 0;
    }
}
