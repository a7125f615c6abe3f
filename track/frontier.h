/* How far a row of things has come of which each completes after those before it.
 *
 * To ask about one may be dear, and most often either few or all of them are complete: so the steps
 * grow from the first on, and what is between is halved. About 2 * log2(complete) of `count` things
 * are asked about, where `complete` of them are complete, and one where none is.
 *
 * No state, no lock; signal-safe where `is_complete` is.
 */
#ifndef SC_TRACK_FRONTIER_H
#define SC_TRACK_FRONTIER_H

#include <stdbool.h>

/* How many of `count` are complete; is_complete(context, position) asks about one. */
static inline unsigned sc_frontier(unsigned count, bool (*is_complete)(void *context, unsigned at),
                                   void *context)
{
    unsigned complete = 0;
    unsigned open = count; /* from here on, none is */
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
