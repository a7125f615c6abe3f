#include "ledger/ledger_index.h"

#include <string.h>

#include "common/own_pages.h"
#include "common/poison.h"

_Static_assert(sizeof(struct sc_ledger_entry) == 40, "a million blocks take 48 MB at most");

/* Returns the number of the first cell of a part of the table. Each part after the first has as
 * many cells as all before it. */
static uint32_t first_cell(unsigned part)
{
    return part ? 1u << (SC_LEDGER_CELLS_SHIFT + part - 1) : 0;
}

/* Returns the size of a part of the table. */
static size_t part_bytes(unsigned part)
{
    return (part ? first_cell(part) : 1u << SC_LEDGER_CELLS_SHIFT) * sizeof(uint32_t);
}

/* Maps the part of the table, unless it is mapped. `parts` has the address that cell 0 would have
 * there, so that a cell is found by its number alone. False: no memory, or the table has its most
 * parts. */
static bool map_part(struct sc_ledger_index *index, unsigned part)
{
    if (part < SC_LEDGER_PARTS && !index->parts[part]) {
        uintptr_t cells = (uintptr_t)sc_pages_map(part_bytes(part));
        index->parts[part] = cells ? cells - first_cell(part) * sizeof(uint32_t) : 0;
    }
    return part < SC_LEDGER_PARTS && index->parts[part];
}

/* Makes the table's first part, at the first look-up. False: there is no memory. */
bool sc_ledger_index_begin(struct sc_ledger_index *index)
{
    if (!map_part(index, 0))
        return false;
    sc_pool_init(&index->entries, sizeof(struct sc_ledger_entry));
    index->cells = 1u << SC_LEDGER_CELLS_SHIFT;
    index->mask = index->cells - 1;
    return true;
}

/* Adds one cell, and moves the entries that belong there from the cell that had them (linear
 * hashing), so that no call has to move all. `mask` gets a bit more when the cells have doubled.
 * Without memory nothing is added, and chains become longer. */
__attribute__((cold)) void sc_ledger_index_grow(struct sc_ledger_index *index)
{
    uint32_t fresh = index->cells;
    if (!map_part(index, sc_ledger_index_part(fresh)))
        return;
    if (fresh > index->mask)
        index->mask = index->mask << 1 | 1;
    uint32_t *link = sc_ledger_index_cell(index, fresh & index->mask >> 1);
    uint32_t *moved = sc_ledger_index_cell(index, fresh);
    index->cells++;
    while (*link) {
        struct sc_ledger_entry *entry = sc_ledger_index_at(index, *link);
        if (sc_ledger_index_head(index, entry->space, entry->name) !=
            sc_ledger_index_cell(index, fresh)) {
            link = &entry->next;
            continue;
        }
        *moved = *link;
        moved = &entry->next;
        *link = entry->next;
    }
    *moved = 0;
}

/* Enters the entry into the table `latest`, by which its block is found quickly when it is freed.
 * An entry that rests there (of a freed block) leaves that table, and may not stay in the index:
 * the look-up removes it. */
void sc_ledger_index_note(struct sc_ledger_index *index, struct sc_ledger_entry *entry)
{
    struct sc_ledger_entry **latest = sc_ledger_index_latest(index, entry->name);
    if (*latest && *latest != entry && (*latest)->kind == SC_LEDGER_RESTS)
        sc_ledger_index_seek(index, SC_LEDGER_ADDRESS, (*latest)->name);
    *latest = entry;
}
