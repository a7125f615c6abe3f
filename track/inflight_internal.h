/* What the files that keep the index of operations (track/inflight.c, device.c, conflicts.c) share,
 * and no others. Locks: every function needs the owner's lock. */
#ifndef SC_TRACK_INFLIGHT_INTERNAL_H
#define SC_TRACK_INFLIGHT_INTERNAL_H

#include "track/inflight.h"

/* Makes the record of an operation that was issued, and puts it into its grid and its home's list.
 * The record holds a reference to the stream. 0: no memory. */
uint32_t sc_inflight_make_record(struct sc_inflight *inflight, const struct sc_op_info *info);

/* Takes the record out of its grid and its home's list, and frees it. The record must be in no
 * other list. */
void sc_inflight_free_record(struct sc_inflight *inflight, uint32_t op);

#endif
