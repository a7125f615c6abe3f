/* Records of the driver's streams.
 *
 * A stream gets a record when it is created, or at its first use if it was made in another way. The
 * legacy stream of each context, and the per-thread default stream of each thread and context, are
 * streams of their own. Records are never freed, since something may still point to them; they are
 * used again for other streams.
 *
 * The driver is asked about the marks (completion events, marks.h) of a destroyed stream only if a
 * hold waits for that stream. So whenever a stream is created or destroyed, the marks of two
 * destroyed streams are checked. So their operations are found complete at some time even if nobody
 * asks, and their records and events can be used again.
 *
 * A stream's lock keeps its driver handle alive: it is held over the library's own calls on that
 * stream, and taken by the wrappers that destroy the stream or begin a capture on it. Order of
 * locks: a stream's, the contexts', the registry's, the tracker's. No hook of libc takes any of the
 * first three. */

/* Terms (docs/glossary.md):
 *   blocking stream: a stream without CU_STREAM_NON_BLOCKING
 *   complete: finished by the device, whether or not the program knows
 *   detour: an operation of the legacy stream that the library issues on a private stream
 *   hook: our function in the place of one of the C library's
 *   legacy stream: a context's default stream, which is ordered with all its blocking streams
 *   mark: an event of the library's behind an operation, by which it learns that this is complete
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   origin: the call that made a buffer or a stream, with its stack
 *   owe: of a stream: it cannot wait for a detour now, and has to wait later
 *   snapshot: a copy of a small source, which the device reads instead of the source
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_INTERPOSE_STREAMS_STREAMS_H
#define SC_INTERPOSE_STREAMS_STREAMS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/points.h"
#include "interpose/streams/capturing.h"
#include "interpose/streams/unfinished_times.h"

struct sc_context;
struct sc_handles;
struct sc_stream_front;

/* A mark: an event of the library's that was recorded after the stream's operation `number`. */
struct sc_mark {
    CUevent event;
    uint64_t number; /* the last operation before it */
    /* The last operation before this mark that other work follows, so that the mark may occur later
     * than the operation is complete; it lies after the mark before. */
    uint64_t loose : 63;
    /* a signal (the device tells the host unseen) that comes after the operations also comes after
     * the mark */
    uint64_t leads : 1;
};

/* How many marks a stream has room for at first, and at most; how many unused events it keeps. */
enum { SC_MARKS_FEW = 64, SC_MARKS_MAX = 4096, SC_MARKS_SPARE = 4 };

/* The marks of a stream (marks.h), guarded by the stream's lock. Atomic members are read without
 * it. */
struct sc_stream_marks {
    _Atomic uint64_t marked;    /* the last operation that a mark was ever recorded after */
    uint64_t marked_ticks;      /* when a mark was last recorded, roughly; guarded by no lock */
    uint64_t took_ticks;        /* how long that took, roughly; guarded by no lock */
    _Atomic uint64_t owed;      /* the last operation on host memory */
    _Atomic uint64_t needed;    /* the last operation without a snapshot */
    _Atomic uint64_t of_device; /* the last operation that uses device memory only */
    _Atomic uint64_t loose;     /* the last operation that other work comes after before its mark */
    /* On per-thread default streams: the time of the latest work that no mark comes after; 0: there
     * is none. Other threads cannot name the stream, and see its work by marks alone. */
    _Atomic uint64_t tail_ticks;
    _Atomic bool awaits; /* the stream was told to wait for an event */
    CUevent fence;       /* an event after what was issued before the stream's capture, or NULL */
    CUevent spare[SC_MARKS_SPARE]; /* events that no mark needs any more */
    struct sc_mark *more; /* a longer ring of marks, or NULL; kept when the record is used again */
    unsigned more_room;
    unsigned first, count;
    unsigned spare_count;
    struct sc_mark few[SC_MARKS_FEW];
};

/* Parts of sc_stream_record.life. */
enum { SC_STREAM_GONE = 1u, SC_STREAM_NEXT_LIFE = 2u };

/* What the library knows of one stream of the driver's. Never freed; used again for other streams.
 */
struct sc_stream_record {
    pthread_mutex_t lock;
    /* For streams.c's lists of destroyed streams, whose records may be used again. */
    /* in the list of destroyed streams; guarded by the registry's lock, as are the next three */
    bool is_listed;
    bool is_removed; /* its id is released */
    struct sc_stream_record *next_gone, *next_spare;
    struct sc_stream_record *next_owned; /* the next per-thread stream of the same thread */
    /* The next in the context's list, and the pointer in that list which points here; NULL: it is
     * not in the list. */
    struct sc_stream_record *next_of_context, **link_of_context;
    /* The stream that the record is for. */
    /* points with a smaller number are of a former stream with this record */
    _Atomic uint64_t since_number;
    /* The members from here to the first of `unfinished` are read by each call. On x86-64 they lie
     * in one cache line, as blocks of an arena begin in the midst of one. */
    const struct sc_stream_front *front; /* the tracker's part of the stream */
    CUstream handle;
    struct sc_context *context;
    uint32_t id;
    enum sc_stream_kind kind;
    int32_t owner; /* the only thread that can name a per-thread default stream; 0 on others */
    /* Which stream the record is for: a number for each one that it was given to, in steps of
     * SC_STREAM_NEXT_LIFE, and SC_STREAM_GONE: the handle names no stream, or another one. */
    _Atomic uint32_t life;
    /* Must the stream wait, once its capture has ended, for the event behind the context's last
     * detour? While it captures it cannot. A blocking stream that gets its record while the legacy
     * stream owes this wait owes it as well. */
    _Atomic bool owes_wait;
    struct sc_unfinished unfinished;
    struct sc_capturing capturing;
    struct sc_stream_marks marks;
};

_Static_assert(sizeof(struct sc_stream_record) <= 2048, "as many as a page can have");

/* Does the record's handle name its stream no more? */
static inline bool sc_stream_is_gone(const struct sc_stream_record *stream)
{
    return atomic_load_explicit(&stream->life, memory_order_relaxed) & SC_STREAM_GONE;
}

/* Returns 0 or -ENOMEM. */
int sc_streams_init(void);

/* Returns the record of the stream that a call names, made at its first use. `per_thread`: the call
 * is a _ptsz or _ptds variant, in which 0 is the thread's default stream. NULL: there is no current
 * context, no memory, or the stream captures and has no record. */
struct sc_stream_record *sc_streams_find(CUstream handle, bool per_thread);

extern struct sc_handles sc_streams_by_handle; /* CUstream -> struct sc_stream_record * */

/* Returns true if a capture is open on the stream, or blocks it. A load in a process that never
 * captured; else the driver is asked once for each beginning or end of a capture. */
static inline bool sc_streams_is_capturing(struct sc_stream_record *stream)
{
    return sc_capturing_seen() && sc_capturing_is_on(&stream->capturing, stream->handle);
}

/* Returns the graph that the stream's capture adds to; 0 if the driver does not say. */
static inline uintptr_t sc_streams_graph(struct sc_stream_record *stream)
{
    return sc_capturing_graph(&stream->capturing, stream->handle);
}

/* For a legacy stream that counts as capturing: returns true if it belongs to a capture itself,
 * which only that of a green context can. Captures of blocking streams merely forbid its use. Pre:
 * the stream's context is current. */
bool sc_streams_is_captured_legacy(struct sc_stream_record *stream);

/* Returns true if work on the stream becomes a node of a graph, and does not run. The legacy stream
 * mostly is only blocked by a capture. */
static inline bool sc_streams_is_captured(struct sc_stream_record *stream)
{
    return sc_streams_is_capturing(stream) &&
           (stream->kind != SC_STREAM_LEGACY || sc_streams_is_captured_legacy(stream));
}

/* Returns the record of the stream if work on it becomes a node of a graph; NULL: it does not, or
 * the library is inactive. */
struct sc_stream_record *sc_streams_find_captured(CUstream handle, bool per_thread);

/* Returns the record of the stream with this tracker id; NULL: the stream was destroyed and its
 * work is done, or there never was one. Lock-free. */
struct sc_stream_record *sc_streams_of_id(uint32_t id);

/* Returns the record of a stream that has one and is not destroyed, or NULL. Takes no lock, and
 * makes no call. */
struct sc_stream_record *sc_streams_find_known(CUstream handle);

/* Called when the program has created a stream: makes its record. `origin`: the call that created
 * it (track/origins.h). */
void sc_streams_created(CUstream handle, uint32_t origin);

/* Notes that the handle does not name its former stream any more; called from within the driver.
 * The next use of the handle finds out what it names then. */
void sc_streams_renamed(CUstream handle);

/* Called before the driver destroys the stream: takes its handle out of the table, since another
 * stream may get it before the call returns. Returns the stream's record, or NULL. */
struct sc_stream_record *sc_streams_destroying(CUstream handle);
/* Called after that with the driver's answer. name_again: it has refused, and the handle names the
 * stream again; false: the stream is to be ended all the same, as its handle names another record
 * or its context has ended. destroyed: ends the record. */
bool sc_streams_name_again(struct sc_stream_record *stream);
void sc_streams_destroyed(struct sc_stream_record *stream);

/* Called when a context has got its record: makes that of its legacy stream; NULL: no memory. In
 * the tracker, that of a green context (part of a device) is joined with that of its primary
 * one. */
struct sc_stream_record *sc_streams_add_legacy(struct sc_context *context);

/* Call `visit` for each stream of the context, with no lock held. _each visits live streams, and
 * per-thread default streams of ended threads. _each_ever also visits all other destroyed streams,
 * and streams of the context's green contexts. */
typedef void sc_visit_stream(void *argument, struct sc_stream_record *stream);
void sc_streams_each(struct sc_context *context, sc_visit_stream *visit, void *argument);
void sc_streams_each_ever(struct sc_context *context, sc_visit_stream *visit, void *argument);

/* Forgets the handles of all streams of a context that has ended. `events_are_dead`: the events of
 * their marks have ended with it; those of a green context live as long as its primary context. */
void sc_streams_forget_of(struct sc_context *context, bool events_are_dead);

/* Returns what a synchronise of the stream waits for: the legacy stream's also waits for the
 * blocking streams. */
static inline enum sc_scope sc_streams_scope(const struct sc_stream_record *stream)
{
    return stream->kind == SC_STREAM_LEGACY ? SC_SCOPE_LEGACY : SC_SCOPE_STREAM;
}

#endif
