/* What a wrapper does around work that is no operation on host memory: kernels, host functions,
 * waits for values, event waits, and the like.
 *
 * Thread-safe. Locks: none may be held. Not for a signal handler: the driver may be called.
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

/* What the work may do: write host memory, wait for the host (interpose/streams/unfinished.h), tell
 * the host that what came before it is done. A kernel may do each of these, and hardly ever waits.
 */
enum {
    SC_WORK_QUIET = 0,
    SC_WORK_MAY_WRITE = 1,
    SC_WORK_AWAITS_HOST = 2,
    SC_WORK_SIGNALS = 4,
    SC_WORK_OF_DEVICE = 8, /* the host has no part in it */
    SC_WORK_TELLS = 16,    /* the host hears of its beginning, when what came before is done */
    SC_WORK_KERNEL = SC_WORK_MAY_WRITE | SC_WORK_OF_DEVICE,
    SC_WORK_FUNCTION = SC_WORK_MAY_WRITE | SC_WORK_TELLS,
};

/* Around the call; the end hands the result on. */
struct sc_work {
    const struct sc_call *call;
    struct sc_stream_record *stream; /* NULL: nothing is to be noted */
    unsigned kind;
    struct sc_order_call ordered;
    struct sc_ticket waits_from; /* of work that awaits the host */
};
void sc_work_begin(struct sc_work *work, const struct sc_call *call, CUstream stream,
                   unsigned kind);
CUresult sc_work_end(struct sc_work *work, CUresult result);

/* The same around a kernel, where the stream is found to be simple (sc_streams_find_simple), and so
 * is what else is in flight. NULL: it is not. The end is told what its call is made of. */
struct sc_stream_record *sc_work_begin_simply(enum sc_simplicity least, CUstream stream,
                                              bool per_thread);
void sc_work_end_simply(const char *api, void *site, bool per_thread,
                        struct sc_stream_record *stream, CUresult result);

/* The same before the free of memory in the order of the legacy stream, which has no effect on
 * memory. */
struct sc_stream_record *sc_work_begin_legacy_free(enum sc_simplicity least, CUstream stream,
                                                   bool per_thread);

/* For the history: the memory is freed; `stack` is the call's, and the thread the calling one. */
void sc_work_note_free(const char *api, void *site, const struct sc_stream_record *stream,
                       uintptr_t address, uint32_t stack, int32_t thread);

/* Before work of the stream's that may write memory of which nobody says where. It may be managed
 * memory: sources there that the work comes after are compared with what they were for the last
 * time (SC201). `after`: what the work comes after besides the stream's earlier work, or NULL;
 * `in_order`: nothing else. */
void sc_work_may_write(const struct sc_call *call, struct sc_stream_record *stream,
                       const struct sc_point *after, bool in_order);

/* For the history of the stream. It is done once the host knows that so many operations are.
 * `ticks`: now. */
void sc_work_note(const struct sc_call *call, const struct sc_stream_record *stream,
                  uint64_t number, uint64_t ticks);

#endif
