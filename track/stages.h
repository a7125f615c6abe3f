/* The stages of a graph. While a launch goes on, some nodes tell the host that all nodes before
 * them are done, in a way that the library sees: nodes that record events, and watched host nodes.
 * They are called notifiers.
 *
 * The nodes before notifiers are divided into stages: stage 1 has the nodes before the first
 * notifier, stage 2 those before the next notifier that are not in stage 1, and so on. A notifier
 * notifies the host of all stages up to one.
 *
 * The operations of a launch are numbered stage by stage; those of no stage come last. So all that
 * a notifier notifies of ends with one number of the launch's stream.
 *
 * Locks: none. Plain data. */

/* Terms (docs/glossary.md):
 *   notifier: a node that tells the host, in a way that the library sees, that earlier nodes are
 *       done
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   point: all work issued on a stream so far, with what that work had waited for (its clock)
 *   stage: the part of a graph's nodes that one notifier tells the host of
 */

#ifndef SC_TRACK_STAGES_H
#define SC_TRACK_STAGES_H

#include <stdbool.h>
#include <stdint.h>

enum { SC_STAGES_MAX = 31 }; /* stages of a graph */

struct sc_stages {
    /* the latest number that was noted; at first that of the point before the launch */
    uint64_t last;
    /* operations of other threads got numbers between those of a stage, so it is not known which of
     * them come before a notifier */
    bool broken;
    /* The last number of each stage; after sc_stages_close, of all stages up to it. 0: it has none.
     */
    uint64_t ends[SC_STAGES_MAX + 1];
};

/* Notes the number of an operation of the stage (of the work of whose end one node tells the host).
 * Stage 0: the operation belongs to no stage. */
static inline void sc_stages_note(struct sc_stages *stages, unsigned stage, uint64_t number)
{
    stages->broken |= stage && number != stages->last + 1;
    stages->last = number;
    stages->ends[stage] = number;
}

/* Makes each number in `ends` cover the earlier stages as well. To be called when all operations of
 * the launch are noted. If the stages are broken (other threads' operations have numbers in
 * between), all become 0. */
static inline void sc_stages_close(struct sc_stages *stages)
{
    stages->ends[0] = 0;
    for (unsigned i = 1; i <= SC_STAGES_MAX; i++)
        if (stages->broken || !stages->ends[i])
            stages->ends[i] = stages->broken ? 0 : stages->ends[i - 1];
}

/* Returns the last number that a notifier of all stages up to this one notifies of; 0: there is
 * none. */
static inline uint64_t sc_stages_end(const struct sc_stages *stages, unsigned stage)
{
    return stages->ends[stage];
}

#endif
