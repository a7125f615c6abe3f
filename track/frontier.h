/* Finds how many of a row of things are complete, if each completes after those before it, with few
 * questions to the driver.
 *
 * Asking about one may be expensive, and mostly either few or all are complete. So the steps grow
 * from the first thing on until an incomplete one is met, and what lies between is then halved. If
 * `complete` of `count` things are complete, about 2 * log2(complete) of them are asked about; if
 * none is, one.
 *
 * No state, no lock; signal-safe if `is_complete` is. */
#ifndef SC_TRACK_FRONTIER_H
#define SC_TRACK_FRONTIER_H

#include <stdbool.h>

/* How many of `count` things are complete. is_complete(context, at) asks about the thing at
 * position `at`, from 0. */
static inline unsigned sc_frontier(unsigned count, bool (*is_complete)(void *context, unsigned at),
                                   void *context)
{
    unsigned complete = 0;
    unsigned open = count; /* no thing from here on is complete */
    bool grows = true;
    while (complete < open) {
        unsigned step = grows ? complete + !complete : (open - complete + 1) / 2;
        unsigned last = step < open - complete ? complete + step : open;
        if (is_complete(context, last - 1)) {
            complete = last;
        } else {
            open = last - 1;
            grows = false;
        }
    }
    return complete;
}

#endif
