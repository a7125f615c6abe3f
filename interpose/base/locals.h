/* Finds whether a local variable that the device uses is gone, since its function has returned.
 *
 * A function that has returned leaves its return address on the stack until a later call reaches
 * that depth. So a local below the running frame also counts as gone, if it is on the same stack.
 * It may be on another stack that lies there: that of a suspended coroutine, in an array of a
 * function that runs.
 *
 * Thread-safe, not signal-safe. No lock of the library, but sc_locals_learn takes the loader's. */
#ifndef SC_INTERPOSE_BASE_LOCALS_H
#define SC_INTERPOSE_BASE_LOCALS_H

#include <stdbool.h>
#include <stdint.h>

struct sc_local;

/* Where on its stack the calling thread is, for one or more calls of sc_locals_is_gone. The caller
 * sets `here`, and the other members to 0. */
struct sc_running {
    uintptr_t here; /* the innermost frame whose locals may be asked about */
    uintptr_t base; /* where its stack begins (sc_unwind_base) */
    bool is_learnt; /* the base was searched for; it may still be 0, unknown */
};

/* Finds where the calling thread's stack begins, once, before sc_locals_is_gone is asked about
 * locals at `lowest` or higher. Left out where that answer does not need it: on x86-64, for locals
 * above the running frame. Takes as long as unwinding the stack. */
void sc_locals_learn(struct sc_running *running, uintptr_t lowest);

/* Has the function returned whose local variable is at the address, so that the variable is gone?
 * False if that is not known. `running`: NULL for a local of another thread; else sc_locals_learn
 * was called with the address, or a lower one. */
bool sc_locals_is_gone(const struct sc_local *local, uintptr_t address,
                       const struct sc_running *running);

#endif
