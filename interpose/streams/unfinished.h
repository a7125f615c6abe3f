/* What may still be at work on a stream besides the copies that we know.
 *
 * A kernel, a graph or a host function may write the very memory that a later copy on the stream
 * reads, so a copy behind one cannot be snapshotted when it is issued. Behind a wait for a value or
 * a semaphore the host itself may still be meant to write it, so there it is not guarded either,
 * nor on other streams behind that. Told by times: what was issued before a wait of the host that
 * succeeded is done.
 *
 * Work is noted before the driver is called, and once more when it has returned: a wait of another
 * thread that came in between does not cover it, however much later it began.
 *
 * Lock-free, thread-safe. Times are sc_ticks().
 */
#ifndef SC_INTERPOSE_STREAMS_UNFINISHED_H
#define SC_INTERPOSE_STREAMS_UNFINISHED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct sc_stream_record;
struct sc_context;

struct sc_unfinished {
    _Atomic uint64_t work_ticks;   /* the last work that may write host memory */
    _Atomic uint64_t signal_ticks; /* the last wait for what the host may do */
    _Atomic uint64_t done_ticks;
    _Atomic uint64_t queued_ticks; /* the last that surely was in the stream's own queue */
};

/* Before such work is issued; both return its time. */
uint64_t sc_unfinished_work(struct sc_stream_record *stream);
uint64_t sc_unfinished_signal(struct sc_stream_record *stream);

/* Before such work that is behind work elsewhere, of which is known whether it is seen. */
void sc_unfinished_join(struct sc_stream_record *stream, bool seen);

/* Was there never any wait for the host, on any stream? Nor any such work at all? */
bool sc_unfinished_none_ever(void);
bool sc_unfinished_no_work_ever(void);

/* Before any work on the legacy stream; the record of an event is queued there as well. */
void sc_unfinished_legacy(struct sc_stream_record *stream);
void sc_unfinished_record(struct sc_stream_record *stream);

/* When the context, or the primary one of it, was last told to wait for an event. */
uint64_t sc_unfinished_gate_ticks(struct sc_context *context);

/* Up to when what was issued is done if a wait for the stream, or for the context, that begins now
 * succeeds: not what their context, or the primary one, waits for and they have not joined. */
uint64_t sc_unfinished_stream_since(struct sc_stream_record *stream);
uint64_t sc_unfinished_context_since(struct sc_context *context);

/* The host waited for the stream, or for the context; by what was said when the wait began. */
void sc_unfinished_stream_done(struct sc_stream_record *stream, uint64_t since_ticks);
void sc_unfinished_context_done(struct sc_context *context, uint64_t since_ticks);

/* Has the host waited for what was issued on the stream by then? */
bool sc_unfinished_is_done(struct sc_stream_record *stream, uint64_t issued_ticks);

/* Is nothing at work that may write what a copy issued now reads? */
bool sc_unfinished_is_clear(struct sc_stream_record *stream);

/* Something is in the stream's own queue since then (the launch of a graph may be nothing); a copy
 * there, or one that it waits for from now on, writes host memory. */
void sc_unfinished_queued(struct sc_stream_record *stream, uint64_t ticks);
void sc_unfinished_written(struct sc_stream_record *stream, uint64_t ticks);

/* Is the next operation on the stream to come after work of others that may be going on and may
 * write host memory, and that nothing in the stream's own queue is behind? `known`: copies that we
 * know are asked for as well. Between threads that issue at the same time the answer may be wrong.
 */
bool sc_unfinished_is_hidden(struct sc_stream_record *stream, bool known);

/* Does nothing on the stream, or before it, wait for the host in a way that cannot be seen? */
bool sc_unfinished_is_seen(struct sc_stream_record *stream);

#endif
