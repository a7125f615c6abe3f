/* Do the sources of operations in flight still hold what they held at the issue? Snapshots tell,
 * and copies of the pages that nobody guards, or that were let go.
 *
 * A part of inflight.c, which alone calls these functions, but for giving back the slots of what it
 * has not taken.
 * Locks: every function needs the owner's lock.
 */
#ifndef SC_TRACK_SOURCE_COPIES_H
#define SC_TRACK_SOURCE_COPIES_H

#include "track/inflight.h"

void sc_source_copies_init(struct sc_inflight *inflight);

/* Copy what is compared in the end: the pages of the source that nobody guards, or the pages of the
 * span that the interval touches. False: there is no memory, or the source cannot be read, and is
 * not compared there. */
bool sc_source_copies_copy_edges(struct sc_inflight *inflight, struct sc_op *op);
bool sc_source_copies_copy_pages(struct sc_inflight *inflight, struct sc_op *op, uint32_t span,
                                 uintptr_t start, uintptr_t end);
void sc_source_copies_give_slots(struct sc_op_info *info);
void sc_source_copies_drop_copies(struct sc_inflight *inflight, struct sc_op *op);

/* Looks at the sources of many operations at once, at most SC_PEEK_ITEMS_MAX, as far as that saves
 * system calls: what was found is good until the lock is given back. */
void sc_source_copies_look(struct sc_op *const *ops, unsigned count);

/* May the bytes of the source be read as they lie, and not by way of the kernel? Good until the
 * lock is given back, and for as long as nothing else is issued beside them. */
bool sc_source_copies_can_read(struct sc_inflight *inflight, const struct sc_op_info *info,
                               uintptr_t address, size_t size_bytes);

/* Does the source differ from its copies, or from its snapshots? Not once more, where a touch of
 * pageable memory was reported: its edges are hardly ever spared. */
bool sc_source_copies_changed(struct sc_inflight *inflight, const struct sc_op *op);

#endif
