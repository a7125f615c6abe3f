#include "interpose/calls/launch_uses.h"

#include <stddef.h>

#include "interpose/reaper/hazards.h"
#include "track/device_use.h"
#include "track/graph_device.h"
#include "track/graphs.h"
#include "track/hazard.h"
#include "track/ops.h"
#include "track/points.h"
#include "track/track.h"
#include "track/track_graphs.h"
#include "track/track_order.h"

#include "track/poison.h"

/* ---- against other work ---- */

static void judge_behind(const struct sc_launch_uses *launch, int which,
                         const struct sc_point *after)
{
    struct sc_device_use uses[SC_DEVICE_USES_AT_ONCE];
    uint32_t at = 0, count;
    while ((count = sc_track_graph_device(&sc_track, launch->exec, &at, which, uses,
                                          SC_DEVICE_USES_AT_ONCE)) > 0)
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
    while ((count = sc_track_graph_device(&sc_track, launch->exec, &at, which, uses,
                                          SC_DEVICE_USES_AT_ONCE)) > 0) {
        if (moment->ticks == 0)
            *moment = sc_device_uses_moment(launch->call, launch->stream, launch->place);
        moment->ticket = sc_device_uses_note_all(uses, count, launch->call, launch->stream, moment);
        any = true;
    }
    return any;
}

/* ---- of nodes among themselves ---- */

/* Who added the node: of one that uses host memory, too, that is known with that memory. Where it
 * is not, it says the call that made the exec. */
static struct sc_hazard_event author_of(const struct sc_launch_uses *launch,
                                        const struct sc_graph_race *race, unsigned i)
{
    const struct sc_hazard_event *made = &race->made;
    struct sc_graph_use use;
    struct sc_graph_extra extra;
    if (race->authors[i].api)
        return race->authors[i];
    for (uint32_t at = 0; sc_track_graph_use(&sc_track, launch->exec, at, &use, &extra); at++) {
        const struct sc_graph_author *author = &use.author;
        bool is_known = author->api != made->api || author->stack != made->stack;
        if (use.node == race->of[i].node && author->api && is_known)
            return sc_hazards_author(author);
    }
    return (struct sc_hazard_event){.api = NULL};
}

void sc_launch_uses_report_races(const struct sc_launch_uses *launch)
{
    struct sc_graph_race race;
    while (sc_track_graph_next_race(&sc_track, launch->exec, &race)) {
        for (unsigned i = 0; i < 2; i++)
            race.authors[i] = author_of(launch, &race, i);
        sc_hazards_report_race(&race,
                               &(struct sc_culprit){launch->call->api, launch->call->site, NULL});
    }
}
