/* Makes holds (track/hold.h): memory that the program frees while the device uses it, and that goes
 * back to the driver or to malloc later.
 *
 * Locks: every function takes the tracker's lock for itself, unless its comment says "lock-free".
 */

/* Terms (docs/glossary.md):
 *   complete: finished by the device, whether or not the program knows
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   hold: memory that the program has freed while the device used it, kept until the device is
 *       done
 *   in flight: issued, and the host does not know yet that it is done
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   range: host memory that the driver knows: one allocation or one registration
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_TRACK_TRACK_HOLDS_H
#define SC_TRACK_TRACK_HOLDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/checks.h"
#include "common/hazard_event.h"
#include "track/hold.h"
#include "track/hold_kind.h"
#include "track/ops.h"

struct sc_op_info;

struct SC_LOCK sc_track;
extern struct sc_track sc_track; /* the process's own */

/* A request of a call that takes memory away (a free): finds the operations in flight there, and
 * makes a hold (memory kept after a free) if `hold` asks for one. */
struct sc_deallocation {
    uintptr_t address;
    size_t size_bytes;
    /* make a hold (memory kept after a free) if an operation in flight uses the memory */
    bool hold;
    enum sc_hold_kind kind; /* of the hold (memory kept after a free) */
    uint32_t context;
    uint64_t max_held_bytes;
    /* The call that takes the memory away. Hazards of later launches of graphs that use the memory
     * name it. */
    struct sc_hazard_event by;
    /* does the call come too early for this operation? NULL: for every one */
    bool (*hurts)(const struct sc_op_info *op);
    /* do not keep memory for kernels alone, which have an address of it and need not use it */
    bool passes_kernels;
    /* the memory stays the program's, and its operations stay tracked */
    bool stays;
    /* before the wait, make holds (memory kept after a free) on the memory no longer wait for
     * graphs, because the memory is about to become something else (sc_holds_forget_graphs) */
    bool settles;
    /* results */
    /* The operations in flight there. They are no longer tracked, unless `stays` or `must_wait`. */
    struct sc_ops found;
    bool by_graph; /* a graph uses the memory, so a launch may use it after the free */
    /* the hold (memory kept after a free) that was made, or 0. If that gives the memory back to the
     * driver, the range (host memory known to the driver) is removed */
    uint32_t held;
    uint64_t held_age; /* the hold's age (its serial number) */
    /* the memory could not be kept (no hold was made), because of max_held_bytes or for want of
     * memory: nothing has changed, and the caller has to wait */
    bool must_wait;
};

static inline void sc_deallocation_end(struct sc_deallocation *request)
{
    sc_ops_end(&request->found);
}

/* Declares a struct sc_deallocation whose list of operations is freed at the end of the scope. */
#define SC_DEALLOCATION __attribute__((cleanup(sc_deallocation_end))) struct sc_deallocation

/* Returns true if an operation in flight, a hold (memory kept after a free) or a range (host memory
 * known to the driver) overlaps the interval. */
bool sc_track_overlaps(struct sc_track *track, uintptr_t address, size_t size_bytes)
    SC_EXCLUDES(*track);

/* Handles the request: fills in its results. */
void sc_track_deallocate(struct sc_track *track, struct sc_deallocation *request)
    SC_EXCLUDES(*track);

/* Makes a hold of kind SC_HOLD_WAIT, which holds no memory and lets the caller wait for these
 * operations; they stay tracked. `request`: has the interval, and gets `held`; 0: no memory. */
void sc_track_add_wait(struct sc_track *track, const struct sc_ops *ops,
                       struct sc_deallocation *request) SC_EXCLUDES(*track);

/* Takes the oldest hold whose memory can go back and whose age is above `after_age`. The caller
 * frees the memory and removes the hold (memory kept after a free), or makes it available again
 * (sc_holds_put_back). Complete operations on the memory are tracked no more; its pages may still
 * have to be unprotected. */
struct sc_release sc_track_take_ready(struct sc_track *track, uint64_t after_age)
    SC_EXCLUDES(*track);

/* Returns true if a hold (memory kept after a free) that the mask (enum sc_hold_mask) selects
 * overlaps the interval. Lock-free if none is near. */
bool sc_track_is_held(struct sc_track *track, uintptr_t address, size_t size_bytes, unsigned mask)
    SC_EXCLUDES(*track);

#endif
