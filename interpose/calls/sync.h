/* Notes what the program learns by calls that wait, such as cuStreamSynchronize: all work that such
 * a call has waited for is known done afterwards.
 *
 * Before the driver's call, a function sc_sync_begin_* stores the point: all work issued by now.
 * After a successful call, sc_sync_end notes all of it as done, reports sources that were
 * overwritten too early, and unprotects pages.
 *
 * Thread-safe. Locks: none may be held. sc_sync_end keeps errno. Not for a signal handler. */

/* Terms (docs/glossary.md):
 *   blocking stream: a stream without CU_STREAM_NON_BLOCKING
 *   known done: waited for by the program, itself or by something behind it
 *   legacy stream: a context's default stream, which is ordered with all its blocking streams
 *   point: all work issued on a stream so far, with what that work had waited for (its clock)
 *   source: the memory that a copy reads
 *   wrapper: our function in the place of one of the driver's
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

/* One call that waits, from before it is made. */
struct sc_sync {
    bool on;        /* false: the library is inactive, or the wait shows nothing */
    bool all_known; /* the host already knows all that is issued by now to be done */
    const struct sc_call *call;
    struct sc_stream_record *stream; /* the stream that is waited for, or NULL */
    struct sc_context *context;      /* the context that is waited for as a whole, or NULL */
    /* work that was issued before this time is done when the call has returned (unfinished.h) */
    uint64_t since_ticks;
    struct sc_behind behind;      /* if an event is waited for: where it was recorded */
    struct sc_order_call ordered; /* if the call is also work on the stream: that call */
    struct sc_point point;        /* what is done when the call has returned */
};

/* Begins a wait for all work of the stream; on the legacy stream, for all work of every blocking
 * stream of its context. */
void sc_sync_begin_stream(struct sc_sync *sync, const struct sc_call *call, CUstream stream);

/* Begins a synchronous copy, which is work on the stream as well as a wait for it. `to_device`: the
 * copy writes device memory, and not host memory. */
void sc_sync_begin_copy(struct sc_sync *sync, const struct sc_call *call,
                        struct sc_stream_record *stream, bool to_device);

/* Begins a free of memory of the driver's, which waits for the context of that memory. */
void sc_sync_begin_free(struct sc_sync *sync, const struct sc_call *call);

/* Prepares sc_sync_end for a call that waits for nothing, as a free of pool memory, so that the
 * wrapper ends all its frees alike. */
void sc_sync_begin_nothing(struct sc_sync *sync, const struct sc_call *call);

/* Ends the wait: if the call has succeeded, what it has waited for is known done. Returns `result`.
 */
CUresult sc_sync_end(struct sc_sync *sync, CUresult result);

/* Makes a wait of the library's within a call of the program that does not wait itself, for the
 * stream of this handle (NULL: the legacy stream). Returns the driver's result. */
CUresult sc_sync_stream(const struct sc_call *call, CUstream stream);

#endif
