/* What the wrappers of host memory (host_memory.c) offer to others: notes of memory that was
 * pinned, registered or allocated as managed, and that is about to be freed, for calls that came
 * through no wrapper (replays, missed/replay.h); and room for allocations that fail because of the
 * library.
 *
 * Thread-safe. Locks: none may be held. sc_host_memory_note_free may wait, at most stall_limit.
 * Not for a signal handler. */

/* Terms (docs/glossary.md):
 *   held: of memory: freed by the program, and kept by the library until the device is done
 *   in flight: issued, and the host does not know yet that it is done
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   range: host memory that the driver knows: one allocation or one registration
 *   replay: to run the wrapper of a missed call for what it notes, without the call
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_INTERPOSE_CALLS_HOST_MEMORY_H
#define SC_INTERPOSE_CALLS_HOST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interpose/driver/driver.h"

enum sc_buffer_kind;
struct sc_call;
struct sc_memory;

/* Notes memory that was just pinned, registered or allocated as managed, as a range of the tracker.
 * `flags`: those of the call. */
void sc_host_memory_note_pinned(const void *address, size_t size_bytes, unsigned flags,
                                const struct sc_call *call);
void sc_host_memory_note_registered(const void *address, size_t size_bytes, unsigned flags,
                                    const struct sc_call *call);
void sc_host_memory_note_managed(CUdeviceptr address, size_t size_bytes,
                                 const struct sc_call *call);

/* The state of one allocation of page-locked memory, which may fail because of the library and is
 * then tried again. */
struct sc_host_memory_room {
    uint64_t until_ns;  /* how long it may wait; 0: it has not failed yet */
    uint64_t gave_back; /* how often memory had been given back to the driver before the call */
    unsigned idle;      /* how often it has failed although nothing was given back meanwhile */
    bool is_settled;    /* held memory was waited for */
};

/* Called before such an allocation: returns its state, for sc_host_memory_make_room. */
struct sc_host_memory_room sc_host_memory_room(void);

/* Called when an allocation of host memory has failed for want of memory: gives back what the
 * library holds or has page-locked, since the program would have that memory without the library.
 * Returns true if the caller is to make the call once more. That is so as long as the failure may
 * be the library's fault, and for 100 ms or stall_limit at most. */
bool sc_host_memory_make_room(struct sc_host_memory_room *room, const struct sc_memory *memory);

/* Called at both ends of a call that came through no wrapper and frees pinned memory, or
 * unregisters registered memory. Before the driver's call: reports operations in flight there, in
 * mode=fix waits for them, and removes the range. Behind it: the driver has waited for the context.
 */
void sc_host_memory_note_free(void *address, enum sc_buffer_kind kind, const struct sc_call *call);

#endif
