/* Finds out, with few questions to the driver, how many things of a sequence are complete. Each
 * thing completes after those before it.
 *
 * A question may be expensive, and mostly either few or all things are complete. So the search asks
 * at growing distances from the first thing until it meets an incomplete one, and then halves the
 * interval in between. If `complete` of `count` things are complete, it asks about 2 *
 * log2(complete) times; if none is, once.
 *
 * No state, no lock; signal-safe if `is_complete` is. */

/* Terms (docs/glossary.md):
 *   complete: finished by the device, whether or not the program knows
 */

#ifndef SC_TRACK_FRONTIER_H
#define SC_TRACK_FRONTIER_H

#include <stdbool.h>

/* Returns how many of `count` things are complete, which become complete in order: the position of
 * the first that is not. is_complete(context, at) answers for the thing at position `at`, from 0.
 */
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
