/* An index of address intervals: finds the items at an address.
 *
 * The grid has levels with cells of 4 KB, 16 KB, 64 KB ... 256 TB (more than a process can map).
 * Every item is entered on the finest level whose cells are at least as large as the item, so it
 * overlaps at most two cells. All cells share one hash table, which has a chain of items for each
 * slot. Insert, remove and a look-up of one address take O(1) for any number of items. A look-up of
 * an interval visits the cells that the interval covers on each populated level, or the whole table
 * once if that is cheaper.
 *
 * An entry of a chain is an item's id, and bit 31 says whether it stands for the item's first or
 * second cell, since both may be in one chain. Items are records of a pool that begin with a struct
 * sc_grid_node. To change the grid the lock of its owner is needed. sc_grid_find_at and
 * sc_grid_may_overlap take no lock, on any thread: a version counter tells them that the grid was
 * changed meanwhile. After a few such attempts sc_grid_find_at returns SC_GRID_RETRY, and the
 * caller repeats it under the lock. */

/* Terms (docs/glossary.md):
 *   grid: the index that finds what lies at an address
 */

#ifndef SC_TRACK_GRID_H
#define SC_TRACK_GRID_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_pool;

enum { SC_GRID_LEVELS = 19, SC_GRID_STEP_SHIFT = 2 };

struct sc_grid_node {
    _Atomic uintptr_t address;
    _Atomic size_t size_bytes; /* at least 1 while in the grid */
    /* the next entry in the chain of the item's first cell, and of its second one */
    _Atomic uint32_t next[2];
    /* read and written under the lock alone; 0: the entry is the first of its chain */
    uint32_t previous[2];
};

/* A grid. The fields that threads change lie in another cache line than those that they only read.
 */
struct sc_grid {
    struct sc_pool *pool;
    _Atomic uint32_t *heads; /* the first entry of each chain */
    uint32_t mask;
    _Alignas(64) _Atomic uint64_t version; /* odd while a change is under way */
    /* The bounds of all items that were inserted since the grid was last empty. In an empty grid
     * `low` is above `high`. */
    _Atomic uintptr_t low, high;
    _Atomic uint32_t levels; /* a bit for each level that has items */
    uint32_t population[SC_GRID_LEVELS];
};

#define SC_GRID_RETRY UINT32_MAX

/* Initialises the grid; returns 0 or -ENOMEM. `cells`: the size of the hash table, a power of two.
 */
int sc_grid_init(struct sc_grid *grid, struct sc_pool *pool, uint32_t cells);

void sc_grid_insert(struct sc_grid *grid, uint32_t id);
void sc_grid_remove(struct sc_grid *grid, uint32_t id);

/* Return the item that contains the address, or 0. sc_grid_find_at takes no lock, and returns
 * SC_GRID_RETRY if the grid was changed at each of its attempts; the other one needs the lock. */
uint32_t sc_grid_find_at(struct sc_grid *grid, uintptr_t address);
uint32_t sc_grid_find_at_locked(struct sc_grid *grid, uintptr_t address);

/* A walk over the items that overlap an interval: visits each once, in no particular order. The
 * grid must not change during the walk. */
struct sc_grid_walk {
    uint32_t id;          /* the present item; 0: the walk is over */
    struct sc_grid *grid; /* the grid of the present chain */
    /* the grid that is walked after it, or NULL; both have items of the same pool */
    struct sc_grid *behind;
    uintptr_t address;
    size_t size_bytes;
    uint32_t entry;  /* the next entry of the present chain */
    uint32_t levels; /* the levels still to be walked, as bits */
    /* the present level; below 0: the walk goes through the whole table, chain by chain */
    int level;
    uint64_t cell, first_cell, end_cell;
};

/* Begins a walk over the items of `grid`, and then over those of `behind` unless that is NULL. */
struct sc_grid_walk sc_grid_begin_walk(struct sc_grid *grid, struct sc_grid *behind,
                                       uintptr_t address, size_t size_bytes);
void sc_grid_next(struct sc_grid_walk *walk);

#define SC_GRID_EACH(walk, grid, address, size_bytes)                                              \
    SC_GRID_EACH_OF_TWO (walk, grid, NULL, address, size_bytes)
#define SC_GRID_EACH_OF_TWO(walk, grid, behind, address, size_bytes)                               \
    for (struct sc_grid_walk walk = sc_grid_begin_walk(grid, behind, address, size_bytes);         \
         walk.id; sc_grid_next(&walk))

/* Returns one of the items that overlap the interval, or 0. */
static inline uint32_t sc_grid_find_any(struct sc_grid *grid, uintptr_t address, size_t size_bytes)
{
    return sc_grid_begin_walk(grid, NULL, address, size_bytes).id;
}

/* Returns how many cells a walk over the interval would visit. */
uint64_t sc_grid_overlap_cost(struct sc_grid *grid, uintptr_t address, size_t size_bytes);

static inline bool sc_grid_is_empty(struct sc_grid *grid)
{
    return atomic_load_explicit(&grid->levels, memory_order_relaxed) == 0;
}

/* Returns false only if no item overlaps the interval. Looks only at the bounds of all items that
 * were inserted since the grid was last empty. Lock-free. */
static inline bool sc_grid_may_reach(struct sc_grid *grid, uintptr_t address, size_t size_bytes)
{
    uintptr_t low = atomic_load_explicit(&grid->low, memory_order_acquire);
    return address < atomic_load_explicit(&grid->high, memory_order_acquire) &&
           (address >= low || low - address <= size_bytes);
}

/* Returns false only if no item overlaps the interval. Lock-free. For a block of up to a page it
 * looks at one or two cells on each populated level. Returns true for an interval of more than 256
 * cells of the finest populated level (1 MB, if there are small items). */
bool sc_grid_cells_may_overlap(struct sc_grid *grid, uintptr_t address, size_t size_bytes);

static inline bool sc_grid_may_overlap(struct sc_grid *grid, uintptr_t address, size_t size_bytes)
{
    return sc_grid_may_reach(grid, address, size_bytes) &&
           sc_grid_cells_may_overlap(grid, address, size_bytes);
}

#endif
