/* What is known of the driver call under way on the calling thread: which wrapper "carries" it (has
 * made it), and its names.
 *
 * A wrapper sets `carrying` while it runs. CUPTI's callbacks run on the thread that made the call,
 * and store the call's id and names here. Plain thread-local data: no lock, safe in a signal
 * handler. Without a subscription to CUPTI only `carrying` is written or read. */

/* Terms (docs/glossary.md):
 *   audit: the comparison of the driver calls that CUPTI shows with those that wrappers carried
 *   carry: of a wrapper: to note a driver call, so that the call is not counted as missed
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_CUPTI_HOOKS_CURRENT_CALL_H
#define SC_CUPTI_HOOKS_CURRENT_CALL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/frames.h"

struct sc_current_call {
    /* The frame of the innermost wrapper, or other call of the library, under way. */
    struct sc_frame carrying;
    uint32_t correlation_id; /* of the audited driver call that the wrapper has made; 0: none yet */
    const char *runtime_api; /* the runtime function under way; lives for ever */
    bool followed;           /* a driver call that no wrapper carries is under way */
};

extern __thread struct sc_current_call sc_current_call;
extern _Atomic bool
    sc_current_call_is_traced; /* this process is subscribed to CUPTI; a forked child is not */

/* Does CUPTI report this process's calls to the library? Else nothing but the wrapper is known of a
 * call. */
static inline bool sc_current_call_may_be_known(void)
{
    return __builtin_expect(atomic_load_explicit(&sc_current_call_is_traced, memory_order_relaxed),
                            0);
}

/* Returns the runtime function that the program has called; NULL: unknown. */
static inline const char *sc_current_call_runtime_api(void)
{
    return sc_current_call_may_be_known() ? sc_current_call.runtime_api : NULL;
}

/* Returns CUPTI's id of the driver call that the wrapper has made, by which the times of its copies
 * on the device are found later; 0: unknown. */
static inline uint32_t sc_current_call_correlation_id(void)
{
    return sc_current_call_may_be_known() ? sc_current_call.correlation_id : 0;
}

/* Notes that the wrapper with this frame makes the thread's driver calls from now on, so that
 * CUPTI's callbacks do not count them as missed. Returns the note of the wrapper around it, for
 * sc_current_call_end_carry. */
static inline struct sc_frame sc_current_call_carry(struct sc_frame frame)
{
    sc_current_call.correlation_id = 0;
    return sc_frame_enter(&sc_current_call.carrying, frame);
}

/* Ends what sc_current_call_carry began: the wrapper around it, if any, is noted again. */
static inline void sc_current_call_end_carry(const struct sc_frame *outer)
{
    sc_frame_leave(&sc_current_call.carrying, outer);
}

/* Is the thread's driver call made within a wrapper, or another call of the library? A wrapper that
 * a signal handler has left by a jump does not count: its frame is checked. */
static inline bool sc_current_call_is_carried(void)
{
    return sc_current_call.carrying.place != 0 && sc_frame_lives(&sc_current_call.carrying);
}

/* Until the end of the block, the thread's driver calls count as made by the wrapper (or other
 * function of the library) in which this is written, and not as calls that missed all wrappers. */
#define SC_CARRY()                                                                                 \
    __attribute__((cleanup(sc_current_call_end_carry), unused)) const struct sc_frame carried_ =   \
        sc_current_call_carry(SC_FRAME())

#endif
