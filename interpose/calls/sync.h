/* What calls that wait tell the host frontier: sc_sync_begin notes what is issued by now,
 * sc_sync_end that all of it is done if the call succeeded: sources that were overwritten meanwhile
 * are reported, and pages let go. */
#ifndef SC_INTERPOSE_CALLS_SYNC_H
#define SC_INTERPOSE_CALLS_SYNC_H

#include <stdbool.h>
#include <stdint.h>

#include "interpose/driver/call.h"
#include "interpose/driver/driver.h"
#include "interpose/streams/streams.h"
#include "track/order.h"

struct sc_context;

struct sc_sync {
    bool on;
    const struct sc_call *call;
    struct sc_stream_record *stream; /* waited for, or NULL */
    struct sc_context *context;      /* waited for as a whole, or NULL */
    uint64_t since_ticks;
    struct sc_order_call ordered; /* of one that is work, too */
    struct sc_point point;
};

/* Everything in the stream (for the legacy stream, in every blocking stream of its context). */
struct sc_sync sc_sync_begin_stream(const struct sc_call *call, CUstream stream);

/* The same for a synchronous copy on the stream, which is work there and not merely a wait for it.
 * It writes there, or to the device. */
struct sc_sync sc_sync_begin_copy(const struct sc_call *call, struct sc_stream_record *stream,
                                  bool to_device);

/* Everything in the calling thread's context, or in the given one. */
struct sc_sync sc_sync_begin_context(const struct sc_call *call, CUcontext context);

/* What a free of driver memory waits for. */
struct sc_sync sc_sync_begin_free(const struct sc_call *call);

struct sc_sync sc_sync_begin_event(const struct sc_call *call, CUevent event);

CUresult sc_sync_end(struct sc_sync *sync, CUresult result);

#endif
