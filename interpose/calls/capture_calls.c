/* Captures begin and end. The reaper must not record on a stream that begins one. */
#include <errno.h>

#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/capture/captures.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/wrap.h"
#include "interpose/reaper/reaper.h"
#include "interpose/streams/streams.h"

#include "track/poison.h"

struct beginning {
    struct sc_stream_record *stream;
    uint64_t capture;
    bool shut; /* the gate */
};

static struct beginning capture_beginning(CUstream handle, bool per_thread,
                                          CUstreamCaptureMode mode, bool to_graph, const char *api,
                                          void *site)
{
    int saved = errno;
    struct beginning beginning = {.stream =
                                      sc_active() ? sc_streams_find(handle, per_thread) : NULL};
    sc_streams_note_capture();
    if (beginning.stream) {
        beginning.shut = sc_captures_shut_gate(beginning.stream);
        beginning.capture = sc_captures_beginning(beginning.stream, mode, to_graph, api, site);
    }
    errno = saved;
    return beginning;
}

static CUresult capture_begun(const struct beginning *beginning, CUresult result)
{
    if (beginning->stream)
        sc_captures_began(beginning->stream, beginning->capture, result == CUDA_SUCCESS);
    sc_captures_open_gate(beginning->shut);
    return result;
}

#define BEGIN_CAPTURE(symbol, mode, to_graph, parameters, arguments)                               \
    SC_DEFINE2(symbol, _ptsz, parameters,                                                          \
               struct beginning beginning =                                                        \
                   capture_beginning(hStream, per_thread, mode, to_graph, API, SC_SITE());         \
               return capture_begun(&beginning, REAL arguments);)

BEGIN_CAPTURE(cuStreamBeginCapture, CU_STREAM_CAPTURE_MODE_GLOBAL, false, (CUstream hStream),
              (hStream))
BEGIN_CAPTURE(cuStreamBeginCapture_v2, mode, false, (CUstream hStream, CUstreamCaptureMode mode),
              (hStream, mode))
BEGIN_CAPTURE(cuStreamBeginCaptureToGraph, mode, true,
              (CUstream hStream, CUgraph graph, const CUgraphNode *dependencies,
               const CUgraphEdgeData *edges, size_t count, CUstreamCaptureMode mode),
              (hStream, graph, dependencies, edges, count, mode))

static CUresult capture_ended(CUresult result, struct sc_stream_record *stream, uintptr_t graph)
{
    sc_streams_captures_changed();
    if (!stream)
        return result;
    sc_captures_ended(stream);
    if (result != CUDA_SUCCESS && !sc_streams_is_capturing(stream))
        sc_reaper_forget_graph(graph);
    return result;
}

SC_DEFINE2(cuStreamEndCapture, _ptsz, (CUstream hStream, CUgraph *graph),
           struct sc_stream_record *stream = sc_active() && sc_captures_open()
                                                 ? sc_streams_find(hStream, per_thread)
                                                 : NULL;
           uintptr_t into = stream ? sc_captures_own_graph(stream) : 0;
           return capture_ended(REAL(hStream, graph), stream, into);)
