/* Enters memory that calls of the program allocate and free into the ledger (ledger/ledger.h), with
 * the call's stack and the device.
 *
 * The driver is asked only for the current context, and once for each device for its current pool;
 * neither breaks a capture. With memory=off each function is one load.
 *
 * Locks: none of the library's may be held. errno is kept. Thread-safe, not signal-safe: a stack is
 * taken. */

/* Terms (docs/glossary.md):
 *   ledger: which memory the process has, and which call stack asked for it
 *   wrapper: our function in the place of one of the driver's
 */

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

/* Does the library book memory? Not with memory=off, nor before CUDA is used. */
static inline bool sc_booking_is_on(void)
{
    return sc_options.memory && sc_active();
}

/* Is memory of this kind entered into the ledger, the record of who has which memory? Not what is
 * only a part of other memory, or what the driver takes for itself; but contexts are. In most
 * wrappers a constant. */
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

/* Called after a call has allocated the memory; before a call gives it back; and after that, with
 * whether the driver has taken it. Pre: sc_booking_is_on(). */
void sc_booking_given(const struct sc_call *call, const struct sc_memory *memory);
void sc_booking_leaves(const struct sc_memory *memory);
void sc_booking_left(const struct sc_memory *memory, bool taken);

/* How often sc_booking_pools_changed was called, and how often when the thread's present call began
 * (sc_booking_begins_in_order). If they differ after the call, a pool that it names may be gone. */
extern _Atomic unsigned sc_booking_pools_changes;
extern __thread unsigned sc_booking_pools_seen;

/* Called before a call that allocates from the pool: notes how often pools have changed until now.
 * After the call it is seen whether another thread has destroyed a pool meanwhile, so that this one
 * may be gone. */
static inline void sc_booking_begins_in_order(uintptr_t pool)
{
    if (pool)
        sc_booking_pools_seen =
            atomic_load_explicit(&sc_booking_pools_changes, memory_order_acquire);
}

/* For each device the number of its current pool in the ledger; 0: the driver has still to be
 * asked. */
extern _Atomic unsigned sc_booking_current_pools[SC_LEDGER_DEVICES];

/* Enters memory of cuMemAllocAsync, where sc_booking_given_in_order does not know the pool or the
 * stack. */
void sc_booking_note_given_in_order(const char *api, void *site, uintptr_t address,
                                    size_t size_bytes, int device, uintptr_t pool, uintptr_t depth);

/* Enters memory that was allocated in a stream's order (cuMemAllocAsync). `pool`: where it comes
 * from; 0: from the device's current pool. Quick if the pool is known and the same call came from
 * the same stack before. Inlined into the wrapper, whose frame and return address are those of the
 * program's call. */
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

/* Enters the driver's answer to a free of a pool's memory (`taken`: it has freed the memory).
 * `leaving`: what was taken out of the ledger before the call; its name is 0 if the ledger had no
 * such memory. */
void sc_booking_note_left_in_order(uintptr_t address, const struct sc_ledger_leaving *leaving,
                                   bool taken);

/* Notes that a handle of the memory was made for other processes: these may use it in ways that are
 * not seen here. Pre: sc_booking_is_on(). */
void sc_booking_exported(const struct sc_call *call, const struct sc_memory *memory);

/* Returns the place (a device or the host, ledger/ledger_words.h) where the memory lies or would
 * lie. */
unsigned sc_booking_place(const struct sc_memory *memory);

/* Returns the place of a device; for -1, that of the host. */
unsigned sc_booking_place_of_device(int device);

/* How often memory was opened from another process, or exported to one. */
extern _Atomic uint64_t sc_booking_shared;

/* Was a pool of host memory ever made? */
extern _Atomic bool sc_booking_has_host_pools;

/* Notes that another pool may have become the current one of a device. */
void sc_booking_pools_changed(void);

/* Takes the memory of a context that has ended out of the ledger. */
void sc_booking_context_ended(const struct sc_context *context);

/* Notes that the process ends: contexts that end from now on are ended by the runtime, and show
 * nothing about the program. */
void sc_booking_process_ends(void);

/* Notes that the device was reset: what the ledger still has there has outlived its contexts. */
void sc_booking_device_reset(int device);

#endif
