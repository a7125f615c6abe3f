/* The driver's streams as the tracker's.
 *
 * A stream is made known when it is created, or at its first use if it came some other way; the
 * legacy stream of each context and the per-thread default stream of each thread and context are
 * streams of their own. Records are never freed while anything may still point to them.
 *
 * Nobody asks again for the marks of a stream that is gone unless a hold waits for it: when a
 * stream comes or goes, those of two that have gone are polled. So their operations are complete
 * some day, and their records and events are used again.
 *
 * A stream's lock keeps its driver handle alive: it is held over our own calls on that stream and
 * taken by the wrappers that destroy it or begin a capture on it. Order of locks: stream, then
 * contexts, then registry, then the tracker's. No libc hook takes any of the first three.
 */
#ifndef SC_INTERPOSE_STREAMS_STREAMS_H
#define SC_INTERPOSE_STREAMS_STREAMS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/points.h"
#include "interpose/streams/capturing.h"
#include "interpose/streams/unfinished.h"

struct sc_context;
struct sc_handles;
struct sc_stream_front;

/* An event of ours behind the stream's operation `number`. */
struct sc_mark {
    CUevent event;
    uint64_t number; /* of the last operation before it */
    uint64_t loose;  /* of the last one, of those behind the former mark, with other work between */
    bool leads;      /* signals that come after the operations come after the mark */
};

enum {
    SC_MARKS_FEW = 64,
    SC_MARKS_MAX = 4096,
    SC_MARKS_SPARE = 4
}; /* of a stream: most have few */

/* The marks of a stream (marks.h). Under the stream's lock, but that atomic members are read
 * without it. */
struct sc_stream_marks {
    _Atomic uint64_t marked;    /* the last operation that a mark was ever behind */
    uint64_t marked_ticks;      /* roughly, and under no lock */
    uint64_t took_ticks;        /* the same: how long the latest mark took */
    _Atomic uint64_t owed;      /* the last operation on host memory */
    _Atomic uint64_t needed;    /* the last one of which no snapshot was taken */
    _Atomic uint64_t of_device; /* the last one that uses device memory alone */
    _Atomic uint64_t loose;     /* up to here other work stands between operations and their mark */
    /* Per-thread default streams: the last work that no mark is behind, or 0. Other threads cannot
     * name the stream, and know of it by its marks only. */
    _Atomic uint64_t tail_ticks;
    CUevent fence;                 /* behind what was issued before its capture, or NULL */
    CUevent spare[SC_MARKS_SPARE]; /* that no mark needs any more */
    unsigned spare_count;
    struct sc_mark *more; /* a longer ring, or NULL; kept when the record is used again */
    unsigned more_room;
    unsigned first, count;
    struct sc_mark few[SC_MARKS_FEW];
};

struct sc_stream_record {
    pthread_mutex_t lock;
    /* Lists of streams.c, which may have the record when it is used again. */
    bool is_listed; /* as gone; the registry's, as the next two */
    struct sc_stream_record *next_gone;
    struct sc_stream_record *next_spare;
    struct sc_stream_record *next_owned; /* per-thread streams of the same thread */
    /* The next of the context's list, and what points here; NULL: nothing does. */
    struct sc_stream_record *next_of_context, **link_of_context;
    /* The stream that the record is of. */
    uint32_t id;
    enum sc_stream_kind kind;
    const struct sc_stream_front *front; /* the tracker's of it */
    int32_t owner; /* the only thread that can name a per-thread default stream; 0 on others */
    CUstream handle;
    struct sc_context *context;
    _Atomic bool gone;             /* its handle names no stream, or another one */
    _Atomic uint64_t since_number; /* its points have no smaller one */
    struct sc_unfinished unfinished;
    struct sc_capturing capturing;
    /* For the event behind the context's last detour, when the stream's capture has ended. Where
     * the legacy stream owes one, so does each blocking stream that is first met then. */
    _Atomic bool owes_wait;
    struct sc_stream_marks marks;
};

/* 0 or -ENOMEM. */
int sc_streams_init(void);

/* The record of the stream as a call names it; per_thread is true in the _ptsz and _ptds variants.
 * NULL where there is no current context, no memory, or the stream is capturing. */
struct sc_stream_record *sc_streams_find(CUstream handle, bool per_thread);

extern struct sc_handles sc_streams_by_handle; /* CUstream -> struct sc_stream_record * */

/* Is a capture open on it? Cheap, and always false in a process that never captured. */
static inline bool sc_streams_is_capturing(struct sc_stream_record *stream)
{
    return sc_capturing_seen() && sc_capturing_is_on(&stream->capturing, stream->handle);
}

/* The graph that a capture of the stream adds to; 0 if the driver does not say. */
static inline uintptr_t sc_streams_graph(struct sc_stream_record *stream)
{
    return sc_capturing_graph(&stream->capturing, stream->handle);
}

/* The legacy stream, whose context is current, counts as capturing: is it part of the capture? Only
 * one of a green context can be. For another one a capture is in the way of it. */
bool sc_streams_is_captured_legacy(struct sc_stream_record *stream);

/* Does work there become a node? */
static inline bool sc_streams_is_captured(struct sc_stream_record *stream)
{
    return sc_streams_is_capturing(stream) &&
           (stream->kind != SC_STREAM_LEGACY || sc_streams_is_captured_legacy(stream));
}

/* As sc_streams_find, and only if it is. NULL also where wrappers do nothing. */
struct sc_stream_record *sc_streams_find_captured(CUstream handle, bool per_thread);

struct sc_stream_record *sc_streams_of_id(uint32_t id);

/* Does the calling thread have the lock of a stream or of the registry? It is a signal handler that
 * asks, about the call of ours that it interrupted. Takes no lock; walks over all streams. */
bool sc_streams_are_locked_here(void);

/* The record of a stream met before, which has not gone, or NULL. Takes no lock, and asks nobody.
 */
struct sc_stream_record *sc_streams_known(CUstream handle);

/* `origin`: track/origins.h. */
void sc_streams_created(CUstream handle, uint32_t origin);

/* Told inside of the driver: the handle names that stream no more. Whoever uses it next learns what
 * it names then. */
void sc_streams_renamed(CUstream handle);

/* Before the driver destroys it; after that failed; after that succeeded. */
struct sc_stream_record *sc_streams_destroying(CUstream handle);
void sc_streams_not_destroyed(struct sc_stream_record *stream);
void sc_streams_destroyed(struct sc_stream_record *stream);

/* For a context that is first met: its legacy stream, or NULL. It is joined with the primary's. */
struct sc_stream_record *sc_streams_add_legacy(struct sc_context *context);

/* Calls visit for each stream of the context, with no lock held; also for per-thread default
 * streams of threads that have ended (these are gone). The second form also for all others that
 * are gone, and for the streams of its green contexts. */
typedef void sc_visit_stream(void *argument, struct sc_stream_record *stream);
void sc_streams_each(struct sc_context *context, sc_visit_stream *visit, void *argument);
void sc_streams_each_ever(struct sc_context *context, sc_visit_stream *visit, void *argument);

/* The context is gone, and its streams' handles name nothing any more. The events of a green one,
 * and so its marks, are good as long as its primary context is. */
void sc_streams_bury(struct sc_context *context, bool events_are_dead);

/* What a synchronise of the stream waits for. */
static inline enum sc_scope sc_streams_scope(const struct sc_stream_record *stream)
{
    return stream->kind == SC_STREAM_LEGACY ? SC_SCOPE_LEGACY : SC_SCOPE_STREAM;
}

#endif
