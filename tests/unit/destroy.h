/* What a tracker has taken is given back, which no process does: the units and the fuzzers make
 * many.
 */
#ifndef TESTS_UNIT_DESTROY_H
#define TESTS_UNIT_DESTROY_H

#include "common/arena.h"
#include "common/own_pages.h"
#include "track/allocations_internal.h"
#include "track/events_internal.h"
#include "track/graphs_internal.h"
#include "track/grid.h"
#include "track/hold_internal.h"
#include "track/inflight.h"
#include "track/order.h"
#include "track/spans.h"
#include "track/tracker.h"

#include <string.h>

/* Unmaps the chunks or blocks of a list, each of which begins with the address of the next. */
static inline void unmap_list(void *first, size_t size_bytes)
{
    while (first) {
        void *block = first;
        memcpy(&first, block, sizeof(void *));
        sc_pages_unmap(block, size_bytes);
    }
}

/* Unmaps the chunks, with all blocks that were cut from them, and freed blocks with pages of their
 * own. */
static inline void destroy_arena(struct sc_arena *arena)
{
    for (unsigned shift = SC_ARENA_LARGE_SHIFT; shift < SC_ARENA_CLASSES; shift++)
        unmap_list(arena->free_lists[shift], (size_t)1 << shift);
    unmap_list(arena->chunks, SC_ARENA_CHUNK_BYTES);
    memset(arena, 0, sizeof *arena);
}

/* Frees the hash table. The items are the owner's. */
static inline void destroy_grid(struct sc_grid *grid)
{
    sc_pages_unmap(grid->heads, (grid->mask + (size_t)1) * sizeof *grid->heads);
    grid->heads = NULL;
}

static inline void destroy_unseen(struct sc_order *order)
{
    sc_pool_destroy(&order->unseen.waits);
}

static inline void destroy_order(struct sc_order *order)
{
    destroy_unseen(order);
    sc_pool_destroy(&order->streams);
    destroy_arena(&order->arena);
}

static inline void destroy_spans(struct sc_spans *spans)
{
    destroy_grid(&spans->grid);
    sc_pool_destroy(&spans->pool);
}

static inline void destroy_inflight(struct sc_inflight *inflight)
{
    destroy_grid(&inflight->range_grid);
    destroy_grid(&inflight->op_grid);
    destroy_grid(&inflight->heap_grid);
    destroy_grid(&inflight->device_grid);
    destroy_spans(&inflight->guards);
    sc_pages_unmap(inflight->keys, SC_INFLIGHT_KEYS * sizeof *inflight->keys);
    sc_pool_destroy(&inflight->copies);
    sc_pool_destroy(&inflight->ranges);
    sc_pool_destroy(&inflight->ops);
}

static inline void destroy_holds(struct sc_holds *holds)
{
    destroy_grid(&holds->grid);
    sc_pool_destroy(&holds->pool);
}

static inline void destroy_graphs(struct sc_graphs *graphs)
{
    sc_handles_destroy(&graphs->copies);
    sc_handles_destroy(&graphs->by_node);
    sc_handles_destroy(&graphs->by_handle);
    destroy_grid(&graphs->heap_grid);
    destroy_grid(&graphs->grid);
    sc_pool_destroy(&graphs->extras);
    sc_pool_destroy(&graphs->intervals);
    sc_pool_destroy(&graphs->pool);
}

static inline void destroy_events(struct sc_events *events)
{
    sc_handles_destroy(&events->records_of);
    sc_pool_destroy(&events->records);
}

static inline void destroy_allocations(struct sc_allocations *allocations)
{
    destroy_grid(&allocations->grid);
    sc_pool_destroy(&allocations->blocks);
}

static inline void destroy_track(struct sc_track *track)
{
    destroy_allocations(&track->allocations);
    destroy_events(&track->events);
    destroy_graphs(&track->graphs);
    destroy_holds(&track->holds);
    destroy_inflight(&track->inflight);
    destroy_order(&track->order);
}

#endif
