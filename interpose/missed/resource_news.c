#include "interpose/missed/resource_news.h"

#include "common/points.h"
#include "cupti_hooks/news.h"
#include "cupti_hooks/subscription.h"
#include "interpose/base/process.h"
#include "interpose/calls/context_calls.h"
#include "interpose/capture/beside.h"
#include "interpose/guard/door.h"
#include "interpose/ledger/limits.h"
#include "interpose/reaper/culprit.h"
#include "interpose/reaper/hazards.h"
#include "interpose/reaper/reaper.h"
#include "interpose/streams/contexts.h"
#include "interpose/streams/streams.h"
#include "interpose/streams/unfinished.h"
#include "track/track_order.h"

#include "common/poison.h"

/* Called when CUPTI tells of the end of a wait that came through no wrapper: all work in `point` is
 * known done. The point was taken behind the wait, so what other threads have issued meanwhile may
 * be in it, too. Where waits come through no wrapper, records of events may not either: from now on
 * CUPTI reports all kinds of calls. */
static void end_unwrapped_wait(struct sc_point *point, const char *api)
{
    sc_hazards_note_done_and_report(point, &(struct sc_culprit){api, NULL, NULL});
    sc_guard_apply(SC_GUARD_ALL);
    sc_cupti_follow_more();
}

/* Called when CUPTI tells that the host has waited for the stream, by a call that came through no
 * wrapper: the stream's work is known done. */
static void stream_waited(CUstream handle)
{
    struct sc_stream_record *stream = sc_streams_find_known(handle);
    if (!stream)
        return;
    struct sc_point point = sc_track_sync_point(&sc_track, stream->id, SC_SCOPE_STREAM);
    sc_unfinished_stream_done(stream, sc_unfinished_stream_since(stream));
    end_unwrapped_wait(&point, "cuStreamSynchronize");
}

/* Called when CUPTI tells that the host has waited for the context, by a call that came through no
 * wrapper: all work there is known done. */
static void context_waited(CUcontext handle)
{
    struct sc_context *context = sc_contexts_known(handle);
    if (!context)
        return;
    struct sc_point point = sc_track_sync_point(&sc_track, context->legacy, SC_SCOPE_CONTEXT);
    sc_unfinished_context_done(context, sc_unfinished_context_since(context));
    end_unwrapped_wait(&point, "cuCtxSynchronize");
}

/* Acts on one report of CUPTI: a stream, context, graph or module was created or ended, or the host
 * has waited for a stream or context. Runs within the driver, so nothing here calls it. A stream's
 * handle that is new may have named another stream before, whose end nobody saw: both ends are
 * noted alike. */
static void act_on_news(const struct sc_news *news)
{
    switch (news->kind) {
    case SC_NEWS_STREAM_NAMED:
    case SC_NEWS_STREAM_ENDS:
        sc_streams_renamed((CUstream)news->handle);
        break;
    case SC_NEWS_CONTEXT_ENDS:
        sc_context_calls_note_end((CUcontext)news->handle);
        break;
    case SC_NEWS_GRAPH_ENDS:
        if (sc_beside_follows_graphs())
            sc_beside_forget_handle(news->handle);
        sc_reaper_forget_graph(news->handle);
        break;
    case SC_NEWS_STREAM_WAITED:
        stream_waited((CUstream)news->handle);
        break;
    case SC_NEWS_CONTEXT_WAITED:
        context_waited((CUcontext)news->handle);
        break;
    case SC_NEWS_MODULE_LOADED:
        sc_limits_module_loaded(sc_contexts_known((CUcontext)news->handle), news->image,
                                news->image_bytes);
        break;
    }
}

/* Called by CUPTI's callbacks with each such report that neither a wrapper nor a replay takes care
 * of. */
void sc_resource_news(const struct sc_news *news)
{
    SC_KEEP_ERRNO();
    if (sc_active())
        act_on_news(news);
}
