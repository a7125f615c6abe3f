/* Sources of a batch that the device reads elsewhere than the program says (batch_copies.h).
 *
 * In mode=fix a small source is read from a snapshot. Of a large pageable source the whole pages
 * are guarded; its bytes before and behind these lie on pages with other memory, and are read from
 * snapshots: the copy is made in pieces. Two kinds of sources are read from a copy of the
 * library's: those that may be on a stack, which cannot be guarded, and those that the driver would
 * read late, against its contract.
 *
 * Locks: none may be held. Not for a signal handler. errno may change.
 */
#ifndef SC_INTERPOSE_CALLS_BATCH_SOURCES_H
#define SC_INTERPOSE_CALLS_BATCH_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/peek.h"
#include "interpose/calls/batch.h"

enum sc_copy_call;
struct sc_issue;
struct sc_issue_ops;
struct sc_slot;

/* What is kept of one copy until the call is over. */
struct sc_batch_source {
    uint8_t src_is, dst_is; /* enum sc_batch_side */
    bool is_guard_chosen;
    uint16_t edge_bytes[2];   /* how many bytes lie before and behind the guarded pages */
    struct sc_slot *slot;     /* a snapshot of the whole source, or NULL */
    struct sc_slot *edges[2]; /* snapshots of these bytes, or NULL */
    uintptr_t guard_address;
    size_t guard_bytes;
    /* a copy, of copy_bytes, of a source that is too large for a snapshot; NULL: there is none */
    void *copy;
    size_t copy_bytes;
};

/* Small pageable sources whose bytes are still to be copied into their slots, many by one system
 * call. */
struct sc_batch_gathered {
    unsigned count;
    struct sc_batch_source *sources[SC_PEEK_ITEMS_MAX];
    struct sc_peek_item items[SC_PEEK_ITEMS_MAX];
};

/* The scratch memory that the caller has asked for; it lies behind the sources. Pre:
 * batch->replaced. */
static inline void *sc_batch_sources_scratch(const struct sc_batch *batch)
{
    return batch->sources + batch->count;
}

/* The record of how the device is to read the source of copy `index`. NULL: there is no memory. */
struct sc_batch_source *sc_batch_sources_at(struct sc_batch *batch, size_t index);

/* The operation among `ops` that reads the source, or NULL. */
struct sc_op_info *sc_batch_sources_op(struct sc_issue_ops *ops);

/* As which kind of call (track/copy_manner.h) the copy counts, by its access order. Pure. */
enum sc_copy_call sc_batch_sources_call(const struct sc_batch_copy *copy);

/* Does this driver read a large pageable source after the call, though the copy's order promises
 * the source back to the program by then? */
bool sc_batch_sources_is_late(const struct sc_batch_copy *copy);

/* May sources of the batch be replaced? */
bool sc_batch_sources_are_replaced(const struct sc_batch *batch);

/* Replaces the source of this copy, before the call. Called for each copy in turn.
 * sc_batch_sources_read at the end reads the small pageable sources that were gathered. */
void sc_batch_sources_replace(struct sc_batch *batch, size_t index, const struct sc_issue *issue,
                              const struct sc_batch_copy *copy, struct sc_batch_gathered *gathered);
void sc_batch_sources_read(struct sc_batch_gathered *gathered);

/* Splits a copy of `size_bytes` into the pieces that the device is to make, in order, by what
 * replaces parts of its source. If the batch is not to be split (batch->splits) there is one piece,
 * and `size_bytes` may be any number. Returns the number of pieces. */
unsigned sc_batch_sources_pieces(const struct sc_batch *batch, size_t index, size_t size_bytes,
                                 struct sc_batch_piece pieces[SC_BATCH_PIECES_MAX]);

/* The driver has accepted the call: the recorded operations own the source's slots and copies from
 * now on. */
void sc_batch_sources_hand_over(struct sc_batch_source *source, struct sc_issue_ops *ops);

/* Ends what is kept, when the call is over. `refused`: the driver may have begun with some copies,
 * so what they read is kept for the device. */
void sc_batch_sources_end(struct sc_batch *batch, bool refused);

#endif
