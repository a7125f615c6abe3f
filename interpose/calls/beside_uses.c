#include "interpose/calls/beside_uses.h"

#include "common/points.h"
#include "interpose/base/process.h"
#include "interpose/capture/beside.h"
#include "interpose/driver/kernel_parameters.h"
#include "interpose/graph/node_uses.h"
#include "interpose/streams/streams.h"
#include "track/device_use.h"

#include "common/poison.h"

/* ---- copies and memsets ---- */

/* Notes, for the open capture of this thread, which device memory a captured copy or memset uses:
 * the graph needs what is there, and work that wrote it may have run beside the capture (SC305). */
void sc_beside_uses_note_captured(const struct sc_graph_call *call,
                                  const struct sc_device_uses *uses)
{
    struct sc_beside_op op = {
        .call = call->by,
        .stream = call->stream,
        .stack = call->stack,
        .does = {.use_count = uses->count, .uses = uses->of},
    };
    sc_beside_note_captured(&op, call->graph);
}

/* Notes, for this thread's open captures, a copy or memset that runs at once, beside them: a launch
 * of the graph will not repeat it (SC305). `names_legacy`: an asynchronous call has named the
 * legacy stream. Work without device memory matters to no graph. */
void sc_beside_uses_note_issued(const struct sc_call *call, const struct sc_stream_record *stream,
                                const struct sc_device_uses *uses, bool is_async, bool is_detour)
{
    struct sc_beside_op op = {
        .call = call,
        .stream = (uintptr_t)stream->handle,
        .names_legacy = is_async && stream->kind == SC_STREAM_LEGACY,
        .is_detour = is_detour,
        .does = {.use_count = uses->count, .uses = uses->of},
    };
    if (uses->count)
        sc_beside_note_issued(&op);
}

/* ---- kernels ---- */

/* Notes a kernel for the thread's open captures: as work that a capture has taken into its graph,
 * or as work that runs at once beside it. The memory that the kernel uses is guessed from the
 * addresses among its parameters; they may not all be known (`is_partly_known`). On an unknown
 * stream the kernel may write anything. */
static void note_kernel(const struct sc_call *call, const struct sc_launch *launch, bool is_detour)
{
    struct sc_kernel_parameters read;
    struct sc_stream_record *stream = sc_streams_find(launch->stream, call->per_thread);
    if (!stream) {
        sc_beside_note_unknown_write();
        return;
    }
    sc_kernel_parameters_read(&read, launch);
    struct sc_beside_op op = {
        .call = call,
        .stream = (uintptr_t)stream->handle,
        .names_legacy = stream->kind == SC_STREAM_LEGACY,
        .is_detour = is_detour,
        .does = {.name_count = read.count,
                 .names = read.addresses,
                 .function = (uintptr_t)launch->function,
                 .is_partly_known = !read.is_known},
    };
    if (sc_streams_is_captured(stream))
        sc_beside_note_captured(&op, sc_streams_graph(stream));
    else
        sc_beside_note_issued(&op);
}

/* Notes a kernel that was launched, if this thread captures, or if memory is watched that graphs of
 * ended captures read: reading the kernel's parameters costs calls of the driver. */
void sc_beside_uses_note_launched(const struct sc_call *call, const struct sc_launch *launch,
                                  bool is_detour)
{
    SC_KEEP_ERRNO();
    if (sc_beside_is_own() || sc_beside_is_watching())
        note_kernel(call, launch, is_detour);
}
