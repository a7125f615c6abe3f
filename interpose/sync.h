/* What calls that wait tell the host frontier: sc_sync_begin notes what is issued by now,
 * sc_sync_end that all of it is done if the call succeeded. */
#ifndef SC_INTERPOSE_SYNC_H
#define SC_INTERPOSE_SYNC_H

#include "interpose/driver.h"
#include "track/track.h"

struct sc_sync {
    bool on;
    struct sc_point point;
};

/* Everything in the stream (for the legacy stream, in every blocking stream of its context). */
struct sc_sync sc_sync_begin_stream(CUstream stream, bool per_thread);

/* The same for a synchronous copy, which is work on its stream and not merely a wait for it. */
struct sc_sync sc_sync_begin_copy(bool per_thread);

/* Everything in the calling thread's context, or in the given one. */
struct sc_sync sc_sync_begin_context(CUcontext context);

struct sc_sync sc_sync_begin_event(CUevent event);

CUresult sc_sync_end(struct sc_sync *sync, CUresult result);

#endif
