/* Replaces sources of a batch copy (batch_copies.h) in mode=fix: the device reads them elsewhere
 * than the program says, since the program may change them before the device has read them.
 *
 * A small source is read from a snapshot. Of a large pageable source the whole pages are protected.
 * The bytes before and after these share pages with other memory, so they are read from snapshots,
 * and the copy is made in up to three pieces. Two kinds of sources are read from a copy in memory
 * of the library's: those that may be on a stack, which cannot be protected, and those that this
 * driver would read later than its contract says.
 *
 * Locks: none may be held. Not for a signal handler. errno may change. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   slot: the place of one snapshot in staging memory
 *   snapshot: a copy of a small source, which the device reads instead of the source
 *   source: the memory that a copy reads
 *   wrapper: our function in the place of one of the driver's
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

/* How the device reads the source of one copy, kept until the call is over. */
struct sc_batch_source {
    uint8_t src_is, dst_is; /* enum sc_side_as */
    bool is_guard_chosen;
    uint16_t edge_bytes[2];   /* how many bytes lie before and behind the guarded pages */
    struct sc_slot *slot;     /* a snapshot of the whole source, or NULL */
    struct sc_slot *edges[2]; /* snapshots of these bytes, or NULL */
    uintptr_t guard_address;
    size_t guard_bytes;
    /* a copy, of copy_bytes, of a source that is too large for a snapshot; NULL: none */
    void *copy;
    size_t copy_bytes;
};

/* Small pageable sources that have a slot and whose bytes are still to be copied there, many by one
 * system call. */
struct sc_batch_gathered {
    unsigned count;
    struct sc_batch_source *sources[SC_PEEK_ITEMS_MAX];
    struct sc_peek_item items[SC_PEEK_ITEMS_MAX];
};

/* Returns the scratch memory that the wrapper has asked for; it lies after the sources. Pre:
 * batch->replaced. */
static inline void *sc_batch_sources_scratch(const struct sc_batch *batch)
{
    return batch->sources + batch->count;
}

/* Returns the record of how the device is to read the source of copy `index`; NULL: no memory. */
struct sc_batch_source *sc_batch_sources_at(struct sc_batch *batch, size_t index);

/* Returns the operation among `ops` (those of one copy) that reads the source; NULL: none does. */
struct sc_op_info *sc_batch_sources_op(struct sc_issue_ops *ops);

/* Returns as which call (track/copy_manner.h) the copy counts, by its access order. Pure. */
enum sc_copy_call sc_batch_sources_call(const struct sc_batch_copy *copy);

/* Returns true if this driver reads a large pageable source after the call has returned, although
 * the copy's order promises that the program may use the source again by then. */
bool sc_batch_sources_is_late(const struct sc_batch_copy *copy);

/* Returns true if sources of the batch may be replaced: in mode=fix, if the wrapper can do so. */
bool sc_batch_sources_are_replaced(const struct sc_batch *batch);

/* Replaces the source of this copy, if that is needed. Called before the driver's call, for each
 * copy in turn. Small pageable sources are only added to `gathered`; sc_batch_sources_read, called
 * at the end, copies them. */
void sc_batch_sources_replace(struct sc_batch *batch, size_t index, const struct sc_issue *issue,
                              const struct sc_batch_copy *copy, struct sc_batch_gathered *gathered);
void sc_batch_sources_read(struct sc_batch_gathered *gathered);

/* Splits a copy of `size_bytes` into the pieces that the device is to make, in order, by what
 * replaces parts of its source. If the batch must not be split (batch->splits), returns one piece,
 * and `size_bytes` is ignored. Returns the number of pieces. */
unsigned sc_batch_sources_pieces(const struct sc_batch *batch, size_t index, size_t size_bytes,
                                 struct sc_batch_piece pieces[SC_BATCH_PIECES_MAX]);

/* Hands the source's slots and copies over to the recorded operations, which release them when they
 * are forgotten. Called when the driver has accepted the call. */
void sc_batch_sources_hand_over(struct sc_batch_source *source, struct sc_issue_ops *ops);

/* Frees the records, when the call is over. `refused`: the driver may have begun some of the copies
 * all the same, so memory that they read is kept first, as if they were under way. */
void sc_batch_sources_end(struct sc_batch *batch, bool refused);

#endif
