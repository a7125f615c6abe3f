/* Calls that passed every wrapper by are followed through CUPTI's callbacks.
 *
 * When the driver has returned, the wrapper is run for what it notes: its real function is replaced
 * by one that answers what the driver has answered. Of what would have had to come before the call
 * one thing is healed: the wrapper of a copy, memset or launch is run before it as well, and puts
 * it behind what it would race with. Frees and destructions are noted before the call instead,
 * which waits for what is in flight. The points of synchronises are taken after them, so that an
 * operation that another thread has issued on the stream meanwhile may be taken for known done.
 */
#ifndef SC_INTERPOSE_FOLLOW_H
#define SC_INTERPOSE_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interpose/driver.h"
#include "track/frames.h"

struct sc_missed_call;

struct sc_following {
    struct sc_frame frame; /* of who runs a wrapper for what it notes */
    bool armed;            /* the next wrapper takes the answer */
    bool prepares;         /* the driver is about to carry the call out */
    CUresult answer;
    uint32_t correlation_id;
};

extern __thread struct sc_following sc_following;

/* Has the operation under way on this thread been carried out already? */
static inline bool sc_follows(void)
{
    return sc_frame_is_marked(&sc_following.frame);
}

/* Is it about to be, so that it can still be put behind others? Then nothing is noted of it yet. */
static inline bool sc_follow_prepares(void)
{
    return sc_follows() && sc_following.prepares;
}

/* In a wrapper within a call of ours: is it this one that is to take the answer? Only once. */
static inline bool sc_follow_takes(void)
{
    bool takes = sc_following.armed && sc_follows();
    sc_following.armed = false;
    return takes;
}

/* Stands for the real function. */
CUresult sc_follow_answer(void);

void sc_follow(const struct sc_missed_call *call, bool entering);

/* The callback ids of all calls that can be followed. */
const uint16_t *sc_follow_ids(size_t *count);

#endif
