/* The driver's streams and contexts as the tracker's.
 *
 * A stream is made known when it is created, or at its first use if it came some other way; the
 * legacy stream of each context and the per-thread default stream of each thread and context are
 * streams of their own. Records are never freed while anything may still point to them.
 *
 * A stream's lock keeps its driver handle alive: it is held over our own calls on that stream and
 * taken by the wrappers that destroy it or begin a capture on it. Order of locks: stream, then
 * registry, then the tracker's. No libc hook takes any of the first two.
 */
#ifndef SC_INTERPOSE_STREAMS_H
#define SC_INTERPOSE_STREAMS_H

#include <pthread.h>

#include "interpose/driver.h"
#include "interpose/pending.h"
#include "track/track.h"

enum { SC_MARKS_MAX = 64 };

/* An event of ours behind the stream's operation `number`. */
struct sc_mark {
    CUevent event;
    uint64_t number;
};

struct sc_staging_of_context;

struct sc_context {
    CUcontext handle;
    CUdevice device;
    uint32_t legacy; /* the tracker's id of the context */
    struct sc_stream_record *legacy_stream;
    /* A blocking stream of ours: events on it follow the legacy stream's work. */
    _Atomic(CUstream) marker;
    bool reads_pageable; /* the device reads pageable memory in place */
    /* A green context ends while its streams are at work; its primary context lives on. */
    bool may_be_green;
    struct sc_context *primary; /* NULL: it is no green one, or not known to be */
    _Atomic bool gone;
    _Atomic unsigned quiet;        /* calls under way that may end it: we make none in it */
    struct sc_pending family;      /* of the legacy and all blocking streams together */
    _Atomic uint64_t legacy_ticks; /* the last work on the legacy stream */
    _Atomic uint64_t done_ticks;   /* what was issued by then is done, on any stream */
    _Atomic uint64_t waits_ticks;  /* all its streams, and those to come, wait for an event */
    _Atomic(struct sc_staging_of_context *) staging;
    /* Detours of legacy operations around a capture (interpose/detours.h). */
    pthread_mutex_t detour_lock;
    struct sc_stream_record *detour_stream;
    CUevent detour_before, detour_after;
    _Atomic bool legacy_owes_wait; /* for detour_after, and so do streams that are first met then */
    /* Queries: an event behind the legacy stream's work, and when the last of that was issued. */
    CUevent query_event;
    uint64_t query_ticks;
    _Atomic uint64_t outlived_ticks; /* a blocking stream was last destroyed */
    struct sc_context *next_detoured;
    pthread_mutex_t events_lock;
    unsigned spare_count;
    CUevent spares[SC_MARKS_MAX * 4];
};

struct sc_stream_record {
    pthread_mutex_t lock; /* first: made once, kept when the record is used again */
    uint32_t id;
    enum sc_stream_kind kind;
    int32_t owner; /* the only thread that can name a per-thread default stream; 0 on others */
    CUstream handle;
    struct sc_context *context;
    _Atomic bool gone; /* its handle names no stream, or another one */
    struct sc_pending pending;
    _Atomic bool unmarked; /* operations were issued behind the last mark */
    uint64_t marked_ticks;
    /* Per-thread default streams: the last work that no mark is behind, or 0. Other threads cannot
     * name the stream, and know of it by its marks only. */
    _Atomic uint64_t tail_ticks;
    /* What the driver said last, each with the epoch of captures in which it said so. */
    _Atomic uint64_t capture_state; /* epoch, and bit 0: it captures */
    _Atomic uint64_t graph_epoch;
    _Atomic uintptr_t graph; /* that its capture adds to */
    CUevent fence;           /* behind what was issued before its capture, or NULL */
    _Atomic bool owes_wait;  /* for the context's detour_after, when its capture has ended */
    unsigned first_mark, mark_count;
    struct sc_mark marks[SC_MARKS_MAX];
    struct sc_stream_record *next_spare;
    struct sc_stream_record *next_owned; /* per-thread streams of the same thread */
};

/* 0 or -ENOMEM. */
int sc_streams_init(void);

/* The record of the stream as a call names it; per_thread is true in the _ptsz and _ptds variants.
 * NULL where there is no current context, no memory, or the stream is capturing. */
struct sc_stream_record *sc_streams_find(CUstream handle, bool per_thread);

/* Is a capture open on it? Cheap, and always false in a process that never captured. */
bool sc_streams_is_capturing(struct sc_stream_record *stream);
void sc_streams_note_capture(void);

/* Streams may capture, or not any more, that did otherwise before: called after each such change.
 * Until the next one, the driver is asked about a stream only once. */
void sc_streams_captures_changed(void);
uint64_t sc_streams_capture_epoch(void);
bool sc_streams_captures_seen(void);

struct sc_stream_record *sc_streams_of_id(uint32_t id);

/* The record of a stream met before, which has not gone, or NULL. Takes no lock, and asks nobody.
 */
struct sc_stream_record *sc_streams_known(CUstream handle);

/* The record of the calling thread's current context, or NULL. */
struct sc_context *sc_streams_current_context(void);
struct sc_context *sc_streams_context_of_id(uint32_t legacy);

/* The context that memory allocated now belongs to, and that frees wait for: not the current one if
 * that is a green one, but its primary context. */
struct sc_context *sc_streams_memory_context(void);

/* They have the same handle (docs/driver.md). */
static inline CUcontext sc_context_of_green(CUgreenCtx green)
{
    return (CUcontext)(void *)green;
}

/* The record of a context met before, or NULL. */
struct sc_context *sc_streams_known_context(CUcontext handle);

/* The primary context of the device if it is alive and was met before, or NULL. */
CUcontext sc_streams_primary_context(CUdevice device);

void sc_streams_created(CUstream handle);

/* Told inside of the driver: the handle names that stream no more. Whoever uses it next learns what
 * it names then. */
void sc_streams_renamed(CUstream handle);

/* Before the driver destroys it; after that failed; after that succeeded. */
struct sc_stream_record *sc_streams_destroying(CUstream handle);
void sc_streams_not_destroyed(struct sc_stream_record *stream);
void sc_streams_destroyed(struct sc_stream_record *stream);

/* Around a call that may end it, and its green ones with it: other threads' calls of ours in them
 * have returned, and they make no more until it is loud again, but for the program's own work in
 * the context: who does that knows that the call does not end it. */
void sc_streams_context_quiet(struct sc_context *context);
void sc_streams_context_loud(struct sc_context *context);

static inline bool sc_context_is_quiet(const struct sc_context *context)
{
    return atomic_load(&context->quiet) != 0 ||
           (context->primary && atomic_load(&context->primary->quiet) != 0);
}

/* Before the driver ends it, since its handle may be another context's before the call returns;
 * after that failed; after that succeeded: all its work is done, its memory and handles are void.
 * NULL: it was not known. */
struct sc_context *sc_streams_context_ending(CUcontext handle);
void sc_streams_context_not_ended(struct sc_context *context);
void sc_streams_context_ended(struct sc_context *context);

/* The same for a green one, whose work goes on. Its handle must not be used any more: the driver
 * does not survive that (docs/driver.md). */
void sc_streams_green_ended(struct sc_context *context);

/* It is told inside of the driver, which is about to end it, and has done its work unless it is a
 * green one. The rest is for sc_streams_bury_ended, and before another context of this handle is
 * used. */
void sc_streams_context_ends(CUcontext handle);
void sc_streams_bury_ended(void); /* one load if there is none */

/* All its streams, those of its green ones and those to come are about to wait for an event. */
void sc_streams_context_waits(struct sc_context *context);

/* Calls visit for each stream of the context, with no lock held; also for per-thread default
 * streams of threads that have ended (these are gone). */
void sc_streams_each(struct sc_context *context,
                     void (*visit)(void *argument, struct sc_stream_record *stream),
                     void *argument);

#endif
