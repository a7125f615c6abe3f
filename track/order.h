/* What is ordered after what: the happens-before engine.
 *
 * Every stream numbers its operations. A ticket names one operation; a point names "everything
 * issued on this stream so far" together with all that it had waited for. Points flow from streams
 * into events (record), from events into streams (wait) and into the host frontier (a synchronise
 * that returned, a query that succeeded). An operation is known done when the host frontier covers
 * it. Threads are assumed to synchronise among themselves, so there is one host frontier for the
 * process.
 *
 * A call to the driver lasts, and other threads call meanwhile. Nobody knows which of two calls
 * that overlap the driver had first. What ended before a call began, the driver had before that
 * call. So a call notes, when it begins, what has ended. When the call has ended, its stream learns
 * of that, and its operations get their numbers.
 *
 * The legacy stream of a context joins, and is joined by, every blocking stream. To merge a
 * thousand clocks at each call there would be slow, so the calls of the legacy stream are counted
 * as they begin. An operation on a blocking stream remembers its epoch: how many of these calls had
 * begun when the driver had the operation. The operation is done once a call after those is done.
 * Work on a blocking stream comes after every legacy call that had ended before.
 *
 * Locks: every function needs the owner's lock, except those that say "lock-free". Numbers start at
 * 1; stream id 0 is no stream.
 */
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

/* What may tell the host that so many operations of a stream are done, in a way that is not seen.
 */
struct sc_signal {
    uint64_t number;
    bool own; /* it stands on the stream itself, right behind them */
};

enum { SC_SIGNALS_KEPT = 16 }; /* of each stream */

struct sc_stream {
    _Alignas(64) struct sc_stream_front front;
    _Atomic uint64_t done;       /* the host frontier's component */
    _Atomic uint64_t complete;   /* seen complete by asking the device; never orders anything */
    _Atomic uint64_t signalled;  /* behind so many stands what may tell the host of their end */
    _Atomic uint64_t calls;      /* legacy: that have begun */
    _Atomic uint64_t ended;      /* legacy: the latest that has ended, by its place among them */
    _Atomic uint64_t done_calls; /* legacy: as `done` */
    _Atomic uint64_t signalled_calls; /* legacy: as `signalled` */
    _Atomic uint64_t behind_version;  /* legacy: counts changes of `behind` */
    /* Blocking: what its last work came after of the legacy stream's operations and calls, and the
     * behind_version that it has joined. */
    _Atomic uint64_t touched, touched_calls, seen_version;
    _Atomic uint64_t changes;       /* of what the stream's point says */
    _Atomic uint64_t known_changes; /* the `changes` of which the host knows all */
    struct sc_clock *due; /* its context waits: what its next operation joins; NULL: none */
    uint32_t context;     /* id of the context's legacy stream, for every kind */
    uint32_t primary;     /* legacy stream of a green context: that of the primary one, or 0 */
    int device;
    enum sc_stream_kind kind;
    uintptr_t handle;        /* the program's */
    _Atomic uint32_t origin; /* track/origins.h */
    bool removed;
    /* Operations in flight and held frees that name this stream, and on a legacy stream all other
     * streams of its context, whose tickets name it. */
    uint32_t references;
    uint32_t next_spare;
    struct sc_clock *joined;
    struct sc_clock *gate;     /* legacy: all that its context has been told to wait for */
    struct sc_clock *awaited;  /* legacy: what blocking streams wait for: joined by its next */
    struct sc_clock *behind;   /* legacy: what calls that have ended had joined */
    struct sc_clock *orphaned; /* legacy: what removed non-blocking streams had waited for */
    uint64_t joined_version;   /* legacy: counts changes of `joined` */
    uint64_t merged_version;   /* legacy: the latest of them that is in `behind` */
    /* Owned by track/inflight.c: operations in order of issue, and the list of busy streams. */
    uint32_t first_op, last_op, first_open, busy_previous, busy_next;
    _Atomic bool has_large_sources; /* track/comparisons.h: or had some lately */
    uint64_t flagged, told; /* the last kernel with a flag, and the last that has told the host of
                             * its end (track/kernel_flags.h) */
    /* Owned by track/staging.c: of each class a slot for the stream's next snapshot, or NULL. */
    _Atomic(struct sc_slot *) kept_slots[SC_STAGING_CLASSES];
    uint64_t signal_count;
    struct sc_signal signals[SC_SIGNALS_KEPT]; /* the latest, by what they made of `signalled` */
};

struct sc_order {
    struct sc_pool streams;
    struct sc_arena arena;
    uint32_t spare; /* removed streams that nothing refers to */
    struct sc_unseen unseen;
    _Atomic uint32_t attends;       /* enum sc_attends */
    _Atomic bool has_large_sources; /* of any stream: or had some lately */
};

void sc_order_init(struct sc_order *order);

/* A legacy stream is its own context; others name theirs. 0: out of memory. */
uint32_t sc_order_add(struct sc_order *order, enum sc_stream_kind kind, uint32_t context);

/* The handle is gone; tickets and points keep their meaning. The id is recycled when the last
 * reference to it is given back; its numbers go on counting, so that old points which still name
 * it never cover the new stream's work. */
void sc_order_remove(struct sc_order *order, uint32_t stream);
static inline void sc_order_reference(struct sc_order *order, uint32_t stream);
void sc_order_unreference(struct sc_order *order, uint32_t stream);

/* Around a call that is work on the stream. sc_order_call_point says what the call comes after: for
 * events, host functions and waits within the call. Each call that begins is ended once. A call
 * that was not issued leaves no trace. */
void sc_order_begin(struct sc_order *order, uint32_t stream, struct sc_order_call *call);
void sc_order_call_waits(struct sc_order *order, struct sc_order_call *call,
                         const struct sc_point *point);
struct sc_point sc_order_call_point(struct sc_order *order, const struct sc_order_call *call);
void sc_order_end(struct sc_order *order, struct sc_order_call *call, bool issued);

/* What the call comes after. `call`: of stream 0, where none had to begin. */
struct sc_point sc_order_point_before(struct sc_order *order, uint32_t stream,
                                      const struct sc_order_call *call);

/* Ends a call that records an event, or waits for one. On a legacy stream such a call is work: it
 * comes after the blocking streams, and they come after it. On other streams such a call is no
 * work, and the stream learns nothing of what the call came after. No stream learns what its
 * context waits for. */
void sc_order_end_record(struct sc_order *order, struct sc_order_call *call, bool issued);

/* Lock-free: may there be something to note when a call begins on the stream? */
bool sc_order_is_behind(struct sc_order *order, uint32_t stream);

/* A call that begins and ends at once, with an operation whose ticket is returned. */
struct sc_ticket sc_order_issue(struct sc_order *order, uint32_t stream);

/* The driver has an operation on the stream that the ticket names. */
void sc_order_renew(struct sc_order *order, struct sc_ticket *ticket);

/* Points hold references: each is released once. sc_order_point stands for the work of one stream,
 * and on a legacy stream for what an operation issued there had joined. The two others walk all
 * streams. They stand for everything that a wait for the legacy stream, or for the whole context,
 * waits for. */
struct sc_point sc_order_point(struct sc_order *order, uint32_t stream);
void sc_order_renew_point(struct sc_order *order, struct sc_point *point); /* of its stream, now */
struct sc_point sc_order_legacy_point(struct sc_order *order, uint32_t legacy);
struct sc_point sc_order_context_point(struct sc_order *order, uint32_t context);
struct sc_point sc_order_copy_point(const struct sc_point *point);
/* The point also stands for what the other one, of the same stream, has joined. Nothing happens
 * where the stream itself has not joined that: its id was another stream's then. */
void sc_order_join_other(struct sc_order *order, struct sc_point *point,
                         const struct sc_point *other);

/* Work issued on `stream` from now on comes after the point: the driver has been told so already.
 * On a legacy stream that is so of the blocking streams, too. A wait on a legacy stream is also a
 * call there, which joins the blocking streams. That is left out, since the wait may be one of
 * ours. False: out of memory. */
bool sc_order_wait(struct sc_order *order, uint32_t stream, const struct sc_point *point);
/* The host knows that everything in the point is done. */
void sc_order_known(struct sc_order *order, const struct sc_point *point);

/* Whatever rested on it that everything in the point was not known to be done has been seen to. */
void sc_order_note_all_known(struct sc_order *order, const struct sc_point *point);

/* Lock-free: would the host learn nothing from a wait for the stream? Of a legacy stream, which
 * stands for others as well, it is not known. */
bool sc_order_is_all_known(struct sc_order *order, uint32_t stream);

/* Does the host know already that everything in the point is done? Then a wait for it orders
 * nothing. Lock-free where the point has no clock. */
bool sc_order_point_is_known(struct sc_order *order, const struct sc_point *point);

/* The host may learn in a way that is not seen that everything in the point is done. Blocking
 * streams before a legacy one get a number each, so that what is recorded there later has a larger
 * one than what comes before the signal. */
void sc_order_signal(struct sc_order *order, const struct sc_point *point);

/* Lock-free: is there such a thing? */
static inline bool sc_order_attends(struct sc_order *order, enum sc_attends what)
{
    return atomic_load_explicit(&order->attends, memory_order_relaxed) & what;
}

/* There is from now on, or no more. */
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

/* The stream is gone, and its id is there for another one. */
static inline bool sc_order_is_spare(const struct sc_stream *stream)
{
    return stream->removed && stream->references == 0;
}

static inline void sc_order_reference(struct sc_order *order, uint32_t stream)
{
    sc_order_stream(order, stream)->references++;
}

/* Lock-free: there is surely nothing, as the stream waits for no other. */
static inline bool sc_order_is_by_itself(struct sc_order *order, uint32_t id)
{
    return !sc_stream_front_has_ties(&sc_order_stream(order, id)->front, SC_TIE_KIND | SC_TIE_DUE);
}

/* Lock-free: the stream's last operation. */
static inline uint64_t sc_order_issued(struct sc_order *order, uint32_t stream)
{
    return atomic_load_explicit(&sc_order_stream(order, stream)->front.issued,
                                memory_order_acquire);
}

/* Lock-free: the point of a stream that is ordered after no other one has no clock. False: it may
 * have one, and so may what the stream's next call comes after. */
static inline bool sc_order_plain_point(struct sc_order *order, uint32_t id, struct sc_point *point)
{
    *point = (struct sc_point){.stream = id, .number = sc_order_issued(order, id)};
    return !sc_stream_front_has_ties(&sc_order_stream(order, id)->front,
                                     SC_TIE_KIND | SC_TIE_DUE | SC_TIE_JOINED);
}

/* Lock-free: does its context wait for something that the stream has not joined yet? */
static inline bool sc_order_is_due(struct sc_order *order, uint32_t stream)
{
    return sc_stream_front_has_ties(&sc_order_stream(order, stream)->front, SC_TIE_DUE);
}

/* Lock-free. `stream`: the ticket's. */
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

/* Lock-free: known done, or seen complete. */
static inline bool sc_order_complete(struct sc_order *order, const struct sc_ticket *ticket)
{
    struct sc_stream *stream = sc_order_stream(order, ticket->stream);
    return atomic_load_explicit(&stream->complete, memory_order_acquire) >= ticket->number ||
           sc_order_known_done_on(order, stream, ticket);
}

#endif
