/* Tells whether a local variable that the device uses is gone, since its function has returned.
 *
 * A function that has returned leaves its return address in place until a later call comes as deep.
 * So what lies below the running frame counts as gone as well, if it is on the same stack. Another
 * stack may lie there, too: that of a suspended coroutine, in an array of a function that runs.
 *
 * Thread-safe, not signal-safe. No lock of ours, but sc_locals_learn takes the loader's. */
#ifndef SC_INTERPOSE_BASE_LOCALS_H
#define SC_INTERPOSE_BASE_LOCALS_H

#include <stdbool.h>
#include <stdint.h>

struct sc_local;

/* Where the calling thread runs, for one or more questions. The caller sets `here`, and the rest to
 * 0. */
struct sc_running {
    uintptr_t here; /* the innermost frame whose locals may be asked about */
    uintptr_t base; /* where its stack begins (sc_unwind_base) */
    bool is_learnt; /* the base was looked for; it may still be 0, unknown */
};

/* Learns the base, once, if the answer for locals at `lowest` or higher may depend on it. Takes as
 * long as unwinding the stack. */
void sc_locals_learn(struct sc_running *running, uintptr_t lowest);

/* Has the function returned whose local lies at the address? False where that cannot be told.
 * `running` is NULL for a local of another thread's. Else sc_locals_learn has been called with the
 * address, or a lower one. */
bool sc_locals_is_gone(const struct sc_local *local, uintptr_t address,
                       const struct sc_running *running);

#endif
