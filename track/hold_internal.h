/* The records of holds (track/hold.h), for their module, for the code that makes holds
 * (track/track_holds.c), and for checks. Locks: as in track/hold.h. */

/* Terms (docs/glossary.md):
 *   complete: finished by the device, whether or not the program knows
 *   hold: memory that the program has freed while the device used it, kept until the device is
 *       done
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 */

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
    uint32_t context;          /* of the pinned memory; 0 for free and munmap */
    uint64_t since_ns;         /* CLOCK_MONOTONIC */
    struct sc_ticket *tickets; /* the operations that it waits for: the last one of each stream */
    uint32_t ticket_count;
    uint32_t ticket_capacity;
    uint64_t age;  /* its serial number: larger than that of every earlier hold */
    bool by_graph; /* it also waits until no graph uses the memory */
    /* an operation that it waits for writes the memory, so that a later read there has to come
     * after it */
    bool written;
    uint32_t previous, next; /* in order of age */
    bool releasing;          /* a caller has taken it, to free the memory */
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

/* Returns true if the hold waits for a graph or a registration to be destroyed. Only a call of the
 * program can do that, however many operations complete. */
bool sc_holds_wait_for_program(struct sc_holds *holds, const struct sc_hold *hold);

/* Returns false only if no hold overlaps the interval. Lock-free. */
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
