#include "interpose/contexts.h"

#include <errno.h>
#include <string.h>

#include "interpose/captures.h"
#include "interpose/detours.h"
#include "interpose/guard.h"
#include "interpose/pinned.h"
#include "interpose/process.h"
#include "interpose/reaper.h"
#include "interpose/snapshots.h"
#include "interpose/streams.h"
#include "track/waits.h"

#include "track/poison.h"

enum { LET_GO_NS = 100 * 1000 * 1000 };

static pthread_mutex_t contexts_lock = PTHREAD_MUTEX_INITIALIZER;

bool sc_contexts_are_locked_here(void)
{
    return contexts_lock.__data.__owner == sc_thread_id();
}
static struct sc_handles by_handle; /* CUcontext -> struct sc_context * */
static struct sc_arena arena;
static _Atomic unsigned ended_contexts; /* gone, and not buried yet */

int sc_contexts_init(void)
{
    return sc_handles_init(&by_handle) ? -ENOMEM : 0;
}

bool sc_context_push(struct sc_context *context)
{
    return !atomic_load_explicit(&context->gone, memory_order_acquire) &&
           sc_real.cuCtxPushCurrent_v2(context->handle) == CUDA_SUCCESS;
}

void sc_context_pop(void)
{
    CUcontext popped;
    sc_real.cuCtxPopCurrent_v2(&popped);
}

/* ---- meeting them ---- */

/* What the driver says of the current context. */
struct answers {
    CUdevice device;
    bool reads_pageable;
    bool may_be_green;
    struct sc_context *primary;
};

static bool device_reads_pageable(CUdevice device)
{
    int value = 0;
    if (sc_real.cuDeviceGetAttribute)
        sc_real.cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, device);
    return value != 0;
}

/* Whether a capture blocks its legacy stream is asked first, since asking that for more would end
 * the capture; captures elsewhere are not disturbed (docs/driver.md). */
static void ask_lineage(struct answers *answers)
{
    CUcontext primary = NULL;
    CUgreenCtx green = NULL;
    answers->may_be_green = sc_streams_handle_captures(CU_STREAM_LEGACY);
    if (answers->may_be_green || !sc_real.cuStreamGetCtx_v2)
        return;
    answers->may_be_green =
        sc_real.cuStreamGetCtx_v2(CU_STREAM_LEGACY, &primary, &green) != CUDA_SUCCESS || green;
    if (green)
        answers->primary = sc_contexts_of(primary);
}

static struct sc_context *add_locked(CUcontext handle, const struct answers *answers)
{
    struct sc_context *context = sc_arena_take(&arena, sizeof *context);
    if (!context)
        return NULL;
    memset(context, 0, sizeof *context);
    context->handle = handle;
    context->device = answers->device;
    context->reads_pageable = answers->reads_pageable;
    context->may_be_green = answers->may_be_green;
    context->primary = answers->primary;
    pthread_mutex_init(&context->events_lock, NULL);
    pthread_mutex_init(&context->detour_lock, NULL);
    context->legacy_stream = sc_streams_add_legacy(context);
    if (!context->legacy_stream)
        return NULL;
    context->legacy = context->legacy_stream->id;
    context->family.work_ticks = context->legacy_stream->pending.work_ticks;
    context->family.signal_ticks = context->legacy_stream->pending.signal_ticks;
    if (context->primary)
        sc_track_set_primary(&sc_track, context->legacy, context->primary->legacy);
    return sc_handles_put(&by_handle, (uintptr_t)handle, (uintptr_t)context) ? NULL : context;
}

/* `handle` is current on this thread. */
static struct sc_context *find_context(CUcontext handle)
{
    struct sc_context *context = sc_handle_pointer(sc_handles_get(&by_handle, (uintptr_t)handle));
    struct answers answers = {.primary = NULL};
    if (sc_likely(context && !atomic_load_explicit(&context->gone, memory_order_relaxed)))
        return context;
    sc_contexts_bury_ended();
    if (sc_real.cuCtxGetDevice(&answers.device) != CUDA_SUCCESS)
        return NULL;
    answers.reads_pageable = device_reads_pageable(answers.device);
    ask_lineage(&answers);
    pthread_mutex_lock(&contexts_lock);
    context = sc_handle_pointer(sc_handles_get(&by_handle, (uintptr_t)handle));
    if (!context)
        context = add_locked(handle, &answers);
    pthread_mutex_unlock(&contexts_lock);
    return context;
}

struct sc_context *sc_contexts_current(void)
{
    CUcontext handle = NULL;
    if (sc_real.cuCtxGetCurrent(&handle) != CUDA_SUCCESS || !handle)
        return NULL;
    return find_context(handle);
}

struct sc_context *sc_contexts_of_memory(void)
{
    struct sc_context *context = sc_contexts_current();
    return context && context->primary ? context->primary : context;
}

struct sc_context *sc_contexts_known(CUcontext handle)
{
    return sc_handle_pointer(sc_handles_get(&by_handle, (uintptr_t)handle));
}

struct sc_context *sc_contexts_named(CUcontext handle)
{
    return handle ? sc_contexts_known(handle) : sc_contexts_current();
}

struct sc_context *sc_contexts_of(CUcontext handle)
{
    struct sc_context *context = sc_contexts_known(handle);
    if (context && !atomic_load_explicit(&context->gone, memory_order_relaxed))
        return context;
    if (sc_real.cuCtxPushCurrent_v2(handle) != CUDA_SUCCESS)
        return NULL;
    context = find_context(handle);
    sc_context_pop();
    return context;
}

/* Retaining is the only way to learn the handle; it is balanced at once, and never makes a context
 * because the state is asked first. */
CUcontext sc_contexts_primary(CUdevice device)
{
    CUresult (*release)(CUdevice) = sc_real.cuDevicePrimaryCtxRelease_v2
                                        ? sc_real.cuDevicePrimaryCtxRelease_v2
                                        : sc_real.cuDevicePrimaryCtxRelease;
    unsigned flags = 0;
    int alive = 0;
    CUcontext handle = NULL;
    if (sc_real.cuDevicePrimaryCtxGetState(device, &flags, &alive) != CUDA_SUCCESS || !alive ||
        sc_real.cuDevicePrimaryCtxRetain(&handle, device) != CUDA_SUCCESS)
        return NULL;
    release(device);
    return sc_contexts_known(handle) ? handle : NULL;
}

/* ---- their end ---- */

/* Pinned memory of the context went with it: nobody will give it back, and what is freed at its
 * address later would wait for that. */
static void end_pinned_holds(const struct sc_context *context)
{
    sc_track_forget_graph_holds_of(&sc_track, context->legacy);
    struct sc_release release = sc_track_take_ready(&sc_track, 0);
    while (release.hold) {
        if (sc_hold_is_drivers(release.kind) && release.context == context->legacy)
            sc_track_end_hold(&sc_track, release.hold);
        else
            sc_track_put_back(&sc_track, release.hold);
        release = sc_track_take_ready(&sc_track, release.age);
    }
}

/* The tracker's locks are all that it takes, but the guard's and the reaper's. */
static void end_work(const struct sc_context *context)
{
    struct sc_point point = sc_track_point(&sc_track, context->legacy, SC_SCOPE_CONTEXT);
    sc_track_known(&sc_track, &point, NULL);
    sc_track_remove_ranges_of(&sc_track, context->legacy);
    if (sc_track_graphs_context_gone(&sc_track, context->legacy))
        sc_reaper_wake();
    end_pinned_holds(context);
    sc_guard_apply();
}

void sc_contexts_told_end(CUcontext handle)
{
    struct sc_context *context = sc_contexts_known(handle);
    if (!context || atomic_exchange(&context->gone, true))
        return;
    atomic_fetch_add(&ended_contexts, 1);
    sc_pinned_context_unnamed(context);
    if (!context->may_be_green)
        end_work(context);
}

static void end_context(struct sc_context *context)
{
    if (atomic_exchange(&context->gone, true))
        atomic_fetch_sub(&ended_contexts, 1);
    end_work(context);
    sc_snapshots_context_gone(context);
    sc_pinned_context_gone(context);
    sc_captures_context_gone(context);
    sc_streams_bury(context, true);
}

struct green_search {
    const struct sc_context *primary;
    CUcontext found;
};

static void note_green(void *argument, uintptr_t handle, uint64_t value)
{
    struct green_search *search = argument;
    const struct sc_context *context = sc_handle_pointer(value);
    if (context->primary == search->primary)
        search->found = (CUcontext)handle;
}

static struct sc_context *take_green_of(const struct sc_context *primary)
{
    struct green_search search = {.primary = primary};
    pthread_mutex_lock(&contexts_lock);
    sc_handles_each(&by_handle, note_green, &search);
    struct sc_context *green =
        search.found ? sc_handle_pointer(sc_handles_remove(&by_handle, (uintptr_t)search.found))
                     : NULL;
    pthread_mutex_unlock(&contexts_lock);
    return green;
}

/* A primary context takes its green ones with it. */
void sc_contexts_ended(struct sc_context *context)
{
    struct sc_context *green;
    end_context(context);
    while ((green = take_green_of(context)) != NULL)
        end_context(green);
}

static void let_go(void *deadline, struct sc_stream_record *stream)
{
    if (sc_lock_until(&stream->lock, deadline) == 0)
        pthread_mutex_unlock(&stream->lock);
}

/* A thread of the program's may hold a stream's lock while the driver has no room for what it
 * issues, and may be waiting for what this one does behind its call: a release that is not the
 * last one, and the end of a green context, wait for nothing. */
void sc_contexts_quiet(struct sc_context *context)
{
    struct timespec deadline = sc_deadline_in(LET_GO_NS);
    atomic_fetch_add(&context->quiet, 1);
    sc_streams_each_ever(context, let_go, &deadline);
}

/* What was to be settled meanwhile is settled now. */
void sc_contexts_loud(struct sc_context *context)
{
    atomic_fetch_sub(&context->quiet, 1);
    sc_detours_settle();
}

struct sc_context *sc_contexts_ending(CUcontext handle)
{
    pthread_mutex_lock(&contexts_lock);
    struct sc_context *context =
        sc_handle_pointer(sc_handles_remove(&by_handle, (uintptr_t)handle));
    pthread_mutex_unlock(&contexts_lock);
    if (!context)
        return NULL;
    sc_pinned_context_unnamed(context);
    sc_contexts_quiet(context);
    return context;
}

void sc_contexts_not_ended(struct sc_context *context)
{
    sc_contexts_loud(context);
    pthread_mutex_lock(&contexts_lock);
    sc_handles_put(&by_handle, (uintptr_t)context->handle, (uintptr_t)context);
    pthread_mutex_unlock(&contexts_lock);
    sc_pinned_context_named(context);
}

static void end_green(struct sc_context *context)
{
    if (atomic_exchange(&context->gone, true))
        atomic_fetch_sub(&ended_contexts, 1);
    sc_streams_bury(context, false);
}

void sc_contexts_green_ended(struct sc_context *context)
{
    end_green(context);
    sc_contexts_loud(context);
}

static void note_ended(void *argument, uintptr_t handle, uint64_t value)
{
    CUcontext *ended = argument;
    struct sc_context *context = sc_handle_pointer(value);
    if (context->gone)
        *ended = (CUcontext)handle;
}

/* It is taken at once: a moment later another thread may have made its handle name a new one. */
static struct sc_context *take_ended(void)
{
    CUcontext ended = NULL;
    pthread_mutex_lock(&contexts_lock);
    sc_handles_each(&by_handle, note_ended, &ended);
    struct sc_context *context =
        ended ? sc_handle_pointer(sc_handles_remove(&by_handle, (uintptr_t)ended)) : NULL;
    pthread_mutex_unlock(&contexts_lock);
    return context;
}

void sc_contexts_bury_ended(void)
{
    while (sc_unlikely(atomic_load_explicit(&ended_contexts, memory_order_relaxed) != 0)) {
        struct sc_context *context = take_ended();
        if (!context)
            return;
        if (context->primary)
            end_green(context);
        else
            sc_contexts_ended(context);
    }
}
