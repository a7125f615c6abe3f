/* The stages of a graph: some nodes (notifiers) tell the host, in a way that the library sees, that
 * all before them in the graph is done, while the launch goes on.
 *
 * What notifiers tell of is cut into stages: stage 1 is what the first notifier tells of, stage 2
 * what the next one tells of besides, and so on. A notifier tells of all stages up to one.
 *
 * The operations of a launch are numbered stage by stage; those of no stage come last. So all that
 * a notifier tells of ends with one number of the launch's stream.
 *
 * Locks: none. Plain data. */
#ifndef SC_TRACK_STAGES_H
#define SC_TRACK_STAGES_H

#include <stdbool.h>
#include <stdint.h>

enum { SC_STAGES_MAX = 31 }; /* stages of a graph */

struct sc_stages {
    uint64_t last; /* the latest number noted; at first that of the point before the launch */
    /* operations of other threads lie between those of a stage, so it is not known which of them
     * come before a notifier */
    bool broken;
    /* The last number of each stage; after sc_stages_close, of all stages up to it. 0: there is
     * none. */
    uint64_t ends[SC_STAGES_MAX + 1];
};

/* Notes the number of an operation of the stage; stage 0: of no stage. */
static inline void sc_stages_note(struct sc_stages *stages, unsigned stage, uint64_t number)
{
    stages->broken |= stage && number != stages->last + 1;
    stages->last = number;
    stages->ends[stage] = number;
}

/* To be called when all operations of the launch are noted: makes each number in `ends` cover
 * earlier stages as well. */
static inline void sc_stages_close(struct sc_stages *stages)
{
    stages->ends[0] = 0;
    for (unsigned i = 1; i <= SC_STAGES_MAX; i++)
        if (stages->broken || !stages->ends[i])
            stages->ends[i] = stages->broken ? 0 : stages->ends[i - 1];
}

/* The last number that a notifier tells of which tells of all stages up to this one; 0: there is
 * none. */
static inline uint64_t sc_stages_end(const struct sc_stages *stages, unsigned stage)
{
    return stages->ends[stage];
}

#endif
