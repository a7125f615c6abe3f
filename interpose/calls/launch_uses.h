/* What the copies and memsets of a launched graph do with device memory (SC501, SC502). The exec
 * knows it, node by node (track/graphs.h).
 *
 * Locks: none may be held. errno may change. Calls the driver where something is found: not for a
 * signal handler.
 */
#ifndef SC_INTERPOSE_CALLS_LAUNCH_USES_H
#define SC_INTERPOSE_CALLS_LAUNCH_USES_H

#include <stdbool.h>
#include <stdint.h>

#include "interpose/calls/device_uses.h"

struct sc_launch_uses {
    const struct sc_call *call;
    struct sc_stream_record *stream;
    uint32_t exec;               /* the tracker's id */
    const struct sc_point *last; /* of the exec elsewhere, which the launch comes after; NULL */
    uint64_t place;              /* of the call, in the legacy stream */
    enum sc_device_healing healing;
    bool awaits_events; /* a node waits for one */
};

/* Before the call. What its nodes wait for comes before all of them: which of them stand behind the
 * wait is not asked. `which` uses: as sc_graphs_run_is has it. */
void sc_launch_uses_judge(const struct sc_launch_uses *launch, int which);

/* The driver has accepted the launch. All these uses have one ticket, which is left in `moment`
 * (sc_device_uses_moment). Where its ticks are 0 there is none yet, and there is one behind it if
 * there are such uses. False: there are none. */
bool sc_launch_uses_note(const struct sc_launch_uses *launch, int which, struct sc_op_info *moment);

/* Reports nodes that no edge orders, and that were not told of. */
void sc_launch_uses_report_races(const struct sc_launch_uses *launch);

#endif
