/* A batch of copies, as its wrappers describe it. Plain data of the calling thread: no lock, no
 * function, nothing for a signal handler.
 */
#ifndef SC_INTERPOSE_CALLS_BATCH_H
#define SC_INTERPOSE_CALLS_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/points.h"
#include "interpose/graph/copy_sides.h"
#include "track/copy_manner.h"

struct sc_batch_source;
struct sc_call;
struct sc_stream_record;

/* What is known of an address: behind the call the driver is not asked once more. */
enum sc_batch_side { SC_BATCH_UNKNOWN, SC_BATCH_HOST, SC_BATCH_OTHER };

/* One copy of a batch. */
struct sc_batch_copy {
    enum sc_batch_side src_is, dst_is; /* given */
    struct sc_copy_sides sides;
    CUmemcpySrcAccessOrder order;
    struct sc_copy_manner manner; /* found out */
};

struct sc_batch;

/* The words of two copies of runs of bytes. They stand on the caller's stack while the driver is
 * called. */
enum { SC_BATCH_FEW_WORDS = 36 };

/* Describes a copy. They are asked for in the order of their indices. */
typedef void sc_batch_describe(struct sc_batch *batch, size_t index, struct sc_batch_copy *copy);

struct sc_batch {
    const struct sc_call *call;
    CUstream handle;
    size_t count;
    sc_batch_describe *describe;
    bool splits;            /* the caller can have a copy made in pieces */
    bool replaced;          /* result: some sources are */
    uint32_t scratch_bytes; /* that the caller wants for each copy; 0: no source may be replaced */
    /* results */
    struct sc_stream_record *stream; /* NULL: nothing is noted */
    struct sc_order_call ordered;
    bool waits;                       /* for its stream: one of the copies does */
    struct sc_point point;            /* then: what comes before */
    struct sc_batch_source *sources;  /* of each copy; NULL: there is no memory */
    uint32_t extra;                   /* pieces beyond one for each copy */
    uint64_t few[SC_BATCH_FEW_WORDS]; /* for these and the scratch memory behind, if they fit */
};

/* A part of a copy's bytes, and where the device is to read it. NULL: where the program says. */
struct sc_batch_piece {
    size_t offset, size_bytes;
    const void *source;
};

enum { SC_BATCH_PIECES_MAX = 3 };

#endif
