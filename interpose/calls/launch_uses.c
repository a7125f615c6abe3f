#include "interpose/calls/launch_uses.h"

#include <stddef.h>

#include "interpose/reaper/hazards.h"
#include "interpose/streams/streams.h"
#include "track/allocations.h"
#include "track/device_use.h"
#include "track/graphs.h"
#include "track/hazard.h"
#include "track/ops.h"
#include "track/ordering.h"
#include "track/points.h"
#include "track/shape.h"
#include "track/track.h"
#include "track/track_graphs.h"
#include "track/track_order.h"

#include "track/poison.h"

/* ---- against other work ---- */

static struct sc_device_use use_of(struct sc_graphs *graphs, const struct sc_graph_use *run)
{
    return (struct sc_device_use){
        .shape = run->shape,
        .fold = sc_graphs_extra(graphs, run)->fold,
        .direction = run->direction,
        .access = run->reads_device ? SC_DEVICE_READS : SC_DEVICE_WRITES,
        .unsure = run->unsure & SC_UNSURE_LEFT_OUT,
    };
}

/* What is freed is the block that is there when the graph is launched. */
static void find_freed(struct sc_allocations *allocations, struct sc_device_use *use)
{
    size_t bytes =
        use->direction == SC_FREE ? sc_allocations_block_bytes(allocations, use->shape.address) : 0;
    if (bytes)
        use->shape.width_bytes = use->shape.pitch_bytes = bytes;
}

/* As many as there is room for, from the run on, which moves behind them. */
static uint32_t next_uses(const struct sc_launch_uses *launch, int which, uint32_t *at,
                          struct sc_device_use *into)
{
    SC_TRACK_SCOPE(track);
    const struct sc_exec *exec = &sc_graphs_at(track.graphs, launch->exec)->exec;
    uint32_t count = 0;
    for (; *at < exec->device_runs && count < SC_DEVICE_USES_AT_ONCE; ++*at) {
        const struct sc_graph_use *run = &exec->runs.list[exec->host_runs + *at];
        if (!sc_graphs_run_is(run, which))
            continue;
        into[count] = use_of(track.graphs, run);
        find_freed(track.allocations, &into[count++]);
    }
    return count;
}

static void judge_behind(const struct sc_launch_uses *launch, int which,
                         const struct sc_point *after)
{
    struct sc_device_use uses[SC_DEVICE_USES_AT_ONCE];
    uint32_t at = 0, count;
    while ((count = next_uses(launch, which, &at, uses)) > 0)
        sc_device_uses_judge_all(uses, count, launch->call, launch->stream, launch->healing, after);
}

void sc_launch_uses_judge(const struct sc_launch_uses *launch, int which)
{
    struct sc_order_call ordered;
    if (!launch->awaits_events) {
        judge_behind(launch, which, launch->last);
        return;
    }
    sc_track_begin_launch(&sc_track, launch->exec, launch->stream->id, &ordered);
    struct sc_point after = sc_track_call_point(&sc_track, launch->stream->id, &ordered);
    judge_behind(launch, which, &after);
    sc_track_end(&sc_track, &ordered, false);
    sc_track_forget_point(&sc_track, &after);
}

bool sc_launch_uses_note(const struct sc_launch_uses *launch, int which, struct sc_op_info *moment)
{
    struct sc_device_use uses[SC_DEVICE_USES_AT_ONCE];
    uint32_t at = 0, count;
    bool any = false;
    while ((count = next_uses(launch, which, &at, uses)) > 0) {
        if (moment->ticks == 0)
            *moment = sc_device_uses_moment(launch->call, launch->stream, launch->place);
        moment->ticket = sc_device_uses_note_all(uses, count, launch->call, launch->stream, moment);
        any = true;
    }
    return any;
}

/* ---- of nodes among themselves ---- */

void sc_launch_uses_report_races(const struct sc_launch_uses *launch)
{
    struct sc_graph_race race;
    while (SC_TRACKED(sc_graphs_next_race(track.graphs, launch->exec, &race)))
        sc_hazards_report_race(&race,
                               &(struct sc_culprit){launch->call->api, launch->call->site, NULL});
}
