#include "interpose/streams.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "cupti_hooks/ear.h"
#include "interpose/captures.h"
#include "interpose/detours.h"
#include "interpose/guard.h"
#include "interpose/marks.h"
#include "interpose/pinned.h"
#include "interpose/process.h"
#include "interpose/reaper.h"
#include "interpose/snapshots.h"
#include "interpose/threads.h"

#include "track/poison.h"

enum { LET_GO_NS = 100 * 1000 * 1000 };

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sc_handles by_handle; /* CUstream -> struct sc_stream_record * */
static struct sc_handles by_id;     /* the tracker's id -> struct sc_stream_record * */
static struct sc_handles contexts;  /* CUcontext -> struct sc_context * */
static struct sc_arena arena;
static struct sc_stream_record *spare;
static _Atomic bool captures_seen;
static _Atomic uint64_t capture_epoch = 1;
static _Atomic unsigned ended_contexts; /* gone, and not buried yet */
static pthread_key_t thread_exit_key;

/* The per-thread default streams of this thread, one for each context that it used. */
static __thread struct sc_stream_record *own_streams;

static void *as_pointer(uint64_t value)
{
    return (void *)(uintptr_t)value;
}

static void set_gone(struct sc_stream_record *stream, bool gone)
{
    pthread_mutex_lock(&stream->lock);
    stream->gone = gone;
    pthread_mutex_unlock(&stream->lock);
}

/* At the end of a thread. One that lives on in a forked child must take no lock there. */
static void forget_thread_streams(void *argument)
{
    struct sc_stream_record **first = argument;
    while (sc_active() && *first) {
        struct sc_stream_record *stream = *first;
        *first = stream->next_owned;
        set_gone(stream, true);
        sc_track_remove_stream(&sc_track, stream->id);
    }
    *first = NULL;
}

/* What is left of contexts that have ended since. */
static void forget_dead_streams(void)
{
    struct sc_stream_record **link = &own_streams;
    while (*link) {
        struct sc_stream_record *stream = *link;
        if (atomic_load_explicit(&stream->context->gone, memory_order_acquire)) {
            *link = stream->next_owned;
            sc_track_remove_stream(&sc_track, stream->id);
        } else {
            link = &stream->next_owned;
        }
    }
}

int sc_streams_init(void)
{
    pthread_key_create(&thread_exit_key, forget_thread_streams);
    return sc_handles_init(&by_handle) || sc_handles_init(&by_id) || sc_handles_init(&contexts)
               ? -ENOMEM
               : 0;
}

static void give_record_locked(struct sc_stream_record *stream)
{
    stream->next_spare = spare;
    spare = stream;
}

/* The lock of a record is made once: a thread that found the record by its former id may still come
 * to take it, sees another id and leaves. */
static struct sc_stream_record *take_record_locked(void)
{
    struct sc_stream_record *stream = spare;
    if (stream) {
        spare = stream->next_spare;
        return stream;
    }
    stream = sc_arena_take(&arena, sizeof *stream);
    if (stream) {
        memset(stream, 0, sizeof *stream);
        pthread_mutex_init(&stream->lock, NULL);
    }
    return stream;
}

/* The tracker recycles an id when nothing refers to it: nobody asks for its marks any more. A
 * thread that is asking at this very moment is not waited for, and its record is not used again. */
static void recycle_former_record_locked(uint32_t id)
{
    struct sc_stream_record *former = as_pointer(sc_handles_get(&by_id, id));
    if (!former || pthread_mutex_trylock(&former->lock) != 0)
        return;
    sc_marks_drop(former);
    former->id = 0;
    pthread_mutex_unlock(&former->lock);
    give_record_locked(former);
}

/* A new stream may be at work from the start: it waits for what its context waited for. */
static uint64_t waits_ticks(const struct sc_context *context)
{
    uint64_t own = context->waits_ticks;
    uint64_t primary = context->primary ? context->primary->waits_ticks : 0;
    return own > primary ? own : primary;
}

static void fill_record(struct sc_stream_record *stream, uint32_t id, CUstream handle,
                        enum sc_stream_kind kind, struct sc_context *context)
{
    size_t behind_lock = offsetof(struct sc_stream_record, id);
    pthread_mutex_lock(&stream->lock);
    memset((char *)stream + behind_lock, 0, sizeof *stream - behind_lock);
    stream->id = id;
    stream->kind = kind;
    stream->owner = handle == CU_STREAM_PER_THREAD ? sc_thread_id() : 0;
    stream->handle = handle;
    stream->context = context;
    stream->owes_wait = kind == SC_STREAM_BLOCKING && context->legacy_owes_wait;
    stream->pending.work_ticks = waits_ticks(context);
    pthread_mutex_unlock(&stream->lock);
}

static struct sc_stream_record *add_record_locked(CUstream handle, enum sc_stream_kind kind,
                                                  struct sc_context *context)
{
    struct sc_stream_record *stream = take_record_locked();
    if (!stream)
        return NULL;
    uint32_t id =
        sc_track_add_stream(&sc_track, kind, context->legacy, (uintptr_t)handle, context->device);
    if (id) {
        recycle_former_record_locked(id);
        fill_record(stream, id, handle, kind, context);
        if (sc_handles_put(&by_id, id, (uintptr_t)stream) == 0)
            return stream;
    }
    give_record_locked(stream);
    return NULL;
}

static bool device_reads_pageable(CUdevice device)
{
    int value = 0;
    if (sc_real.cuDeviceGetAttribute)
        sc_real.cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, device);
    return value != 0;
}

struct lineage {
    bool may_be_green;
    struct sc_context *primary;
};

static struct sc_context *add_context_locked(CUcontext handle, CUdevice device,
                                             const struct lineage *lineage)
{
    struct sc_context *context = sc_arena_take(&arena, sizeof *context);
    if (!context)
        return NULL;
    memset(context, 0, sizeof *context);
    context->handle = handle;
    context->device = device;
    context->reads_pageable = device_reads_pageable(device);
    context->may_be_green = lineage->may_be_green;
    context->primary = lineage->primary;
    pthread_mutex_init(&context->events_lock, NULL);
    pthread_mutex_init(&context->detour_lock, NULL);
    context->legacy_stream = add_record_locked(CU_STREAM_LEGACY, SC_STREAM_LEGACY, context);
    if (!context->legacy_stream)
        return NULL;
    context->legacy = context->legacy_stream->id;
    context->family.work_ticks = context->legacy_stream->pending.work_ticks;
    if (context->primary)
        sc_track_set_primary(&sc_track, context->legacy, context->primary->legacy);
    return sc_handles_put(&contexts, (uintptr_t)handle, (uintptr_t)context) ? NULL : context;
}

static struct sc_context *context_of(CUcontext handle);

static bool handle_is_capturing(CUstream handle)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (!sc_real.cuStreamIsCapturing)
        return false;
    return sc_real.cuStreamIsCapturing(handle, &status) != CUDA_SUCCESS ||
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}

/* Of the current context. Whether a capture blocks its legacy stream is asked first, since asking
 * that for more would end the capture; captures elsewhere are not disturbed (docs/driver.md). */
static struct lineage ask_lineage(void)
{
    struct lineage lineage = {.may_be_green = handle_is_capturing(CU_STREAM_LEGACY)};
    CUcontext primary = NULL;
    CUgreenCtx green = NULL;
    if (lineage.may_be_green || !sc_real.cuStreamGetCtx_v2)
        return lineage;
    lineage.may_be_green =
        sc_real.cuStreamGetCtx_v2(CU_STREAM_LEGACY, &primary, &green) != CUDA_SUCCESS || green;
    if (green)
        lineage.primary = context_of(primary);
    return lineage;
}

/* `handle` is current on this thread. */
static struct sc_context *find_context(CUcontext handle)
{
    struct sc_context *context = as_pointer(sc_handles_get(&contexts, (uintptr_t)handle));
    CUdevice device = 0;
    if (sc_likely(context && !atomic_load_explicit(&context->gone, memory_order_relaxed)))
        return context;
    sc_streams_bury_ended();
    if (sc_real.cuCtxGetDevice(&device) != CUDA_SUCCESS)
        return NULL;
    struct lineage lineage = ask_lineage();
    pthread_mutex_lock(&registry_lock);
    context = as_pointer(sc_handles_get(&contexts, (uintptr_t)handle));
    if (!context)
        context = add_context_locked(handle, device, &lineage);
    pthread_mutex_unlock(&registry_lock);
    return context;
}

struct sc_context *sc_streams_current_context(void)
{
    CUcontext handle = NULL;
    if (sc_real.cuCtxGetCurrent(&handle) != CUDA_SUCCESS || !handle)
        return NULL;
    return find_context(handle);
}

struct sc_context *sc_streams_memory_context(void)
{
    struct sc_context *context = sc_streams_current_context();
    return context && context->primary ? context->primary : context;
}

struct sc_context *sc_streams_known_context(CUcontext handle)
{
    return as_pointer(sc_handles_get(&contexts, (uintptr_t)handle));
}

/* It need not be current: the driver takes work for a stream whose context never was. */
static struct sc_context *context_of(CUcontext handle)
{
    struct sc_context *context = sc_streams_known_context(handle);
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
CUcontext sc_streams_primary_context(CUdevice device)
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
    return sc_streams_known_context(handle) ? handle : NULL;
}

struct context_search {
    uint32_t legacy;
    struct sc_context *found;
};

static void note_context(void *argument, uintptr_t handle, uint64_t value)
{
    struct context_search *search = argument;
    struct sc_context *context = as_pointer(value);
    (void)handle;
    if (context->legacy == search->legacy)
        search->found = context;
}

struct sc_context *sc_streams_context_of_id(uint32_t legacy)
{
    struct context_search search = {legacy, NULL};
    pthread_mutex_lock(&registry_lock);
    sc_handles_each(&contexts, note_context, &search);
    pthread_mutex_unlock(&registry_lock);
    return search.found;
}

/* The stream is about to be used. */
static struct sc_stream_record *use(struct sc_stream_record *stream)
{
    if (sc_unlikely(atomic_load_explicit(&stream->owes_wait, memory_order_acquire)))
        sc_detours_pay(stream);
    return stream;
}

static struct sc_stream_record *find_per_thread(void)
{
    struct sc_context *context = sc_streams_current_context();
    if (!context)
        return NULL;
    for (struct sc_stream_record *known = own_streams; known; known = known->next_owned)
        if (known->context == context)
            return use(known);
    forget_dead_streams();
    pthread_mutex_lock(&registry_lock);
    struct sc_stream_record *stream =
        add_record_locked(CU_STREAM_PER_THREAD, SC_STREAM_BLOCKING, context);
    pthread_mutex_unlock(&registry_lock);
    if (!stream)
        return NULL;
    stream->next_owned = own_streams;
    own_streams = stream;
    pthread_setspecific(thread_exit_key, &own_streams);
    return use(stream);
}

/* Asking a capturing stream for its flags would invalidate its capture. */
static struct sc_stream_record *learn_stream(CUstream handle)
{
    unsigned flags = 0;
    CUcontext context_handle = NULL;
    if (handle_is_capturing(handle) || sc_real.cuStreamGetFlags(handle, &flags) != CUDA_SUCCESS ||
        sc_real.cuStreamGetCtx(handle, &context_handle) != CUDA_SUCCESS)
        return NULL;
    struct sc_context *context = context_of(context_handle);
    if (!context)
        return NULL;
    enum sc_stream_kind kind =
        flags & CU_STREAM_NON_BLOCKING ? SC_STREAM_NONBLOCKING : SC_STREAM_BLOCKING;
    pthread_mutex_lock(&registry_lock);
    struct sc_stream_record *stream = as_pointer(sc_handles_get(&by_handle, (uintptr_t)handle));
    if (!stream)
        stream = add_record_locked(handle, kind, context);
    if (stream && sc_handles_put(&by_handle, (uintptr_t)handle, (uintptr_t)stream))
        stream = NULL;
    pthread_mutex_unlock(&registry_lock);
    return stream ? use(stream) : NULL;
}

static struct sc_stream_record *learn_again(struct sc_stream_record *former, CUstream handle);

struct sc_stream_record *sc_streams_known(CUstream handle)
{
    struct sc_stream_record *stream = as_pointer(sc_handles_get(&by_handle, (uintptr_t)handle));
    return stream && !stream->gone ? stream : NULL;
}

struct sc_stream_record *sc_streams_find(CUstream handle, bool per_thread)
{
    if (handle == CU_STREAM_PER_THREAD || (!handle && per_thread))
        return find_per_thread();
    if (!handle || handle == CU_STREAM_LEGACY) {
        struct sc_context *context = sc_streams_current_context();
        return context ? context->legacy_stream : NULL;
    }
    struct sc_stream_record *stream = as_pointer(sc_handles_get(&by_handle, (uintptr_t)handle));
    if (sc_likely(stream && !atomic_load_explicit(&stream->gone, memory_order_relaxed)))
        return stream;
    return stream ? learn_again(stream, handle) : learn_stream(handle);
}

bool sc_streams_captures_seen(void)
{
    return atomic_load_explicit(&captures_seen, memory_order_relaxed);
}

void sc_streams_note_capture(void)
{
    atomic_store_explicit(&captures_seen, true, memory_order_relaxed);
}

void sc_streams_captures_changed(void)
{
    atomic_fetch_add(&capture_epoch, 1);
}

uint64_t sc_streams_capture_epoch(void)
{
    return atomic_load_explicit(&capture_epoch, memory_order_acquire);
}

static bool ask_capturing(struct sc_stream_record *stream)
{
    uint64_t epoch = sc_streams_capture_epoch();
    uint64_t known = atomic_load_explicit(&stream->capture_state, memory_order_relaxed);
    if (sc_likely(known >> 1 == epoch))
        return known & 1;
    bool capturing = handle_is_capturing(stream->handle);
    atomic_store_explicit(&stream->capture_state, epoch << 1 | capturing, memory_order_relaxed);
    return capturing;
}

bool sc_streams_is_capturing(struct sc_stream_record *stream)
{
    return sc_unlikely(sc_streams_captures_seen()) && ask_capturing(stream);
}

struct sc_stream_record *sc_streams_of_id(uint32_t id)
{
    return as_pointer(sc_handles_get(&by_id, id));
}

/* The name goes before the driver's stream does: the driver may hand the same handle to another
 * thread's cuStreamCreate at once. */
struct sc_stream_record *sc_streams_destroying(CUstream handle)
{
    if (!handle)
        return NULL;
    pthread_mutex_lock(&registry_lock);
    struct sc_stream_record *stream = as_pointer(sc_handles_remove(&by_handle, (uintptr_t)handle));
    pthread_mutex_unlock(&registry_lock);
    if (!stream)
        return NULL;
    pthread_mutex_lock(&stream->lock);
    sc_marks_add_locked(stream);
    if (sc_captures_are_repaired())
        sc_marks_outlive_locked(stream);
    stream->gone = true;
    pthread_mutex_unlock(&stream->lock);
    return stream;
}

void sc_streams_not_destroyed(struct sc_stream_record *stream)
{
    set_gone(stream, false);
    pthread_mutex_lock(&registry_lock);
    sc_handles_put(&by_handle, (uintptr_t)stream->handle, (uintptr_t)stream);
    pthread_mutex_unlock(&registry_lock);
}

/* The record stays, for its marks, until the tracker recycles the id. */
void sc_streams_destroyed(struct sc_stream_record *stream)
{
    sc_track_remove_stream(&sc_track, stream->id);
}

typedef void visit_stream(void *argument, struct sc_stream_record *stream);

struct walk {
    struct sc_context *context;
    bool whole; /* also streams that are gone, and those of its green contexts */
    unsigned count, room;
    struct sc_stream_record **streams;
};

static bool is_walked(const struct walk *walk, const struct sc_stream_record *stream)
{
    if (walk->whole)
        return stream->context == walk->context || stream->context->primary == walk->context;
    return stream->context == walk->context && (!stream->gone || stream->owner);
}

static void collect_stream(void *argument, uintptr_t id, uint64_t value)
{
    struct walk *walk = argument;
    struct sc_stream_record *stream = as_pointer(value);
    (void)id;
    if (!is_walked(walk, stream))
        return;
    if (walk->count < walk->room)
        walk->streams[walk->count] = stream;
    walk->count++;
}

/* The context's streams, in pages that the caller unmaps; none where there is no memory. */
static struct walk streams_of(struct sc_context *context, bool whole)
{
    struct walk walk = {.context = context, .whole = whole};
    pthread_mutex_lock(&registry_lock);
    sc_handles_each(&by_id, collect_stream, &walk);
    walk.room = walk.count;
    walk.count = 0;
    walk.streams = walk.room ? sc_pages_map(walk.room * sizeof *walk.streams) : NULL;
    if (walk.streams)
        sc_handles_each(&by_id, collect_stream, &walk);
    pthread_mutex_unlock(&registry_lock);
    return walk;
}

static void end_walk(struct walk *walk)
{
    if (walk->streams)
        sc_pages_unmap(walk->streams, walk->room * sizeof *walk->streams);
}

static void visit_streams(struct sc_context *context, bool whole, visit_stream *visit,
                          void *argument)
{
    struct walk walk = streams_of(context, whole);
    for (unsigned i = 0; i < walk.count; i++)
        visit(argument, walk.streams[i]);
    end_walk(&walk);
}

void sc_streams_each(struct sc_context *context, visit_stream *visit, void *argument)
{
    visit_streams(context, false, visit, argument);
}

static void note_wait(void *unused, struct sc_stream_record *stream)
{
    (void)unused;
    sc_pending_work(stream);
}

void sc_streams_context_waits(struct sc_context *context)
{
    context->waits_ticks = sc_ticks();
    visit_streams(context, true, note_wait, NULL);
}

/* True: nobody finds it by its handle any more, and did until now. */
static bool take_name(struct sc_stream_record *stream, CUstream handle)
{
    pthread_mutex_lock(&registry_lock);
    bool taken = as_pointer(sc_handles_get(&by_handle, (uintptr_t)handle)) == stream;
    if (taken)
        sc_handles_remove(&by_handle, (uintptr_t)handle);
    pthread_mutex_unlock(&registry_lock);
    return taken;
}

static void bury_stream(struct sc_stream_record *stream)
{
    set_gone(stream, true);
    take_name(stream, stream->handle);
    if (stream->kind != SC_STREAM_LEGACY && !stream->owner) /* a thread removes its own */
        sc_track_remove_stream(&sc_track, stream->id);
}

/* Of threads that come at once, one removes the former. */
static struct sc_stream_record *learn_again(struct sc_stream_record *former, CUstream handle)
{
    if (take_name(former, handle))
        sc_track_remove_stream(&sc_track, former->id);
    return learn_stream(handle);
}

void sc_streams_renamed(CUstream handle)
{
    struct sc_stream_record *former = sc_streams_known(handle);
    if (former)
        former->gone = true;
}

/* A handle that we know names a new stream now: the former one went without our seeing it. */
void sc_streams_created(CUstream handle)
{
    struct sc_stream_record *former = as_pointer(sc_handles_get(&by_handle, (uintptr_t)handle));
    if (former)
        bury_stream(former);
    learn_stream(handle);
}

/* The events died with the context. */
static void drop_dead_marks(struct sc_stream_record *stream)
{
    pthread_mutex_lock(&stream->lock);
    stream->mark_count = 0;
    pthread_mutex_unlock(&stream->lock);
}

static void bury(void *unused, struct sc_stream_record *stream)
{
    (void)unused;
    drop_dead_marks(stream);
    bury_stream(stream);
}

/* Pinned memory of the context went with it: nobody will give it back, and what is freed at its
 * address later would wait for that. */
static void end_pinned_holds(const struct sc_context *context)
{
    sc_track_forget_graph_holds_of(&sc_track, context->legacy);
    struct sc_release release = sc_track_take_ready(&sc_track, 0);
    while (release.hold) {
        if (sc_hold_needs_program(release.kind) && release.context == context->legacy)
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

void sc_streams_context_ends(CUcontext handle)
{
    struct sc_context *context = sc_streams_known_context(handle);
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
    sc_streams_each(context, bury, NULL);
}

struct green_search {
    const struct sc_context *primary;
    CUcontext found;
};

static void note_green(void *argument, uintptr_t handle, uint64_t value)
{
    struct green_search *search = argument;
    const struct sc_context *context = as_pointer(value);
    if (context->primary == search->primary)
        search->found = (CUcontext)handle;
}

static struct sc_context *take_green_of(const struct sc_context *primary)
{
    struct green_search search = {.primary = primary};
    pthread_mutex_lock(&registry_lock);
    sc_handles_each(&contexts, note_green, &search);
    struct sc_context *green =
        search.found ? as_pointer(sc_handles_remove(&contexts, (uintptr_t)search.found)) : NULL;
    pthread_mutex_unlock(&registry_lock);
    return green;
}

/* A primary context takes its green ones with it. */
void sc_streams_context_ended(struct sc_context *context)
{
    struct sc_context *green;
    end_context(context);
    while ((green = take_green_of(context)) != NULL)
        end_context(green);
}

static void let_go(void *deadline, struct sc_stream_record *stream)
{
    if (pthread_mutex_timedlock(&stream->lock, deadline) == 0)
        pthread_mutex_unlock(&stream->lock);
}

/* A thread of the program's may hold a stream's lock while the driver has no room for what it
 * issues, and may be waiting for what this one does behind its call: a release that is not the
 * last one, and the end of a green context, wait for nothing. */
void sc_streams_context_quiet(struct sc_context *context)
{
    struct timespec deadline = sc_deadline_in(LET_GO_NS);
    atomic_fetch_add(&context->quiet, 1);
    visit_streams(context, true, let_go, &deadline);
}

/* What was to be settled meanwhile is settled now. */
void sc_streams_context_loud(struct sc_context *context)
{
    atomic_fetch_sub(&context->quiet, 1);
    sc_detours_settle();
}

struct sc_context *sc_streams_context_ending(CUcontext handle)
{
    pthread_mutex_lock(&registry_lock);
    struct sc_context *context = as_pointer(sc_handles_remove(&contexts, (uintptr_t)handle));
    pthread_mutex_unlock(&registry_lock);
    if (!context)
        return NULL;
    sc_pinned_context_unnamed(context);
    sc_streams_context_quiet(context);
    return context;
}

void sc_streams_context_not_ended(struct sc_context *context)
{
    sc_streams_context_loud(context);
    pthread_mutex_lock(&registry_lock);
    sc_handles_put(&contexts, (uintptr_t)context->handle, (uintptr_t)context);
    pthread_mutex_unlock(&registry_lock);
    sc_pinned_context_named(context);
}

static void bury_at_work(void *unused, struct sc_stream_record *stream)
{
    (void)unused;
    bury_stream(stream);
}

static void end_green(struct sc_context *context)
{
    if (atomic_exchange(&context->gone, true))
        atomic_fetch_sub(&ended_contexts, 1);
    sc_streams_each(context, bury_at_work, NULL);
}

void sc_streams_green_ended(struct sc_context *context)
{
    end_green(context);
    sc_streams_context_loud(context);
}

static void note_ended(void *argument, uintptr_t handle, uint64_t value)
{
    CUcontext *ended = argument;
    struct sc_context *context = as_pointer(value);
    if (context->gone)
        *ended = (CUcontext)handle;
}

/* It is taken at once: a moment later another thread may have made its handle name a new one. */
static struct sc_context *take_ended(void)
{
    CUcontext ended = NULL;
    pthread_mutex_lock(&registry_lock);
    sc_handles_each(&contexts, note_ended, &ended);
    struct sc_context *context =
        ended ? as_pointer(sc_handles_remove(&contexts, (uintptr_t)ended)) : NULL;
    pthread_mutex_unlock(&registry_lock);
    return context;
}

void sc_streams_bury_ended(void)
{
    while (sc_unlikely(atomic_load_explicit(&ended_contexts, memory_order_relaxed) != 0)) {
        struct sc_context *context = take_ended();
        if (!context)
            return;
        if (context->primary)
            end_green(context);
        else
            sc_streams_context_ended(context);
    }
}
