/* Tells a wrapper whether it is run by a replay: missed/replay.h runs the wrapper of a call that
 * came through none, for what the wrapper notes. The driver carries the call out itself, before the
 * replay or after it, so the wrapper must not make it again.
 *
 * Plain thread-local data: no lock, no call, safe in a signal handler. */

/* Terms (docs/glossary.md):
 *   carry: of a wrapper: to note a driver call, so that the call is not counted as missed
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   replay: to run the wrapper of a missed call for what it notes, without the call
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_INTERPOSE_DRIVER_REPLAYING_H
#define SC_INTERPOSE_DRIVER_REPLAYING_H

#include <stdbool.h>
#include <stdint.h>

#include "common/frames.h"
#include "interpose/driver/driver.h"

/* What a thread's replay is about: a call that passed all wrappers by, for which the library runs
 * the wrapper without the call. */
struct sc_replaying {
    struct sc_frame frame; /* the frame of the function that runs the wrapper */
    bool armed;    /* the next wrapper is to return the answer instead of calling the driver */
    bool prepares; /* the driver has still to carry the call out */
    CUresult answer;
    uint32_t correlation_id;
};

extern __thread struct sc_replaying sc_replaying;

/* Returns true if the calling thread runs a wrapper in a replay: for a call that the driver makes
 * without the wrapper, to note what the call does. */
static inline bool sc_replaying_is_on(void)
{
    return sc_frame_is_noted(&sc_replaying.frame);
}

/* Returns true if this is a replay (of a call that came through no wrapper) before the driver makes
 * the call. The operation can still be ordered after others then, and nothing is recorded of it
 * yet. */
static inline bool sc_replaying_prepares(void)
{
    return sc_replaying_is_on() && sc_replaying.prepares;
}

/* Returns true if this is a replay (of a call that came through no wrapper) after the driver has
 * made the call. */
static inline bool sc_replaying_follows(void)
{
    return sc_replaying_is_on() && !sc_replaying.prepares;
}

/* Called by a wrapper where it would call the driver. Returns true if the wrapper is run by a
 * replay and has to take the driver's answer instead: once for each replayed call, since the
 * wrapper may make further calls, which the driver is to get. */
static inline bool sc_replaying_takes_answer(void)
{
    bool takes = sc_replaying.armed && sc_replaying_is_on();
    sc_replaying.armed = false;
    return takes;
}

/* Returns true if captures are to be repaired (mode=fix, capture=repair): calls that would break
 * one are made in another way. False in a replay, in which the driver makes the call itself. */
bool sc_captures_are_repaired(void);

/* Returns what the driver has answered. A wrapper calls it in a replay in place of the driver's
 * function. */
CUresult sc_replaying_answer(void);

#endif
