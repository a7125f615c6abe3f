/* The record of all waits of unseen end: waits of a stream for the host whose end no call tells
 * (track/unseen.h). */

/* Terms (docs/glossary.md):
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 */

#ifndef SC_TRACK_UNSEEN_INTERNAL_H
#define SC_TRACK_UNSEEN_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/pool.h"

/* The open waits for the host whose end no call tells. A part of struct sc_order. */
struct sc_unseen {
    struct sc_pool waits;
    uint32_t first, last; /* the list of waits, in the order in which they began */
    uint64_t begun;       /* how many waits ever began */
    /* there was no memory to record a wait, so every operation counts as behind one whose end is
     * not known */
    bool is_lost;
    _Atomic uint32_t open; /* how many waits are open; one more if is_lost */
};

/* Returns true if no wait is open. Lock-free. */
static inline bool sc_unseen_none_is_open(const struct sc_unseen *unseen)
{
    return __builtin_expect(atomic_load_explicit(&unseen->open, memory_order_acquire) == 0, 1);
}

#endif
