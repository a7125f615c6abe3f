/* The blocks of the ledger by their names: a hash table that grows by a cell at a time, so that no
 * call pays for all of it.
 *
 * All zero is an empty index. An entry takes 40 bytes, and 4 to 8 more of the table. The ledger's
 * lock guards all of it.
 */
#ifndef SC_LEDGER_LEDGER_INDEX_H
#define SC_LEDGER_LEDGER_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/pool.h"
#include "ledger/ledger_words.h"

/* The first part of the table has so many cells, and each later one as many as all before it. */
enum { SC_LEDGER_CELLS_SHIFT = 10, SC_LEDGER_PARTS = 16, SC_LEDGER_LATEST_SHIFT = 8 };

/* What an entry is that names nothing. One that rests stands where it stood, for a block that gets
 * the same address again: to whom seeks its name it is not there, and does not come back. */
enum { SC_LEDGER_RESTS = SC_LEDGER_KINDS, SC_LEDGER_DROPPED };

struct sc_ledger_index {
    struct sc_pool entries;
    uint32_t cells; /* heads of chains; 0: there was nothing yet */
    uint32_t mask;  /* of a hash: the least power of two that is no less, less 1 */
    uintptr_t parts[SC_LEDGER_PARTS]; /* where the part's cell of number 0 would lie */
    /* Of addresses: the entry that was noted last of each hash. It may have been dropped since, or
     * name something else. All that rest are here. */
    struct sc_ledger_entry *latest[1 << SC_LEDGER_LATEST_SHIFT];
};

static inline struct sc_ledger_entry *sc_ledger_index_at(struct sc_ledger_index *index, uint32_t id)
{
    return sc_pool_at_of(&index->entries, id, sizeof(struct sc_ledger_entry));
}

static inline unsigned sc_ledger_index_part(uint32_t cell)
{
    uint32_t first = (1u << SC_LEDGER_CELLS_SHIFT) - 1;
    return 32 - SC_LEDGER_CELLS_SHIFT - (unsigned)__builtin_clz(cell | first);
}

static inline uint32_t *sc_ledger_index_cell(const struct sc_ledger_index *index, uint32_t cell)
{
    return (uint32_t *)(index->parts[sc_ledger_index_part(cell)] + cell * sizeof(uint32_t));
}

/* A cell that is not there yet has its entries in the one from which it will be split. */
static inline uint32_t *sc_ledger_index_head(const struct sc_ledger_index *index,
                                             enum sc_ledger_space space, uint64_t name)
{
    uint64_t hash = (name ^ (uint64_t)space << 56) * 0x9E3779B97F4A7C15u;
    uint32_t cell = (uint32_t)(hash >> 32) & index->mask;
    return sc_ledger_index_cell(index, cell < index->cells ? cell : cell & index->mask >> 1);
}

bool sc_ledger_index_begin(struct sc_ledger_index *index); /* false: without memory */

/* Takes the entry out. */
static inline void sc_ledger_index_take_out(struct sc_ledger_index *index, uint32_t *link,
                                            struct sc_ledger_entry *entry)
{
    uint32_t id = *link;
    *link = entry->next;
    entry->kind = SC_LEDGER_DROPPED;
    sc_pool_give(&index->entries, id);
}

/* An entry, and the link that leads to it. NULL: there is none, and where the link is not NULL one
 * may be added there. It is good until an entry is added or dropped. */
struct sc_ledger_found {
    struct sc_ledger_entry *entry;
    uint32_t *link;
};

static inline struct sc_ledger_found sc_ledger_index_seek(struct sc_ledger_index *index,
                                                          enum sc_ledger_space space, uint64_t name)
{
    SC_ASSERT_GUARDED(&index->entries);
    if (__builtin_expect(!index->cells, 0) && !sc_ledger_index_begin(index))
        return (struct sc_ledger_found){NULL, NULL};
    uint32_t *link = sc_ledger_index_head(index, space, name), id;
    while ((id = *link) != 0) {
        struct sc_ledger_entry *entry = sc_ledger_index_at(index, id);
        bool is_it = entry->name == name && entry->space == space;
        if (is_it && __builtin_expect(entry->kind != SC_LEDGER_RESTS, 1))
            return (struct sc_ledger_found){entry, link};
        if (is_it)
            sc_ledger_index_take_out(index, link, entry);
        else
            link = &entry->next;
    }
    return (struct sc_ledger_found){NULL, link};
}

void sc_ledger_index_grow(struct sc_ledger_index *index); /* by a cell */

/* Puts an entry of that name there, which is else as it was when it was last used. NULL: without
 * memory. */
static inline struct sc_ledger_entry *sc_ledger_index_add(struct sc_ledger_index *index,
                                                          uint32_t *link,
                                                          enum sc_ledger_space space, uint64_t name)
{
    SC_ASSERT(*link == 0);
    uint32_t id = sc_pool_take_as_is(&index->entries);
    if (!id)
        return NULL;
    struct sc_ledger_entry *entry = sc_ledger_index_at(index, id);
    entry->name = name;
    entry->space = (uint8_t)space;
    entry->next = 0;
    *link = id;
    if (__builtin_expect(index->entries.live > index->cells, 0))
        sc_ledger_index_grow(index);
    return entry;
}

static inline void sc_ledger_index_drop(struct sc_ledger_index *index, struct sc_ledger_found found)
{
    sc_ledger_index_take_out(index, found.link, found.entry);
}

static inline struct sc_ledger_entry **sc_ledger_index_latest(struct sc_ledger_index *index,
                                                              uint64_t address)
{
    return &index->latest[address * 0x9E3779B97F4A7C15u >> (64 - SC_LEDGER_LATEST_SHIFT)];
}

/* The latest one of its hash, from now on. */
void sc_ledger_index_note(struct sc_ledger_index *index, struct sc_ledger_entry *entry);

void sc_ledger_index_destroy(struct sc_ledger_index *index);

#endif
