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

/* What kind of memory an address of a batch lies in, kept so that the driver is asked once and not
 * again behind the call. */
enum sc_batch_side { SC_BATCH_UNKNOWN, SC_BATCH_HOST /* pageable */, SC_BATCH_OTHER };

/* One copy of a batch. */
struct sc_batch_copy {
    enum sc_batch_side src_is, dst_is; /* given to sc_batch_describe */
    struct sc_copy_sides sides;
    CUmemcpySrcAccessOrder order;
    struct sc_copy_manner manner; /* found from the sides and the order */
};

struct sc_batch;

/* How many words two plain copies of a batch take. A batch of so few stands on the caller's stack
 * while the driver is called. */
enum { SC_BATCH_FEW_WORDS = 36 };

/* Describes the copy of this index. Copies are described in the order of their indices. */
typedef void sc_batch_describe(struct sc_batch *batch, size_t index, struct sc_batch_copy *copy);

struct sc_batch {
    const struct sc_call *call;
    CUstream handle;
    size_t count;
    sc_batch_describe *describe;
    bool splits;            /* the caller can have one copy made as several pieces */
    bool replaced;          /* result: at least one source is replaced */
    uint32_t scratch_bytes; /* what the caller needs for each copy; 0: no source may be replaced */
    /* results */
    struct sc_stream_record *stream; /* NULL: nothing is noted */
    struct sc_order_call ordered;
    bool waits;            /* result: at least one copy makes the call wait for its stream */
    struct sc_point point; /* with `waits`: the earlier work that is waited for */
    struct sc_batch_source *sources;  /* one for each copy; NULL: there is no memory */
    uint32_t extra;                   /* how many pieces there are more than copies */
    uint64_t few[SC_BATCH_FEW_WORDS]; /* room for the sources and the scratch memory, if they fit */
};

/* A part of a copy's bytes, and from where the device is to read it. `source` NULL: from where the
 * program says. */
struct sc_batch_piece {
    size_t offset, size_bytes;
    const void *source;
};

enum { SC_BATCH_PIECES_MAX = 3 };

#endif
