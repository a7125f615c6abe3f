/* Keeps copies of sources in flight, and tells whether a source still has the bytes that it had at
 * the issue. The copies are snapshots, and copies of pages that are not guarded, or no longer.
 *
 * A part of track/inflight.c. Other files call only sc_source_copies_release_slots, for an
 * operation that was not added, and sc_source_copies_can_read (comparisons.c). Locks: every
 * function needs the tracker's lock. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 *   in flight: issued, and the host does not know yet that it is done
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   slot: the place of one snapshot in staging memory
 *   snapshot: a copy of a small source, which the device reads instead of the source
 *   source: the memory that a copy reads
 *   span: a run of pages that one operation wants protected
 *   staging memory: pinned memory of the library's, cut into slots for snapshots
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_TRACK_SOURCE_COPIES_H
#define SC_TRACK_SOURCE_COPIES_H

#include "track/inflight.h"

void sc_source_copies_init(struct sc_inflight *inflight);

/* Copies the pages of the source that are not protected, to be compared later: the first and the
 * last page, or all of a small source. Returns false if there is no memory, or the source cannot be
 * read; the source is not compared there. */
bool sc_source_copies_copy_edges(struct sc_inflight *inflight, struct sc_op *op);
/* Copies the source's bytes on those pages of the span (a run of protected pages) that overlap the
 * interval, which are about to be unprotected. Returns false as sc_source_copies_copy_edges does.
 */
bool sc_source_copies_copy_pages(struct sc_inflight *inflight, struct sc_op *op, uint32_t span,
                                 uintptr_t start, uintptr_t end);
/* Releases the operation's slots of staging memory: its snapshot, and copies of its source's ends.
 */
void sc_source_copies_release_slots(struct sc_op_info *info);
/* Frees all copies of the operation's source. First waits for a comparison that another thread is
 * making. */
void sc_source_copies_drop_copies(struct sc_inflight *inflight, struct sc_op *op);

/* Compares the sources of several operations, at most SC_PEEK_ITEMS_MAX, with their copies, in as
 * few system calls as possible. Stores the results in the operations (`looked`, `differs`); they
 * are valid until the lock is released. */
void sc_source_copies_compare(struct sc_op *const *ops, unsigned count);

/* Returns true if the bytes of the source can be read directly, without a system call that copes
 * with unreadable pages. Valid until the lock is released, and as long as nothing else is issued on
 * its pages. */
bool sc_source_copies_can_read(struct sc_inflight *inflight, const struct sc_op_info *info,
                               uintptr_t address, size_t size_bytes);

/* Returns true if the source differs from its copies or its snapshot. Returns false if an early
 * access to pageable memory was already reported, since other memory on the first and last page
 * hardly ever stays unchanged. */
bool sc_source_copies_differ(struct sc_inflight *inflight, const struct sc_op *op);

#endif
