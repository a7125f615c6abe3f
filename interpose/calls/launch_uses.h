/* Judges and records what the copies and memsets of a launched graph do with memory, by the exec's
 * runs (track/graphs.h): host memory (SC2xx) and device memory (SC501, SC502).
 *
 * Locks: none may be held. errno may change. Calls the driver where something is found: not for a
 * signal handler. */
#ifndef SC_INTERPOSE_CALLS_LAUNCH_USES_H
#define SC_INTERPOSE_CALLS_LAUNCH_USES_H

#include <stdbool.h>
#include <stdint.h>

#include "interpose/calls/device_uses.h"

struct sc_exec;
struct sc_graph;
struct sc_op_info;
struct sc_stages;

/* One launch, from before its call until its uses are noted. */
struct sc_launch_uses {
    const struct sc_call *call;
    struct sc_stream_record *stream;
    uint32_t exec;                /* the tracker's id of the graph; 0: not known yet */
    const struct sc_exec *known;  /* the exec of that id; NULL: not known yet */
    const struct sc_graph *graph; /* NULL: the graph names no host memory */
    const struct sc_point *last;  /* where the exec was last launched on another stream, which this
                                     launch comes after; or NULL */
    struct sc_stages *stages;     /* gets the numbers of operations; NULL: nobody asks */
    uint64_t place;               /* the call's place among the calls on the legacy stream */
    uint64_t ticks;               /* just before the call */
    enum sc_device_healing healing;
    bool again;         /* on the stream of the exec's last launch */
    bool awaits_events; /* a node waits for one */
    bool has_device;    /* the graph uses device memory, which is to be judged and noted */
};

/* Judges the uses of a launch before the call. `which` (sc_graphs_run_is_selected) selects the uses
 * of device memory; uses of host memory are judged each time except with SC_RUNS_GATED. */
void sc_launch_uses_judge(const struct sc_launch_uses *launch, int which);

/* Notes the uses of a launch that the driver has accepted. Each run of host memory becomes an
 * operation. Uses of device memory share one ticket, or one for each stage that a node tells of.
 * `moment`: that of the launch's uses if some are noted already (sc_device_uses_call_info); else
 * its ticks are 0. */
void sc_launch_uses_record(const struct sc_launch_uses *launch, struct sc_op_info *moment);

/* Reports pairs of nodes that use the same memory and that no edge orders, each once. */
void sc_launch_uses_report_races(const struct sc_launch_uses *launch);

#endif
