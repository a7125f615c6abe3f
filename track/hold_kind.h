/* The kinds of holds (track/hold.h): by which call the program has freed memory that the device
 * still uses. */

/* Terms (docs/glossary.md):
 *   complete: finished by the device, whether or not the program knows
 *   hold: memory that the program has freed while the device used it, kept until the device is
 *       done
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   reaper: the library's thread that judges hazards, reports them and frees held memory
 */

#ifndef SC_TRACK_HOLD_KIND_H
#define SC_TRACK_HOLD_KIND_H

#include <stdbool.h>

enum sc_hold_kind {
    SC_HOLD_FREE,
    SC_HOLD_UNMAP,
    SC_HOLD_FREE_PINNED,
    SC_HOLD_UNREGISTER, /* cuMemHostUnregister: the memory itself stays the program's */
    /* keeps no memory, and counts no bytes: a thread waits until the hold's operations are complete
     */
    SC_HOLD_WAIT,
};

/* Which holds (memory kept after a free) a search finds: a bit for each kind, and further
 * conditions. */
enum sc_hold_mask {
    SC_HOLDS_FREED = 1 << SC_HOLD_FREE | 1 << SC_HOLD_FREE_PINNED,
    SC_HOLDS_UNREGISTERED = 1 << SC_HOLD_UNREGISTER,
    SC_HOLDS_DRIVERS = 1 << SC_HOLD_FREE_PINNED | 1 << SC_HOLD_UNREGISTER,
    SC_HOLDS_REAPERS = 1 << SC_HOLD_FREE | 1 << SC_HOLD_UNMAP | 1 << SC_HOLD_WAIT,
    SC_HOLDS_ALL = SC_HOLDS_DRIVERS | SC_HOLDS_REAPERS,
    SC_HOLDS_BY_GRAPH = 1 << 16, /* only those that also wait until no graph uses the memory */
    SC_HOLDS_STARTING = 1 << 17, /* only those that start at the address */
};

/* Returns true if the held memory goes back to the driver. The driver's call waits for the context,
 * so the reaper (the library's thread that frees held memory) must not make it: it is made inside
 * of the program's own waits for the context. Pure. */
static inline bool sc_hold_is_drivers(enum sc_hold_kind kind)
{
    return kind == SC_HOLD_FREE_PINNED || kind == SC_HOLD_UNREGISTER;
}

#endif
