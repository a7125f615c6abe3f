/* What is heard on the calling thread: who carries the driver call under way, and its names.
 *
 * A wrapper says that it is at work (`carrying`). The callbacks of CUPTI run on the thread that
 * made the call and leave there what they were told. Plain thread-local data: no lock, no call,
 * safe in a signal handler too. Without a subscription only `carrying` is written or read.
 */
#ifndef SC_CUPTI_HOOKS_EAR_H
#define SC_CUPTI_HOOKS_EAR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/frames.h"

struct sc_ear {
    struct sc_frame carrying; /* the innermost wrapper, or other call of ours, under way */
    uint32_t correlation_id;  /* of the audited call that the wrapper carried; 0: none yet */
    const char *runtime_api;  /* the runtime function under way; lives for ever */
    bool followed;            /* a call that no wrapper carries has begun */
};

extern __thread struct sc_ear sc_ear;
extern _Atomic bool sc_ear_open; /* this process is subscribed (a forked child is not) */

static inline bool sc_ear_is_open(void)
{
    return __builtin_expect(atomic_load_explicit(&sc_ear_open, memory_order_relaxed), 0);
}

/* The runtime function that the program has called, NULL if none is heard. */
static inline const char *sc_ear_runtime_api(void)
{
    return sc_ear_is_open() ? sc_ear.runtime_api : NULL;
}

static inline uint32_t sc_ear_correlation_id(void)
{
    return sc_ear_is_open() ? sc_ear.correlation_id : 0;
}

static inline struct sc_frame sc_ear_carry(struct sc_frame frame)
{
    sc_ear.correlation_id = 0;
    return sc_frame_enter(&sc_ear.carrying, frame);
}

static inline void sc_ear_carried(const struct sc_frame *outer)
{
    sc_frame_leave(&sc_ear.carrying, outer);
}

static inline bool sc_ear_is_carried(void)
{
    return sc_ear.carrying.place != 0 && sc_frame_lives(&sc_ear.carrying);
}

/* In a wrapper: the wrapper carries this thread's driver calls until the end of the block. */
#define SC_CARRY()                                                                                 \
    __attribute__((cleanup(sc_ear_carried), unused)) const struct sc_frame carried_ =              \
        sc_ear_carry(SC_FRAME())

#endif
