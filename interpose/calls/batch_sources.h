/* Sources of a batch that the device reads elsewhere than the program says (batch_copies.h).
 *
 * In mode=fix a small source is read from a snapshot. A large pageable one has its whole pages
 * guarded. What lies before and behind them, on pages that hold other memory too, is read from
 * snapshots: the copy is made in pieces. What cannot be guarded since it may be on a stack, and
 * what the driver would read late against its contract, is read from a copy of the library's.
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

/* What is kept of each copy until the call is over. */
struct sc_batch_source {
    uint8_t src_is, dst_is; /* enum sc_batch_side */
    bool is_guard_chosen;
    uint16_t edge_bytes[2];
    struct sc_slot *slot;     /* of all of it */
    struct sc_slot *edges[2]; /* of the bytes before and behind the guarded pages */
    uintptr_t guard_address;
    size_t guard_bytes;
    void *copy; /* of copy_bytes */
    size_t copy_bytes;
};

/* Small pageable sources that are still to be read, many by one system call. */
struct sc_batch_gathered {
    unsigned count;
    struct sc_batch_source *sources[SC_PEEK_ITEMS_MAX];
    struct sc_peek_item items[SC_PEEK_ITEMS_MAX];
};

/* What the caller wants for each copy lies behind the sources. Needs: some are replaced. */
static inline void *sc_batch_sources_scratch(const struct sc_batch *batch)
{
    return batch->sources + batch->count;
}

/* NULL: there is no memory. */
struct sc_batch_source *sc_batch_sources_at(struct sc_batch *batch, size_t index);

/* The operation that reads the source, or NULL. */
struct sc_op_info *sc_batch_sources_op(struct sc_issue_ops *ops);

/* What the copy is by its access order. Pure. */
enum sc_copy_call sc_batch_sources_call(const struct sc_batch_copy *copy);

/* Does the driver read a large pageable source after the call, which the program may change by
 * then? */
bool sc_batch_sources_is_late(const struct sc_batch_copy *copy);

/* May sources be replaced? */
bool sc_batch_sources_are_replaced(const struct sc_batch *batch);

/* Before the call, of each copy in turn; small pageable sources are read at the end. */
void sc_batch_sources_replace(struct sc_batch *batch, size_t index, const struct sc_issue *issue,
                              const struct sc_batch_copy *copy, struct sc_batch_gathered *gathered);
void sc_batch_sources_read(struct sc_batch_gathered *gathered);

/* The pieces of a copy of so many bytes, in order. Returns how many there are. */
unsigned sc_batch_sources_pieces(const struct sc_batch *batch, size_t index, size_t size_bytes,
                                 struct sc_batch_piece pieces[SC_BATCH_PIECES_MAX]);

/* The driver has accepted: what is kept of the copy's source becomes the operation's. */
void sc_batch_sources_hand_over(struct sc_batch_source *source, struct sc_issue_ops *ops);

/* The call is over. `refused`: what the driver may have begun to read is kept for it. */
void sc_batch_sources_end(struct sc_batch *batch, bool refused);

#endif
