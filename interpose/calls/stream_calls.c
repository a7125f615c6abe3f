/* Streams come and go. */
#include "interpose/base/process.h"
#include "interpose/capture/captures.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/wrap.h"
#include "interpose/reaper/reaper.h"
#include "interpose/streams/streams.h"

#include "track/poison.h"

static CUresult stream_created(CUresult result, CUstream *handle)
{
    if (result == CUDA_SUCCESS && sc_active() && handle)
        sc_streams_created(*handle);
    return result;
}

SC_DEFINE(cuStreamCreate, (CUstream * stream, unsigned flags),
          return stream_created(REAL(stream, flags), stream);)

SC_DEFINE(cuStreamCreateWithPriority, (CUstream * stream, unsigned flags, int priority),
          return stream_created(REAL(stream, flags, priority), stream);)

SC_DEFINE(cuGreenCtxStreamCreate,
          (CUstream * stream, CUgreenCtx context, unsigned flags, int priority),
          return stream_created(REAL(stream, context, flags, priority), stream);)

static CUresult stream_destroyed(CUresult result, struct sc_stream_record *stream, uintptr_t graph)
{
    if (stream && result == CUDA_SUCCESS) {
        sc_captures_ended(stream);
        sc_reaper_forget_graph(graph);
        sc_streams_destroyed(stream);
    } else if (stream) {
        sc_streams_not_destroyed(stream);
    }
    return result;
}

#define STREAM_DESTROY(symbol)                                                                     \
    SC_DEFINE(symbol, (CUstream hStream),                                                          \
              struct sc_stream_record *stream =                                                    \
                  sc_active() ? sc_streams_destroying(hStream) : NULL;                             \
              uintptr_t graph = stream && sc_captures_open() ? sc_captures_own_graph(stream) : 0;  \
              return stream_destroyed(REAL(hStream), stream, graph);)

STREAM_DESTROY(cuStreamDestroy)
STREAM_DESTROY(cuStreamDestroy_v2)
