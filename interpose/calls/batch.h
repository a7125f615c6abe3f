/* A batch of copies (cuMemcpyBatchAsync and the like), as its wrappers describe it to
 * batch_copies.h. Plain data of the calling thread; no locks. */

/* Terms (docs/glossary.md):
 *   source: the memory that a copy reads
 *   wrapper: our function in the place of one of the driver's
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

/* One copy of a batch. */
struct sc_batch_copy {
    /* as what the two addresses are looked up, set before sc_batch_describe is called: the driver
     * is asked before the call alone, and not again after it */
    enum sc_side_as src_is, dst_is;
    struct sc_copy_sides sides;
    CUmemcpySrcAccessOrder order;
    struct sc_copy_manner manner; /* how the driver makes the copy, by its sides and its order */
};

struct sc_batch;

/* How many words the sources and scratch memory of two contiguous copies take. A batch with so few
 * words is kept on the wrapper's stack. */
enum { SC_BATCH_FEW_WORDS = 36 };

/* Fills `copy` with the batch's copy of this index, from the arguments of the program's call.
 * Called for all copies, in the order of their indices, before the driver's call and again after
 * it. */
typedef void sc_batch_describe(struct sc_batch *batch, size_t index, struct sc_batch_copy *copy);

/* One call that makes a batch: its arguments, and what sc_batch_copies_begin finds before the
 * driver's call ("result"). */
struct sc_batch {
    const struct sc_call *call;
    CUstream handle;
    size_t count;
    sc_batch_describe *describe;
    bool splits; /* the wrapper can have one copy made in several pieces */
    /* result: the device reads at least one source elsewhere than the program says */
    bool replaced;
    /* scratch memory that the wrapper needs for each copy; 0: no source may be replaced */
    uint32_t scratch_bytes;
    struct sc_stream_record *stream; /* result; NULL: nothing is recorded */
    struct sc_order_call ordered;    /* result: the call on the stream, as the tracker knows it */
    bool waits;            /* result: at least one copy makes the call wait for its stream */
    struct sc_point point; /* if it waits: the earlier work that it waits for */
    struct sc_batch_source *sources; /* one for each copy; NULL: no memory */
    uint32_t extra;                  /* how many more pieces than copies there are */
    /* room for the sources and the scratch memory if there are few */
    uint64_t few[SC_BATCH_FEW_WORDS];
};

/* A piece of a copy that the device makes separately. `source`: where the device reads it; NULL:
 * where the program says. */
struct sc_batch_piece {
    size_t offset, size_bytes;
    const void *source;
};

enum { SC_BATCH_PIECES_MAX = 3 };

#endif
