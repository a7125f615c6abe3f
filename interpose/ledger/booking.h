/* Enters memory that calls allocate and free into the ledger (ledger/ledger.h), with the stack of
 * the call and the device.
 *
 * Nothing is asked of the driver but the current context, and once for each device which pool
 * serves it: neither breaks a capture. With memory=off each is one load.
 *
 * Locks: none of the library's may be held. errno is kept. Thread-safe, not signal-safe: a stack is
 * taken. */
#ifndef SC_INTERPOSE_LEDGER_BOOKING_H
#define SC_INTERPOSE_LEDGER_BOOKING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/driver/made_here.h"
#include "interpose/ledger/memory_kinds.h"
#include "ledger/ledger.h"
#include "ledger/ledger_words.h"

struct sc_call;
struct sc_context;

static inline bool sc_booking_is_on(void)
{
    return sc_options.memory && sc_active();
}

/* Is the kind booked at all? A constant in most wrappers. */
static inline bool sc_booking_has(enum sc_memory_kind kind)
{
    switch (kind) {
    case SC_MEMORY_GRAPHICS:
    case SC_MEMORY_NODE:
    case SC_MEMORY_TRIMMED:
    case SC_MEMORY_GRAPHS:
        return false;
    default:
        return kind < SC_MEMORY_MULTICAST || kind == SC_MEMORY_CONTEXT;
    }
}

/* Called after a call has allocated the memory; before one gives it back; and after that, when the
 * driver has taken it or refused to. Pre: sc_booking_is_on(). */
void sc_booking_given(const struct sc_call *call, const struct sc_memory *memory);
void sc_booking_leaves(const struct sc_memory *memory);
void sc_booking_left(const struct sc_memory *memory, bool taken);

/* How often sc_booking_pools_changed was called at all, and how often before the thread's last
 * look: if they differ, what is known of current pools is outdated. */
extern _Atomic unsigned sc_booking_pools_changes;
extern __thread unsigned sc_booking_pools_seen;

/* Before a call that allocates of the pool. */
static inline void sc_booking_begins_in_order(uintptr_t pool)
{
    if (pool)
        sc_booking_pools_seen =
            atomic_load_explicit(&sc_booking_pools_changes, memory_order_acquire);
}

/* For each device the number of its current pool in the ledger; 0: it is to be asked for. */
extern _Atomic unsigned sc_booking_current_pools[SC_LEDGER_DEVICES];

void sc_booking_note_given_in_order(const char *api, void *site, uintptr_t address,
                                    size_t size_bytes, int device, uintptr_t pool, uintptr_t depth);

/* Enters memory that was allocated in a stream's order. `pool`: where it comes from; 0: from the
 * device's current pool. Must be inlined into the wrapper, whose frame it uses. */
SC_INLINED void sc_booking_given_in_order(const char *api, void *site, uintptr_t address,
                                          size_t size_bytes, int device, uintptr_t pool)
{
    uintptr_t depth = (uintptr_t)__builtin_frame_address(0);
    unsigned number =
        sc_likely(!pool && (unsigned)device < SC_LEDGER_DEVICES)
            ? atomic_load_explicit(&sc_booking_current_pools[device], memory_order_relaxed)
            : 0;
    const struct sc_stack_known *known =
        sc_likely(number != 0) ? sc_made_here_before(api, site, depth) : NULL;
    if (sc_likely(known != NULL))
        sc_ledger_given_of_pool(&sc_ledger, address, size_bytes, number, (unsigned)device,
                                known->origin);
    else
        sc_booking_note_given_in_order(api, site, address, size_bytes, device, pool, depth);
}

/* Called after the driver has answered a free of a pool's memory. `leaving`: what left the ledger
 * before the call; if its name is 0, nothing was known of the memory. */
void sc_booking_note_left_in_order(uintptr_t address, const struct sc_ledger_leaving *leaving,
                                   bool taken);

/* A handle of it was made for others. Needs: it is on. */
void sc_booking_exported(const struct sc_call *call, const struct sc_memory *memory);

/* Where the memory would lie, or lies (ledger/ledger.h). */
unsigned sc_booking_place(const struct sc_memory *memory);

/* The place of a device, of -1 the host's. */
unsigned sc_booking_place_of_device(int device);

/* How often memory was opened from another process, or handed out for one. */
extern _Atomic uint64_t sc_booking_shared;

/* Was ever a pool of the host's memory made? */
extern _Atomic bool sc_booking_has_host_pools;

/* Which pool serves a device may have changed. */
void sc_booking_pools_changed(void);

/* The context is gone, and its memory with it. */
void sc_booking_context_ended(const struct sc_context *context);

/* The process ends: contexts that end from now on are ended by the runtime, and say nothing of the
 * program. */
void sc_booking_process_ends(void);

/* The device was reset. */
void sc_booking_device_reset(int device);

#endif
