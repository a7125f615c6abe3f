/* Wrappers of calls that begin and end captures. While the driver begins one, the stream is locked:
 * the library's own thread (the reaper) must not record an event there, which would become part of
 * the capture. */

/* Terms (docs/glossary.md):
 *   reaper: the library's thread that judges hazards, reports them and frees held memory
 */

#include "common/checks.h"
#include "interpose/base/process.h"
#include "interpose/capture/beside.h"
#include "interpose/capture/captures.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/wrap.h"
#include "interpose/graph/driver_nodes.h"
#include "interpose/reaper/reaper.h"
#include "interpose/streams/capturing.h"
#include "interpose/streams/streams.h"

#include "common/poison.h"

/* A capture that begins, from before its call. */
struct beginning {
    struct sc_stream_record *stream;
    uint64_t capture; /* its id (capture/captures.h), or 0 */
    bool gate_shut;   /* for sc_captures_open_gate */
    CUgraph into;     /* the program's graph that is captured into; NULL: a new one */
};

/* Called before the driver begins a capture: adds it to the list of open captures, and keeps
 * operations of other threads off the legacy stream meanwhile (the gate), since they would break
 * it. Even while the library is inactive, or for an unknown stream, it is noted that the process
 * has captured: from then on no call takes a quick way. */
static struct beginning begin_capture(const struct sc_call *call, CUstream handle,
                                      CUstreamCaptureMode mode, bool to_graph) SC_UNFOLLOWED
{
    SC_KEEP_ERRNO();
    struct beginning beginning = {.stream = sc_active() ? sc_streams_find(handle, call->per_thread)
                                                        : NULL};
    sc_capturing_note();
    if (beginning.stream) {
        beginning.gate_shut = sc_captures_shut_gate(beginning.stream);
        beginning.capture = sc_captures_beginning(beginning.stream, mode, to_graph, call);
    }
    sc_capturing_await_waits();
    return beginning;
}

/* Called when the driver has answered the beginning of a capture: keeps it in the list or removes
 * it, has work beside it watched (SC305), and lets operations on the legacy stream pass again.
 * Returns `result`. */
static CUresult end_begin(const struct beginning *beginning, CUresult result) SC_UNFOLLOWED
{
    if (beginning->stream)
        sc_captures_began(beginning->stream, beginning->capture, result == CUDA_SUCCESS);
    if (beginning->capture && result == CUDA_SUCCESS)
        sc_beside_note_begun(beginning->stream, sc_streams_graph(beginning->stream),
                             sc_driver_nodes_any(beginning->into));
    sc_captures_open_gate(beginning->gate_shut);
    return result;
}

/* Wrapper: the capture is noted around the driver's call (`real`). The mode is the global one. */
SC_PAIR(cuStreamBeginCapture, _ptsz, (CUstream stream), (stream))
{
    struct beginning beginning = begin_capture(call, stream, CU_STREAM_CAPTURE_MODE_GLOBAL, false);
    return end_begin(&beginning, real(stream));
}

/* Wrapper: the capture is noted around the driver's call (`real`). */
SC_PAIR(cuStreamBeginCapture_v2, _ptsz, (CUstream stream, CUstreamCaptureMode mode), (stream, mode))
{
    struct beginning beginning = begin_capture(call, stream, mode, /*to_graph=*/false);
    return end_begin(&beginning, real(stream, mode));
}

/* Wrapper of a capture into a graph that the program has made, which stays if the capture fails,
 * and may have nodes already (`into`). */
SC_PAIR(cuStreamBeginCaptureToGraph, _ptsz,
        (CUstream stream, CUgraph graph, const CUgraphNode *dependencies,
         const CUgraphEdgeData *edges, size_t count, CUstreamCaptureMode mode),
        (stream, graph, dependencies, edges, count, mode))
{
    struct beginning beginning = begin_capture(call, stream, mode, /*to_graph=*/true);
    beginning.into = graph;
    return end_begin(&beginning, real(stream, graph, dependencies, edges, count, mode));
}

/* Begins a capture into a graph whose nodes stay, and are given in turn what is captured. So all
 * memory that the nodes named before is forgotten. */
SC_PAIR(cuStreamBeginRecaptureToGraph, _ptsz,
        (CUstream stream, CUstreamCaptureMode mode, CUgraph graph, CUgraphRecaptureCallback changed,
         void *data),
        (stream, mode, graph, changed, data))
{
    struct beginning beginning = begin_capture(call, stream, mode, /*to_graph=*/true);
    beginning.into = graph;
    CUresult result = real(stream, mode, graph, changed, data);
    if (result == CUDA_SUCCESS && beginning.stream)
        sc_reaper_forget_graph((uintptr_t)graph);
    return end_begin(&beginning, result);
}

/* Called when the driver has answered the end of a capture on `stream`; NULL: nothing captures, as
 * far as is known. If there is a graph now, work that it lacks is reported (SC305). If the capture
 * has failed, its graph (`graph`; 0: the program had made it, so it stays) does not exist any more.
 * Returns `result`. */
static CUresult end_capture(CUresult result, struct sc_stream_record *stream, uintptr_t graph)
{
    sc_capturing_changed();
    if (!stream)
        return result;
    if (result == CUDA_SUCCESS)
        sc_beside_note_ended(stream);
    sc_captures_ended(stream);
    if (result != CUDA_SUCCESS && !sc_streams_is_capturing(stream))
        sc_reaper_forget_graph(graph);
    return result;
}

/* Ends a capture. The graph is asked for before the call, since a capture that fails has none. */
SC_PAIR(cuStreamEndCapture, _ptsz, (CUstream handle, CUgraph *graph), (handle, graph))
{
    bool may_capture = sc_active() && sc_captures_any_open();
    struct sc_stream_record *stream =
        may_capture ? sc_streams_find(handle, call->per_thread) : NULL;
    uintptr_t into = stream ? sc_captures_own_graph(stream) : 0;
    return end_capture(real(handle, graph), stream, into);
}
