/* What the files that keep the index of operations (track/inflight.c, device.c, conflicts.c) share
 * with each other alone. Locks: every function needs the tracker's lock. */

/* Terms (docs/glossary.md):
 *   grid: the index that finds what lies at an address
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   range: host memory that the driver knows: one allocation or one registration
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_TRACK_INFLIGHT_INTERNAL_H
#define SC_TRACK_INFLIGHT_INTERNAL_H

#include "track/inflight.h"

/* Makes the record of an operation that was issued, adds it to its grid and to the list of its
 * range or stand-in, and takes a reference to its stream. Returns its id; 0: no memory. */
uint32_t sc_inflight_make_record(struct sc_inflight *inflight, const struct sc_op_info *info);

/* Removes the record from its grid and from that list, and frees it. Pre: the record is in no other
 * list. */
void sc_inflight_free_record(struct sc_inflight *inflight, uint32_t op);

#endif
