/* What is ordered after what: the happens-before engine.
 *
 * Every stream numbers its operations. A ticket names one operation. A point names "everything
 * issued on this stream so far" together with all that it had waited for. Points flow from streams
 * into events (record), from events into streams (wait) and into the host frontier (a synchronise
 * that returned, a query that succeeded). An operation is known done when the host frontier covers
 * it. Threads are assumed to synchronise among themselves, so there is one host frontier for the
 * process.
 *
 * A call to the driver takes time, and other threads call meanwhile. If two calls overlap, nobody
 * knows which the driver handled first. A call that ended before another one began was handled
 * before it. So a call notes, when it begins, what has ended. When the call has ended, its stream
 * learns of that, and its operations get their numbers.
 *
 * The legacy stream of a context joins, and is joined by, every blocking stream. To merge a
 * thousand clocks at each call there would be slow, so the calls of the legacy stream are counted
 * as they begin. An operation on a blocking stream remembers its epoch: how many of these calls had
 * begun when the driver took the operation. The operation is done once a later legacy call is done.
 * Work on a blocking stream comes after every legacy call that had ended before.
 *
 * Locks: every function needs the owner's lock, except those that say "lock-free". Numbers start at
 * 1; stream id 0 is no stream. */
#ifndef SC_TRACK_ORDER_H
#define SC_TRACK_ORDER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/points.h"
#include "track/staging_classes.h"
#include "track/stream_front.h"
#include "track/unseen_internal.h"

struct sc_slot;

/* A signal: something by which the device tells the host, unseen by the library, that the first
 * `number` operations of a stream are done. */
struct sc_signal {
    uint64_t number;
    uint64_t marked; /* marks of operations up to this number surely stand before the signal */
};

enum { SC_SIGNALS_KEPT = 16 }; /* signals kept for each stream */

struct sc_stream {
    /* What a wait for all streams of a context reads of a live one lies in one cache line. */
    _Alignas(64) struct sc_stream_front front;
    _Atomic uint64_t done;       /* the host knows operations up to this number to be done */
    _Atomic uint64_t ended;      /* legacy: the place of the latest call that has ended */
    _Atomic uint64_t done_calls; /* legacy: the host knows its calls up to this place to be done */
    struct sc_clock *joined;
    uint32_t context; /* id of the context's legacy stream; a legacy stream's own id */
    /* On the legacy stream of a green context: that of the primary context; else 0. */
    uint32_t primary;
    enum sc_stream_kind kind;
    int device;
    _Atomic uint64_t complete;  /* operations up to this number were seen complete by asking the
                                   device; never orders anything */
    _Atomic uint64_t signalled; /* a signal may tell the host of operations up to this number */
    _Atomic uint64_t calls;     /* legacy: how many of its calls have begun */
    /* Legacy: a signal may tell the host of calls up to this place. */
    _Atomic uint64_t signalled_calls;
    _Atomic uint64_t behind_version; /* legacy: counts changes of `behind` */
    /* Blocking: the number of the legacy stream's last operation, and the place of its last ended
     * call, that the stream's last work came after; and the behind_version that the stream has
     * joined. */
    _Atomic uint64_t touched, touched_calls, seen_version;
    _Atomic uint64_t changes; /* counts changes of what the stream's point says */
    /* The value of `changes` when the host last knew all work of the stream to be done; legacy:
     * that of sc_order.changes for all work of the context. */
    _Atomic uint64_t known_changes;
    uint32_t id;
    bool is_live;         /* a walk visits it (sc_order.live) */
    struct sc_clock *due; /* what its context was told to wait for and the stream's next operation
                             has to join; NULL: nothing */
    uintptr_t handle;     /* the driver's handle, as the program knows it */
    _Atomic uint32_t origin; /* track/origins.h */
    bool removed;
    /* How many records refer to this stream: operations in flight, holds, unseen waits, last
     * launches, slots. On a legacy stream also the other streams of its context, whose tickets name
     * it. */
    uint32_t references;
    uint32_t next_spare;
    struct sc_clock *gate;    /* legacy: all that its context has been told to wait for */
    struct sc_clock *awaited; /* legacy: what blocking streams have waited for; the legacy stream's
                                 next call joins it */
    /* Legacy: what its ended calls had joined; work on blocking streams joins it. */
    struct sc_clock *behind;
    struct sc_clock *orphaned; /* legacy: what removed non-blocking streams had waited for */
    uint64_t joined_version;   /* legacy: counts changes of `joined` */
    uint64_t merged_version;   /* legacy: the latest joined_version that was merged into `behind` */
    /* Owned by track/inflight.c: operations in order of issue, and the list of busy streams. */
    uint32_t first_op, last_op, first_open, busy_previous, busy_next;
    /* the stream may have sources that are compared without the lock (track/comparisons.h) */
    _Atomic bool has_large_sources;
    uint64_t flagged, told; /* numbers of the last kernel with a flag, and of the last kernel that
                               has told the host of its end (track/kernel_flags.h) */
    /* Owned by track/staging.c: of each class a slot for the stream's next snapshot, or NULL. */
    _Atomic(struct sc_slot *) kept_slots[SC_STAGING_CLASSES];
    uint64_t signal_count;
    /* The same as `signalled`, for signals that may have come before any mark. */
    _Atomic uint64_t signalled_past;
    struct sc_signal signals[SC_SIGNALS_KEPT]; /* the latest signals, in the order in which they
                                                  raised `signalled` */
};

/* Of streams with higher ids it is not kept who is live: a walk visits all of them. */
enum { SC_ORDER_LIVE_MAX = 4096 };

struct sc_order {
    struct sc_pool streams;
    /* By id, the streams that may have something that the host does not know to be done: those that
     * changed since a walk last found them idle. */
    uint64_t live[SC_ORDER_LIVE_MAX / 64];
    /* Counts changes of what the point of any context says. Calls that read what lies below have no
     * use for its cache line, which operations write. */
    _Atomic uint64_t changes;
    struct sc_arena arena;
    /* a list, by next_spare, of removed streams whose records can be used again, since nothing
     * refers to them */
    uint32_t spare;
    struct sc_unseen unseen;
    _Atomic uint32_t attends; /* enum sc_attends */
    /* A stream may have sources that are compared without the lock. */
    _Atomic bool has_large_sources;
    uint32_t retiring; /* threads that have more to retire of what the host knows to be done */
};

void sc_order_init(struct sc_order *order);

/* Does the host know all that the stream has had to be done? For checks. */
bool sc_order_is_idle(struct sc_stream *stream);

/* Adds a stream and returns its id; 0: out of memory. `context`: the id of the context's legacy
 * stream; ignored for a legacy stream, which is its own context. */
uint32_t sc_order_add(struct sc_order *order, enum sc_stream_kind kind, uint32_t context);

/* The stream's handle is destroyed. Tickets and points that name the stream keep their meaning. The
 * id is recycled when the last reference to it is given back. Its numbers go on counting, so that
 * old points which still name the id never cover the new stream's work. */
void sc_order_remove(struct sc_order *order, uint32_t stream);
static inline void sc_order_reference(struct sc_order *order, uint32_t stream);
void sc_order_unreference(struct sc_order *order, uint32_t stream);

/* Begin and end a call of the driver that is work on the stream. Each call that begins is ended
 * once. `issued`: the driver has accepted the call; a call that was refused leaves no trace. */
void sc_order_begin_call(struct sc_order *order, uint32_t stream, struct sc_order_call *call);
/* The call makes its stream wait for the point, as a launch does for events of its nodes. */
void sc_order_call_waits(struct sc_order *order, struct sc_order_call *call,
                         const struct sc_point *point);
/* The point of all that the call comes after: for events that are recorded, host functions and
 * waits within the call. */
struct sc_point sc_order_call_point(struct sc_order *order, const struct sc_order_call *call);
void sc_order_end_call(struct sc_order *order, struct sc_order_call *call, bool issued);

/* The point of all that the call comes after. If `call` is of stream 0 (it did not have to begin),
 * the point of all that the stream comes after now. */
struct sc_point sc_order_point_before(struct sc_order *order, uint32_t stream,
                                      const struct sc_order_call *call);

/* Ends a call that records an event or waits for one. On a legacy stream such a call is work: it
 * comes after the blocking streams, and they come after it. On other streams it is no work: the
 * stream does not learn what the call came after, and does not join what is due to it. */
void sc_order_end_record(struct sc_order *order, struct sc_order_call *call, bool issued);

/* Lock-free: may a call on the stream come after work that the stream has not joined yet? False:
 * the call need not begin. */
bool sc_order_must_begin_call(struct sc_order *order, uint32_t stream);

/* Gives a new operation on the stream its ticket, by a call that begins and ends at once. */
struct sc_ticket sc_order_issue(struct sc_order *order, uint32_t stream);

/* The driver has accepted another operation on the ticket's stream: gives the ticket the next
 * number and the present epoch. */
void sc_order_renew_ticket(struct sc_order *order, struct sc_ticket *ticket);

/* The point of all work issued on the stream so far; on a legacy stream also of what its operations
 * had joined. A point that a function returns holds references, and is released once. */
struct sc_point sc_order_point(struct sc_order *order, uint32_t stream);
/* Brings the point, which is one of sc_order_point, up to what its stream has now. */
void sc_order_renew_point(struct sc_order *order, struct sc_point *point);
/* The points that a wait for a legacy stream, and for a whole context, wait for. Both walk over all
 * streams. */
struct sc_point sc_order_legacy_point(struct sc_order *order, uint32_t legacy);
struct sc_point sc_order_context_point(struct sc_order *order, uint32_t context);
/* A second point with references of its own. */
struct sc_point sc_order_copy_point(const struct sc_point *point);
/* Joins to the point what `other`, a point of the same stream id, has joined. Nothing happens if
 * the stream itself has not joined that: then `other` is of a former stream with this id. */
void sc_order_join_other(struct sc_order *order, struct sc_point *point,
                         const struct sc_point *other);

/* Notes that work which is issued on `stream` from now on comes after the point. If the stream is a
 * legacy one, so does later work on its blocking streams. The wait may be the library's own, so it
 * does not count as a call of the legacy stream, which would join the blocking streams. False: out
 * of memory. */
bool sc_order_note_wait(struct sc_order *order, uint32_t stream, const struct sc_point *point);
/* The host knows that everything in the point is done. */
void sc_order_note_known(struct sc_order *order, const struct sc_point *point);

/* Notes that the caller has retired everything in the point, which the host knows to be done. If
 * the stream has had no work since, sc_order_is_all_known is true from now on. */
void sc_order_note_all_known(struct sc_order *order, const struct sc_point *point);

/* Lock-free: would the host learn nothing new from a wait for the stream? Always false for a legacy
 * stream, which stands for other streams as well. */
bool sc_order_is_all_known(struct sc_order *order, uint32_t stream);

/* Lock-free: would the host learn nothing new from a wait for the context, and is all that it knows
 * retired? */
bool sc_order_is_context_known(struct sc_order *order, uint32_t context);

/* Does the host know everything in the point to be done, so that a wait for it orders nothing?
 * Lock-free if the point has no clock. */
bool sc_order_point_is_known(struct sc_order *order, const struct sc_point *point);

/* Notes a signal: the host may learn, unseen, that everything in the point is done. If the point is
 * of a legacy stream, each of its blocking streams passes a number. So marks that are recorded
 * there later have larger numbers than what comes before the signal. */
void sc_order_note_signal(struct sc_order *order, const struct sc_point *point);

/* Notes a signal that may have come already: the host may know by now that everything in the point
 * is done. So no mark stands before this signal for sure. */
void sc_order_note_past_signal(struct sc_order *order, const struct sc_point *point);

/* Lock-free: is there anything of this kind that calls have to look at? */
static inline bool sc_order_attends(struct sc_order *order, enum sc_attends what)
{
    return atomic_load_explicit(&order->attends, memory_order_relaxed) & what;
}

/* Sets whether there is anything of this kind. */
static inline void sc_order_attend(struct sc_order *order, enum sc_attends what, bool on)
{
    uint32_t attends = atomic_load_explicit(&order->attends, memory_order_relaxed);
    atomic_store_explicit(&order->attends, on ? attends | what : attends & ~(uint32_t)what,
                          memory_order_relaxed);
}

/* Would work issued on `stream` now come after the operation? */
bool sc_order_covers(struct sc_order *order, uint32_t stream, const struct sc_ticket *ticket);

static inline struct sc_stream *sc_order_stream(struct sc_order *order, uint32_t stream)
{
    return sc_pool_at(&order->streams, stream);
}

/* Is the stream removed and its id free for another stream? */
static inline bool sc_order_is_spare(const struct sc_stream *stream)
{
    return stream->removed && stream->references == 0;
}

static inline void sc_order_reference(struct sc_order *order, uint32_t stream)
{
    sc_order_stream(order, stream)->references++;
}

/* Lock-free: does the next call on the stream surely come after the stream's own work, and what the
 * stream has joined, alone? */
static inline bool sc_order_is_by_itself(struct sc_order *order, uint32_t id)
{
    return !sc_stream_front_has_ties(&sc_order_stream(order, id)->front, SC_TIE_KIND | SC_TIE_DUE);
}

/* Lock-free: is it a legacy stream that has blocking streams beside it? If it has none, its calls
 * are those of a non-blocking stream, and are not counted. */
static inline bool sc_order_is_among_blocking(const struct sc_stream *stream)
{
    return stream->kind == SC_STREAM_LEGACY &&
           sc_stream_front_has_ties(&stream->front, SC_TIE_KIND);
}

/* Lock-free: the number of the stream's last operation. */
static inline uint64_t sc_order_issued(struct sc_order *order, uint32_t stream)
{
    return atomic_load_explicit(&sc_order_stream(order, stream)->front.issued,
                                memory_order_acquire);
}

/* Lock-free: stores the stream's point without a clock. False: that is not the whole point, since
 * the stream may have joined others, or its next call may come after others. */
static inline bool sc_order_plain_point(struct sc_order *order, uint32_t id, struct sc_point *point)
{
    *point = (struct sc_point){.stream = id, .number = sc_order_issued(order, id)};
    return !sc_stream_front_has_ties(&sc_order_stream(order, id)->front,
                                     SC_TIE_KIND | SC_TIE_DUE | SC_TIE_JOINED);
}

/* Lock-free: was the stream's context told to wait for something that the stream has not joined
 * yet? */
static inline bool sc_order_is_due(struct sc_order *order, uint32_t stream)
{
    return sc_stream_front_has_ties(&sc_order_stream(order, stream)->front, SC_TIE_DUE);
}

/* Lock-free: does the host know the ticket's operation to be done? `stream`: the ticket's. */
static inline bool sc_order_known_done_on(struct sc_order *order, struct sc_stream *stream,
                                          const struct sc_ticket *ticket)
{
    if (atomic_load_explicit(&stream->done, memory_order_acquire) >= ticket->number)
        return true;
    return ticket->legacy &&
           atomic_load_explicit(&sc_order_stream(order, ticket->legacy)->done_calls,
                                memory_order_acquire) > ticket->epoch;
}

static inline bool sc_order_known_done(struct sc_order *order, const struct sc_ticket *ticket)
{
    return sc_order_known_done_on(order, sc_order_stream(order, ticket->stream), ticket);
}

/* Lock-free: is the operation known done, or was it seen complete? */
static inline bool sc_order_complete(struct sc_order *order, const struct sc_ticket *ticket)
{
    struct sc_stream *stream = sc_order_stream(order, ticket->stream);
    return atomic_load_explicit(&stream->complete, memory_order_acquire) >= ticket->number ||
           sc_order_known_done_on(order, stream, ticket);
}

#endif
