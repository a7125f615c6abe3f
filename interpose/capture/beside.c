#include "interpose/capture/beside.h"

#include <errno.h>
#include <pthread.h>

#include "cupti_hooks/ear.h"
#include "interpose/base/process.h"
#include "interpose/base/unwind.h"
#include "interpose/reaper/hazards.h"
#include "interpose/reaper/reaper.h"
#include "report/annotations.h"
#include "report/frame_kinds.h"
#include "track/hazard.h"
#include "track/left_out.h"
#include "track/shape.h"
#include "track/ticks.h"

#include "track/poison.h"

enum { WATCHED_MAX = 64 };

__thread unsigned sc_beside_own __attribute__((tls_model("initial-exec")));
_Atomic unsigned sc_beside_count;

/* A capture that is open. */
struct watched {
    const struct sc_stream_record *stream; /* its origin */
    uintptr_t graph;
    int32_t thread;
    struct sc_left_out *left_out;
};

static pthread_mutex_t watched_lock = PTHREAD_MUTEX_INITIALIZER;
static struct watched watched[WATCHED_MAX];
static _Atomic uint64_t unjudged;

static unsigned watched_count(void)
{
    return atomic_load_explicit(&sc_beside_count, memory_order_relaxed);
}

uint64_t sc_beside_unjudged(void)
{
    return atomic_load_explicit(&unjudged, memory_order_relaxed);
}

static void count_unjudged(uint64_t count)
{
    atomic_fetch_add_explicit(&unjudged, count, memory_order_relaxed);
}

/* ---- captures ---- */

/* Another thread may have ended a capture of this one. */
static void recount_locked(void)
{
    unsigned own = 0;
    for (unsigned i = 0; i < watched_count(); i++)
        own += watched[i].thread == sc_thread_id();
    sc_beside_own = own;
}

static bool add(const struct watched *capture)
{
    pthread_mutex_lock(&watched_lock);
    bool fits = watched_count() < WATCHED_MAX;
    if (fits) {
        watched[watched_count()] = *capture;
        atomic_fetch_add(&sc_beside_count, 1);
    }
    recount_locked();
    pthread_mutex_unlock(&watched_lock);
    return fits;
}

void sc_beside_began(const struct sc_stream_record *stream, uintptr_t graph)
{
    if (!graph)
        return;
    int saved = errno;
    struct watched capture = {stream, graph, sc_thread_id(), sc_left_out_new()};
    if (!capture.left_out || !add(&capture)) {
        sc_left_out_free(capture.left_out);
        count_unjudged(1);
    }
    errno = saved;
}

/* NULL: there is none. */
static struct sc_left_out *take(const struct sc_stream_record *stream)
{
    struct sc_left_out *left_out = NULL;
    unsigned i = 0;
    pthread_mutex_lock(&watched_lock);
    while (i < watched_count() && watched[i].stream != stream)
        i++;
    if (i < watched_count()) {
        left_out = watched[i].left_out;
        watched[i] = watched[watched_count() - 1];
        atomic_fetch_sub(&sc_beside_count, 1);
    }
    recount_locked();
    pthread_mutex_unlock(&watched_lock);
    return left_out;
}

void sc_beside_forget(const struct sc_stream_record *stream)
{
    if (watched_count())
        sc_left_out_free(take(stream));
}

/* ---- operations ---- */

static struct sc_hazard_copy describe_captured(const struct sc_beside_op *op)
{
    return (struct sc_hazard_copy){
        .api = op->call->api,
        .stream = op->stream,
        .device = op->device,
        .thread = sc_thread_id(),
        .time_ns = sc_now_ns(),
        .stack = sc_unwind_here(op->call->site),
        .runtime_api = sc_ear_runtime_api(),
        .correlation_id = sc_ear_correlation_id(),
    };
}

void sc_beside_captured(const struct sc_beside_op *op, uintptr_t graph)
{
    struct sc_hazard_copy what = describe_captured(op);
    pthread_mutex_lock(&watched_lock);
    for (unsigned i = 0; i < watched_count(); i++)
        if (watched[i].graph == graph && watched[i].thread == sc_thread_id())
            sc_left_out_captured(watched[i].left_out, &what, &op->does);
    recount_locked();
    pthread_mutex_unlock(&watched_lock);
}

static struct sc_hazard describe_beside(const struct sc_beside_op *op)
{
    struct sc_hazard hazard = {
        .code = SC305,
        .certainty = SC_LATENT,
        .action = SC_ACTION_REPORTED,
        .buffer_kind = SC_DEVICE,
        .event = sc_hazards_event(&(struct sc_culprit){op->call->api, op->call->site, NULL}),
    };
    sc_annotations_note(&hazard);
    return hazard;
}

void sc_beside_issued(const struct sc_beside_op *op)
{
    struct sc_hazard what = describe_beside(op);
    pthread_mutex_lock(&watched_lock);
    for (unsigned i = 0; i < watched_count(); i++)
        if (watched[i].thread == sc_thread_id())
            sc_left_out_beside(watched[i].left_out, &what, &op->does);
    recount_locked();
    pthread_mutex_unlock(&watched_lock);
}

void sc_beside_note_allocation(uintptr_t address, size_t size_bytes)
{
    pthread_mutex_lock(&watched_lock);
    for (unsigned i = 0; i < watched_count(); i++)
        sc_left_out_allocated(watched[i].left_out, address, size_bytes);
    pthread_mutex_unlock(&watched_lock);
}

/* ---- the verdict ---- */

/* A library that sets itself up beside the capture does what it would have done before. */
static void report(void *unused, const struct sc_left_out_finding *finding)
{
    const struct sc_shape *bytes = &finding->captured_use->shape;
    struct sc_hazard hazard = *finding->beside;
    (void)unused;
    if (sc_frame_kind_of_stack(hazard.event.stack) != SC_FRAME_USER)
        return;
    hazard.buffer_address = finding->use->shape.address;
    hazard.buffer_size_bytes = sc_shape_hull_bytes(&finding->use->shape);
    hazard.copy = *finding->captured;
    hazard.copy.direction = finding->captured_use->direction;
    hazard.copy.address = bytes->address;
    hazard.copy.size_bytes = sc_shape_hull_bytes(bytes);
    sc_reaper_report(&hazard);
}

void sc_beside_ended(const struct sc_stream_record *stream)
{
    struct sc_left_out *left_out = watched_count() ? take(stream) : NULL;
    int saved = errno;
    if (!left_out)
        return;
    sc_left_out_each(left_out, report, NULL);
    count_unjudged(sc_left_out_unknown(left_out));
    sc_left_out_free(left_out);
    errno = saved;
}
