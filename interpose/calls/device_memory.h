/* Notes device memory that the program allocates and frees, with the option device=1. What was in
 * flight in memory that the driver hands out anew counts as over, so that its new owner is not
 * accused. Also, a hazard can name the call that made its buffer.
 *
 * A wrapper calls sc_device_memory_made after an allocation, sc_device_memory_leaves before a free
 * and sc_device_memory_left after it. Without device=1 each of these is one load.
 *
 * Locks: none may be held. errno is kept. Thread-safe, not signal-safe. */

/* Terms (docs/glossary.md):
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   in flight: issued, and the host does not know yet that it is done
 *   replay: to run the wrapper of a missed call for what it notes, without the call
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_INTERPOSE_CALLS_DEVICE_MEMORY_H
#define SC_INTERPOSE_CALLS_DEVICE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "track/allocations.h"
#include "track/track_device.h"
#include "track/track_front.h"

struct sc_call;

/* The rare parts of the inline functions below, for device=1. */
void sc_device_memory_note_made(const struct sc_call *call, uintptr_t address, size_t size_bytes);
struct sc_allocation sc_device_memory_note_leaving(uintptr_t address);

/* Notes that `call` has allocated the memory. */
static inline void sc_device_memory_made(const struct sc_call *call, uintptr_t address,
                                         size_t size_bytes)
{
    if (sc_unlikely(sc_track_watches_device(&sc_track)))
        sc_device_memory_note_made(call, address, size_bytes);
}

/* Called before a call that frees device memory: returns the block, or one of size 0 if none is
 * known. If the call is replayed (missed/replay.h), the wrapper runs before the call and again
 * after it; the second time this returns what it returned the first time. */
static inline struct sc_allocation sc_device_memory_leaves(uintptr_t address)
{
    return sc_unlikely(sc_track_watches_device(&sc_track)) && sc_active()
               ? sc_device_memory_note_leaving(address)
               : (struct sc_allocation){0};
}

/* Called after a call that frees device memory, with what sc_device_memory_leaves has returned:
 * notes whether the driver has taken the memory back (`freed`) or has refused. */
static inline void sc_device_memory_left(const struct sc_allocation *allocation, bool freed)
{
    if (sc_unlikely(allocation->size_bytes))
        sc_track_device_end_free(&sc_track, allocation, freed, NULL);
}

#endif
