/* What wrappers do around calls that wait, such as cuStreamSynchronize: everything that the call
 * has waited for is known done by the host afterwards.
 *
 * Before the call, sc_sync_begin_* notes what is issued by now. After a successful call,
 * sc_sync_end notes that all of it is done, reports sources that were overwritten meanwhile, and
 * lets pages go.
 *
 * Thread-safe. Locks: none may be held. sc_sync_end keeps errno. Not for a signal handler. */
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

/* One call that waits, from before it is made. */
struct sc_sync {
    bool on;        /* the call may tell something */
    bool all_known; /* the host knows already that all issued by now is done */
    const struct sc_call *call;
    struct sc_stream_record *stream; /* the stream that is waited for, or NULL */
    struct sc_context *context;      /* the context that is waited for as a whole, or NULL */
    uint64_t since_ticks;            /* which unfinished work is done then (unfinished.h) */
    struct sc_behind behind;         /* where the event was recorded that is waited for */
    struct sc_order_call ordered;    /* for a call that is work on the stream, too */
    struct sc_point point;           /* what is done when the call has returned */
};

/* Begins a wait for everything in the stream; on the legacy stream, for everything in every
 * blocking stream of its context. */
void sc_sync_begin_stream(struct sc_sync *sync, const struct sc_call *call, CUstream stream);

/* Begins a synchronous copy, which is work on the stream as well as a wait for it. `to_device`: the
 * copy writes device memory; else host memory. */
void sc_sync_begin_copy(struct sc_sync *sync, const struct sc_call *call,
                        struct sc_stream_record *stream, bool to_device);

/* Begins a wait for everything in the context; NULL: in the calling thread's. */
void sc_sync_begin_context(struct sc_sync *sync, const struct sc_call *call, CUcontext context);

/* Begins a free of driver memory, which waits for the context of that memory. */
void sc_sync_begin_free(struct sc_sync *sync, const struct sc_call *call);

/* Begins a call that turned out to wait for nothing. */
void sc_sync_begin_nothing(struct sc_sync *sync, const struct sc_call *call);

/* Begins a wait for the event. */
void sc_sync_begin_event(struct sc_sync *sync, const struct sc_call *call, CUevent event);

/* Ends the wait: if the call has succeeded, what it waited for is known done. Returns `result`. */
CUresult sc_sync_end(struct sc_sync *sync, CUresult result);

/* Wait in a call of the program's that does not wait itself: for the stream of this handle, where
 * NULL is the legacy stream; for the calling thread's context. */
CUresult sc_sync_stream(const struct sc_call *call, CUstream stream);
CUresult sc_sync_context(const struct sc_call *call);

#endif
