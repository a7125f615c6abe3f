/* Kinds of holds: which kind of memory the program gave back, and that waits until the device is
 * done with it. */
#ifndef SC_TRACK_HOLD_KIND_H
#define SC_TRACK_HOLD_KIND_H

#include <stdbool.h>

enum sc_hold_kind {
    SC_HOLD_FREE,
    SC_HOLD_UNMAP,
    SC_HOLD_FREE_PINNED,
    SC_HOLD_UNREGISTER, /* the memory itself is still the program's */
    SC_HOLD_WAIT, /* holds nothing back, and counts no bytes: a thread waits for the hold's end */
};

/* Which holds a search looks for: a bit for each kind, and further conditions. */
enum sc_hold_mask {
    SC_HOLDS_FREED = 1 << SC_HOLD_FREE | 1 << SC_HOLD_FREE_PINNED,
    SC_HOLDS_UNREGISTERED = 1 << SC_HOLD_UNREGISTER,
    SC_HOLDS_DRIVERS = 1 << SC_HOLD_FREE_PINNED | 1 << SC_HOLD_UNREGISTER,
    SC_HOLDS_REAPERS = 1 << SC_HOLD_FREE | 1 << SC_HOLD_UNMAP | 1 << SC_HOLD_WAIT,
    SC_HOLDS_ALL = SC_HOLDS_DRIVERS | SC_HOLDS_REAPERS,
    SC_HOLDS_BY_GRAPH = 1 << 16, /* only those with `by_graph` */
    SC_HOLDS_STARTING = 1 << 17, /* only those that start at the address */
};

/* Does the memory go back to the driver? The reaper must not make that call, which waits: it is
 * made inside the program's own waits for the context. Pure. */
static inline bool sc_hold_is_drivers(enum sc_hold_kind kind)
{
    return kind == SC_HOLD_FREE_PINNED || kind == SC_HOLD_UNREGISTER;
}

#endif
