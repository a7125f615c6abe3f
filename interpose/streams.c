#include "interpose/streams.h"

#include <errno.h>
#include <string.h>

#include "interpose/marks.h"
#include "interpose/process.h"

#include "track/poison.h"

enum { PER_THREAD_MAX = 8 };

/* The per-thread default streams of this thread, one for each context it used. */
struct thread_streams {
    unsigned count;
    struct sc_stream_record *streams[PER_THREAD_MAX];
};

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sc_handles by_handle; /* CUstream -> struct sc_stream_record * */
static struct sc_handles by_id;     /* the tracker's id -> struct sc_stream_record * */
static struct sc_handles contexts;  /* CUcontext -> struct sc_context * */
static struct sc_arena arena;
static struct sc_stream_record *spare;
static _Atomic bool captures_seen;
static pthread_key_t thread_exit_key;
static __thread struct thread_streams own_streams;

static void *as_pointer(uint64_t value)
{
    return (void *)(uintptr_t)value;
}

static void forget_thread_streams(void *argument)
{
    struct thread_streams *streams = argument;
    for (unsigned i = 0; i < streams->count; i++) {
        struct sc_stream_record *stream = streams->streams[i];
        pthread_mutex_lock(&stream->lock);
        stream->gone = true;
        pthread_mutex_unlock(&stream->lock);
        sc_track_remove_stream(&sc_track, stream->id);
    }
    streams->count = 0;
}

int sc_streams_init(void)
{
    pthread_key_create(&thread_exit_key, forget_thread_streams);
    return sc_handles_init(&by_handle) || sc_handles_init(&by_id) || sc_handles_init(&contexts)
               ? -ENOMEM
               : 0;
}

static struct sc_stream_record *new_record_locked(void)
{
    struct sc_stream_record *stream = spare;
    if (stream)
        spare = stream->next_spare;
    else
        stream = sc_arena_take(&arena, sizeof *stream);
    if (!stream)
        return NULL;
    memset(stream, 0, sizeof *stream);
    pthread_mutex_init(&stream->lock, NULL);
    return stream;
}

/* The tracker recycles an id when nothing refers to it: nobody asks for its marks any more. */
static void recycle_former_record_locked(uint32_t id)
{
    struct sc_stream_record *former = as_pointer(sc_handles_get(&by_id, id));
    if (!former)
        return;
    sc_marks_drop(former);
    former->next_spare = spare;
    spare = former;
}

static struct sc_stream_record *add_record_locked(CUstream handle, enum sc_stream_kind kind,
                                                  struct sc_context *context)
{
    struct sc_stream_record *stream = new_record_locked();
    if (!stream)
        return NULL;
    stream->handle = handle;
    stream->kind = kind;
    stream->context = context;
    stream->id =
        sc_track_add_stream(&sc_track, kind, context->legacy, (uintptr_t)handle, context->device);
    recycle_former_record_locked(stream->id);
    if (stream->id && sc_handles_put(&by_id, stream->id, (uintptr_t)stream) == 0)
        return stream;
    stream->next_spare = spare;
    spare = stream;
    return NULL;
}

static bool device_reads_pageable(CUdevice device)
{
    int value = 0;
    if (sc_real.cuDeviceGetAttribute)
        sc_real.cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, device);
    return value != 0;
}

static struct sc_context *add_context_locked(CUcontext handle, CUdevice device)
{
    struct sc_context *context = sc_arena_take(&arena, sizeof *context);
    if (!context)
        return NULL;
    memset(context, 0, sizeof *context);
    context->handle = handle;
    context->device = device;
    context->reads_pageable = device_reads_pageable(device);
    pthread_mutex_init(&context->events_lock, NULL);
    context->legacy_stream = add_record_locked(CU_STREAM_LEGACY, SC_STREAM_LEGACY, context);
    if (!context->legacy_stream)
        return NULL;
    context->legacy = context->legacy_stream->id;
    return sc_handles_put(&contexts, (uintptr_t)handle, (uintptr_t)context) ? NULL : context;
}

/* `handle` is current on this thread. */
static struct sc_context *find_context(CUcontext handle)
{
    struct sc_context *context = as_pointer(sc_handles_get(&contexts, (uintptr_t)handle));
    CUdevice device = 0;
    if (sc_likely(context != NULL))
        return context;
    if (sc_real.cuCtxGetDevice(&device) != CUDA_SUCCESS)
        return NULL;
    pthread_mutex_lock(&registry_lock);
    context = as_pointer(sc_handles_get(&contexts, (uintptr_t)handle));
    if (!context)
        context = add_context_locked(handle, device);
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

struct sc_context *sc_streams_known_context(CUcontext handle)
{
    return as_pointer(sc_handles_get(&contexts, (uintptr_t)handle));
}

/* Retaining is the only way to learn the handle; it is balanced at once, and never makes a context
 * because the state is asked first. */
CUcontext sc_streams_primary_context(CUdevice device)
{
    unsigned flags = 0;
    int alive = 0;
    CUcontext handle = NULL;
    if (sc_real.cuDevicePrimaryCtxGetState(device, &flags, &alive) != CUDA_SUCCESS || !alive ||
        sc_real.cuDevicePrimaryCtxRetain(&handle, device) != CUDA_SUCCESS)
        return NULL;
    sc_real.cuDevicePrimaryCtxRelease_v2(device);
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

static struct sc_stream_record *find_per_thread(void)
{
    struct sc_context *context = sc_streams_current_context();
    if (!context)
        return NULL;
    for (unsigned i = 0; i < own_streams.count; i++)
        if (own_streams.streams[i]->context == context)
            return own_streams.streams[i];
    if (own_streams.count == PER_THREAD_MAX)
        return NULL;
    pthread_mutex_lock(&registry_lock);
    struct sc_stream_record *stream =
        add_record_locked(CU_STREAM_PER_THREAD, SC_STREAM_BLOCKING, context);
    pthread_mutex_unlock(&registry_lock);
    if (!stream)
        return NULL;
    stream->per_thread = true;
    own_streams.streams[own_streams.count++] = stream;
    pthread_setspecific(thread_exit_key, &own_streams);
    return stream;
}

static bool handle_is_capturing(CUstream handle)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (!sc_real.cuStreamIsCapturing)
        return false;
    return sc_real.cuStreamIsCapturing(handle, &status) != CUDA_SUCCESS ||
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}

/* Asking a capturing stream for its flags would invalidate its capture. */
static struct sc_stream_record *learn_stream(CUstream handle)
{
    unsigned flags = 0;
    CUcontext context_handle = NULL;
    struct sc_context *context = NULL;
    if (handle_is_capturing(handle) || sc_real.cuStreamGetFlags(handle, &flags) != CUDA_SUCCESS ||
        sc_real.cuStreamGetCtx(handle, &context_handle) != CUDA_SUCCESS)
        return NULL;
    if (sc_handles_get(&contexts, (uintptr_t)context_handle))
        context = as_pointer(sc_handles_get(&contexts, (uintptr_t)context_handle));
    else
        context = sc_streams_current_context();
    if (!context || context->handle != context_handle)
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
    return stream;
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
    return sc_likely(stream != NULL) ? stream : learn_stream(handle);
}

bool sc_streams_captures_seen(void)
{
    return atomic_load_explicit(&captures_seen, memory_order_relaxed);
}

void sc_streams_note_capture(void)
{
    atomic_store_explicit(&captures_seen, true, memory_order_relaxed);
}

bool sc_streams_is_capturing(struct sc_stream_record *stream)
{
    return sc_unlikely(sc_streams_captures_seen()) && handle_is_capturing(stream->handle);
}

struct sc_stream_record *sc_streams_of_id(uint32_t id)
{
    return as_pointer(sc_handles_get(&by_id, id));
}

void sc_streams_created(CUstream handle)
{
    if (!sc_handles_get(&by_handle, (uintptr_t)handle))
        learn_stream(handle);
}

/* The name goes before the driver's stream does: the driver may hand the same handle to another
 * thread's cuStreamCreate at once. */
struct sc_stream_record *sc_streams_destroying(CUstream handle)
{
    pthread_mutex_lock(&registry_lock);
    struct sc_stream_record *stream = as_pointer(sc_handles_remove(&by_handle, (uintptr_t)handle));
    pthread_mutex_unlock(&registry_lock);
    if (!stream)
        return NULL;
    pthread_mutex_lock(&stream->lock);
    sc_marks_add_locked(stream);
    stream->gone = true;
    pthread_mutex_unlock(&stream->lock);
    return stream;
}

void sc_streams_not_destroyed(struct sc_stream_record *stream)
{
    pthread_mutex_lock(&stream->lock);
    stream->gone = false;
    pthread_mutex_unlock(&stream->lock);
    pthread_mutex_lock(&registry_lock);
    sc_handles_put(&by_handle, (uintptr_t)stream->handle, (uintptr_t)stream);
    pthread_mutex_unlock(&registry_lock);
}

/* The record stays, for its marks, until the tracker recycles the id. */
void sc_streams_destroyed(struct sc_stream_record *stream)
{
    sc_track_remove_stream(&sc_track, stream->id);
}

struct gone_walk {
    struct sc_context *context;
    unsigned count;
    struct sc_stream_record *streams[256];
};

static void collect_stream(void *argument, uintptr_t id, uint64_t value)
{
    struct gone_walk *walk = argument;
    struct sc_stream_record *stream = as_pointer(value);
    (void)id;
    if (stream->context == walk->context && !stream->gone &&
        walk->count < sizeof walk->streams / sizeof walk->streams[0])
        walk->streams[walk->count++] = stream;
}

void sc_streams_each(struct sc_context *context,
                     void (*visit)(void *argument, struct sc_stream_record *stream), void *argument)
{
    struct gone_walk walk = {.context = context};
    pthread_mutex_lock(&registry_lock);
    sc_handles_each(&by_id, collect_stream, &walk);
    pthread_mutex_unlock(&registry_lock);
    for (unsigned i = 0; i < walk.count; i++)
        visit(argument, walk.streams[i]);
}

static void bury_stream(struct sc_stream_record *stream)
{
    pthread_mutex_lock(&stream->lock);
    stream->gone = true;
    stream->mark_count = 0; /* the events died with the context */
    pthread_mutex_unlock(&stream->lock);
    pthread_mutex_lock(&registry_lock);
    if (as_pointer(sc_handles_get(&by_handle, (uintptr_t)stream->handle)) == stream)
        sc_handles_remove(&by_handle, (uintptr_t)stream->handle);
    pthread_mutex_unlock(&registry_lock);
}

static void bury_streams(struct sc_context *context)
{
    struct gone_walk walk;
    do {
        walk = (struct gone_walk){.context = context};
        pthread_mutex_lock(&registry_lock);
        sc_handles_each(&by_id, collect_stream, &walk);
        pthread_mutex_unlock(&registry_lock);
        for (unsigned i = 0; i < walk.count; i++)
            bury_stream(walk.streams[i]);
    } while (walk.count);
}

void sc_streams_context_gone(CUcontext handle)
{
    pthread_mutex_lock(&registry_lock);
    struct sc_context *context = as_pointer(sc_handles_remove(&contexts, (uintptr_t)handle));
    pthread_mutex_unlock(&registry_lock);
    if (!context)
        return;
    atomic_store(&context->gone, true);
    struct sc_point point = sc_track_point(&sc_track, context->legacy, SC_SCOPE_CONTEXT);
    sc_track_known(&sc_track, &point);
    sc_track_remove_ranges_of(&sc_track, context->legacy);
    bury_streams(context);
}
