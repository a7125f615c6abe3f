/* Happens-before: which work is ordered after which.
 *
 * Every stream numbers its operations. A ticket names one operation: its stream and its number
 * there. A point names all work issued on a stream so far, together with the clock: all that this
 * work had waited for on other streams. A record copies the stream's point into the event. A wait
 * for the event joins (merges) the event's point into the waiting stream. A synchronise that has
 * returned, and a query that has succeeded, join a point into the host frontier: what the host
 * knows to be done. An operation is known done when the host frontier covers it. Threads are
 * assumed to synchronise among themselves, so there is one host frontier for the process.
 *
 * A call of the driver takes time, and other threads call meanwhile. If two calls overlap, nobody
 * knows which one the driver handled first. A call that ended before another one began was handled
 * first. So a call notes, when it begins, what has ended by then. When it has ended, its stream
 * joins what was noted, and its operations get their numbers.
 *
 * The legacy stream of a context is ordered after, and before, the work of every blocking stream.
 * To merge a thousand clocks at each call there would be slow. So the calls on the legacy stream
 * are counted as they begin: each has a place. An operation on a blocking stream keeps its epoch:
 * how many of these calls had begun when the driver took the operation. The operation is done once
 * a later legacy call is done. Work on a blocking stream comes after every legacy call that had
 * ended before.
 *
 * Locks: every function needs the tracker's lock, except those that say "lock-free". Numbers start
 * at 1; stream id 0 is no stream. */

/* Terms (docs/glossary.md):
 *   blocking stream: a stream without CU_STREAM_NON_BLOCKING
 *   clock: what was waited for on other streams: a number for each of several streams
 *   complete: finished by the device, whether or not the program knows
 *   epoch: how many calls on the legacy stream had begun when the driver took the operation
 *   flag: a word in host memory by which a kernel tells the host how far it has come
 *   host frontier: what the host knows to be done: one number for each stream
 *   host function: a function that the driver calls in a stream's order (cuLaunchHostFunc)
 *   in flight: issued, and the host does not know yet that it is done
 *   join: to merge a point into what a stream, another point or the host has waited for
 *   known done: waited for by the program, itself or by something behind it
 *   legacy stream: a context's default stream, which is ordered with all its blocking streams
 *   mark: an event of the library's behind an operation, by which it learns that this is complete
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   origin: the call that made a buffer or a stream, with its stack
 *   point: all work issued on a stream so far, with what that work had waited for (its clock)
 *   retire: to forget an operation that is known done
 *   signal: a message of the device to the host that the library does not see. Not a Unix signal
 *   slot: the place of one snapshot in staging memory
 *   snapshot: a copy of a small source, which the device reads instead of the source
 *   source: the memory that a copy reads
 *   ticket: the name of an operation: its stream, its number there, and its epoch
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
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

/* A signal: the device tells the host, in a way that the library does not see (by a written value
 * or a semaphore), that the first `number` operations of a stream are done. */
struct sc_signal {
    uint64_t number;
    /* every mark (completion event, interpose/streams/marks.h) of an operation up to this number
     * was recorded before the signal */
    uint64_t marked;
};

enum { SC_SIGNALS_KEPT = 16 }; /* how many of the latest signals are kept for each stream */

struct sc_stream {
    /* Members that a wait for all streams of a context reads, in one cache line. */
    _Alignas(64) struct sc_stream_front front;
    _Atomic uint64_t done; /* the host knows operations up to this number to be done */
    /* on a legacy stream (a context's default one): the place among its calls of the latest one
     * that has ended */
    _Atomic uint64_t ended;
    /* on a legacy stream: the host knows its calls up to this place to be done */
    _Atomic uint64_t done_calls;
    struct sc_clock *joined;
    uint32_t context; /* id of the context's legacy stream; of a legacy stream its own id */
    /* On the legacy stream of a green context: the legacy stream of its primary context; else 0. */
    uint32_t primary;
    enum sc_stream_kind kind;
    int device;
    /* operations up to this number were seen complete by a query of the device; orders nothing */
    _Atomic uint64_t complete;
    /* the device may have told the host, by a signal that the library does not see, that operations
     * up to this number are done */
    _Atomic uint64_t signalled;
    /* on a legacy stream (a context's default one): how many of its calls have begun */
    _Atomic uint64_t calls;
    /* On a legacy stream: a signal (a word in memory, unseen by the library) may have told the host
     * that calls up to this place are done. */
    _Atomic uint64_t signalled_calls;
    /* on a legacy stream: counts changes of `behind`, so that its blocking streams join them */
    _Atomic uint64_t behind_version;
    /* On a blocking stream: what its last work comes after on the legacy stream: the number of its
     * last operation, the place of its last ended call, and the behind_version that the stream has
     * joined. */
    _Atomic uint64_t touched, touched_calls, seen_version;
    /* counts changes of what the stream's point says (what a wait for the stream covers) */
    _Atomic uint64_t changes;
    /* The value of `changes` when the host last knew all work of the stream to be done; on a legacy
     * stream that of sc_order.changes for all work of the context. */
    _Atomic uint64_t known_changes;
    uint32_t id;
    bool is_live; /* it may have work, so walks over the streams visit it (sc_order.live) */
    /* what the stream's context was told to wait for, and the stream's next operation has to join;
     * NULL: nothing */
    struct sc_clock *due;
    uintptr_t handle;        /* the driver's handle, as the program knows it */
    _Atomic uint32_t origin; /* track/origins.h */
    bool removed;            /* its handle was destroyed */
    /* How many records name this stream: operations in flight, holds, waits of unseen end, last
     * launches, slots. On a legacy stream also the other streams of its context, since their
     * tickets name it. */
    uint32_t references;
    uint32_t next_spare; /* the next in the list of records that can be used again */
    /* on a legacy stream: all that its context was told to wait for, which streams to come have to
     * join */
    struct sc_clock *gate;
    /* on a legacy stream: what its blocking streams have waited for; its next call joins that */
    struct sc_clock *awaited;
    /* On a legacy stream: what its ended calls had joined; work on blocking streams that comes
     * after them joins it. */
    struct sc_clock *behind;
    /* on a legacy stream: what removed non-blocking streams of its context had waited for, which a
     * wait for the context still covers */
    struct sc_clock *orphaned;
    uint64_t joined_version; /* on a legacy stream: counts changes of `joined` */
    /* on a legacy stream: the latest joined_version that was merged into `behind` */
    uint64_t merged_version;
    /* Owned by track/inflight.c: operations in order of issue, and the list of busy streams. */
    uint32_t first_op, last_op, first_open, busy_previous, busy_next;
    /* the stream may have sources that are compared without the lock (track/comparisons.h) */
    _Atomic bool has_large_sources;
    /* the numbers of the last kernel that has the address of a flag, and of the last kernel that
     * may have told the host of its end by one (track/kernel_flags.h) */
    uint64_t flagged, told;
    /* Owned by track/staging.c: a slot of each size that the stream keeps for its next snapshot, or
     * NULL. */
    _Atomic(struct sc_slot *) kept_slots[SC_STAGING_CLASSES];
    uint64_t signal_count;
    /* As `signalled`, for signals that may have come before any mark (a completion event of the
     * library's) was recorded, so that none shows what was incomplete then. */
    _Atomic uint64_t signalled_past;
    /* the latest signals, in the order in which they raised `signalled` */
    struct sc_signal signals[SC_SIGNALS_KEPT];
};

/* Streams with higher ids have no bit in `live`, so walks visit all of them. */
enum { SC_ORDER_LIVE_MAX = 4096 };

struct sc_order {
    struct sc_pool streams;
    /* A bit for each stream id: the stream may have work that the host does not know to be done.
     * Set when the stream changes; cleared when a walk finds the stream idle. */
    uint64_t live[SC_ORDER_LIVE_MAX / 64];
    /* Counts changes of what the point of any context says. Calls that read what lies below have no
     * use for its cache line, which operations write. */
    _Atomic uint64_t changes;
    struct sc_arena arena;
    /* the list, by next_spare, of records of removed streams that nothing refers to, to be used
     * again */
    uint32_t spare;
    struct sc_unseen unseen;
    _Atomic uint32_t attends; /* enum sc_attends */
    /* at least one stream may have a source that is compared without the lock (track/comparisons.h)
     */
    _Atomic bool has_large_sources;
    /* how often there was no memory for a clock (what was waited for on other streams) */
    uint32_t lacked;
    /* how many threads have operations left to forget that the host knows to be done */
    uint32_t retiring;
};

void sc_order_init(struct sc_order *order);

/* Returns true if the host knows all work of the stream to be done. For checks of debug builds. */
bool sc_order_is_idle(struct sc_stream *stream);

/* Adds a stream and returns its id; 0: no memory. `context`: the id of the context's legacy stream;
 * ignored for a legacy stream, which stands for its own context. */
uint32_t sc_order_add(struct sc_order *order, enum sc_stream_kind kind, uint32_t context);

/* Removes the stream, whose handle is destroyed. Tickets and points that name it keep their
 * meaning. The id is used again when the last reference to it is released. Its numbers go on
 * counting then, so that an old point which names the id never covers work of the new stream. */
void sc_order_remove(struct sc_order *order, uint32_t stream);
static inline void sc_order_reference(struct sc_order *order, uint32_t stream);
void sc_order_unreference(struct sc_order *order, uint32_t stream);

/* Begin and end a call of the driver that is work on the stream. Each call that has begun is ended
 * once. `issued`: the driver has accepted the call; a call that it has refused changes nothing. */
void sc_order_begin_call(struct sc_order *order, uint32_t stream, struct sc_order_call *call);
/* Notes that the call makes its stream wait for the point (work on another stream), as a launch
 * does for events of its nodes. Called between begin and end. */
void sc_order_call_waits(struct sc_order *order, struct sc_order_call *call,
                         const struct sc_point *point);
/* Returns the point of all that the call comes after (what a wait for it covers): for events that
 * are recorded, host functions and waits within the call. */
struct sc_point sc_order_call_point(struct sc_order *order, const struct sc_order_call *call);
void sc_order_end_call(struct sc_order *order, struct sc_order_call *call, bool issued);

/* Returns the point of all that the call comes after. If the call has not begun (`call` is of
 * stream 0), returns the point of all that the stream comes after now. */
struct sc_point sc_order_point_before(struct sc_order *order, uint32_t stream,
                                      const struct sc_order_call *call);

/* Ends a call that records an event or waits for one. On a legacy stream such a call is work: it
 * comes after the work of blocking streams, and later work there comes after it. On other streams
 * it is no work: the stream does not join what the call comes after. */
void sc_order_end_record(struct sc_order *order, struct sc_order_call *call, bool issued);

/* Returns false if a call on the stream comes after the stream's own work alone: then
 * sc_order_begin_call need not be called. Lock-free. */
bool sc_order_must_begin_call(struct sc_order *order, uint32_t stream);

/* Returns true if one of these ties of the stream (enum sc_ties) binds its next call. A blocking
 * stream is not bound by its kind while it has joined all calls of the legacy stream that have
 * ended. With SC_TIE_JOINED the host must also know what the stream has joined of these calls to be
 * done: then the stream's point has one number. Lock-free. */
bool sc_order_is_tied(struct sc_order *order, uint32_t stream, unsigned ties);

/* Gives a new operation on the stream its ticket (its number there), as by a call that begins and
 * ends at once. */
struct sc_ticket sc_order_issue(struct sc_order *order, uint32_t stream);

/* Gives the ticket the next number of its stream and the present epoch: the driver has accepted
 * another operation there. */
void sc_order_renew_ticket(struct sc_order *order, struct sc_ticket *ticket);

/* Returns the point of all work issued on the stream so far; on a legacy stream also of what that
 * work had joined. A point that a function returns holds references, and is released once. */
struct sc_point sc_order_point(struct sc_order *order, uint32_t stream);
/* Brings a point that sc_order_point has returned up to date: it names the stream's present work
 * then. */
void sc_order_renew_point(struct sc_order *order, struct sc_point *point);
/* Return the points that a wait for a legacy stream, and a wait for a whole context, wait for. Both
 * walk over all streams. */
struct sc_point sc_order_legacy_point(struct sc_order *order, uint32_t legacy);
struct sc_point sc_order_context_point(struct sc_order *order, uint32_t context);
/* Returns a copy of the point with references of its own. */
struct sc_point sc_order_copy_point(const struct sc_point *point);
/* Joins to the point what `other`, a point of the same stream id, has joined. Does nothing if the
 * stream has not joined that: then `other` is of a former stream with this id. */
void sc_order_join_other(struct sc_order *order, struct sc_point *point,
                         const struct sc_point *other);

/* Notes that work which is issued on `stream` from now on comes after the point. If it is a legacy
 * stream, so does later work on its blocking streams. The wait may be one of the library's, so it
 * is not counted as a call on the legacy stream (that would also join the blocking streams).
 * Returns false if there is no memory. */
bool sc_order_note_wait(struct sc_order *order, uint32_t stream, const struct sc_point *point);
/* Notes that the host knows everything in the point to be done. */
void sc_order_note_known(struct sc_order *order, const struct sc_point *point);

/* Notes that the caller has forgotten (retired) all operations of the point, which the host knows
 * to be done. If the stream has had no work since, sc_order_is_all_known returns true from now on.
 */
void sc_order_note_all_known(struct sc_order *order, const struct sc_point *point);

/* Returns true if the host would learn nothing new by a wait for the stream. Always false for a
 * legacy stream, which stands for other streams as well. Lock-free. */
bool sc_order_is_all_known(struct sc_order *order, uint32_t stream);

/* Lock-free: would the host learn nothing new from a wait for the context, and are all operations
 * forgotten that it knows to be done? */
bool sc_order_is_context_known(struct sc_order *order, uint32_t context);

/* Does the host know everything in the point to be done, so that a wait for it orders nothing?
 * Lock-free if the point has no clock. */
bool sc_order_point_is_known(struct sc_order *order, const struct sc_point *point);

/* Notes a signal: the host may learn, in a way that the library does not see, that everything in
 * the point is done. If the point is of a legacy stream, one number is skipped on each of its
 * blocking streams, so that marks which are recorded there later have larger numbers than the work
 * before the signal. */
void sc_order_note_signal(struct sc_order *order, const struct sc_point *point);

/* Notes a signal that may have reached the host already. So no mark is known to be recorded before
 * it. */
void sc_order_note_past_signal(struct sc_order *order, const struct sc_point *point);

/* Returns true if there is anything of this kind in the process, which calls have to look at.
 * Lock-free. */
static inline bool sc_order_attends(struct sc_order *order, enum sc_attends what)
{
    return atomic_load_explicit(&order->attends, memory_order_relaxed) & what;
}

/* Sets whether the process has anything of this kind (enum sc_attends). */
static inline void sc_order_attend(struct sc_order *order, enum sc_attends what, bool on)
{
    uint32_t attends = atomic_load_explicit(&order->attends, memory_order_relaxed);
    atomic_store_explicit(&order->attends, on ? attends | what : attends & ~(uint32_t)what,
                          memory_order_relaxed);
}

/* Returns true if work that is issued on `stream` now comes after the operation. */
bool sc_order_covers(struct sc_order *order, uint32_t stream, const struct sc_ticket *ticket);

static inline struct sc_stream *sc_order_stream(struct sc_order *order, uint32_t stream)
{
    return sc_pool_at(&order->streams, stream);
}

/* Returns true if the stream is removed and its record may be used for another stream. */
static inline bool sc_order_is_spare(const struct sc_stream *stream)
{
    return stream->removed && stream->references == 0;
}

static inline void sc_order_reference(struct sc_order *order, uint32_t stream)
{
    sc_order_stream(order, stream)->references++;
}

/* Returns true if it is certain that the next call on the stream comes after the stream's own work,
 * and what that has joined, alone. Lock-free. */
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

/* Stores the stream's point without a clock. Returns false if that is not the whole point, since
 * the stream has joined others, or its next call may come after others. Lock-free. */
static inline bool sc_order_plain_point(struct sc_order *order, uint32_t id, struct sc_point *point)
{
    *point = (struct sc_point){.stream = id, .number = sc_order_issued(order, id)};
    return !sc_order_is_tied(order, id, SC_TIE_KIND | SC_TIE_DUE | SC_TIE_JOINED);
}

/* Returns true if the host knows the ticket's operation to be done. `stream`: the record of the
 * ticket's stream. Lock-free. */
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

/* Returns true if the operation is known done, or was seen complete on the device. Lock-free. */
static inline bool sc_order_complete(struct sc_order *order, const struct sc_ticket *ticket)
{
    struct sc_stream *stream = sc_order_stream(order, ticket->stream);
    return atomic_load_explicit(&stream->complete, memory_order_acquire) >= ticket->number ||
           sc_order_known_done_on(order, stream, ticket);
}

#endif
