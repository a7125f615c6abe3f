/* The tracker's holds: memory that the program gives back, and that waits.
 *
 * Every function takes the tracker's lock for itself, unless its comment says "lock-free"
 * (track/track.h).
 */
#ifndef SC_TRACK_TRACK_HOLDS_H
#define SC_TRACK_TRACK_HOLDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "track/hazard.h"
#include "track/hold_kind.h"
#include "track/ops.h"

struct sc_track;

struct sc_take_down {
    uintptr_t address;
    size_t size_bytes;
    bool hold;              /* make a hold if anything is in flight */
    enum sc_hold_kind kind; /* of the hold, with the context it belongs to */
    uint32_t context;
    uint64_t max_held_bytes;
    struct sc_hazard_event by; /* the call, for those who launch a graph that names the memory */
    bool (*hurts)(const struct sc_op_info *op); /* which operations the call hurts; NULL: all */
    bool passes_kernels;                        /* what only kernels may use is not held */
    bool stays;   /* the memory stays the program's: the operations remain tracked */
    bool settles; /* before a wait, holds for a graph are made ordinary ones: the memory becomes
                     something else (sc_track_forget_graph_holds) */
    /* results */
    struct sc_ops found; /* in flight; no longer tracked, unless `stays` or must_wait */
    bool by_graph;       /* a graph names the memory */
    uint32_t held;       /* the hold, or 0; the range is gone if the driver is to have it back */
    uint64_t held_age;   /* of the hold */
    bool must_wait;      /* max_held or memory is used up: nothing has changed, the caller waits */
};

static inline void sc_take_down_end(struct sc_take_down *request)
{
    sc_ops_end(&request->found);
}

/* A struct sc_take_down that ends with the scope in which it is declared. */
#define SC_TAKE_DOWN __attribute__((cleanup(sc_take_down_end))) struct sc_take_down

/* Does an operation in flight, a hold or a range overlap the interval? Exact, under the lock. */
bool sc_track_meets(struct sc_track *track, uintptr_t address, size_t size_bytes);

/* Lock-free: can memory that free(), munmap() and the like would take away be in flight or held? */
bool sc_track_may_be_busy(struct sc_track *track, uintptr_t address, size_t size_bytes);

/* False only if no range is near the object. Lock-free, for callers that come too often to look
 * further. An object that begins before the blocks of ranges does not reach into these. */
bool sc_track_range_may_be_near(struct sc_track *track, const void *object);

void sc_track_take_down(struct sc_track *track, struct sc_take_down *request);

/* Makes a hold of kind SC_HOLD_WAIT for these operations, which stay. `request` says where, and
 * gets `held`; 0: there is no memory. */
void sc_track_await(struct sc_track *track, const struct sc_ops *ops, struct sc_take_down *request);

/* The operations in flight there, which stay: for a call that must wait in any case. */
void sc_track_in_flight(struct sc_track *track, uintptr_t address, size_t size_bytes,
                        struct sc_ops *found);

/* The memory there is about to be something else: what a graph alone holds is held no longer. */
void sc_track_forget_graph_holds(struct sc_track *track, uintptr_t address, size_t size_bytes);
/* The same for memory of a context that is gone. */
void sc_track_forget_graph_holds_of(struct sc_track *track, uint32_t context);

/* Holds there wait for this operation, too: it is of a launch that uses freed memory. */
void sc_track_hold_longer(struct sc_track *track, uintptr_t address, size_t size_bytes,
                          const struct sc_ticket *ticket);

/* Operations on freed memory are known to its holds only. Stores the tickets of those that a launch
 * has to come after and does not come after. `info` is what the launch does with the freed memory.
 * Returns how many tickets were stored. */
unsigned sc_track_held_before(struct sc_track *track, const struct sc_op_info *info,
                              struct sc_ticket *tickets, unsigned max);

struct sc_release {
    uint32_t hold; /* 0: nothing is ready */
    enum sc_hold_kind kind;
    uintptr_t address;
    size_t size_bytes;
    uint32_t context;
    uint64_t since_ns;
    uint64_t age;
};

/* The oldest hold of more than this age that can be given back. Whoever takes the hold ends it, or
 * puts it back to be taken later. No complete operation on its memory is tracked any more; its
 * pages may be unapplied. */
struct sc_release sc_track_take_ready(struct sc_track *track, uint64_t after_age);
void sc_track_end_hold(struct sc_track *track, uint32_t hold);
void sc_track_put_back(struct sc_track *track, uint32_t hold);
bool sc_track_hold_lives(struct sc_track *track, uint32_t hold, uint64_t age);
/* Nobody waits any more for the hold, of kind SC_HOLD_WAIT and of this age: ends it, unless it has
 * been taken. */
void sc_track_leave_hold(struct sc_track *track, uint32_t hold, uint64_t age);

struct sc_hold_totals {
    uint64_t peak_bytes;
    uint64_t peak_ns; /* the longest that one free waited */
};
struct sc_hold_totals sc_track_hold_totals(struct sc_track *track);

/* How many tickets holds still wait for. A ticket counts for each hold. */
unsigned sc_track_awaited(struct sc_track *track);
/* The latest such ticket of each stream, for the `max` lowest ids above `after`, in their order.
 * Returns how many tickets were stored. Fewer than max: no stream is left. */
unsigned sc_track_awaited_streams(struct sc_track *track, uint32_t after, struct sc_ticket *tickets,
                                  unsigned max);
/* Is there a hold that the reaper ends, or one that still waits for an operation? */
bool sc_track_reaper_has_work(struct sc_track *track);
/* Does a hold that the reaper ends (not one of pinned memory) overlap the interval? */
bool sc_track_is_held(struct sc_track *track, uintptr_t address, size_t size_bytes);
/* Is memory there still registered that the program has unregistered? */
bool sc_track_is_unregistered(struct sc_track *track, uintptr_t address, size_t size_bytes);
/* Is memory there unregistered so, or pinned memory whose free is held? */
bool sc_track_is_given_back(struct sc_track *track, uintptr_t address);
/* Is `address` the start of a block whose free is held? */
bool sc_track_is_freed(struct sc_track *track, uintptr_t address);
/* Is memory there held because a graph names it? */
bool sc_track_holds_for_graph(struct sc_track *track, uintptr_t address);

#endif
