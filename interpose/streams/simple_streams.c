#include "interpose/streams/simple_streams.h"

#include "interpose/streams/contexts.h"

#include "common/poison.h"

struct sc_stream_record *sc_streams_find_simple_legacy(enum sc_simplicity least, CUstream handle,
                                                       bool per_thread, unsigned ties)
{
    if (sc_process_simplicity() < least || (handle ? handle != CU_STREAM_LEGACY : per_thread))
        return NULL;
    struct sc_context *context = sc_contexts_current();
    struct sc_stream_record *stream = context ? context->legacy_stream : NULL;
    return stream && !sc_streams_is_tied(stream, ties) ? stream : NULL;
}
