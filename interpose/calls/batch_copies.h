/* Judges and records the copies of a batch on a stream that does not capture: judges before the
 * driver's call what each copy does with memory, and records it after the call.
 *
 * The copies of a batch have no order among each other, so each is judged against what was in
 * flight before the batch. What follows a call is done once for all of them: one stack, one mark
 * (completion event), one change of protected pages, one entry of the history.
 *
 * A source counts as in flight for as long as the contract of its access order says, even if this
 * driver reads it earlier (docs/driver.md, Batch copies of pageable memory). In mode=fix a source
 * may be replaced: the device then reads a copy of the library's.
 *
 * Locks: none may be held. Not for a signal handler: the driver is called. errno is kept. */

/* Terms (docs/glossary.md):
 *   in flight: issued, and the host does not know yet that it is done
 *   range: host memory that the driver knows: one allocation or one registration
 *   source: the memory that a copy reads
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_INTERPOSE_CALLS_BATCH_COPIES_H
#define SC_INTERPOSE_CALLS_BATCH_COPIES_H

#include "interpose/driver/driver.h"

enum sc_side_as;
struct sc_batch;
struct sc_copy_side;

/* Returns one side of a contiguous copy of the batch: host memory if the tracker has a range at the
 * address, or if the address is pageable. `is`: what is known of the address already. */
struct sc_copy_side sc_batch_copies_side_at(CUdeviceptr address, size_t size_bytes,
                                            enum sc_side_as is);

/* Called by the wrappers of batches before and after the driver's call. Begin judges the copies,
 * and may replace their sources. End records the copies if the driver has accepted the call, does
 * nothing if begin was not called, and returns `result`. */
void sc_batch_copies_begin(struct sc_batch *batch);
CUresult sc_batch_copies_end(struct sc_batch *batch, CUresult result);

#endif
