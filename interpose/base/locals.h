/* Locals that the device uses: has their function returned?
 *
 * A function that has returned leaves its return address where it was, until a later call comes as
 * deep. What lies below the running frame is gone as well, if it is of the same stack: a coroutine
 * that is suspended may have its stack there, in an array of a function that runs.
 *
 * Thread-safe, not signal-safe. No lock of ours, but sc_locals_learn takes the loader's.
 */
#ifndef SC_INTERPOSE_BASE_LOCALS_H
#define SC_INTERPOSE_BASE_LOCALS_H

#include <stdbool.h>
#include <stdint.h>

struct sc_local;

/* Where the calling thread runs. All but `here` is 0 at first. */
struct sc_running {
    uintptr_t here; /* the innermost frame of which locals can be asked for */
    uintptr_t base; /* where its stack begins (sc_unwind_base) */
    bool is_learnt; /* the base is known, as far as it can be */
};

/* Learns the base, once, if that may be asked for with locals from `lowest` up. It takes as long as
 * unwinding the stack. */
void sc_locals_learn(struct sc_running *running, uintptr_t lowest);

/* Has the function returned that has a local at the address? False where that cannot be told.
 * `running` is NULL for a local of another thread's; else sc_locals_learn was called with the
 * address, or with a lower one. */
bool sc_locals_is_gone(const struct sc_local *local, uintptr_t address,
                       const struct sc_running *running);

#endif
