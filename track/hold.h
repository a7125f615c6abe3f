/* Holds: memory that the program has freed while the device was still using it. The library defers
 * the free, and the program sees the memory as freed.
 *
 * A hold names the memory and the operations that must be complete before the memory goes back to
 * the driver or to malloc. Holds on overlapping memory end in the order in which they were made,
 * with one exception: the end of a registration goes before the free of the memory that is
 * registered, in whatever order the program made the two calls. So memory that malloc hands out
 * again is pageable, as its new user assumes.
 *
 * Locks: every function needs the tracker's lock. */

/* Terms (docs/glossary.md):
 *   complete: finished by the device, whether or not the program knows
 *   held: of memory: freed by the program, and kept by the library until the device is done
 *   hold: memory that the program has freed while the device used it, kept until the device is
 *       done
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   reaper: the library's thread that judges hazards, reports them and frees held memory
 *   ticket: the name of an operation: its stream, its number there, and its epoch
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
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

/* Returns 0 or -ENOMEM. */
int sc_holds_init(struct sc_holds *holds, struct sc_order *order, struct sc_graphs *graphs);

/* Adds a hold (memory kept after a free) that waits for no operation yet. Returns its id; 0: no
 * memory. `context`: the id of the context of pinned memory; 0 for free and munmap. */
uint32_t sc_holds_add(struct sc_holds *holds, enum sc_hold_kind kind, uintptr_t address,
                      size_t size_bytes, uint32_t context, uint64_t now_ns);

/* Makes the hold (memory kept after a free) wait for this operation as well. Returns false if there
 * is no memory: the caller must then remove the hold, which would end too early. */
bool sc_holds_require(struct sc_holds *holds, uint32_t hold, const struct sc_ticket *ticket);

/* A hold (memory kept after a free) that was taken to be released. */
struct sc_release {
    uint32_t hold; /* 0: none was taken */
    enum sc_hold_kind kind;
    uintptr_t address;
    size_t size_bytes;
    uint32_t context;
    uint64_t since_ns;
    uint64_t age;
};

/* Returns the oldest hold with an age above `after_age` whose memory can go back now, or 0. The
 * hold (memory kept after a free) is marked as being released, and not returned again unless it is
 * put back. (A hold's age is its serial number: each hold's is larger than that of all holds before
 * it.) */
uint32_t sc_holds_take_ready(struct sc_holds *holds, uint64_t after_age);

/* Removes a hold (memory kept after a free) whose memory has gone back, or never will. */
void sc_holds_remove(struct sc_holds *holds, uint32_t hold, uint64_t now_ns);

/* Removes a hold (memory kept after a free), and takes the present time as that of its end. */
void sc_holds_end(struct sc_holds *holds, uint32_t hold);

/* Makes a hold (memory kept after a free) that sc_holds_take_ready has returned available again,
 * since its memory could not go back. */
void sc_holds_put_back(struct sc_holds *holds, uint32_t hold);

/* Returns true if the hold (memory kept after a free) with this id still has this age. Ids are used
 * again for other holds, ages are not. */
bool sc_holds_is_alive(struct sc_holds *holds, uint32_t hold, uint64_t age);

/* Removes a hold (memory kept after a free) of kind SC_HOLD_WAIT (which only lets a thread wait)
 * whose thread no longer waits for it. Does nothing if the id belongs to another hold by now
 * (`age`), or sc_holds_take_ready has returned the hold. */
void sc_holds_give_up(struct sc_holds *holds, uint32_t hold, uint64_t age);

/* Takes a hold of kind SC_HOLD_UNREGISTER that overlaps the interval, whatever it waits for: marks
 * it as being released. `hold` is 0 if there is none, or another thread has taken it. */
struct sc_release sc_holds_take_unregistered(struct sc_holds *holds, uintptr_t address,
                                             size_t size_bytes);

/* Returns a copy of the hold (memory kept after a free) with this id, which may be 0: then `hold`
 * is 0. */
struct sc_release sc_holds_describe(struct sc_holds *holds, uint32_t id);

/* Makes holds on the interval (memory kept after a free) no longer wait until no graph uses it,
 * since the memory is about to become something else. */
void sc_holds_forget_graphs(struct sc_holds *holds, uintptr_t address, size_t size_bytes);
/* Makes holds (kept memory) of a context that has ended no longer wait for graphs, since nothing
 * can be launched there. */
void sc_holds_forget_graphs_of(struct sc_holds *holds, uint32_t context);

/* Makes holds (memory kept after a free) on the interval wait for this operation, too: it belongs
 * to a launch of a graph that uses freed memory. */
void sc_holds_require_in(struct sc_holds *holds, uintptr_t address, size_t size_bytes,
                         const struct sc_ticket *ticket);

/* Stores the tickets (stream and number) of operations that a launch must come after, and does not
 * come after yet: operations that holds on the memory wait for. To be asked for a launch that uses
 * memory which is freed and held, since only holds still know these operations. `info`: what the
 * launch does with the memory. Returns how many tickets were stored, at most `max`. */
unsigned sc_holds_find_unordered(struct sc_holds *holds, const struct sc_op_info *info,
                                 struct sc_ticket *tickets, unsigned max);

struct sc_hold_totals {
    uint64_t peak_bytes; /* the most that was held at a time */
    uint64_t peak_ns;    /* the longest time that a hold (memory kept after a free) lasted */
};
struct sc_hold_totals sc_holds_totals(struct sc_holds *holds);

/* Returns how many operations holds (memory kept after a free) still wait for; an operation counts
 * once for each hold. */
unsigned sc_holds_count_awaited(struct sc_holds *holds);
/* Stores the latest operation of each stream that a hold (memory kept after a free) waits for, for
 * the `max` lowest stream ids above `after`, in the order of ids. Returns how many tickets (stream
 * and number) were stored; fewer than `max` means that no further stream has such an operation. */
unsigned sc_holds_list_awaited(struct sc_holds *holds, uint32_t after, struct sc_ticket *tickets,
                               unsigned max);
/* Returns true if the reaper (the library's thread that frees held memory) has work: a hold (memory
 * kept after a free) that it has to end, or a hold that still waits for an operation. A hold of
 * memory that goes back to the driver counts only until its operations are complete, since the
 * program's own calls free it. */
bool sc_holds_have_work(struct sc_holds *holds);

/* Returns true if there is memory of the context that goes back to the driver as soon as operations
 * are done, without the program doing anything more (such as destroying a graph). */
bool sc_holds_end_with_work(struct sc_holds *holds, uint32_t context);

/* Returns a hold (memory kept after a free) that overlaps the interval and is selected by the mask
 * (enum sc_hold_mask), or 0. */
uint32_t sc_holds_find(struct sc_holds *holds, uintptr_t address, size_t size_bytes, unsigned mask);

#endif
