/* What nodes of a graph tell the host, in a way that is seen, while its launch goes on.
 *
 * A node tells of what stands before it in the graph. That goes in steps: of step 1 is all that the
 * first of these nodes tells of, of step 2 what the next one tells of besides, and so on. A node
 * that tells up to a step tells of all steps up to that one.
 *
 * The operations of a launch come step by step, and what no node tells of comes last. So what a
 * node tells of ends with a number of the launch's stream.
 *
 * Locks: none. Plain data.
 */
#ifndef SC_TRACK_TOLD_H
#define SC_TRACK_TOLD_H

#include <stdbool.h>
#include <stdint.h>

enum { SC_TOLD_MAX = 31 }; /* steps of a graph */

struct sc_told {
    uint64_t last; /* the latest number; at first that of the point before the launch */
    bool broken; /* other threads' operations came in between: nobody knows what they are behind */
    /* The last number of each step; when all are noted, of that step and those before. 0: there is
     * none. */
    uint64_t ends[SC_TOLD_MAX + 1];
};

/* An operation of the step has the number. Step 0: no node tells of the operation. */
static inline void sc_told_note(struct sc_told *told, unsigned step, uint64_t number)
{
    told->broken |= step && number != told->last + 1;
    told->last = number;
    told->ends[step] = number;
}

/* All are noted. */
static inline void sc_told_done(struct sc_told *told)
{
    told->ends[0] = 0;
    for (unsigned i = 1; i <= SC_TOLD_MAX; i++)
        if (told->broken || !told->ends[i])
            told->ends[i] = told->broken ? 0 : told->ends[i - 1];
}

/* The last number that a node tells of which tells up to the step; 0: there is none. */
static inline uint64_t sc_told_end(const struct sc_told *told, unsigned step)
{
    return told->ends[step];
}

#endif
