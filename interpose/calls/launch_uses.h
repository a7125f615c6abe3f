/* Judges and records what the copies and memsets of a launched graph do with host memory (SC2xx)
 * and device memory (SC501, SC502), by the exec's runs: its uses, with adjoining ones joined
 * (track/graphs.h).
 *
 * Locks: none may be held. errno may change. Calls the driver if a conflict is found: not for a
 * signal handler. */

/* Terms (docs/glossary.md):
 *   exec: an instantiated graph (CUgraphExec)
 *   legacy stream: a context's default stream, which is ordered with all its blocking streams
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   point: all work issued on a stream so far, with what that work had waited for (its clock)
 *   run: adjoining uses of an exec, recorded as one operation
 *   stage: the part of a graph's nodes that one notifier tells the host of
 *   ticket: the name of an operation: its stream, its number there, and its epoch
 *   ticks: a time of the processor's counter
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_INTERPOSE_CALLS_LAUNCH_USES_H
#define SC_INTERPOSE_CALLS_LAUNCH_USES_H

#include <stdbool.h>
#include <stdint.h>

#include "interpose/calls/device_uses.h"

struct sc_exec;
struct sc_graph;
struct sc_op_info;
struct sc_stages;

/* One launch, from before the driver's call until its uses are recorded. */
struct sc_launch_uses {
    const struct sc_call *call;
    struct sc_stream_record *stream;
    uint32_t exec;                /* the tracker's id of the graph; 0: not known yet */
    const struct sc_exec *known;  /* the exec's record; NULL: not known yet */
    const struct sc_graph *graph; /* NULL: the graph names no host memory */
    /* the point of the exec's last launch if that was on another stream, which this launch comes
     * after; or NULL */
    const struct sc_point *last;
    struct sc_stages *stages; /* gets the numbers of operations; NULL: no node notifies the host */
    uint64_t place;           /* the call's place among the calls on the legacy stream */
    uint64_t ticks;           /* just before the call */
    enum sc_device_healing healing;
    bool again;         /* on the same stream as the exec's last launch */
    bool awaits_events; /* at least one node waits for an event */
    bool has_device;    /* the graph uses device memory, and that is to be judged and recorded */
};

/* Judges the uses of a launch before the driver's call. `which` selects the runs of device memory
 * (sc_graphs_run_is_selected). Runs of host memory are judged unless it is SC_RUNS_GATED. */
void sc_launch_uses_judge(const struct sc_launch_uses *launch, int which);

/* Records the uses of a launch that the driver has accepted. Each run of host memory becomes an
 * operation. Runs of device memory share one ticket (place on the stream), or one for each stage:
 * the nodes that one node tells the host of. `moment`: that of the launch's uses if some are
 * recorded already (sc_device_uses_call_info), else with ticks 0. */
void sc_launch_uses_record(const struct sc_launch_uses *launch, struct sc_op_info *moment);

/* Reports pairs of nodes of the graph that use the same device memory, one writing, and of which
 * neither comes before the other by the graph's edges (SC501). Each pair is reported once. */
void sc_launch_uses_report_races(const struct sc_launch_uses *launch);

#endif
