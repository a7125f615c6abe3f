/* What calls that wait tell the host frontier.
 *
 * Before the call, sc_sync_begin_* notes what is issued by now. After a call that succeeded,
 * sc_sync_end notes that all of it is done. Sources that were overwritten meanwhile are reported,
 * and pages are let go.
 *
 * Thread-safe. Locks: none may be held. sc_sync_end keeps errno. Not for a signal handler.
 */
#ifndef SC_INTERPOSE_CALLS_SYNC_H
#define SC_INTERPOSE_CALLS_SYNC_H

#include <stdbool.h>
#include <stdint.h>

#include "common/points.h"
#include "interpose/driver/driver.h"
#include "track/track_order.h"

struct sc_call;
struct sc_context;
struct sc_stream_record;

struct sc_sync {
    bool on;
    bool all_known; /* nothing is to be learnt of what is issued by now */
    const struct sc_call *call;
    struct sc_stream_record *stream; /* waited for, or NULL */
    struct sc_context *context;      /* waited for as a whole, or NULL */
    uint64_t since_ticks;
    struct sc_behind behind;      /* an event that is waited for */
    struct sc_order_call ordered; /* of one that is work, too */
    struct sc_point point;
};

/* Waits for everything in the stream; for the legacy stream, in every blocking stream of its
 * context.
 */
void sc_sync_begin_stream(struct sc_sync *sync, const struct sc_call *call, CUstream stream);

/* The same for a synchronous copy, which is work on the stream and not merely a wait for it. The
 * copy writes host memory, or with `to_device` the device's. */
void sc_sync_begin_copy(struct sc_sync *sync, const struct sc_call *call,
                        struct sc_stream_record *stream, bool to_device);

/* Waits for everything in the given context; NULL: in the calling thread's. */
void sc_sync_begin_context(struct sc_sync *sync, const struct sc_call *call, CUcontext context);

/* What a free of driver memory waits for. */
void sc_sync_begin_free(struct sc_sync *sync, const struct sc_call *call);

/* For a call that is found to wait for nothing. */
void sc_sync_begin_nothing(struct sc_sync *sync, const struct sc_call *call);

void sc_sync_begin_event(struct sc_sync *sync, const struct sc_call *call, CUevent event);

CUresult sc_sync_end(struct sc_sync *sync, CUresult result);

/* Waits, in a call of the program's that does not: for the stream of this handle, as functions
 * without _ptsz have it; for the calling thread's context. */
CUresult sc_sync_stream(const struct sc_call *call, CUstream stream);
CUresult sc_sync_context(const struct sc_call *call);

#endif
