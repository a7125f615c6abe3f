/* Holds: frees that wait. The program has given memory back while the device was still using it.
 *
 * A hold names memory, and the operations that must complete before the memory really goes back.
 * For the program the memory counts as freed. Holds on overlapping memory end in the order in which
 * they were made, with one exception. A registration ends before the memory under it goes back, in
 * whatever order the program gave up the two. So memory that malloc hands out again is as pageable
 * as its new owner assumes.
 *
 * Locks: every function needs the owner's lock. */
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

/* Adds a hold that waits for nothing yet, and returns its id; 0: no memory. `context`: the id of
 * the context of pinned memory; 0 for free and munmap. */
uint32_t sc_holds_add(struct sc_holds *holds, enum sc_hold_kind kind, uintptr_t address,
                      size_t size_bytes, uint32_t context, uint64_t now_ns);

/* Makes the hold wait for this operation as well. False: no memory; the caller must remove the
 * hold, which cannot know when to end. */
bool sc_holds_require(struct sc_holds *holds, uint32_t hold, const struct sc_ticket *ticket);

/* The oldest hold with an age above `after_age` that can be given back now, or 0. It is marked as
 * releasing, and not taken again. */
uint32_t sc_holds_take_ready(struct sc_holds *holds, uint64_t after_age);

/* Ends a hold, whose memory was given back or never will be. */
void sc_holds_remove(struct sc_holds *holds, uint32_t hold, uint64_t now_ns);

/* Ends a hold at the present time. */
void sc_holds_end(struct sc_holds *holds, uint32_t hold);

/* Puts back a hold that was taken, so that it is taken again later. */
void sc_holds_put_back(struct sc_holds *holds, uint32_t hold);

/* Is there still a hold with this id and this age? Ids are reused; ages are not. */
bool sc_holds_is_alive(struct sc_holds *holds, uint32_t hold, uint64_t age);

/* The thread that waited for this hold (of kind SC_HOLD_WAIT) gives up: ends the hold, unless it is
 * another one by now (`age`) or was taken. */
void sc_holds_give_up(struct sc_holds *holds, uint32_t hold, uint64_t age);

/* The memory of the interval is about to become something else: holds there no longer wait for
 * graphs. */
void sc_holds_forget_graphs(struct sc_holds *holds, uintptr_t address, size_t size_bytes);
/* The context is gone: holds of its memory no longer wait for graphs that name the memory. */
void sc_holds_forget_graphs_of(struct sc_holds *holds, uint32_t context);

/* Holds on the interval wait for this operation, too: it belongs to a launch that uses freed
 * memory. */
void sc_holds_require_in(struct sc_holds *holds, uintptr_t address, size_t size_bytes,
                         const struct sc_ticket *ticket);

/* For a launch that uses memory which is freed and held: stores the tickets of operations there
 * that the launch must come after, and does not come after yet. Only holds know these operations.
 * `info`: what the launch does with the memory. Returns how many were stored, at most `max`. */
unsigned sc_holds_find_unordered(struct sc_holds *holds, const struct sc_op_info *info,
                                 struct sc_ticket *tickets, unsigned max);

struct sc_hold_totals {
    uint64_t peak_bytes; /* the most that was held at a time */
    uint64_t peak_ns;    /* the longest time that a hold lasted */
};
struct sc_hold_totals sc_holds_totals(struct sc_holds *holds);

/* How many operations holds still wait for; an operation counts for each hold. */
unsigned sc_holds_count_awaited(struct sc_holds *holds);
/* The latest such operation of each stream, for the `max` lowest stream ids above `after`, in the
 * order of ids. Returns how many tickets were stored; fewer than `max`: there is no other stream.
 */
unsigned sc_holds_list_awaited(struct sc_holds *holds, uint32_t after, struct sc_ticket *tickets,
                               unsigned max);
/* Is there work for the reaper: a hold that it has to end, or one that still waits for an
 * operation? A hold of memory that goes back to the driver counts only until its operations are
 * complete. */
bool sc_holds_have_work(struct sc_holds *holds);

/* Does memory of the context go back to the driver as soon as work is done, whatever the program
 * does? */
bool sc_holds_end_with_work(struct sc_holds *holds, uint32_t context);

/* A hold that overlaps the interval and matches the mask (enum sc_hold_mask), or 0. */
uint32_t sc_holds_find(struct sc_holds *holds, uintptr_t address, size_t size_bytes, unsigned mask);

#endif
