/* What nodes of a graph tell the host, in a way that is seen, while its launch goes on.
 *
 * Such a node tells that what stands before it in the graph is done. What the nodes tell of is cut
 * into steps: step 1 is all that the first of these nodes tells of, step 2 what the next one tells
 * of besides, and so on. A node that tells up to a step tells of all steps up to that one.
 *
 * The operations of a launch are numbered step by step; operations of which no node tells come
 * last. So all that a node tells of ends with one number of the launch's stream.
 *
 * Locks: none. Plain data. */
#ifndef SC_TRACK_TOLD_H
#define SC_TRACK_TOLD_H

#include <stdbool.h>
#include <stdint.h>

enum { SC_TOLD_MAX = 31 }; /* steps of a graph */

struct sc_told {
    uint64_t last; /* the latest number noted; at first that of the point before the launch */
    bool broken; /* operations of other threads lie between those of a step: which of them a node is
                    behind is not known */
    /* The last number of each step; after sc_told_done, of the step and those before it. 0: there
     * is none. */
    uint64_t ends[SC_TOLD_MAX + 1];
};

/* Notes that an operation of the step has the number. Step 0: no node tells of the operation. */
static inline void sc_told_note(struct sc_told *told, unsigned step, uint64_t number)
{
    told->broken |= step && number != told->last + 1;
    told->last = number;
    told->ends[step] = number;
}

/* All operations of the launch are noted: makes `ends` cover earlier steps as well. */
static inline void sc_told_done(struct sc_told *told)
{
    told->ends[0] = 0;
    for (unsigned i = 1; i <= SC_TOLD_MAX; i++)
        if (told->broken || !told->ends[i])
            told->ends[i] = told->broken ? 0 : told->ends[i - 1];
}

/* The last number of which a node tells that tells up to the step; 0: there is none. */
static inline uint64_t sc_told_end(const struct sc_told *told, unsigned step)
{
    return told->ends[step];
}

#endif
