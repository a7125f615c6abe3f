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

/* Returns true if the stream's next call may come after something besides the stream's own work,
 * which one of these ties (enum sc_ties) says. Asked first without a lock, since hardly any call is
 * tied. */
SC_INLINED bool sc_streams_is_tied(const struct sc_stream_record *stream, unsigned ties)
{
    return sc_unlikely(sc_stream_front_has_ties(stream->front, ties)) &&
           sc_track_is_tied(&sc_track, stream->id, ties);
}

/* Returns the stream's record for a call that does nothing but work on its own stream. NULL: the
 * caller has to take the usual way (sc_streams_find), since something rare goes on in the process
 * (`least`: enum sc_simplicity) or one of these ties (enum sc_ties) binds the stream. Only one
 * place of the table is looked at, where another stream's record may be; so the record's own handle
 * is compared. */
SC_INLINED struct sc_stream_record *sc_streams_find_simple(enum sc_simplicity least,
                                                           CUstream handle, unsigned ties)
{
    if (sc_unlikely(sc_process_simplicity() < least))
        return NULL;
    struct sc_stream_record *stream =
        sc_handle_pointer(sc_handles_guess(&sc_streams_by_handle, (uintptr_t)handle));
    return sc_likely(stream && stream->handle == handle && !sc_stream_is_gone(stream) &&
                     (!ties || !sc_streams_is_tied(stream, ties)))
               ? stream
               : NULL;
}

/* Returns true if the handle is that of a stream which was created. The numbers up to
 * CU_STREAM_PER_THREAD name the default streams. */
SC_INLINED bool sc_streams_has_handle(CUstream handle)
{
    return sc_likely((uintptr_t)handle > (uintptr_t)CU_STREAM_PER_THREAD);
}

/* Does for the legacy stream what sc_streams_find_simple does for others. It has no handle of its
 * own, so it is found by the current context. NULL also if the handle names another stream. */
struct sc_stream_record *sc_streams_find_simple_legacy(enum sc_simplicity least, CUstream handle,
                                                       bool per_thread, unsigned ties);

/* Does what sc_streams_find_simple does, for any handle, the legacy stream's included.
 * `per_thread`: the call is a _ptsz variant, in which 0 is the thread's default stream; that is
 * never simple. */
SC_INLINED struct sc_stream_record *sc_streams_find_any_simple(enum sc_simplicity least,
                                                               CUstream handle, bool per_thread,
                                                               unsigned ties)
{
    return sc_streams_has_handle(handle)
               ? sc_streams_find_simple(least, handle, ties)
               : sc_streams_find_simple_legacy(least, handle, per_thread, ties);
}

#endif
