/* What a tracker has taken is given back, which no process does: the units and the fuzzers make
 * many.
 */
#ifndef TESTS_UNIT_DESTROY_H
#define TESTS_UNIT_DESTROY_H

#include "common/own_pages.h"
#include "track/allocations_internal.h"
#include "track/events_internal.h"
#include "track/graphs_internal.h"
#include "track/hold_internal.h"
#include "track/inflight.h"
#include "track/order.h"
#include "track/spans.h"
#include "track/tracker.h"

static inline void destroy_unseen(struct sc_order *order)
{
    sc_pool_destroy(&order->unseen.waits);
}

static inline void destroy_order(struct sc_order *order)
{
    destroy_unseen(order);
    sc_pool_destroy(&order->streams);
    sc_arena_destroy(&order->arena);
}

static inline void destroy_spans(struct sc_spans *spans)
{
    sc_grid_destroy(&spans->grid);
    sc_pool_destroy(&spans->pool);
}

static inline void destroy_inflight(struct sc_inflight *inflight)
{
    sc_grid_destroy(&inflight->range_grid);
    sc_grid_destroy(&inflight->op_grid);
    sc_grid_destroy(&inflight->heap_grid);
    sc_grid_destroy(&inflight->device_grid);
    destroy_spans(&inflight->guards);
    sc_pages_unmap(inflight->keys, SC_INFLIGHT_KEYS * sizeof *inflight->keys);
    sc_pool_destroy(&inflight->copies);
    sc_pool_destroy(&inflight->ranges);
    sc_pool_destroy(&inflight->ops);
}

static inline void destroy_holds(struct sc_holds *holds)
{
    sc_grid_destroy(&holds->grid);
    sc_pool_destroy(&holds->pool);
}

static inline void destroy_graphs(struct sc_graphs *graphs)
{
    sc_handles_destroy(&graphs->copies);
    sc_handles_destroy(&graphs->by_node);
    sc_handles_destroy(&graphs->by_handle);
    sc_grid_destroy(&graphs->heap_grid);
    sc_grid_destroy(&graphs->grid);
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
    sc_grid_destroy(&allocations->grid);
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
