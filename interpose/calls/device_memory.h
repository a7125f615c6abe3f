/* Follows device memory as the program allocates and frees it, with the option device=1. What was
 * in flight in memory that the driver hands out is past, and a hazard can name the call that made
 * its buffer.
 *
 * A wrapper tells of memory when the driver has handed it out, and of memory that is given back
 * before and behind the call. Without device=1 each of these is one load.
 *
 * Locks: none may be held. errno is kept. Thread-safe, not signal-safe. */
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

/* The parts of the functions below that are rarely run. */
void sc_device_memory_note_made(const struct sc_call *call, uintptr_t address, size_t size_bytes);
struct sc_allocation sc_device_memory_note_leaving(uintptr_t address);

/* `call` has made the memory. */
static inline void sc_device_memory_made(const struct sc_call *call, uintptr_t address,
                                         size_t size_bytes)
{
    if (sc_unlikely(sc_track_watches_device(&sc_track)))
        sc_device_memory_note_made(call, address, size_bytes);
}

/* Before a call that frees device memory: returns its allocation, with a size of 0 if the memory is
 * not known. A replay runs the wrapper before the call and again behind it; behind it this returns
 * what it found before. */
static inline struct sc_allocation sc_device_memory_leaves(uintptr_t address)
{
    return sc_unlikely(sc_track_watches_device(&sc_track)) && sc_active()
               ? sc_device_memory_note_leaving(address)
               : (struct sc_allocation){0};
}

/* After that call: the driver has taken the memory back (`freed`), or has refused to. */
static inline void sc_device_memory_left(const struct sc_allocation *allocation, bool freed)
{
    if (sc_unlikely(allocation->size_bytes))
        sc_track_device_end_free(&sc_track, allocation, freed, NULL);
}

#endif
