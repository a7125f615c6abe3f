/* The records of holds, for their module, for the take-down that makes holds, and for checks.
 * Locks: as in track/hold.h. */
#ifndef SC_TRACK_HOLD_INTERNAL_H
#define SC_TRACK_HOLD_INTERNAL_H

#include "common/pool.h"
#include "track/grid.h"
#include "track/hold.h"

struct sc_ticket;

enum { SC_HOLD_TICKETS_MAX = 4096 };

struct sc_hold {
    struct sc_grid_node node;
    enum sc_hold_kind kind;
    uint32_t context;          /* of the pinned memory; 0 for free and unmap */
    uint64_t since_ns;         /* CLOCK_MONOTONIC */
    struct sc_ticket *tickets; /* what it waits for: the last operation of each stream */
    uint32_t ticket_count;
    uint32_t ticket_capacity;
    uint64_t age;            /* each hold's is one larger than that of the one before */
    bool by_graph;           /* waits, too, until no graph names its memory */
    bool written;            /* an operation that it waits for writes the memory */
    uint32_t previous, next; /* in order of age */
    bool releasing;          /* somebody has taken it, to give the memory back */
};

struct sc_holds {
    struct sc_order *order;
    struct sc_graphs *graphs;
    struct sc_pool pool;
    struct sc_grid grid;
    uint32_t oldest, newest;
    uint64_t made; /* holds made so far */
    uint64_t held_bytes;
    uint64_t held_peak_bytes;
    uint64_t held_peak_ns;
};

/* Does the hold wait for a graph or a registration to go? Only the program can bring that about,
 * whatever the operations do. */
bool sc_holds_wait_for_program(struct sc_holds *holds, const struct sc_hold *hold);

/* May a hold overlap the interval? Lock-free. */
static inline bool sc_holds_may_overlap(struct sc_holds *holds, uintptr_t address,
                                        size_t size_bytes)
{
    return sc_grid_may_overlap(&holds->grid, address, size_bytes);
}

static inline struct sc_hold *sc_holds_at(struct sc_holds *holds, uint32_t hold)
{
    return sc_pool_at(&holds->pool, hold);
}

#endif
