/* The tracker's holds (track/hold.h): memory that the program gives back, and that waits.
 *
 * Locks: every function takes the tracker's lock for itself, unless its comment says "lock-free".
 */
#ifndef SC_TRACK_TRACK_HOLDS_H
#define SC_TRACK_TRACK_HOLDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/checks.h"
#include "common/hazard_event.h"
#include "track/hold_kind.h"
#include "track/ops.h"

struct sc_op_info;

struct SC_LOCK sc_track;
extern struct sc_track sc_track; /* the process's own */

/* A take-down: a call takes memory away. Finds what is in flight there, and makes a hold if that is
 * asked for. */
struct sc_take_down {
    uintptr_t address;
    size_t size_bytes;
    bool hold;              /* make a hold if anything is in flight */
    enum sc_hold_kind kind; /* of the hold */
    uint32_t context;
    uint64_t max_held_bytes;
    /* The call that takes the memory away; hazards of later launches that use the memory name
     * it. */
    struct sc_hazard_event by;
    bool (*hurts)(const struct sc_op_info *op); /* does the call hurt the operation? NULL: all */
    bool passes_kernels;                        /* memory that only kernels may use is not held */
    /* the memory stays the program's, and the operations remain tracked */
    bool stays;
    bool settles; /* before a wait, holds on the memory stop waiting for graphs, since the memory
                     becomes something else (sc_holds_forget_graphs) */
    /* results */
    /* Result: the operations in flight there. They are no longer tracked, unless `stays` or
     * must_wait. */
    struct sc_ops found;
    bool by_graph; /* a graph names the memory */
    uint32_t held; /* the hold, or 0; the range is removed if the hold is to give the memory to the
                      driver */
    uint64_t held_age; /* of the hold */
    bool must_wait;    /* no hold could be made, for max_held_bytes or want of memory: nothing has
                          changed, the caller waits */
};

static inline void sc_take_down_end(struct sc_take_down *request)
{
    sc_ops_end(&request->found);
}

/* A struct sc_take_down that ends with the scope in which it is declared. */
#define SC_TAKE_DOWN __attribute__((cleanup(sc_take_down_end))) struct sc_take_down

/* Does an operation in flight, a hold or a range overlap the interval? Exact, under the lock. */
bool sc_track_overlaps(struct sc_track *track, uintptr_t address, size_t size_bytes)
    SC_EXCLUDES(*track);

/* Does what the request says. */
void sc_track_take_down(struct sc_track *track, struct sc_take_down *request) SC_EXCLUDES(*track);

/* Makes a hold of kind SC_HOLD_WAIT for these operations, which stay. `request`: gives the
 * interval, and gets `held`; 0: no memory. */
void sc_track_add_wait(struct sc_track *track, const struct sc_ops *ops,
                       struct sc_take_down *request) SC_EXCLUDES(*track);

struct sc_release {
    uint32_t hold; /* 0: no hold is ready */
    enum sc_hold_kind kind;
    uintptr_t address;
    size_t size_bytes;
    uint32_t context;
    uint64_t since_ns;
    uint64_t age;
};

/* Takes the oldest hold that can end and whose age is above `after_age`. The caller gives its
 * memory back and ends the hold, or puts the hold back. No complete operation on the memory is
 * tracked any more; its pages may still have to be unprotected. */
struct sc_release sc_track_take_ready(struct sc_track *track, uint64_t after_age)
    SC_EXCLUDES(*track);

/* Does a hold of the mask (enum sc_hold_mask) overlap the interval? Lock-free if none is near. */
bool sc_track_is_held(struct sc_track *track, uintptr_t address, size_t size_bytes, unsigned mask)
    SC_EXCLUDES(*track);

#endif
