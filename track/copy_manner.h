/* Tells how the driver makes a copy: whether it reads the source and writes the target before the
 * call returns or later, and whether the call waits for its stream.
 *
 * docs/driver.md (Where a copy's memory lies) has the driver's rules; in the code they are here
 * alone. What the driver does before the call returns, or makes the host wait for, is no hazard,
 * even if no manual promises it. The exception is what later drivers are known to do after the
 * return.
 *
 * Pure functions. */

/* Terms (docs/glossary.md):
 *   source: the memory that a copy reads
 */

#ifndef SC_TRACK_COPY_MANNER_H
#define SC_TRACK_COPY_MANNER_H

#include <stdbool.h>
#include <stddef.h>

#include "common/op_kinds.h"

/* A call that copies more bytes of pageable memory than this waits for its stream. */
enum { SC_COPY_STAGED_BYTES = 1024 * 1024 };

/* The call that makes the copy. The three access orders of a batch count as three calls. */
enum sc_copy_call {
    SC_COPY_ASYNC,
    SC_COPY_SYNC,
    SC_COPY_NODE, /* a node of a graph; the call is the launch */
    SC_COPY_BATCH_STREAM,
    SC_COPY_BATCH_DURING_CALL,
    SC_COPY_BATCH_ANY,
};

enum sc_copy_place {
    SC_PLACE_DEVICE,
    /* managed memory that the call names by a unified address, or as device memory */
    SC_PLACE_MANAGED,
    SC_PLACE_MANAGED_AS_HOST, /* managed memory that the call names as host memory */
    SC_PLACE_LOCKED,          /* pinned or registered memory, however the call names it */
    SC_PLACE_PAGEABLE,
    SC_PLACES,
};

struct sc_copy_case {
    enum sc_copy_call call;
    enum sc_copy_place src, dst;
    bool in_place;     /* the device reads and writes pageable memory itself, without staging */
    size_t size_bytes; /* the source's bytes, gaps between rows included */
};

enum sc_copy_time {
    SC_IN_CALL, /* before the call returns */
    /* this driver uses the bytes before the call returns, and its contract allows it to use them
     * later */
    SC_TAKEN,
    SC_LATE, /* after the call returns, in the stream's order */
};

/* How the driver makes a copy. `waits`: the call returns only when all earlier work of its stream
 * is done, and all reading and writing that is not SC_LATE. SC_LATE reading or writing may still
 * come after the return. */
struct sc_copy_manner {
    bool waits;
    enum sc_copy_time read, written;
};

struct sc_copy_manner sc_copy_manner_of(const struct sc_copy_case *asked);

/* Returns true if the driver reads the source after the call has returned, although the call's
 * contract promises that it has read it by then. */
bool sc_copy_manner_breaks_promise(const struct sc_copy_case *asked);

/* Returns which of these places host memory of this kind is for the driver. */
static inline enum sc_copy_place sc_copy_manner_place(enum sc_buffer_kind kind)
{
    if (kind == SC_MANAGED)
        return SC_PLACE_MANAGED;
    return kind == SC_PINNED || kind == SC_REGISTERED ? SC_PLACE_LOCKED : SC_PLACE_PAGEABLE;
}

/* Returns true if an asynchronous copy between this memory and device memory uses this memory after
 * the call returns. The same answer as sc_copy_manner_of, but quicker, since every copy asks. */
static inline bool sc_copy_manner_is_late_beside_device(enum sc_buffer_kind kind)
{
    return sc_copy_manner_place(kind) != SC_PLACE_PAGEABLE;
}

#endif
