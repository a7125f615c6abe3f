/* The copies of a batch on a stream that does not capture. What each copy does with memory is
 * judged before the call, and recorded behind it.
 *
 * The copies are in no order among each other. Each is judged against what was in flight before the
 * batch, as if it had been issued alone. What follows a call is done once for all of them: a stack,
 * a mark, a change of protected pages, an entry of the history.
 *
 * How long a source is in flight is what the contract of its access order says, whenever this
 * driver reads it (docs/driver.md, Batch copies of pageable memory). In mode=fix a source may be
 * replaced: the device then reads a copy of the library's.
 *
 * Locks: none may be held. Not for a signal handler: the driver is called. errno is kept.
 */
#ifndef SC_INTERPOSE_CALLS_BATCH_COPIES_H
#define SC_INTERPOSE_CALLS_BATCH_COPIES_H

#include "interpose/driver/driver.h"

enum sc_batch_side;
struct sc_batch;
struct sc_copy_side;

/* One side of a plain copy of the batch: host memory if a range is known at the address, or if the
 * address is pageable. */
struct sc_copy_side sc_batch_copies_side_at(CUdeviceptr address, size_t size_bytes,
                                            enum sc_batch_side is);

/* Called before and after the driver's call: begin judges the copies, end records them if the
 * driver has accepted the call. End does nothing without begin, and returns `result`. */
void sc_batch_copies_begin(struct sc_batch *batch);
CUresult sc_batch_copies_end(struct sc_batch *batch, CUresult result);

#endif
