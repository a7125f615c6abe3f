/* Marks: events of ours that tell when operations are complete.
 *
 * A mark behind every copy would cost a tenth of the copy. So a mark is recorded
 * - behind a large copy, and behind the first copy after a while;
 * - before other work follows copies on a stream;
 * - when somebody needs to know.
 *
 * The legacy stream is never touched: an event on a blocking
 * stream of ours follows the legacy stream's work and nothing later (docs/driver.md, Q24). The
 * per-thread default stream can be named by its own thread only, so there every operation is
 * marked, by that thread.
 *
 * The _locked functions need the stream's lock. Each may call the driver. None changes the
 * current context, the capture state of any stream, or errno.
 */
#ifndef SC_INTERPOSE_STREAMS_MARKS_H
#define SC_INTERPOSE_STREAMS_MARKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/checks.h"
#include "interpose/base/compiler.h"
#include "interpose/streams/streams.h"

struct sc_ticket;
struct sc_context;

/* Once, before any other. */
void sc_marks_start(void);

/* An operation of this size was just issued. Nobody on the host waits for one whose sources are
 * `snapshotted`, so those need no mark before a kernel. */
void sc_marks_issued(struct sc_stream_record *stream, size_t size_bytes, bool snapshotted,
                     uint64_t now_ticks);

/* The same of one operation that gets a mark of its own in any case. */
void sc_marks_issued_alone(struct sc_stream_record *stream, uint64_t now_ticks);

/* The operation of this number uses device memory alone. Nobody waits for its mark, unless
 * something conflicts with it. */
void sc_marks_issued_on_device(struct sc_stream_record *stream, uint64_t number);

/* Other work is about to follow on the stream. Before work of the device, which hardly ever waits
 * for the host, snapshotted operations need no mark. Before a signal all operations do, also those
 * of blocking streams before one of the legacy stream: what the host may hear of is a hazard only
 * where a mark for which the signal waits says that it is incomplete. */
enum sc_before { SC_BEFORE_DEVICE_WORK, SC_BEFORE_WORK, SC_BEFORE_SIGNAL };
void sc_marks_before_work(struct sc_stream_record *stream, enum sc_before what);

/* The same before work of the device on a simple stream. False: it needs a mark, and nothing was
 * done. */
SC_INLINED bool sc_marks_before_simple_work(struct sc_stream_record *stream)
{
    struct sc_stream_marks *marks = &stream->marks;
    uint64_t marked = atomic_load_explicit(&marks->marked, memory_order_relaxed);
    uint64_t owed = atomic_load_explicit(&marks->owed, memory_order_relaxed);
    if (atomic_load_explicit(&marks->needed, memory_order_relaxed) > marked)
        return false;
    if (owed > marked)
        atomic_store_explicit(&marks->loose, owed, memory_order_relaxed);
    return true;
}

/* Is a mark behind all of its operations on host memory? */
SC_INLINED bool sc_marks_cover_simple(const struct sc_stream_record *stream)
{
    const struct sc_stream_marks *marks = &stream->marks;
    return atomic_load_explicit(&marks->owed, memory_order_relaxed) <=
           atomic_load_explicit(&marks->marked, memory_order_relaxed);
}

/* Sees to it that a mark is behind all operations of the stream, and that what `before` is given
 * next comes after the mark. */
void sc_marks_cover(struct sc_stream_record *stream, struct sc_stream_record *before);

/* Notes the time of work on a per-thread default stream. */
void sc_marks_note_tail_of_thread(struct sc_stream_record *stream);

/* Work on the stream that no mark will be behind: before the driver is called, and again when it
 * has returned, since a wait of another thread may have begun in between. */
static inline void sc_marks_note_tail(struct sc_stream_record *stream)
{
    if (stream->owner)
        sc_marks_note_tail_of_thread(stream);
}

/* The last work on a per-thread default stream that no mark is behind, or 0. */
static inline uint64_t sc_marks_tail_ticks(const struct sc_stream_record *stream)
{
    return atomic_load_explicit(&stream->marks.tail_ticks, memory_order_relaxed);
}

/* Has the stream marks that are not known to be complete? */
static inline bool sc_marks_are_left_locked(const struct sc_stream_record *stream)
    SC_REQUIRES(stream->lock)
{
    SC_ASSERT_HELD(&stream->lock);
    return stream->marks.count != 0;
}

/* The event behind the latest mark, or NULL where there is none that is not complete. */
CUevent sc_marks_newest_locked(struct sc_stream_record *stream) SC_REQUIRES(stream->lock);

/* Records a mark if operations were issued behind the last one. */
void sc_marks_add_locked(struct sc_stream_record *stream) SC_REQUIRES(stream->lock);
void sc_marks_add_all(struct sc_context *context); /* on each of its streams; no lock held */
/* The same, with its green ones: before they all wait for what is elsewhere. */
void sc_marks_add_family(struct sc_context *context);

/* Tells the tracker what the marks say is complete. */
void sc_marks_poll_locked(struct sc_stream_record *stream) SC_REQUIRES(stream->lock);

/* A blocking stream of ours, whose events follow the legacy stream's work, or NULL. The context is
 * current. */
CUstream sc_marks_marker(struct sc_context *context);

/* When the last work was issued that an event on the marker stream would follow. */
uint64_t sc_marks_marker_ticks(struct sc_context *context);

/* The stream is about to capture, or its context to wait for an event: leaves an event, the fence,
 * behind what was issued on the stream until now. Blocking streams only. */
void sc_marks_fence_locked(struct sc_stream_record *stream) SC_REQUIRES(stream->lock);

static inline CUevent sc_marks_fence_of_locked(const struct sc_stream_record *stream)
    SC_REQUIRES(stream->lock)
{
    SC_ASSERT_HELD(&stream->lock);
    return stream->marks.fence;
}

/* Nothing has been issued since the context was told to wait: the fence that was left before that
 * is behind all of the stream's work. An event recorded now would wait for what the context waits
 * for, and with it whoever waits for the event (docs/driver.md, Green contexts). */
bool sc_marks_is_fenced(const struct sc_stream_record *stream);

/* A blocking stream is about to be destroyed: events of the marker stream follow its work from now
 * on, as the legacy stream's operations do. */
void sc_marks_outlive_locked(struct sc_stream_record *stream) SC_REQUIRES(stream->lock);

/* The record is a new stream's, which has no marks. A longer ring is kept. */
void sc_marks_renew_locked(struct sc_stream_record *stream) SC_REQUIRES(stream->lock);

/* The context has ended: events that were kept for it are given back. */
void sc_marks_context_gone(struct sc_context *context);

/* Forgets the marks, and the fence, of a stream that nothing refers to any more. */
void sc_marks_drop(struct sc_stream_record *stream);

/* The marks' events have gone with their context. */
static inline void sc_marks_void_locked(struct sc_stream_record *stream) SC_REQUIRES(stream->lock)
{
    SC_ASSERT_HELD(&stream->lock);
    stream->marks.count = 0;
}

/* Makes sure that operation `ticket` will be seen complete, and looks whether it is. False while
 * it is not, or cannot be known now (the stream captures, or belongs to another thread). */
bool sc_marks_show_complete(const struct sc_ticket *ticket);

/* Does the mark behind the operation stand before whatever other work followed it? Else it says of
 * a complete operation that it is not. */
bool sc_marks_stand_close(const struct sc_ticket *ticket);

/* Asks until the operation is complete. False: it is not, by the deadline. It is the calling thread
 * that asks, so it does not matter whether the reaper runs. Not a cancellation point, and no lock
 * is held while it sleeps: a signal handler may leave it. */
bool sc_marks_await(const struct sc_ticket *ticket, uint64_t deadline_ns);

/* Does a mark behind operation `ticket` and no later one than `last`, for which signals wait, say
 * that it has not passed? */
bool sc_marks_show_incomplete(const struct sc_ticket *ticket, uint64_t last);

/* Inserts the edge "later work on `stream` comes after the operation", false if it cannot. */
bool sc_marks_order_after(struct sc_stream_record *stream, const struct sc_ticket *ticket);

/* The same, where `wait` makes the stream wait for the event, if there is something to wait for. It
 * says whether it has, and takes no lock of a stream. */
typedef bool sc_marks_wait(void *context, CUstream stream, CUevent event);
bool sc_marks_order_by(struct sc_stream_record *stream, const struct sc_ticket *ticket,
                       sc_marks_wait *wait, void *context);

/* Has the stream wait in its own queue for all that its next operation is to come after: otherwise
 * the driver may take the bytes of that too early. How often this was done. */
void sc_marks_wait_for_itself(struct sc_stream_record *stream);
uint64_t sc_marks_taken_early(void);

#endif
