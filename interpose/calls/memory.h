/* What wrappers call when the program allocates or frees memory, of whatever kind: sc_memory_given
 * after an allocation; sc_memory_leaves before a free, while the memory is still the program's, and
 * sc_memory_left after it, with the driver's answer. Rows of api.def call them (memory_calls.c),
 * and some wrappers directly.
 *
 * They keep up to date the ledger of memory (interpose/ledger/booking.h), the watch of device
 * memory (device=1) and captures (SC305).
 *
 * Locks: none may be held. errno is kept. Thread-safe, not signal-safe. */

/* Terms (docs/glossary.md):
 *   ledger: which memory the process has, and which call stack asked for it
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_INTERPOSE_CALLS_MEMORY_H
#define SC_INTERPOSE_CALLS_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>

#include "interpose/capture/beside.h"
#include "interpose/ledger/booking.h"
#include "interpose/ledger/limits.h"
#include "interpose/ledger/memory_kinds.h"
#include "interpose/ledger/shortage.h"
#include "interpose/ledger/unaccounted.h"
#include "track/track_front.h"

struct sc_call;

/* The rare parts of the inline functions below. */
void sc_memory_note_given(const struct sc_call *call, const struct sc_memory *memory);
void sc_memory_note_leaving(const struct sc_call *call, const struct sc_memory *memory);
void sc_memory_note_left(const struct sc_memory *memory);

/* Returns true if memory of this kind was opened from another process. Pure. */
static inline bool sc_memory_is_others(enum sc_memory_kind kind)
{
    return kind == SC_MEMORY_IMPORTED || kind == SC_MEMORY_PHYSICAL_IMPORTED ||
           kind == SC_MEMORY_POOL_IMPORTED;
}

/* Returns true if memory of this kind is watched as device memory. Pure. */
static inline bool sc_memory_is_on_device(enum sc_memory_kind kind)
{
    return kind <= SC_MEMORY_IMPORTED;
}

/* Notes that the call has given the program this memory. */
static inline void sc_memory_given(const struct sc_call *call, const struct sc_memory *memory)
{
    if (sc_booking_has(memory->kind) && sc_likely(sc_booking_is_on()))
        sc_booking_given(call, memory);
    if (memory->kind == SC_MEMORY_POOL && memory->of >> 32 != CU_MEM_LOCATION_TYPE_DEVICE)
        atomic_store(&sc_booking_has_host_pools, true);
    if (sc_memory_is_others(memory->kind))
        atomic_fetch_add_explicit(&sc_booking_shared, 1, memory_order_relaxed);
    bool is_watched = sc_memory_is_on_device(memory->kind) && sc_track_watches_device(&sc_track);
    if (memory->kind <= SC_MEMORY_MANAGED && (sc_unlikely(is_watched) || sc_beside_needs_calls()))
        sc_memory_note_given(call, memory);
}

/* Notes that the call is about to give the memory back to the driver. */
static inline void sc_memory_leaves(const struct sc_call *call, const struct sc_memory *memory)
{
    if (sc_booking_has(memory->kind) && sc_likely(sc_booking_is_on()))
        sc_booking_leaves(memory);
    if (memory->kind == SC_MEMORY_MODULE)
        sc_limits_modules_changed();
    if (memory->kind == SC_MEMORY_MAPPING && sc_unlikely(sc_track_watches_device(&sc_track)))
        sc_memory_note_leaving(call, memory);
}

/* Returns true if the driver has taken the memory back, by its answer to the call that gave it
 * back. CUDA_ERROR_DEINITIALIZED, the answer when the process ends, means so, too: the driver has
 * taken all memory before. */
static inline bool sc_memory_is_taken(CUresult result)
{
    return result == CUDA_SUCCESS || sc_unlikely(result == CUDA_ERROR_DEINITIALIZED);
}

/* Called after a call that gives memory back: notes whether the driver has taken it (`taken`) or
 * has refused. */
static inline void sc_memory_left(const struct sc_memory *memory, bool taken)
{
    if (sc_booking_has(memory->kind) && sc_likely(sc_booking_is_on()))
        sc_booking_left(memory, taken);
    if (memory->kind == SC_MEMORY_GRAPHS && taken)
        sc_shortage_graphs_trimmed((CUdevice)memory->name);
    bool has_block = memory->kind == SC_MEMORY_MAPPING || memory->kind == SC_MEMORY_IMPORTED;
    if (has_block && taken && sc_unlikely(sc_track_watches_device(&sc_track)))
        sc_memory_note_left(memory);
}

/* Notes that the call has made a handle of the memory for other processes, which may keep it. */
static inline void sc_memory_exported(const struct sc_call *call, const struct sc_memory *memory)
{
    atomic_fetch_add_explicit(&sc_booking_shared, 1, memory_order_relaxed);
    if (sc_booking_is_on())
        sc_booking_exported(call, memory);
}

/* Called after a call by which the driver may have taken memory of this kind for itself, or given
 * some up. The driver does not say how much, so NVML is asked how much the device has left. */
static inline void sc_memory_reserved(const struct sc_call *call, enum sc_memory_kind kind)
{
    sc_unaccounted_note(call, kind);
    if (kind == SC_MEMORY_MODULE)
        sc_limits_modules_changed();
    if (kind == SC_MEMORY_FUNCTION || kind == SC_MEMORY_MODULE)
        sc_limits_function_met(call);
    if (kind == SC_MEMORY_POOL && sc_booking_is_on())
        sc_booking_pools_changed();
}

#endif
