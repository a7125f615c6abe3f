/* A wrapper that is run for what it notes, of a call that the driver has carried out already, or is
 * about to: missed/replay.h does so for calls that passed every wrapper by.
 */
#ifndef SC_INTERPOSE_DRIVER_REPLAYING_H
#define SC_INTERPOSE_DRIVER_REPLAYING_H

#include <stdbool.h>
#include <stdint.h>

#include "interpose/driver/driver.h"
#include "track/frames.h"

struct sc_replaying {
    struct sc_frame frame; /* of who runs a wrapper for what it notes */
    bool armed;            /* the next wrapper takes the answer */
    bool prepares;         /* the driver is about to carry the call out */
    CUresult answer;
    uint32_t correlation_id;
};

extern __thread struct sc_replaying sc_replaying;

/* Has the operation under way on this thread been carried out already? */
static inline bool sc_replaying_is_on(void)
{
    return sc_frame_is_noted(&sc_replaying.frame);
}

/* Is it about to be, so that it can still be put behind others? Then nothing is noted of it yet. */
static inline bool sc_replaying_prepares(void)
{
    return sc_replaying_is_on() && sc_replaying.prepares;
}

/* In a wrapper within a call of ours: is it this one that is to take the answer? Only once. */
static inline bool sc_replaying_takes_answer(void)
{
    bool takes = sc_replaying.armed && sc_replaying_is_on();
    sc_replaying.armed = false;
    return takes;
}

/* Are captures to be healed (mode=fix, capture=repair), and is there still time to? */
bool sc_captures_are_repaired(void);

/* Stands for the real function. */
CUresult sc_replaying_answer(void);

#endif
