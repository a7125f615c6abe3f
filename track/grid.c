#include "track/grid.h"

#include <errno.h>
#include <string.h>

#include "common/checks.h"
#include "common/own_pages.h"
#include "common/pool.h"
#include "common/seqlock.h"

#include "common/poison.h"

enum { RACES_MAX = 8, FILTER_STEPS_MAX = 16, CHECKED_STEPS_MAX = 64, LOOKED_AT_MAX = 256 };

#define SECOND_SIDE (1u << 31)

/* The binary logarithm of the size of a level's cells: 4 KB on level 0, and four times as much on
 * each further one. */
static unsigned cell_shift(int level)
{
    return 12 + SC_GRID_STEP_SHIFT * (unsigned)level;
}

/* Returns the level on which an item of this size is entered: the finest whose cells are at least
 * as large, so that the item overlaps at most two of them. */
static int level_of(size_t size_bytes)
{
    if (size_bytes <= (size_t)1 << cell_shift(0))
        return 0;
    unsigned bits = 64 - (unsigned)__builtin_clzll(size_bytes - 1); /* of a cell of this size */
    int level = (int)(bits - cell_shift(0) + SC_GRID_STEP_SHIFT - 1) / SC_GRID_STEP_SHIFT;
    return level < SC_GRID_LEVELS ? level : SC_GRID_LEVELS - 1;
}

/* Returns the slot of the hash table that has the cell's chain. Neighbouring cells have
 * neighbouring slots, so that a walk over an interval reads memory in order. The high bits are
 * mixed in, so that distant regions do not share slots. */
static uint32_t slot_of(const struct sc_grid *grid, int level, uint64_t cell)
{
    uint64_t spread = (cell >> 14) * 0x9E3779B97F4A7C15u >> 40;
    return (uint32_t)(cell + spread + (uint64_t)level * 0x2545F491u) & grid->mask;
}

/* Sets the bounds of all items; sc_grid_may_reach reads them without a lock. */
static void set_bounds(struct sc_grid *grid, uintptr_t low, uintptr_t high)
{
    atomic_store_explicit(&grid->low, low, memory_order_release);
    atomic_store_explicit(&grid->high, high, memory_order_release);
}

/* An item comes: widens the bounds of all items to include it. They become narrower only when the
 * grid is empty again. */
static void widen_bounds(struct sc_grid *grid, const struct sc_grid_node *node)
{
    uintptr_t low = atomic_load_explicit(&grid->low, memory_order_relaxed);
    uintptr_t high = atomic_load_explicit(&grid->high, memory_order_relaxed);
    uintptr_t address = atomic_load_explicit(&node->address, memory_order_relaxed);
    uintptr_t end = address + atomic_load_explicit(&node->size_bytes, memory_order_relaxed);
    if (address < low || end > high)
        set_bounds(grid, address < low ? address : low, end > high ? end : high);
}

/* Returns the item with this id: a record of the owner's pool that begins with the grid's links. */
static struct sc_grid_node *node_at(struct sc_grid *grid, uint32_t id)
{
    return sc_pool_at(grid->pool, id);
}

/* Initialises an empty grid (an index that finds what lies at an address). `cells`, the size of its
 * hash table, is a power of two. */
int sc_grid_init(struct sc_grid *grid, struct sc_pool *pool, uint32_t cells)
{
    memset(grid, 0, sizeof *grid);
    grid->pool = pool;
    SC_ASSERT(cells != 0 && (cells & (cells - 1)) == 0);
    grid->mask = cells - 1;
    set_bounds(grid, UINTPTR_MAX, 0);
    grid->heads = sc_pages_map(cells * sizeof *grid->heads);
    return grid->heads ? 0 : -ENOMEM;
}

/* Sets whether the level has items, so that look-ups go to no other one. */
static void set_level_bit(struct sc_grid *grid, int level, bool lived_in)
{
    uint32_t levels = atomic_load_explicit(&grid->levels, memory_order_relaxed);
    levels = lived_in ? levels | 1u << level : levels & ~(1u << level);
    atomic_store_explicit(&grid->levels, levels, memory_order_release);
}

/* Returns the levels of the grid that have items, as bits, for loops of the form: for (levels =
 * populated_levels(grid); levels; levels &= levels - 1). */
static uint32_t populated_levels(struct sc_grid *grid)
{
    return atomic_load_explicit(&grid->levels, memory_order_acquire);
}

/* Returns the finest of these levels. */
static int lowest(uint32_t levels)
{
    return __builtin_ctz(levels);
}

/* The cells of an item, on its level. */
struct cells {
    int level;
    uint64_t first;
    uint64_t last;
};

/* Returns which cells the item overlaps, and on which level. */
static inline __attribute__((always_inline)) struct cells cells_of(const struct sc_grid_node *node)
{
    uintptr_t address = atomic_load_explicit(&node->address, memory_order_relaxed);
    size_t size_bytes = atomic_load_explicit(&node->size_bytes, memory_order_relaxed);
    int level = level_of(size_bytes);
    return (struct cells){level, address >> cell_shift(level),
                          (address + size_bytes - 1) >> cell_shift(level)};
}

/* Tells whether the entry of a chain stands for its item's first cell (0) or second cell (1). */
static unsigned side_of(uint32_t entry)
{
    return entry & SECOND_SIDE ? 1 : 0;
}

/* Returns the item that the entry of a chain stands for. The entry's top bit says in which of its
 * two cells. */
static struct sc_grid_node *node_of(struct sc_grid *grid, uint32_t entry)
{
    return node_at(grid, entry & ~SECOND_SIDE);
}

/* Sets the link back from the entry, in the chain of that cell of its item. Entry 0 is the end of a
 * chain. */
static void set_previous(struct sc_grid *grid, uint32_t entry, uint32_t previous)
{
    if (entry)
        node_of(grid, entry)->previous[side_of(entry)] = previous;
}

/* Adds the entry at the head of its chain. Readers without the lock follow `next` alone, which is
 * stored before the entry can be found. */
static inline __attribute__((always_inline)) void link_entry(struct sc_grid *grid, uint32_t entry,
                                                             uint32_t slot)
{
    uint32_t head = atomic_load_explicit(&grid->heads[slot], memory_order_relaxed);
    atomic_store_explicit(&node_of(grid, entry)->next[side_of(entry)], head, memory_order_release);
    set_previous(grid, entry, 0);
    set_previous(grid, head, entry);
    atomic_store_explicit(&grid->heads[slot], entry, memory_order_release);
}

/* Removes the entry from its chain. Its own `next` stays, for readers without the lock that are
 * just there. */
static inline __attribute__((always_inline)) void unlink_entry(struct sc_grid *grid, uint32_t entry,
                                                               uint32_t slot)
{
    struct sc_grid_node *node = node_of(grid, entry);
    uint32_t next = atomic_load_explicit(&node->next[side_of(entry)], memory_order_relaxed);
    uint32_t previous = node->previous[side_of(entry)];
    _Atomic uint32_t *link =
        previous ? &node_of(grid, previous)->next[side_of(previous)] : &grid->heads[slot];
    atomic_store_explicit(link, next, memory_order_release);
    set_previous(grid, next, previous);
}

/* Enters an item in its second cell. Most items lie in one cell, so this is kept out of line. */
static __attribute__((noinline)) void link_second(struct sc_grid *grid, uint32_t id, uint32_t slot)
{
    link_entry(grid, id | SECOND_SIDE, slot);
}

/* Removes an item from its second cell. Most items lie in one cell, so this is kept out of line. */
static __attribute__((noinline)) void unlink_second(struct sc_grid *grid, uint32_t id,
                                                    uint32_t slot)
{
    unlink_entry(grid, id | SECOND_SIDE, slot);
}

/* In debug builds: each entry links back to the one before it, and belongs into this chain. */
static SC_CHECKER void check_chain(struct sc_grid *grid, uint32_t slot)
{
    uint32_t previous = 0, steps = 0;
    uint32_t at = atomic_load_explicit(&grid->heads[slot], memory_order_relaxed);
    while (at && steps++ < CHECKED_STEPS_MAX) {
        SC_ASSERT((at & ~SECOND_SIDE) < sc_pool_first_unused(grid->pool));
        const struct sc_grid_node *node = node_of(grid, at);
        struct cells span = cells_of(node);
        SC_ASSERT(node->previous[side_of(at)] == previous);
        SC_ASSERT(slot_of(grid, span.level, side_of(at) ? span.last : span.first) == slot);
        SC_ASSERT(grid->population[span.level] != 0);
        previous = at;
        at = atomic_load_explicit(&node->next[side_of(at)], memory_order_relaxed);
    }
}

/* In debug builds: the chains of the item's cells are consistent. */
static SC_CHECKER void check_cells(struct sc_grid *grid, const struct cells *span)
{
    SC_ASSERT(span->last - span->first <= 1);
    SC_ASSERT(!(atomic_load_explicit(&grid->version, memory_order_relaxed) & 1));
    SC_ASSERT((populated_levels(grid) >> span->level & 1) == (grid->population[span->level] != 0));
    check_chain(grid, slot_of(grid, span->level, span->first));
    check_chain(grid, slot_of(grid, span->level, span->last));
}

/* Adds an item, in the one or two cells that it overlaps. The version is odd meanwhile: a reader
 * without the lock may find half of the change, sees the version, and tries again. */
void sc_grid_insert(struct sc_grid *grid, uint32_t id)
{
    SC_ASSERT_GUARDED(grid->pool);
    SC_ASSERT(id != 0 && id < sc_pool_first_unused(grid->pool));
    SC_ASSERT(atomic_load_explicit(&node_at(grid, id)->size_bytes, memory_order_relaxed) != 0);
    struct cells span = cells_of(node_at(grid, id));
    widen_bounds(grid, node_at(grid, id));
    sc_seqlock_next(&grid->version);
    link_entry(grid, id, slot_of(grid, span.level, span.first));
    if (span.last != span.first)
        link_second(grid, id, slot_of(grid, span.level, span.last));
    if (grid->population[span.level]++ == 0)
        set_level_bit(grid, span.level, true);
    sc_seqlock_next(&grid->version);
    SC_CHECK(check_cells(grid, &span));
}

/* Removes an item. The version is odd meanwhile, as in sc_grid_insert. */
void sc_grid_remove(struct sc_grid *grid, uint32_t id)
{
    SC_ASSERT_GUARDED(grid->pool);
    struct cells span = cells_of(node_at(grid, id));
    SC_ASSERT(id != 0 && id < sc_pool_first_unused(grid->pool));
    SC_CHECK(check_cells(grid, &span));
    SC_ASSERT(grid->population[span.level] != 0);
    sc_seqlock_next(&grid->version);
    unlink_entry(grid, id, slot_of(grid, span.level, span.first));
    if (span.last != span.first)
        unlink_second(grid, id, slot_of(grid, span.level, span.last));
    if (--grid->population[span.level] == 0)
        set_level_bit(grid, span.level, false);
    if (!populated_levels(grid))
        set_bounds(grid, UINTPTR_MAX, 0);
    sc_seqlock_next(&grid->version);
    SC_CHECK(check_cells(grid, &span));
}

/* Returns an item of the chain that contains the address, or 0. The chain may change while a reader
 * without the lock follows it: so the number of steps is bounded, and the caller checks the version
 * afterwards. */
static uint32_t find_in_chain(struct sc_grid *grid, uint32_t slot, uintptr_t address)
{
    uint32_t at = atomic_load_explicit(&grid->heads[slot], memory_order_acquire);
    for (unsigned steps = 0; at && steps < 1u << 20; steps++) {
        struct sc_grid_node *node = node_at(grid, at & ~SECOND_SIDE);
        uintptr_t start = atomic_load_explicit(&node->address, memory_order_acquire);
        size_t size_bytes = atomic_load_explicit(&node->size_bytes, memory_order_acquire);
        if (address - start < size_bytes)
            return at & ~SECOND_SIDE;
        at = atomic_load_explicit(&node->next[at & SECOND_SIDE ? 1 : 0], memory_order_acquire);
    }
    return 0;
}

/* Returns the id of an item at the address, or 0. On each level with items one cell contains the
 * address, and its chain is searched. */
uint32_t sc_grid_find_at_locked(struct sc_grid *grid, uintptr_t address)
{
    for (uint32_t levels = populated_levels(grid); levels; levels &= levels - 1) {
        int level = lowest(levels);
        uint32_t id =
            find_in_chain(grid, slot_of(grid, level, address >> cell_shift(level)), address);
        if (id)
            return id;
    }
    return 0;
}

/* Looks an address up without the lock: repeats that if the grid was changed meanwhile, a few
 * times, and then leaves it to the caller to look under the lock. */
uint32_t sc_grid_find_at(struct sc_grid *grid, uintptr_t address)
{
    for (int race = 0; race < RACES_MAX; race++) {
        uint64_t version = atomic_load_explicit(&grid->version, memory_order_acquire);
        if (version & 1)
            continue;
        uint32_t id = sc_grid_find_at_locked(grid, address);
        if (atomic_load_explicit(&grid->version, memory_order_relaxed) == version)
            return id;
    }
    return SC_GRID_RETRY;
}

/* Does the item overlap the interval? */
static bool item_overlaps(const struct sc_grid_node *node, uintptr_t address, size_t size_bytes)
{
    uintptr_t start = atomic_load_explicit(&node->address, memory_order_relaxed);
    size_t length = atomic_load_explicit(&node->size_bytes, memory_order_relaxed);
    return start < address + size_bytes && address < start + length;
}

/* May an item of this chain overlap the interval? Asked without the lock. True also for a long
 * chain: who asks looks under the lock then, which takes no longer than to go on here. */
static bool chain_may_overlap(struct sc_grid *grid, uint32_t slot, uintptr_t address,
                              size_t size_bytes)
{
    uint32_t at = atomic_load_explicit(&grid->heads[slot], memory_order_acquire);
    for (unsigned steps = 0; at; steps++) {
        struct sc_grid_node *node = node_at(grid, at & ~SECOND_SIDE);
        if (steps == FILTER_STEPS_MAX || item_overlaps(node, address, size_bytes))
            return true;
        at = atomic_load_explicit(&node->next[at & SECOND_SIDE ? 1 : 0], memory_order_acquire);
    }
    return false;
}

/* Could an item in this cell overlap the interval? True also if the grid changes meanwhile. */
static bool cell_may_overlap(struct sc_grid *grid, uint32_t slot, uintptr_t address,
                             size_t size_bytes)
{
    uint64_t version = atomic_load_explicit(&grid->version, memory_order_acquire);
    return (version & 1) || chain_may_overlap(grid, slot, address, size_bytes) ||
           atomic_load_explicit(&grid->version, memory_order_relaxed) != version;
}

/* Asked without the lock, as by each free(), where nothing is there mostly: looks into the chains
 * of the cells that the interval has on each level with items. For many cells the answer is true,
 * as the caller can then afford to look under the lock. */
bool sc_grid_cells_may_overlap(struct sc_grid *grid, uintptr_t address, size_t size_bytes)
{
    uint32_t levels = populated_levels(grid);
    uintptr_t end = address + size_bytes - (size_bytes > 0);
    if (levels && __builtin_expect(size_bytes >> cell_shift(lowest(levels)) > LOOKED_AT_MAX, 0))
        return true;
    for (; levels; levels &= levels - 1) {
        int level = lowest(levels);
        for (uint64_t cell = address >> cell_shift(level); cell <= end >> cell_shift(level);
             cell++) {
            uint32_t slot = slot_of(grid, level, cell);
            if (atomic_load_explicit(&grid->heads[slot], memory_order_acquire) != 0 &&
                cell_may_overlap(grid, slot, address, size_bytes))
                return true;
        }
    }
    return false;
}

/* Is this the entry by which a walk visits the item? An item of two cells is met twice. It counts
 * in the first of its cells that the walk covers, and by the entry for that cell, since both cells
 * may be in one chain. Items of other levels share the chain. */
static bool is_visited(const struct sc_grid_node *node, uint32_t entry, int level, uint64_t cell,
                       uint64_t first_cell)
{
    struct cells span = cells_of(node);
    uint64_t counted_in = span.first > first_cell ? span.first : first_cell;
    uint64_t linked_from = entry & SECOND_SIDE ? span.last : span.first;
    return span.level == level && counted_in == cell && linked_from == cell;
}

/* Returns how many cells a walk over the interval would visit, by which callers choose another way.
 */
uint64_t sc_grid_overlap_cost(struct sc_grid *grid, uintptr_t address, size_t size_bytes)
{
    uint64_t cells = 0;
    for (uint32_t levels = populated_levels(grid); levels; levels &= levels - 1) {
        unsigned shift = cell_shift(lowest(levels));
        cells += ((address + size_bytes - 1) >> shift) - (address >> shift) + 1;
    }
    return cells;
}

/* Begins the walk over a grid: level by level, cell by cell, or through the whole hash table if
 * that has fewer chains. An empty interval meets nothing. */
static void begin_grid_walk(struct sc_grid_walk *walk, struct sc_grid *grid)
{
    SC_ASSERT_GUARDED(grid->pool);
    bool is_any = walk->size_bytes != 0;
    bool by_table =
        is_any && sc_grid_overlap_cost(grid, walk->address, walk->size_bytes) > grid->mask;
    walk->grid = grid;
    walk->levels = is_any && !by_table ? populated_levels(grid) : 0;
    walk->level = by_table ? -1 : 0;
    walk->cell = by_table ? UINT64_MAX : 0; /* before the first chain */
    walk->end_cell = by_table ? (uint64_t)grid->mask + 1 : 0;
}

/* Moves the walk to the next chain. Returns false if there is none. */
static bool advance_walk(struct sc_grid_walk *walk)
{
    if (++walk->cell >= walk->end_cell && walk->levels) {
        walk->level = lowest(walk->levels);
        walk->levels &= walk->levels - 1;
        walk->cell = walk->first_cell = walk->address >> cell_shift(walk->level);
        walk->end_cell = ((walk->address + walk->size_bytes - 1) >> cell_shift(walk->level)) + 1;
    } else if (walk->cell >= walk->end_cell) {
        return false;
    }
    uint32_t slot =
        walk->level < 0 ? (uint32_t)walk->cell : slot_of(walk->grid, walk->level, walk->cell);
    walk->entry = atomic_load_explicit(&walk->grid->heads[slot], memory_order_relaxed);
    return true;
}

/* Is the item of this entry the walk's next one? In a walk through the whole table each item counts
 * by its first cell, so that it is met once. */
static bool is_hit(const struct sc_grid_walk *walk, const struct sc_grid_node *node, uint32_t entry)
{
    return item_overlaps(node, walk->address, walk->size_bytes) &&
           (walk->level < 0 ? !(entry & SECOND_SIDE)
                            : is_visited(node, entry, walk->level, walk->cell, walk->first_cell));
}

/* Moves the walk to the next item: in the present chain, in the next chains, and at last in the
 * grid that the caller wants walked behind this one. */
void sc_grid_next(struct sc_grid_walk *walk)
{
    for (;;) {
        while (walk->entry) {
            uint32_t entry = walk->entry;
            struct sc_grid_node *node = node_at(walk->grid, entry & ~SECOND_SIDE);
            walk->entry = atomic_load_explicit(&node->next[entry & SECOND_SIDE ? 1 : 0],
                                               memory_order_relaxed);
            walk->id = entry & ~SECOND_SIDE;
            if (is_hit(walk, node, entry))
                return;
        }
        walk->id = 0;
        if (advance_walk(walk))
            continue;
        if (!walk->behind)
            return;
        begin_grid_walk(walk, walk->behind);
        walk->behind = NULL;
    }
}

/* Begins a walk over the items that overlap the interval: those of `grid`, then those of `behind`.
 */
struct sc_grid_walk sc_grid_begin_walk(struct sc_grid *grid, struct sc_grid *behind,
                                       uintptr_t address, size_t size_bytes)
{
    struct sc_grid_walk walk = {.behind = behind, .address = address, .size_bytes = size_bytes};
    begin_grid_walk(&walk, grid);
    sc_grid_next(&walk);
    return walk;
}
