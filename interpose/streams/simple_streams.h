/* Finds the stream of a simple call: a call that does nothing but work on its own stream.
 *
 * Thread-safe, not signal-safe. No lock. */

/* Terms (docs/glossary.md):
 *   legacy stream: a context's default stream, which is ordered with all its blocking streams
 */

#ifndef SC_INTERPOSE_STREAMS_SIMPLE_STREAMS_H
#define SC_INTERPOSE_STREAMS_SIMPLE_STREAMS_H

#include "common/handles.h"
#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/driver/driver.h"
#include "interpose/streams/streams.h"
#include "track/stream_front.h"
#include "track/track_streams.h"

struct sc_stream_record;

/* Does one of these ties (enum sc_ties) bind the stream's next call? */
SC_INLINED bool sc_streams_is_tied(const struct sc_stream_record *stream, unsigned ties)
{
    return sc_unlikely(sc_stream_front_has_ties(stream->front, ties)) &&
           sc_track_is_tied(&sc_track, stream->id, ties);
}

/* Returns the stream's record if nothing rare goes on in the process (`least`: enum sc_simplicity
 * says what counts as rare) and none of these ties (enum sc_ties) binds the stream. NULL: the
 * caller has to take the slow way (sc_streams_find). Only one place of the hash table is looked at,
 * where another stream's record may be; so the record's own handle is compared. */
SC_INLINED struct sc_stream_record *sc_streams_find_simple(enum sc_simplicity least,
                                                           CUstream handle, unsigned ties)
{
    if (sc_unlikely(sc_process_simplicity() < least))
        return NULL;
    struct sc_stream_record *stream =
        sc_handle_pointer(sc_handles_guess(&sc_streams_by_handle, (uintptr_t)handle));
    return sc_likely(stream && stream->handle == handle &&
                     !atomic_load_explicit(&stream->gone, memory_order_relaxed) &&
                     (!ties || !sc_streams_is_tied(stream, ties)))
               ? stream
               : NULL;
}

/* Is it the handle of a stream that was created, and of no default stream? */
SC_INLINED bool sc_streams_has_handle(CUstream handle)
{
    return sc_likely((uintptr_t)handle > (uintptr_t)CU_STREAM_PER_THREAD);
}

/* Finds the legacy stream, if it is simple in that sense. It has no handle of its own, so it is
 * found by the current context. NULL also if the handle names another stream. */
struct sc_stream_record *sc_streams_find_simple_legacy(enum sc_simplicity least, CUstream handle,
                                                       bool per_thread, unsigned ties);

/* Finds the stream of any handle, the legacy stream's included, if it is simple in that sense.
 * `per_thread`: the call is a _ptsz variant. */
SC_INLINED struct sc_stream_record *sc_streams_find_any_simple(enum sc_simplicity least,
                                                               CUstream handle, bool per_thread,
                                                               unsigned ties)
{
    return sc_streams_has_handle(handle)
               ? sc_streams_find_simple(least, handle, ties)
               : sc_streams_find_simple_legacy(least, handle, per_thread, ties);
}

#endif
