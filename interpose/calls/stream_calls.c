/* Wrappers of calls that create and destroy streams. */
#include "interpose/base/process.h"
#include "interpose/capture/captures.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/made_here.h"
#include "interpose/driver/wrap.h"
#include "interpose/reaper/reaper.h"
#include "interpose/streams/streams.h"

#include "common/poison.h"

/* Called when the driver has answered the creation of a stream: makes its record, with the call
 * that made it, for reports. Returns `result`. */
static CUresult add_created(CUresult result, const CUstream *handle, const struct sc_call *call)
{
    if (result == CUDA_SUCCESS && sc_active() && handle)
        sc_streams_created(*handle, sc_made_here(call));
    return result;
}

/* Wrapper: the new stream gets a record. */
CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    SC_WRAPPER(cuStreamCreate);
    return add_created(real(stream, flags), stream, call);
}

/* Wrapper: the new stream gets a record. */
CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority)
{
    SC_WRAPPER(cuStreamCreateWithPriority);
    return add_created(real(stream, flags, priority), stream, call);
}

/* Wrapper: the new stream of a green context gets a record. */
CUresult cuGreenCtxStreamCreate(CUstream *stream, CUgreenCtx context, unsigned flags, int priority)
{
    SC_WRAPPER(cuGreenCtxStreamCreate);
    return add_created(real(stream, context, flags, priority), stream, call);
}

/* A stream that the driver is about to destroy. */
struct stream_ending {
    struct sc_stream_record *stream; /* NULL: not known */
    uintptr_t graph;                 /* the graph of the capture that the stream began, or 0 */
};

/* Called before the driver destroys a stream: takes it out of the tables, since the handle may name
 * another stream before the call returns, and finds the graph that it captures, which ends with it.
 */
static struct stream_ending begin_destroy(CUstream handle)
{
    struct stream_ending ending = {sc_active() ? sc_streams_destroying(handle) : NULL, 0};
    if (ending.stream && sc_captures_any_open())
        ending.graph = sc_captures_own_graph(ending.stream);
    return ending;
}

/* Called when the driver has answered the destruction of a stream: ends the stream's record, its
 * capture and the captured graph; or puts the stream back into the tables after a refusal. Returns
 * `result`. */
static CUresult end_destroy(const struct stream_ending *ending, CUresult result)
{
    if (ending->stream && (result == CUDA_SUCCESS || !sc_streams_name_again(ending->stream))) {
        sc_captures_ended(ending->stream);
        sc_reaper_forget_graph(ending->graph);
        sc_streams_destroyed(ending->stream);
    }
    return result;
}

/* Wrapper: the stream's record ends. Its work may still run, as the driver does not wait for it. */
SC_VERSIONS(cuStreamDestroy, cuStreamDestroy_v2, (CUstream stream), (stream))
{
    struct stream_ending ending = begin_destroy(stream);
    return end_destroy(&ending, real(stream));
}
