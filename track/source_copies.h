/* Keeps copies of sources in flight, and tells whether a source still holds what it held at the
 * issue. The copies are snapshots, and copies of pages that nobody guards or whose guard has ended.
 *
 * A part of inflight.c. Others call only sc_source_copies_release_slots, for an operation that was
 * not added, and comparisons.c sc_source_copies_can_read. Locks: every function needs the owner's
 * lock. */
#ifndef SC_TRACK_SOURCE_COPIES_H
#define SC_TRACK_SOURCE_COPIES_H

#include "track/inflight.h"

void sc_source_copies_init(struct sc_inflight *inflight);

/* Copies the pages of the source that nobody guards: the first and the last page, or all of a small
 * source. False: there is no memory, or the source cannot be read, and is not compared there. */
bool sc_source_copies_copy_edges(struct sc_inflight *inflight, struct sc_op *op);
/* Copies the source's bytes on those pages of the span that the interval touches. False: as for
 * sc_source_copies_copy_edges. */
bool sc_source_copies_copy_pages(struct sc_inflight *inflight, struct sc_op *op, uint32_t span,
                                 uintptr_t start, uintptr_t end);
/* Gives the operation's slots back to staging memory. */
void sc_source_copies_release_slots(struct sc_op_info *info);
/* Frees all copies of the operation's source, and waits for a comparison under way. */
void sc_source_copies_drop_copies(struct sc_inflight *inflight, struct sc_op *op);

/* Compares the sources of several operations, at most SC_PEEK_ITEMS_MAX, with as few system calls
 * as it can. The results (`looked`, `differs`) hold until the lock is given back. */
void sc_source_copies_compare(struct sc_op *const *ops, unsigned count);

/* May the source's bytes be read directly, without asking the kernel? The answer holds until the
 * lock is given back, if nothing else is issued on its pages meanwhile. */
bool sc_source_copies_can_read(struct sc_inflight *inflight, const struct sc_op_info *info,
                               uintptr_t address, size_t size_bytes);

/* Does the source differ from its copies or its snapshot? False if an early touch of pageable
 * memory was already reported, since the edges of such memory are hardly ever left alone. */
bool sc_source_copies_differ(struct sc_inflight *inflight, const struct sc_op *op);

#endif
