/* Records of the driver's contexts.
 *
 * A context is met at the first use of one of its streams. In the tracker its id is that of its
 * legacy stream. Records are never freed, since streams point to them.
 *
 * Lock: that of the contexts, taken inside of a stream's and outside of the streams' registry
 * (interpose/streams/streams.h). No libc hook takes it. Thread-safe; in a signal handler only
 * functions that say "lock-free".
 */
#ifndef SC_INTERPOSE_STREAMS_CONTEXTS_H
#define SC_INTERPOSE_STREAMS_CONTEXTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/brief_lock.h"
#include "interpose/driver/driver.h"
#include "interpose/streams/unfinished.h"

struct sc_limit_event;
struct sc_stream_record;
struct sc_staging_of_context;
struct sc_edges_of_context;

/* What marks.c keeps of a context. */
struct sc_context_marks {
    /* A blocking stream of ours: events on it follow the legacy stream's work. */
    _Atomic(CUstream) marker;
    _Atomic uint64_t outlived_ticks; /* when a blocking stream was last destroyed */
    _Atomic bool awaits;             /* the marker may wait for what the legacy stream does not */
};

/* Events that marks no longer need, kept by marks.c for the next marks. The lock is a leaf. */
enum { SC_SPARE_EVENTS_MAX = 256 };
struct sc_spare_events {
    struct sc_brief_lock lock;
    unsigned count;
    /* the events, with room for SC_SPARE_EVENTS_MAX; NULL: none was kept yet, or the context is
     * gone */
    CUevent *events;
};

/* What a context has for its detours: operations of its legacy stream that are made in a private
 * stream while a blocking stream captures (interpose/capture/detours.h). Under the lock. */
struct sc_context_detours {
    pthread_mutex_t lock;
    struct sc_stream_record *stream;
    CUevent before, after;
    /* For queries of the legacy stream during a capture: an event behind its work, and when the
     * last of that work was issued. */
    CUevent query_event;
    uint64_t query_ticks;
    struct sc_context *next; /* the next context with a private stream; never changes */
};

struct sc_context {
    CUcontext handle;
    CUdevice device;
    uint32_t legacy; /* the tracker's id of the context */
    struct sc_stream_record *legacy_stream;
    bool reads_pageable; /* the device reads pageable memory in place */
    bool shares_managed; /* the host may touch managed memory while the device is at work */
    /* It may be a green context, which can end while its streams are at work; its primary context
     * stays. */
    bool may_be_green;
    struct sc_context *primary; /* NULL: the context is not a green one, or not known to be */
    _Atomic bool gone;
    _Atomic bool lost; /* the program knows that nothing of the context runs any more */
    /* how many calls are under way that may end the context: we make no call in it */
    _Atomic unsigned quiet;
    /* Which call has fixed the size of its heap; NULL: not known. */
    _Atomic(const struct sc_limit_event *) heap_user;
    struct sc_context_unfinished unfinished;
    _Atomic(struct sc_staging_of_context *) staging;
    _Atomic(struct sc_edges_of_context *) breakable;
    struct sc_context_detours detours;
    struct sc_context_marks marks;
    struct sc_spare_events spare_events;
    /* Records of its streams and of those of its green contexts, also of streams that are gone. A
     * list of streams.c, under the registry's lock. */
    struct sc_stream_record *streams;
};

int sc_contexts_init(void); /* 0 or -ENOMEM */

/* Does the calling thread have the lock of the contexts? As sc_streams_are_locked_here. */
bool sc_contexts_are_locked_here(void);

/* The record of the calling thread's current context, or NULL. */
struct sc_context *sc_contexts_current(void);

/* The record of a live context, which need not be current: the driver takes work for a stream of a
 * context that was never made current. */
struct sc_context *sc_contexts_of(CUcontext handle);

/* The context that memory allocated now belongs to, and that frees wait for: the current one, or
 * the primary context of a green one. */
struct sc_context *sc_contexts_of_memory(void);

/* The record of a context met before, or NULL. */
struct sc_context *sc_contexts_known(CUcontext handle);

/* The context that a call names; NULL stands for the current one. Returns NULL if the named one was
 * not met before. */
struct sc_context *sc_contexts_named(CUcontext handle);

/* Notes that a call has answered the program with an error that the current context, or its memory,
 * does not survive. No lock is taken. */
void sc_contexts_note_lost(void);

/* Has the context of this stream been lost by such an error? `stream`: the tracker's id of it.
 * Lock-free; no call of the driver. */
bool sc_contexts_has_lost(uint32_t stream);

/* The primary context of the device if it is alive and was met before, or NULL. */
CUcontext sc_contexts_primary(CUdevice device);

/* Notes that a context of the device was made, which may not have a record yet. Lock-free. */
void sc_contexts_made_on(CUdevice device);

/* The only device that ever had a context, as far as known; -1: there is none, or several.
 * Lock-free. */
int sc_contexts_only_device(void);

/* A known context of the device that nobody is about to end; NULL: there is none. Makes no call of
 * the driver: retaining the primary context would show at a reset as another user of it. */
struct sc_context *sc_contexts_on(CUdevice device);

/* A context of the device whose memory lies at the address, preferably the one that the memory was
 * allocated in. NULL: not known, or contexts of one device only were met. */
struct sc_context *sc_contexts_at(CUdeviceptr address);

/* Makes the context current around our own calls; false if it is gone. */
bool sc_contexts_push(struct sc_context *context);
void sc_contexts_pop(void);

/* The context's handle, which is that of the green context (docs/driver.md). */
static inline CUcontext sc_contexts_of_green(CUgreenCtx green)
{
    return (CUcontext)(void *)green;
}

/* Is a call under way that may end the context, and its green ones with it? Meanwhile other threads
 * make no call of ours in it. The program's own work there goes on: who issues it knows that the
 * call does not end the context. */
static inline bool sc_contexts_is_quiet(const struct sc_context *context)
{
    return atomic_load(&context->quiet) != 0 ||
           (context->primary && atomic_load(&context->primary->quiet) != 0);
}

/* Have the context's events ended with it? Those of a green context live as long as its primary
 * context. */
static inline bool sc_contexts_events_are_dead(const struct sc_context *context)
{
    return atomic_load_explicit(context->primary ? &context->primary->gone : &context->gone,
                                memory_order_acquire);
}

/* Take a context out of the table, for whoever ends it (calls/context_calls.c): the context of the
 * handle, which may be another context's before the driver's call returns; a green context of the
 * primary one; a context that is gone. NULL: there is none. sc_contexts_put_back puts the context
 * back, if the driver did not end it. */
struct sc_context *sc_contexts_take(CUcontext handle);
struct sc_context *sc_contexts_take_green_of(const struct sc_context *primary);
struct sc_context *sc_contexts_take_gone(void);
void sc_contexts_put_back(struct sc_context *context);

#endif
