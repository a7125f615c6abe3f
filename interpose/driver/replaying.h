/* Tells a wrapper that it runs in a replay: for what it notes, and not for its call, which the
 * driver has carried out already or is about to. missed/replay.h runs the wrappers of calls that
 * passed every wrapper by.
 *
 * Plain thread-local data: no lock, no call, safe in a signal handler too. */
#ifndef SC_INTERPOSE_DRIVER_REPLAYING_H
#define SC_INTERPOSE_DRIVER_REPLAYING_H

#include <stdbool.h>
#include <stdint.h>

#include "common/frames.h"
#include "interpose/driver/driver.h"

struct sc_replaying {
    struct sc_frame frame; /* of the function that runs a wrapper for what it notes */
    bool armed;            /* the next wrapper is to return the answer */
    bool prepares;         /* the driver is about to carry the call out */
    CUresult answer;
    uint32_t correlation_id;
};

extern __thread struct sc_replaying sc_replaying;

/* Does the thread run a wrapper in a replay? */
static inline bool sc_replaying_is_on(void)
{
    return sc_frame_is_noted(&sc_replaying.frame);
}

/* Does it run before the driver carries the call out? Then the operation can still be put behind
 * others, and nothing is noted of it yet. */
static inline bool sc_replaying_prepares(void)
{
    return sc_replaying_is_on() && sc_replaying.prepares;
}

/* Does it run after the driver has carried the call out? */
static inline bool sc_replaying_follows(void)
{
    return sc_replaying_is_on() && !sc_replaying.prepares;
}

/* Asked by a wrapper where it calls the driver: is it the replayed call, which gets the driver's
 * answer instead? True once for each replayed call. */
static inline bool sc_replaying_takes_answer(void)
{
    bool takes = sc_replaying.armed && sc_replaying_is_on();
    sc_replaying.armed = false;
    return takes;
}

/* Are captures to be repaired (mode=fix, capture=repair)? In a replay it is too late for that. */
bool sc_captures_are_repaired(void);

/* Takes the place of the real function in a replay: returns what the driver has answered. */
CUresult sc_replaying_answer(void);

#endif
