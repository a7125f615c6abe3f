/* Do the sources of operations in flight still hold what they held at the issue? Told by snapshots,
 * and by copies of the pages that nobody guards, or that were let go. Part of inflight.c, whose
 * functions are the only ones that call these; under its owner's lock. */
#ifndef SC_TRACK_SOURCE_COPIES_H
#define SC_TRACK_SOURCE_COPIES_H

#include "track/inflight.h"

void sc_source_copies_init(struct sc_inflight *inflight);

/* What is compared in the end: pages of the source that nobody guards; those of the span that the
 * interval touches. False: a source is not compared there, for want of memory or because it cannot
 * be read. */
bool sc_source_copies_copy_edges(struct sc_inflight *inflight, struct sc_op *op);
bool sc_source_copies_copy_pages(struct sc_inflight *inflight, struct sc_op *op, uint32_t span,
                                 uintptr_t start, uintptr_t end);
void sc_source_copies_drop_copies(struct sc_inflight *inflight, struct sc_op *op);

bool sc_source_copies_changed(struct sc_inflight *inflight, const struct sc_op *op);

#endif
