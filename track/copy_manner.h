/* Tells when the driver reads a copy's source and writes its target, in the call or later, and
 * whether the call waits for that.
 *
 * The driver's rules are in docs/driver.md (Where a copy's memory lies); this is the only place in
 * the code that has them. What the driver does in the call, or makes the host wait for, is no
 * hazard, even if no manual promises it. The exception is what later drivers are known to do late.
 * Pure. */
#ifndef SC_TRACK_COPY_MANNER_H
#define SC_TRACK_COPY_MANNER_H

#include <stdbool.h>
#include <stddef.h>

#include "common/op_kinds.h"

/* A call that copies more pageable memory than this waits for its stream. */
enum { SC_COPY_STAGED_BYTES = 1024 * 1024 };

/* The call that makes the copy. Each access order of a batch counts as a call of its own. */
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
    /* managed memory that the call names by a unified address, or as the device's */
    SC_PLACE_MANAGED,
    SC_PLACE_MANAGED_AS_HOST, /* managed memory that the call names as the host's */
    SC_PLACE_LOCKED,          /* pinned or registered memory, whatever the call names it */
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
    SC_TAKEN,   /* this driver uses the bytes before the call returns; its contract lets it do so
                   later */
    SC_LATE,    /* in the stream's order */
};

/* How the driver makes a copy. `waits`: the call returns only when all earlier work of its stream
 * is done, and with it all reading and writing that is not late. Late reading or writing comes
 * after the return. */
struct sc_copy_manner {
    bool waits;
    enum sc_copy_time read, written;
};

struct sc_copy_manner sc_copy_manner_of(const struct sc_copy_case *asked);

/* Does the driver read the source late, although the call promises to have read it when it returns?
 */
bool sc_copy_manner_breaks_promise(const struct sc_copy_case *asked);

/* The place of memory of this kind, which is no device memory. */
static inline enum sc_copy_place sc_copy_manner_place(enum sc_buffer_kind kind)
{
    if (kind == SC_MANAGED)
        return SC_PLACE_MANAGED;
    return kind == SC_PINNED || kind == SC_REGISTERED ? SC_PLACE_LOCKED : SC_PLACE_PAGEABLE;
}

/* Is memory of this kind used late by an asynchronous copy whose other side is device memory? A
 * shorter way to the same answer, for calls that are made for every copy. */
static inline bool sc_copy_manner_is_late_beside_device(enum sc_buffer_kind kind)
{
    return sc_copy_manner_place(kind) != SC_PLACE_PAGEABLE;
}

#endif
