/* The index of the ledger's blocks: a hash table that finds a block by its name. The table grows by
 * one cell at a time, so no single call has to move all of it.
 *
 * A zeroed struct is an empty index. An entry takes 40 bytes, and 4 to 8 more in the table. Locks:
 * the ledger's lock guards every function. */

/* Terms (docs/glossary.md):
 *   ledger: which memory the process has, and which call stack asked for it
 */

#ifndef SC_LEDGER_LEDGER_INDEX_H
#define SC_LEDGER_LEDGER_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/pool.h"
#include "ledger/ledger_words.h"

/* The table is cut into parts: the first has 1 << SC_LEDGER_CELLS_SHIFT cells, and each later one
 * as many as all parts before it together. */
enum { SC_LEDGER_CELLS_SHIFT = 10, SC_LEDGER_PARTS = 16, SC_LEDGER_LATEST_SHIFT = 8 };

/* Kinds of entries that stand for no block. SC_LEDGER_RESTS: the entry of a pool's block that was
 * freed, which keeps its cell for a block that gets the same address again. A look-up does not
 * return it, and removes it instead. */
enum { SC_LEDGER_RESTS = SC_LEDGER_KINDS, SC_LEDGER_DROPPED };

struct sc_ledger_index {
    struct sc_pool entries;
    uint32_t cells; /* how many cells the table has; 0: it has not begun */
    /* the least power of two that is not below `cells`, minus 1; a hash is cut to it */
    uint32_t mask;
    /* the address at which the part's cell of number 0 would lie */
    uintptr_t parts[SC_LEDGER_PARTS];
    /* The entry that was added last for each hash of an address. It may have been dropped since, or
     * belong to another address. Every entry of kind SC_LEDGER_RESTS is in this table. */
    struct sc_ledger_entry *latest[1 << SC_LEDGER_LATEST_SHIFT];
};

/* Returns the entry with this id, as chains refer to entries. */
static inline struct sc_ledger_entry *sc_ledger_index_at(struct sc_ledger_index *index, uint32_t id)
{
    return sc_pool_at_of(&index->entries, id, sizeof(struct sc_ledger_entry));
}

/* Returns the part of the table that has the cell. */
static inline unsigned sc_ledger_index_part(uint32_t cell)
{
    uint32_t first = (1u << SC_LEDGER_CELLS_SHIFT) - 1;
    return 32 - SC_LEDGER_CELLS_SHIFT - (unsigned)__builtin_clz(cell | first);
}

/* Returns the cell of this number: the head of a chain of entries. */
static inline uint32_t *sc_ledger_index_cell(const struct sc_ledger_index *index, uint32_t cell)
{
    return (uint32_t *)(index->parts[sc_ledger_index_part(cell)] + cell * sizeof(uint32_t));
}

/* Returns the head of the chain that has the entries of this name. If the table has not grown to
 * the name's cell yet, that is the cell that will be split to make it. */
static inline uint32_t *sc_ledger_index_head(const struct sc_ledger_index *index,
                                             enum sc_ledger_space space, uint64_t name)
{
    uint64_t hash = (name ^ (uint64_t)space << 56) * 0x9E3779B97F4A7C15u;
    uint32_t cell = (uint32_t)(hash >> 32) & index->mask;
    return sc_ledger_index_cell(index, cell < index->cells ? cell : cell & index->mask >> 1);
}

/* Makes the first cells, at the first look-up. False: there is no memory. */
bool sc_ledger_index_begin(struct sc_ledger_index *index);

/* Removes the entry from its chain, and returns its memory to the pool of entries. */
static inline void sc_ledger_index_take_out(struct sc_ledger_index *index, uint32_t *link,
                                            struct sc_ledger_entry *entry)
{
    uint32_t id = *link;
    *link = entry->next;
    entry->kind = SC_LEDGER_DROPPED;
    sc_pool_release(&index->entries, id);
}

/* What a look-up has found: an entry, and the link that leads to it. `entry` NULL: there is none,
 * and one may be added at `link`; `link` NULL, too: no memory. Valid until an entry is added or
 * dropped. */
struct sc_ledger_found {
    struct sc_ledger_entry *entry;
    uint32_t *link;
};

/* Looks the block of this name up. An entry that rests (of a pool's block that was freed, kept for
 * the next block at that address) is removed instead of returned. The first look-up makes the
 * table. */
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

void sc_ledger_index_grow(struct sc_ledger_index *index); /* adds one cell */

/* Adds an entry of that name at the link that sc_ledger_index_seek has found. Its other members
 * have the values of an earlier block. NULL: no memory. */
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

/* Removes the entry that a look-up has found. */
static inline void sc_ledger_index_drop(struct sc_ledger_index *index, struct sc_ledger_found found)
{
    sc_ledger_index_take_out(index, found.link, found.entry);
}

/* Returns the place of the entry that was added last for this hash of an address: a shortcut to a
 * block that is freed soon. The entry may be another address's. */
static inline struct sc_ledger_entry **sc_ledger_index_latest(struct sc_ledger_index *index,
                                                              uint64_t address)
{
    return &index->latest[address * 0x9E3779B97F4A7C15u >> (64 - SC_LEDGER_LATEST_SHIFT)];
}

/* Enters the entry into `latest`, by which the next call for its address finds it without a
 * look-up. If an entry of a freed block (SC_LEDGER_RESTS) was there, that one is removed from the
 * index. */
void sc_ledger_index_note(struct sc_ledger_index *index, struct sc_ledger_entry *entry);

#endif
