#include "interpose/streams/simple_streams.h"

#include "interpose/streams/contexts.h"

#include "common/poison.h"

/* Returns the current context's legacy stream, for a call that does nothing but work on it. NULL,
 * for the usual way: something rare goes on in the process (`least`), the handle names another
 * stream, or one of these ties binds the stream's next call. */
struct sc_stream_record *sc_streams_find_simple_legacy(enum sc_simplicity least, CUstream handle,
                                                       bool per_thread, unsigned ties)
{
    if (sc_process_simplicity() < least || (handle ? handle != CU_STREAM_LEGACY : per_thread))
        return NULL;
    struct sc_context *context = sc_contexts_current();
    struct sc_stream_record *stream = context ? context->legacy_stream : NULL;
    return stream && !sc_streams_is_tied(stream, ties) ? stream : NULL;
}
