/* Is a wrapper run for what it notes, and not for its call? The driver has carried the call out
 * already, or is about to. missed/replay.h runs wrappers so for calls that passed every wrapper by.
 *
 * Plain thread-local data: no lock, no call, safe in a signal handler too.
 */
#ifndef SC_INTERPOSE_DRIVER_REPLAYING_H
#define SC_INTERPOSE_DRIVER_REPLAYING_H

#include <stdbool.h>
#include <stdint.h>

#include "common/frames.h"
#include "interpose/driver/driver.h"

struct sc_replaying {
    struct sc_frame frame; /* of who runs a wrapper for what it notes */
    bool armed;            /* the next wrapper takes the answer */
    bool prepares;         /* the driver is about to carry the call out */
    CUresult answer;
    uint32_t correlation_id;
};

extern __thread struct sc_replaying sc_replaying;

/* Does the thread run a wrapper for what it notes? */
static inline bool sc_replaying_is_on(void)
{
    return sc_frame_is_noted(&sc_replaying.frame);
}

/* Does it, and the driver is only about to carry the call out? Then the operation can still be put
 * behind others, and nothing is noted of it yet. */
static inline bool sc_replaying_prepares(void)
{
    return sc_replaying_is_on() && sc_replaying.prepares;
}

/* Does it, and the driver has carried the call out? */
static inline bool sc_replaying_follows(void)
{
    return sc_replaying_is_on() && !sc_replaying.prepares;
}

/* In a wrapper: is this the one that answers as the driver has? True once for each call. */
static inline bool sc_replaying_takes_answer(void)
{
    bool takes = sc_replaying.armed && sc_replaying_is_on();
    sc_replaying.armed = false;
    return takes;
}

/* Are captures to be healed (mode=fix, capture=repair), and is there still time to? */
bool sc_captures_are_repaired(void);

/* Stands for the real function: what the driver has answered. */
CUresult sc_replaying_answer(void);

#endif
