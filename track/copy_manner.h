/* When a copy reads its source and writes its target, and whether its call waits for that.
 *
 * The driver's rules are in docs/driver.md (Where a copy's memory lies); this is the one place that
 * has them. What the driver does in the call, or makes the host wait for, is no hazard, also where
 * no manual promises it. An exception is what later drivers are known to do late. Pure.
 */
#ifndef SC_TRACK_COPY_MANNER_H
#define SC_TRACK_COPY_MANNER_H

#include <stdbool.h>
#include <stddef.h>

#include "common/op_kinds.h"

/* A call with more pageable memory than this waits for its stream. */
enum { SC_COPY_STAGED_BYTES = 1024 * 1024 };

/* What makes the copy. Each access order of a batch is a call of its own. */
enum sc_copy_call {
    SC_COPY_ASYNC,
    SC_COPY_SYNC,
    SC_COPY_NODE, /* of a graph, from its launch on */
    SC_COPY_BATCH_STREAM,
    SC_COPY_BATCH_DURING_CALL,
    SC_COPY_BATCH_ANY,
};

enum sc_copy_place {
    SC_PLACE_DEVICE,
    SC_PLACE_MANAGED,         /* by a unified address, or named as the device's */
    SC_PLACE_MANAGED_AS_HOST, /* managed memory that the call names as the host's */
    SC_PLACE_LOCKED,          /* pinned or registered, whatever the call names it */
    SC_PLACE_PAGEABLE,
    SC_PLACES,
};

struct sc_copy_case {
    enum sc_copy_call call;
    enum sc_copy_place src, dst;
    bool in_place;     /* the device works with pageable memory itself */
    size_t size_bytes; /* of the source's hull */
};

enum sc_copy_time {
    SC_IN_CALL, /* before the call returns */
    SC_TAKEN,   /* so does this driver; its contract lets it do so later */
    SC_LATE,    /* in the stream's order */
};

/* `waits`: the call returns when all before it on its stream is done, and what is not late is done
 * as well. What is late comes behind the call's return then, too. */
struct sc_copy_manner {
    bool waits;
    enum sc_copy_time read, written;
};

struct sc_copy_manner sc_copy_manner_of(const struct sc_copy_case *asked);

/* Does the driver read the source late, though the call promises to have read it? */
bool sc_copy_manner_breaks_promise(const struct sc_copy_case *asked);

/* Where memory of this kind lies that is no device memory. */
static inline enum sc_copy_place sc_copy_manner_place(enum sc_buffer_kind kind)
{
    if (kind == SC_MANAGED)
        return SC_PLACE_MANAGED;
    return kind == SC_PINNED || kind == SC_REGISTERED ? SC_PLACE_LOCKED : SC_PLACE_PAGEABLE;
}

/* Is memory of this kind used late by an asynchronous copy whose other side is device memory? The
 * same answer, for those who ask for every copy. */
static inline bool sc_copy_manner_is_late_beside_device(enum sc_buffer_kind kind)
{
    return sc_copy_manner_place(kind) != SC_PLACE_PAGEABLE;
}

#endif
