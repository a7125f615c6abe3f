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

/* Called once, before any other function here. */
void sc_marks_start(void);

/* Notes that an operation of this size was just issued, and adds a mark if one is due.
 * `snapshotted`: the device reads all its sources from snapshots, so nobody on the host waits for
 * it, and it needs no mark before a kernel. */
void sc_marks_issued(struct sc_stream_record *stream, size_t size_bytes, bool snapshotted,
                     uint64_t now_ticks);

/* Notes an operation that was issued and that gets a mark of its own in any case. */
void sc_marks_issued_alone(struct sc_stream_record *stream, uint64_t now_ticks);

/* Notes that the operation of this number uses device memory only. Nobody waits for its mark unless
 * something conflicts with it. */
void sc_marks_issued_on_device(struct sc_stream_record *stream, uint64_t number);

/* Adds a mark if one is needed before other work that is about to follow on the stream. Before work
 * of the device, which hardly ever waits for the host, snapshotted operations need no mark. Before
 * a signal all operations need one; before a signal of the legacy stream those of the blocking
 * streams, too. The host may hear of them by the signal, and then only a mark for which the signal
 * waits can show that they are incomplete. */
enum sc_before { SC_BEFORE_DEVICE_WORK, SC_BEFORE_WORK, SC_BEFORE_SIGNAL };
void sc_marks_before_work(struct sc_stream_record *stream, enum sc_before what);

/* Called before work of the device on a simple stream. False: a mark is needed before the work,
 * which only the slow way adds, and nothing was done. True: none is needed. Operations without a
 * mark are noted as followed by other work. */
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

/* Do marks cover all operations of the simple stream on host memory? */
SC_INLINED bool sc_marks_cover_simple(const struct sc_stream_record *stream)
{
    const struct sc_stream_marks *marks = &stream->marks;
    return atomic_load_explicit(&marks->owed, memory_order_relaxed) <=
           atomic_load_explicit(&marks->marked, memory_order_relaxed);
}

/* Adds a mark behind the stream's operations, unless there is one. */
void sc_marks_cover(struct sc_stream_record *stream);

/* Notes that the stream is about to wait for an event: marks behind that may come late. */
static inline void sc_marks_note_wait(struct sc_stream_record *stream)
{
    atomic_store(&stream->marks.awaits, true);
}

/* Notes the time of work on a per-thread default stream. */
void sc_marks_note_tail_of_thread(struct sc_stream_record *stream);

/* Notes work on the stream that gets no mark: before the driver is called, and again when it has
 * returned, since a wait of another thread may have begun in between. */
static inline void sc_marks_note_tail(struct sc_stream_record *stream)
{
    if (stream->owner)
        sc_marks_note_tail_of_thread(stream);
}

/* The time of the latest work on a per-thread default stream that no mark is behind; 0: there is
 * none. */
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

/* The event of the stream's latest mark; NULL: all marks are complete. */
CUevent sc_marks_newest_locked(struct sc_stream_record *stream) SC_REQUIRES(stream->lock);

/* Records a mark if operations were issued behind the last one. */
void sc_marks_add_locked(struct sc_stream_record *stream) SC_REQUIRES(stream->lock);
void sc_marks_add_all(struct sc_context *context); /* on each of its streams; no lock may be held */
/* The same for the context with its green contexts, before all of them wait for work elsewhere. */
void sc_marks_add_family(struct sc_context *context);

/* Tells the tracker what is complete, by the marks. */
void sc_marks_poll_locked(struct sc_stream_record *stream) SC_REQUIRES(stream->lock);

/* The context's marker stream: a blocking stream of ours whose events follow the legacy stream's
 * work. NULL: it cannot be made. The context is current. */
CUstream sc_marks_marker(struct sc_context *context);

/* The time of the latest work that an event on the context's marker stream would follow. */
uint64_t sc_marks_marker_ticks(struct sc_context *context);

/* Leaves an event, the fence, behind what was issued on the stream until now: the stream is about
 * to capture, or its context to wait for an event. Blocking streams only. */
void sc_marks_fence_locked(struct sc_stream_record *stream) SC_REQUIRES(stream->lock);

static inline CUevent sc_marks_fence_of_locked(const struct sc_stream_record *stream)
    SC_REQUIRES(stream->lock)
{
    SC_ASSERT_HELD(&stream->lock);
    return stream->marks.fence;
}

/* Is the stream's fence behind all of its work, since nothing was issued after the context was told
 * to wait? Then the fence has to be waited for: an event recorded now would be behind the context's
 * wait as well (docs/driver.md, Green contexts). */
bool sc_marks_is_fenced(const struct sc_stream_record *stream);

/* Called before a blocking stream is destroyed: events on the marker stream follow its work from
 * now on, as the legacy stream's operations do. */
void sc_marks_outlive_locked(struct sc_stream_record *stream) SC_REQUIRES(stream->lock);

/* Prepares the record for a new stream, which has no marks. A ring that had grown is kept. */
void sc_marks_renew_locked(struct sc_stream_record *stream) SC_REQUIRES(stream->lock);

/* The context has ended: gives back the events that were kept for it. */
void sc_marks_context_gone(struct sc_context *context);

/* Forgets the marks and the fence of a stream that nothing refers to any more. */
void sc_marks_drop(struct sc_stream_record *stream);

/* Forgets the marks, whose events have ended with their context. */
static inline void sc_marks_void_locked(struct sc_stream_record *stream) SC_REQUIRES(stream->lock)
{
    SC_ASSERT_HELD(&stream->lock);
    stream->marks.count = 0;
}

/* Adds a mark behind the operation if there is none, and looks whether the operation is complete.
 * False: it is not, or that cannot be known now (the stream captures, or belongs to another
 * thread). */
bool sc_marks_show_complete(const struct sc_ticket *ticket);

/* Is no other work between the operation and the mark behind it? If there is some, the mark may say
 * that a complete operation is incomplete. */
bool sc_marks_stand_close(const struct sc_ticket *ticket);

/* Polls until the operation is complete. False: it is not, by the deadline. The calling thread asks
 * the device, so the reaper need not run. Not a cancellation point. No lock is held during sleeps:
 * a signal handler may leave the function. */
bool sc_marks_await(const struct sc_ticket *ticket, uint64_t deadline_ns);

/* Does a mark show that operation `ticket` is incomplete? The mark must be behind the operation,
 * and not behind operation `last`, and signals must wait for it. */
bool sc_marks_show_incomplete(const struct sc_ticket *ticket, uint64_t last);

/* Makes later work on `stream` wait for the operation. False: that is impossible. */
bool sc_marks_order_after(struct sc_stream_record *stream, const struct sc_ticket *ticket);

/* The same, by the caller's `wait`, which makes the stream wait for the event and returns whether
 * it did. It takes no lock of a stream. It is not called if there is nothing to wait for. */
typedef bool sc_marks_wait(void *context, CUstream stream, CUevent event);
bool sc_marks_order_by(struct sc_stream_record *stream, const struct sc_ticket *ticket,
                       sc_marks_wait *wait, void *context);

/* Makes the stream wait, in its own queue, for all that its next operation is to come after: else
 * the driver may take that operation's bytes too early. */
void sc_marks_wait_for_itself(struct sc_stream_record *stream);
/* How often streams were made to wait so. */
uint64_t sc_marks_taken_early(void);

#endif
