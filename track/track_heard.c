/* The tracker's part for host nodes of execs. */
#include "track/track_internal.h"

#include "track/poison.h"

struct sc_heard_node *sc_track_heard_add(struct sc_track *track, uintptr_t exec, uintptr_t node,
                                         void (*function)(void *), void *data)
{
    struct sc_heard_node *added = NULL;
    lock(track);
    uint32_t id = sc_graphs_make_exec(&track->graphs, exec);
    if (id)
        added = sc_heard_add(&track->order, &sc_graphs_at(&track->graphs, id)->exec.heard, node,
                             function, data);
    unlock(track);
    return added;
}

void sc_track_heard_drop(struct sc_track *track, struct sc_heard_node *node)
{
    lock(track);
    sc_heard_drop(&track->order, node);
    unlock(track);
}

void sc_track_heard_replace(struct sc_track *track, struct sc_heard_node *node)
{
    lock(track);
    sc_heard_replace(&track->order, node);
    unlock(track);
}

static struct sc_heard *heard_of(struct sc_track *track, uintptr_t exec)
{
    uint32_t id = sc_graphs_find(&track->graphs, exec);
    return id ? sc_graphs_at(&track->graphs, id)->exec.heard : NULL;
}

bool sc_track_heard_knows(struct sc_track *track, uintptr_t exec, uintptr_t node)
{
    lock(track);
    bool knows = sc_heard_find(heard_of(track, exec), node);
    unlock(track);
    return knows;
}

void sc_track_heard_lose(struct sc_track *track, uintptr_t exec, uintptr_t node)
{
    lock(track);
    struct sc_heard *heard = heard_of(track, exec);
    if (sc_heard_find(heard, node))
        heard->is_lost = true;
    unlock(track);
}

struct sc_heard_launch *sc_track_heard_begin(struct sc_track *track, uint32_t exec,
                                             const struct sc_point *before,
                                             const struct sc_heard_call *call, unsigned *given_up)
{
    lock(track);
    struct sc_heard_launch *launch = sc_heard_begin(
        &track->order, sc_graphs_at(&track->graphs, exec)->exec.heard, before, call, given_up);
    unlock(track);
    return launch;
}

void sc_track_heard_fail(struct sc_track *track, struct sc_heard_launch *launch)
{
    lock(track);
    sc_heard_fail(&track->order, launch);
    unlock(track);
}

struct sc_point sc_track_heard_launched(struct sc_track *track, struct sc_heard_launch *launch,
                                        const struct sc_told *told)
{
    lock(track);
    struct sc_point point = sc_heard_launched(&track->order, launch, told);
    unlock(track);
    return point;
}

struct sc_heard_run sc_track_heard_runs(struct sc_track *track, struct sc_heard_node *node)
{
    lock(track);
    struct sc_heard_run run = sc_heard_runs(&track->order, node);
    unlock(track);
    return run;
}
