#include "interpose/launches.h"

#include <errno.h>
#include <string.h>

#include "interpose/detours.h"
#include "interpose/graphs.h"
#include "interpose/hazards.h"
#include "interpose/issue.h"
#include "interpose/marks.h"
#include "interpose/process.h"
#include "interpose/sync.h"
#include "interpose/wrap.h"

#include "track/poison.h"

static pthread_mutex_t last_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sc_handles last_streams; /* CUgraphExec -> the stream of its last launch */

int sc_launches_init(void)
{
    return sc_handles_init(&last_streams);
}

void sc_launches_forget(const void *exec)
{
    if (!sc_handles_get(&last_streams, (uintptr_t)exec))
        return;
    pthread_mutex_lock(&last_lock);
    sc_handles_remove(&last_streams, (uintptr_t)exec);
    pthread_mutex_unlock(&last_lock);
    sc_track_forget_event(&sc_track, (uintptr_t)exec);
}

struct launch {
    struct sc_graph *graph;
    struct sc_issue issue; /* for the stream, and no use yet */
    const char *api;
    void *site;
    CUstream stream;
    bool per_thread;
};

static void report_use(const struct launch *launch, enum sc_hazard_code code, enum sc_action action,
                       const struct sc_graph_use *use)
{
    sc_hazards_report_graph(code, action, use,
                            &(struct sc_culprit){launch->api, launch->site, NULL});
}

/* Held memory still has what the program left in it; what was not held is reported. */
static void report_freed(const struct launch *launch)
{
    for (uint32_t i = 0; i < launch->graph->uses.count; i++) {
        const struct sc_graph_use *use = &launch->graph->uses.list[i];
        if (!use->freed || use->disabled)
            continue;
        bool held = sc_track_holds_for_graph(&sc_track, use->shape.address);
        report_use(launch, SC401, held ? SC_ACTION_HELD : SC_ACTION_REPORTED, use);
    }
}

static void look_at_stacks(const struct launch *launch)
{
    for (uint32_t i = 0; i < launch->graph->uses.count; i++) {
        const struct sc_graph_use *use = &launch->graph->uses.list[i];
        if (use->kind != SC_STACK || use->disabled)
            continue;
        if (!sc_graphs_refresh(use))
            report_use(launch, SC402, use->redirected ? SC_ACTION_SNAPSHOTTED : SC_ACTION_REPORTED,
                       use);
    }
}

/* The use as an operation that is about to be, or has been, issued. */
static struct sc_issue issue_of(const struct launch *launch, const struct sc_graph_use *use)
{
    struct sc_issue issue = launch->issue;
    if (use->freed)
        sc_issue_pageable(&issue, use->direction, (const void *)use->shape.address,
                          sc_shape_hull_bytes(&use->shape));
    else
        sc_issue_host_shape(&issue, use->direction, &use->shape);
    issue.joins_stream = false;
    sc_issue_of_graph(&issue, use->unjudged);
    return issue;
}

/* What the launch has to be ordered after; most have nothing that could conflict with them. */
static void order_uses(const struct launch *launch)
{
    const struct sc_graph_uses *merged = &launch->graph->merged;
    for (uint32_t i = 0; i < merged->count; i++) {
        const struct sc_graph_use *use = &merged->list[i];
        if (!sc_direction_writes_host(use->direction) &&
            !sc_track_may_conflict(&sc_track, use->range, use->direction))
            continue;
        struct sc_issue issue = issue_of(launch, use);
        if (issue.count)
            sc_issue_ready(&issue);
    }
}

static void record_uses(const struct launch *launch)
{
    const struct sc_graph_uses *merged = &launch->graph->merged;
    for (uint32_t i = 0; i < merged->count; i++) {
        const struct sc_graph_use *use = &merged->list[i];
        struct sc_issue issue = issue_of(launch, use);
        if (issue.count == 0)
            continue;
        sc_issue_end(&issue, CUDA_SUCCESS);
        if (use->freed)
            sc_track_hold_longer(&sc_track, use->shape.address, sc_shape_hull_bytes(&use->shape),
                                 &issue.ops[0].ticket);
    }
}

/* The driver begins a launch of an exec when its former one is complete, on whatever stream that
 * was: each launch leaves a point behind it, under the exec's name. */
static void come_after_last_launch(CUgraphExec exec, const struct sc_stream_record *stream)
{
    uint64_t last = sc_handles_get(&last_streams, (uintptr_t)exec);
    if (sc_likely(last == stream->id))
        return;
    if (last)
        sc_track_wait(&sc_track, stream->id, (uintptr_t)exec);
    pthread_mutex_lock(&last_lock);
    sc_handles_put(&last_streams, (uintptr_t)exec, stream->id);
    pthread_mutex_unlock(&last_lock);
}

static void leave_point(CUgraphExec exec, const struct sc_stream_record *stream)
{
    struct sc_point point = sc_track_record_point(&sc_track, stream->id);
    sc_track_set_event(&sc_track, (uintptr_t)exec, &point);
}

static struct sc_graph *graph_of(CUgraphExec exec)
{
    uint32_t id = sc_active() ? sc_graphs_find(&sc_track.graphs, (uintptr_t)exec) : 0;
    return id ? sc_graphs_at(&sc_track.graphs, id) : NULL;
}

/* A launch with host memory is an operation itself: no mark is wanted before it. */
static void note_work(const struct launch *launch, struct sc_stream_record *stream)
{
    if (!launch->graph)
        sc_marks_before_work(stream);
    sc_pending_work(stream);
    sc_track_work(&sc_track, stream->id);
}

/* In a capturing stream the driver refuses a launch. */
static void launch_begins(struct launch *launch, CUgraphExec exec)
{
    sc_issue_begin(&launch->issue, launch->api, launch->stream, launch->per_thread, launch->site);
    if (!launch->issue.stream)
        return;
    launch->graph = graph_of(exec);
    come_after_last_launch(exec, launch->issue.stream);
    note_work(launch, launch->issue.stream);
    if (!launch->graph)
        return;
    int saved = errno;
    if (launch->graph->has_freed)
        report_freed(launch);
    if (launch->graph->has_stack)
        look_at_stacks(launch);
    order_uses(launch);
    errno = saved;
}

/* Results for living frames; what was written for others is nobody's. */
static void bring_results(const struct launch *launch)
{
    for (uint32_t i = 0; i < launch->graph->uses.count; i++) {
        const struct sc_graph_use *use = &launch->graph->uses.list[i];
        if (use->kind == SC_STACK && use->direction == SC_D2H && use->redirected &&
            !use->disabled && sc_graphs_frame_lives(use))
            memcpy((void *)use->shape.address, use->saved, use->shape.width_bytes);
    }
}

/* The launch has waited for its stream. */
static void know_all(const struct launch *launch)
{
    struct sc_sync sync =
        sc_sync_begin_stream(launch->api, launch->site, launch->stream, launch->per_thread);
    sc_sync_end(&sync, CUDA_SUCCESS);
}

static CUresult launch_ended(const struct launch *launch, CUgraphExec exec, CUresult result)
{
    if (!launch->issue.stream || result != CUDA_SUCCESS)
        return result;
    int saved = errno;
    if (launch->graph)
        record_uses(launch);
    leave_point(exec, launch->issue.stream);
    if (!launch->graph)
        return result;
    if (launch->graph->has_stack)
        bring_results(launch);
    if (launch->graph->waits)
        know_all(launch);
    errno = saved;
    return result;
}

SC_DEFINE2(cuGraphLaunch, _ptsz, (CUgraphExec exec, CUstream hStream), struct sc_detour detour;
           sc_detour_begin(&detour, API, SC_SITE(), &hStream, per_thread);
           struct launch launch = {.api = API,
                                   .site = SC_SITE(),
                                   .stream = hStream,
                                   .per_thread = per_thread};
           launch_begins(&launch, exec); CUresult result = REAL(exec, hStream);
           if (!detour.context) sc_permit_refused(API, SC_SITE(), result);
           return sc_detour_end(&detour, launch_ended(&launch, exec, result));)
