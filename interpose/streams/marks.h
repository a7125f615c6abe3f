/* Marks. A mark is an event of the library's that is recorded after operations of a stream; when it
 * has occurred, they are complete. So marks tell whether an operation was complete when its memory
 * was touched or freed.
 *
 * To record one after every copy would cost a tenth of the copy. So a mark is recorded
 * - after a large copy, and after the first copy after a pause;
 * - before other work follows copies on a stream;
 * - when it is asked whether an operation is complete.
 *
 * No event is recorded on the legacy stream: an event on a blocking stream of the library's, the
 * marker stream, comes after the legacy stream's work and before nothing (docs/driver.md, Q24). A
 * per-thread default stream can be named by its own thread alone, so that thread records a mark
 * after every operation there.
 *
 * The _locked functions need the stream's lock. Each function may call the driver. None changes the
 * current context, the capture state of any stream, or errno. */

/* Terms (docs/glossary.md):
 *   blocking stream: a stream without CU_STREAM_NON_BLOCKING
 *   complete: finished by the device, whether or not the program knows
 *   fence: an event behind what a stream had before it began to capture
 *   legacy stream: a context's default stream, which is ordered with all its blocking streams
 *   mark: an event of the library's behind an operation, by which it learns that this is complete
 *   marker stream: a stream of the library's, on which marks follow the legacy stream's work
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   reaper: the library's thread that judges hazards, reports them and frees held memory
 *   snapshot: a copy of a small source, which the device reads instead of the source
 *   source: the memory that a copy reads
 *   ticket: the name of an operation: its stream, its number there, and its epoch
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
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

/* Called when an operation of this size was issued: records a mark (an event of the library's)
 * after it, if one is due by size and time. `snapshotted`: the device reads all its sources from
 * copies of the library's, so no thread waits for it, and it needs no mark before a kernel. */
void sc_marks_issued(struct sc_stream_record *stream, size_t size_bytes, bool snapshotted,
                     uint64_t now_ticks);

/* Called when an operation was issued that uses device memory alone: keeps its number, and records
 * no mark (an event of the library's). One is needed only if something conflicts with it, or before
 * a signal, by which the host may learn of it. */
void sc_marks_issued_on_device(struct sc_stream_record *stream, uint64_t number);

/* Records a mark (an event of the library's) if operations need one before other work, which is
 * about to follow on the stream. Before work of the device, which hardly ever waits for the host,
 * operations whose source was copied first need none. Before a signal all operations need one, and
 * before a signal of the legacy stream also those of the blocking streams: the host may learn by
 * the signal that they are done, and then only a mark that comes before the signal can show that
 * they were not. */
enum sc_before { SC_BEFORE_DEVICE_WORK, SC_BEFORE_WORK, SC_BEFORE_SIGNAL };
void sc_marks_before_work(struct sc_stream_record *stream, enum sc_before what);

/* Called before work of the device on a stream on which nothing rare goes on. Returns false, having
 * done nothing, if a mark (an event of the library's) is needed before the work: only the usual way
 * records it. Returns true if none is needed, and notes operations without a mark as followed by
 * other work. */
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

/* Returns true if a mark (an event of the library's) comes after every operation of the stream on
 * host memory. For streams on which nothing rare goes on. */
SC_INLINED bool sc_marks_cover_simple(const struct sc_stream_record *stream)
{
    const struct sc_stream_marks *marks = &stream->marks;
    return atomic_load_explicit(&marks->owed, memory_order_relaxed) <=
           atomic_load_explicit(&marks->marked, memory_order_relaxed);
}

/* Records a mark (an event of the library's) after the stream's operations, unless there is one. */
void sc_marks_cover(struct sc_stream_record *stream);

/* Called before the stream waits for an event: marks recorded after the wait may occur late, and
 * the legacy stream must not wait for them. */
static inline void sc_marks_note_wait(struct sc_stream_record *stream)
{
    atomic_store(&stream->marks.awaits, true);
}

/* Notes the time of work on a per-thread default stream, on which only its own thread can record a
 * mark (an event of the library's) later. */
void sc_marks_note_tail_of_thread(struct sc_stream_record *stream);

/* Notes work on the stream that gets no mark (an event of the library's). Called before the
 * driver's call and again after it, since a wait of another thread may have begun in between. */
static inline void sc_marks_note_tail(struct sc_stream_record *stream)
{
    if (stream->owner)
        sc_marks_note_tail_of_thread(stream);
}

/* Returns the time of the latest work on a per-thread default stream that no mark (an event of the
 * library's) comes after; 0: there is none. */
static inline uint64_t sc_marks_tail_ticks(const struct sc_stream_record *stream)
{
    return atomic_load_explicit(&stream->marks.tail_ticks, memory_order_relaxed);
}

/* Returns true if the stream has marks (events of the library's) that are not known to have
 * occurred. */
static inline bool sc_marks_are_left_locked(const struct sc_stream_record *stream)
    SC_REQUIRES(stream->lock)
{
    SC_ASSERT_HELD(&stream->lock);
    return stream->marks.count != 0;
}

/* Returns the event of the stream's latest mark, to wait for; NULL: all marks have occurred. */
CUevent sc_marks_newest_locked(struct sc_stream_record *stream) SC_REQUIRES(stream->lock);

/* Records a mark (an event of the library's) after the stream's work, if operations were issued
 * after the last one. Does nothing if this thread cannot, as while the stream captures. */
void sc_marks_add_locked(struct sc_stream_record *stream) SC_REQUIRES(stream->lock);
/* Records a mark (an event of the library's) on each of the context's streams that needs one,
 * before other work of the context; no lock may be held. */
void sc_marks_add_all(struct sc_context *context);
/* Records a mark (an event of the library's) on each stream of the context, and of its green
 * contexts, that needs one, before all of them wait for work elsewhere: a later mark would come
 * after that work. */
void sc_marks_add_family(struct sc_context *context);

/* Asks the driver which of the stream's marks (events of the library's) have occurred: notes in the
 * tracker that operations before them are complete, and removes the marks. */
void sc_marks_poll_locked(struct sc_stream_record *stream) SC_REQUIRES(stream->lock);

/* Returns the context's marker stream, made if there is none: a blocking stream of the library's,
 * on which an event comes after the legacy stream's work. NULL: it cannot be made. Pre: the context
 * is current. */
CUstream sc_marks_marker(struct sc_context *context);

/* Returns the time of the latest work that an event on the context's marker stream would come
 * after. */
uint64_t sc_marks_marker_ticks(struct sc_context *context);

/* Records the fence: an event after what was issued on the stream until now, because the stream is
 * about to capture, or its context to wait for an event. Blocking streams only. */
void sc_marks_fence_locked(struct sc_stream_record *stream) SC_REQUIRES(stream->lock);

static inline CUevent sc_marks_fence_of_locked(const struct sc_stream_record *stream)
    SC_REQUIRES(stream->lock)
{
    SC_ASSERT_HELD(&stream->lock);
    return stream->marks.fence;
}

/* Returns true if the stream's fence comes after all of its work: nothing was issued since the
 * context was told to wait. Then the fence has to be waited for, because an event that is recorded
 * now would also come after the context's wait (docs/driver.md, Green contexts). */
bool sc_marks_is_fenced(const struct sc_stream_record *stream);

/* Notes that a blocking stream is about to be destroyed: events on the marker stream come after its
 * work from now on, as the legacy stream's operations do. */
void sc_marks_outlive_locked(struct sc_stream_record *stream) SC_REQUIRES(stream->lock);

/* Called when the record gets another stream: it has no marks (events of the library's) then. A
 * longer ring that the former one has got is kept. */
void sc_marks_renew_locked(struct sc_stream_record *stream) SC_REQUIRES(stream->lock);

/* Frees the events that were kept for a context which has ended. */
void sc_marks_context_gone(struct sc_context *context);

/* Called for a destroyed stream that nothing refers to any more: drops its marks, and keeps their
 * events for others. */
void sc_marks_drop(struct sc_stream_record *stream);

/* Called when the context has ended: drops the marks, whose events have ended with it. */
static inline void sc_marks_void_locked(struct sc_stream_record *stream) SC_REQUIRES(stream->lock)
{
    SC_ASSERT_HELD(&stream->lock);
    stream->marks.count = 0;
}

/* Records a mark (an event of the library's) after the operation if there is none, and asks whether
 * the operation is complete. Returns false if it is not, or if that cannot be known now (the stream
 * captures, or belongs to another thread). */
bool sc_marks_show_complete(const struct sc_ticket *ticket);

/* Returns true if no other work comes between the operation and its mark (an event of the
 * library's), so that the mark tells how far the operation itself is. If other work does, the mark
 * may not have occurred although the operation is complete. */
bool sc_marks_stand_close(const struct sc_ticket *ticket);

/* Asks the device again and again until the operation is complete; returns false if it is not by
 * the deadline. The calling thread asks, so the reaper need not run. Not a cancellation point. No
 * lock is held during sleeps, so a signal handler may leave the function. */
bool sc_marks_await(const struct sc_ticket *ticket, uint64_t deadline_ns);
/* The same for all work of the context, which must be current: also for what is not tracked, as
 * kernels and host functions are. Of streams that this thread cannot name, or that capture, tracked
 * work alone. */
bool sc_marks_await_context(struct sc_context *context, uint64_t deadline_ns);

/* Returns true if a mark (an event of the library's) shows that operation `ticket` is incomplete,
 * and that the host was not told otherwise. The mark must come after that operation and not after
 * operation `last`, and before signals, by which the host may learn of the operation's end. */
bool sc_marks_show_incomplete(const struct sc_ticket *ticket, uint64_t last);

/* Makes later work on `stream` wait for the operation, by the event of a mark after it (mode=fix).
 * Returns false if that is impossible: the mark cannot be recorded, or the wait might never end. */
bool sc_marks_order_after(struct sc_stream_record *stream, const struct sc_ticket *ticket);

/* Makes later work wait for the operation (sc_marks_order_after) by a function of the caller's,
 * which may let the wait end early (reaper/edges.h). The function makes the stream wait for the
 * event and returns whether it did. That function may take no lock of a stream. It is not called if
 * there is nothing to wait for. */
typedef bool sc_marks_wait(void *context, CUstream stream, CUevent event);
bool sc_marks_order_by(struct sc_stream_record *stream, const struct sc_ticket *ticket,
                       sc_marks_wait *wait, void *context);

/* Makes the stream wait, in its own queue, for all that its next operation has to come after.
 * Without that the driver may read the operation's memory too early. */
void sc_marks_wait_for_itself(struct sc_stream_record *stream);
/* Returns how often streams were made to wait so. */
uint64_t sc_marks_taken_early(void);

#endif
