/* What calls that wait tell the host frontier: sc_sync_begin notes what is issued by now,
 * sc_sync_end that all of it is done if the call succeeded: sources that were overwritten meanwhile
 * are reported, and pages let go. `site` is where the call returns to. */
#ifndef SC_INTERPOSE_CALLS_SYNC_H
#define SC_INTERPOSE_CALLS_SYNC_H

#include <stdbool.h>
#include <stdint.h>

#include "interpose/driver/driver.h"
#include "interpose/streams/streams.h"
#include "track/order.h"

struct sc_context;

struct sc_sync {
    bool on;
    const char *api;
    void *site;
    struct sc_stream_record *stream; /* waited for, or NULL */
    struct sc_context *context;      /* waited for as a whole, or NULL */
    uint64_t since_ticks;
    struct sc_call call; /* of one that is work, too */
    struct sc_point point;
};

/* Everything in the stream (for the legacy stream, in every blocking stream of its context). */
struct sc_sync sc_sync_begin_stream(const char *api, void *site, CUstream stream, bool per_thread);

/* The same for a synchronous copy on the stream, which is work there and not merely a wait for it.
 * It writes there, or to the device. */
struct sc_sync sc_sync_begin_copy(const char *api, void *site, struct sc_stream_record *stream,
                                  bool to_device);

/* Everything in the calling thread's context, or in the given one. */
struct sc_sync sc_sync_begin_context(const char *api, void *site, CUcontext context);

/* What a free of driver memory waits for. */
struct sc_sync sc_sync_begin_free(const char *api, void *site);

struct sc_sync sc_sync_begin_event(const char *api, void *site, CUevent event);

CUresult sc_sync_end(struct sc_sync *sync, CUresult result);

#endif
