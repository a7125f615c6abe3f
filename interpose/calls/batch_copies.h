/* The copies of a batch that nothing captures: what each does with memory is judged before the
 * call, and recorded behind it.
 *
 * The copies are unordered among each other. Each is held against what was in flight before the
 * batch, as it would be had it been issued alone. What follows a call is done once for all of them:
 * a stack, a mark, a change of protected pages, an entry of the history.
 *
 * A source is in flight as the contract of its access order has it, whenever this driver reads it
 * (docs/driver.md, Batch copies of pageable memory). In mode=fix a source may be replaced: the
 * device then reads a copy of the library's.
 *
 * Locks: none may be held. Not for a signal handler: the driver is called. errno is kept.
 */
#ifndef SC_INTERPOSE_CALLS_BATCH_COPIES_H
#define SC_INTERPOSE_CALLS_BATCH_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interpose/driver/call.h"
#include "interpose/driver/driver.h"
#include "interpose/graph/copy_sides.h"
#include "interpose/streams/streams.h"
#include "track/order.h"

struct sc_batch_source;

/* What is known of an address: behind the call the driver is not asked once more. */
enum sc_batch_side { SC_BATCH_UNKNOWN, SC_BATCH_HOST, SC_BATCH_OTHER };

/* One copy of a batch. */
struct sc_batch_copy {
    enum sc_batch_side src_is, dst_is; /* given */
    struct sc_copy_sides sides;
    CUmemcpySrcAccessOrder order;
};

struct sc_batch;

enum { SC_BATCH_FEW_WORDS = 64 };

/* Describes a copy. They are asked for in the order of their indices. */
typedef void sc_batch_describe(struct sc_batch *batch, size_t index, struct sc_batch_copy *copy);

struct sc_batch {
    const struct sc_call *call;
    CUstream handle;
    size_t count;
    sc_batch_describe *describe;
    bool splits;          /* the caller can have a copy made in pieces */
    size_t scratch_bytes; /* that the caller wants for each copy; 0: no source may be replaced */
    /* results */
    struct sc_stream_record *stream; /* NULL: nothing is noted */
    struct sc_order_call ordered;
    struct sc_batch_source *sources;  /* of each copy; NULL: there is no memory */
    bool replaced;                    /* some sources are */
    size_t extra;                     /* pieces beyond one for each copy */
    void *scratch;                    /* behind the sources */
    uint64_t few[SC_BATCH_FEW_WORDS]; /* for both, where they have room there */
};

/* Side of a plain copy: host memory if it is known, or pageable to the program. */
struct sc_copy_side sc_batch_copies_side_at(CUdeviceptr address, size_t size_bytes,
                                            enum sc_batch_side is);

/* Around the call. Without sc_batch_copies_begin, sc_batch_copies_end notes nothing. */
void sc_batch_copies_begin(struct sc_batch *batch);
CUresult sc_batch_copies_end(struct sc_batch *batch, CUresult result);

/* A part of a copy's bytes, and where the device is to read it. NULL: where the program says. */
struct sc_batch_piece {
    size_t offset, size_bytes;
    const void *source;
};

enum { SC_BATCH_PIECES_MAX = 3 };

/* The pieces of a copy of so many bytes, in order. Returns how many there are. */
unsigned sc_batch_copies_pieces(const struct sc_batch *batch, size_t index, size_t size_bytes,
                                struct sc_batch_piece pieces[SC_BATCH_PIECES_MAX]);

#endif
