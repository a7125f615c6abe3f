/* What the copies and memsets of a launched graph do with memory: the exec's runs
 * (track/graphs.h), of host memory (SC2xx) and of device memory (SC501, SC502).
 *
 * Locks: none may be held. errno may change. Calls the driver where something is found: not for a
 * signal handler.
 */
#ifndef SC_INTERPOSE_CALLS_LAUNCH_USES_H
#define SC_INTERPOSE_CALLS_LAUNCH_USES_H

#include <stdbool.h>
#include <stdint.h>

#include "interpose/calls/device_uses.h"

struct sc_exec;
struct sc_graph;
struct sc_op_info;
struct sc_told;

struct sc_launch_uses {
    const struct sc_call *call;
    struct sc_stream_record *stream;
    uint32_t exec;                /* the tracker's id; 0: not known yet */
    const struct sc_exec *known;  /* the same; NULL */
    const struct sc_graph *graph; /* NULL: it names no host memory */
    const struct sc_point *last;  /* of the exec elsewhere, which the launch comes after; NULL */
    struct sc_told *told;         /* the numbers of its operations; NULL: nobody asks for them */
    uint64_t place;               /* of the call, in the legacy stream */
    uint64_t ticks;               /* just before it */
    enum sc_device_healing healing;
    bool again;         /* on the stream of the exec's last launch */
    bool awaits_events; /* a node waits for one */
    bool has_device;    /* uses of device memory, which are to be judged and noted */
};

/* Before the call. `which` of the uses of device memory: as sc_graphs_run_is has it. Those of host
 * memory count as not gated. */
void sc_launch_uses_judge(const struct sc_launch_uses *launch, int which);

/* The driver has accepted the launch. Each run of host memory becomes an operation. Uses of device
 * memory have one ticket, or one for each step that a node tells of. `moment`: of uses that the
 * launch has already (sc_device_uses_moment); where its ticks are 0 there are none. */
void sc_launch_uses_record(const struct sc_launch_uses *launch, struct sc_op_info *moment);

/* Reports nodes that no edge orders, and that were not told of. */
void sc_launch_uses_report_races(const struct sc_launch_uses *launch);

#endif
