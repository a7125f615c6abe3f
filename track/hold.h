/* Frees that wait: what the program has given back while the device was still using it.
 *
 * A hold names memory, and the operations that must complete before the memory really goes back.
 * For the program the memory counts as freed. Holds on overlapping memory are given back in the
 * order in which they were made, with one exception. A registration ends before the memory under it
 * goes back, in whatever order the program gave up the two: what malloc hands out again must be as
 * pageable as its new owner takes it to be.
 *
 * Locks: every function needs the owner's lock.
 */
#ifndef SC_TRACK_HOLD_H
#define SC_TRACK_HOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "track/hold_kind.h"

struct sc_graphs;
struct sc_holds;
struct sc_op_info;
struct sc_order;
struct sc_ticket;

/* 0 or -ENOMEM */
int sc_holds_init(struct sc_holds *holds, struct sc_order *order, struct sc_graphs *graphs);

/* Returns the hold, or 0 when there is no memory for it. */
uint32_t sc_holds_add(struct sc_holds *holds, enum sc_hold_kind kind, uintptr_t address,
                      size_t size_bytes, uint32_t context, uint64_t now_ns);

/* False: no memory; the hold then cannot know when to end and must be removed. */
bool sc_holds_require(struct sc_holds *holds, uint32_t hold, const struct sc_ticket *ticket);

/* The oldest hold of more than this age that can be given back now, marked as releasing, or 0. */
uint32_t sc_holds_take_ready(struct sc_holds *holds, uint64_t after_age);

/* Ends a hold; what it held has been given back (or never will be). */
void sc_holds_remove(struct sc_holds *holds, uint32_t hold, uint64_t now_ns);

/* The same, now. */
void sc_holds_end(struct sc_holds *holds, uint32_t hold);

/* Whoever has taken the hold puts it back, to be taken later. */
void sc_holds_put_back(struct sc_holds *holds, uint32_t hold);

/* Is there still the hold of this age? Records are recycled; ages are not. */
bool sc_holds_lives(struct sc_holds *holds, uint32_t hold, uint64_t age);

/* Nobody waits any more for the hold, of kind SC_HOLD_WAIT and of this age: ends it, unless it has
 * been taken. */
void sc_holds_leave(struct sc_holds *holds, uint32_t hold, uint64_t age);

/* The memory there is about to be something else: what a graph alone holds is held no longer. */
void sc_holds_forget_graphs(struct sc_holds *holds, uintptr_t address, size_t size_bytes);
/* The same for memory of a context that is gone. */
void sc_holds_forget_graphs_of(struct sc_holds *holds, uint32_t context);

/* Holds there wait for this operation, too: it is of a launch that uses freed memory. */
void sc_holds_wait_longer(struct sc_holds *holds, uintptr_t address, size_t size_bytes,
                          const struct sc_ticket *ticket);

/* Operations on freed memory are known to its holds only. Stores the tickets of those that a launch
 * has to come after and does not come after. `info` is what the launch does with the freed memory.
 * Returns how many tickets were stored. */
unsigned sc_holds_before(struct sc_holds *holds, const struct sc_op_info *info,
                         struct sc_ticket *tickets, unsigned max);

struct sc_hold_totals {
    uint64_t peak_bytes;
    uint64_t peak_ns; /* the longest that one free waited */
};
struct sc_hold_totals sc_holds_totals(struct sc_holds *holds);

/* How many tickets holds still wait for. A ticket counts for each hold. */
unsigned sc_holds_awaited(struct sc_holds *holds);
/* The latest such ticket of each stream, for the `max` lowest ids above `after`, in their order.
 * Returns how many tickets were stored. Fewer than max: no stream is left. */
unsigned sc_holds_awaited_streams(struct sc_holds *holds, uint32_t after, struct sc_ticket *tickets,
                                  unsigned max);
/* Is there a hold that the reaper ends, or one that still waits for an operation? A hold of pinned
 * memory keeps the reaper busy until its operations are complete. */
bool sc_holds_have_work(struct sc_holds *holds);

/* A hold that overlaps the interval and is one of the mask (enum sc_hold_mask), or 0. */
uint32_t sc_holds_find(struct sc_holds *holds, uintptr_t address, size_t size_bytes, unsigned mask);

#endif
