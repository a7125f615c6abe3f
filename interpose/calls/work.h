/* What a wrapper does around work that is no operation on host memory: kernels, host functions,
 * waits for values, waits for events, and the like.
 *
 * Thread-safe. Locks: none may be held. Not for a signal handler: the driver may be called. */

/* Terms (docs/glossary.md):
 *   awaits the host: goes on only when the host does something
 *   host function: a function that the driver calls in a stream's order (cuLaunchHostFunc)
 *   in flight: issued, and the host does not know yet that it is done
 *   legacy stream: a context's default stream, which is ordered with all its blocking streams
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   site: the address to which a hook or wrapper returns: the program's call
 *   source: the memory that a copy reads
 *   ticks: a time of the processor's counter
 *   wrapper: our function in the place of one of the driver's
 */

#ifndef SC_INTERPOSE_CALLS_WORK_H
#define SC_INTERPOSE_CALLS_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/points.h"
#include "interpose/driver/driver.h"

enum sc_simplicity;
struct sc_call;
struct sc_point;
struct sc_stream_record;

/* What the work may do, as bits. A kernel may write host memory, wait for the host
 * (interpose/streams/unfinished.h), and tell the host that earlier work is done. It hardly ever
 * waits, so SC_WORK_KERNEL has no bit for that. */
enum {
    SC_WORK_QUIET = 0,
    SC_WORK_MAY_WRITE = 1,   /* it may write host memory */
    SC_WORK_AWAITS_HOST = 2, /* it goes on only when the host does something */
    /* it tells the host that earlier work is done, in a way that the library does not see */
    SC_WORK_SIGNALS = 4,
    SC_WORK_OF_DEVICE = 8, /* the device does it, without the host */
    SC_WORK_TELLS = 16,    /* the host sees it begin, and knows then that earlier work is done */
    SC_WORK_KERNEL = SC_WORK_MAY_WRITE | SC_WORK_OF_DEVICE,
    SC_WORK_FUNCTION = SC_WORK_MAY_WRITE | SC_WORK_TELLS,
};

/* One call that issues such work, from before the driver's call. sc_work_begin is called before
 * that call, and sc_work_end, which returns `result`, after it. */
struct sc_work {
    const struct sc_call *call;
    struct sc_stream_record *stream; /* NULL: nothing is noted */
    unsigned kind;                   /* SC_WORK_* */
    struct sc_order_call ordered;
    /* if the work awaits the host: taken before its wait begins (sc_unseen_begin) */
    struct sc_ticket waits_from;
};
void sc_work_begin(struct sc_work *work, const struct sc_call *call, CUstream stream,
                   unsigned kind);
CUresult sc_work_end(struct sc_work *work, CUresult result);

/* The quick way for a kernel, if its stream and all else in flight is simple
 * (sc_streams_find_simple). Begin, called before the driver's call, notes the launch and returns
 * the stream, for end; NULL: nothing is noted, and the slow way is needed. `api`, `site`,
 * `per_thread`: the members of the call's struct sc_call (interpose/driver/call.h). */
struct sc_stream_record *sc_work_begin_simple_launch(enum sc_simplicity least, CUstream stream,
                                                     bool per_thread);
void sc_work_end_simple_launch(const char *api, void *site, bool per_thread,
                               struct sc_stream_record *stream, CUresult result);

/* The quick way for a free in the order of the legacy stream. Such a free writes no memory, so it
 * is not noted as work that may. Returns the stream; NULL: the slow way is needed. */
struct sc_stream_record *sc_work_begin_legacy_free(enum sc_simplicity least, CUstream stream,
                                                   bool per_thread);

/* Called before work of the stream that may write anywhere, also to managed memory. Managed sources
 * that the work comes after are compared for the last time; those that have changed are reported
 * (SC201). `after`: what the work comes after besides the stream's earlier work, or NULL.
 * `in_order` false: the work may come after more than these two, in a way that the library cannot
 * see, so that it is not known which sources it comes after. */
void sc_work_may_write(const struct sc_call *call, struct sc_stream_record *stream,
                       const struct sc_point *after, bool in_order);

/* Adds work to the history. The work is done when the host knows that `number` operations of the
 * stream are done. `ticks`: the present time. */
void sc_work_add_history(const struct sc_call *call, const struct sc_stream_record *stream,
                         uint64_t number, uint64_t ticks);

#endif
