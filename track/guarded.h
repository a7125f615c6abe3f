/* Functions by which the guard (interpose/guard/, which protects the pages of incomplete
 * operations) queries and changes the operations in flight (track/inflight.h): which of them forbid
 * a touch (a read or write by the program), for which of them a thread was accused already
 * (reported as touching too early), and which are no longer guarded.
 *
 * After a function that ends guards, the caller has the pages unprotected (sc_guard_apply).
 *
 * Locks: every function needs the tracker's lock. */

/* Terms (docs/glossary.md):
 *   apply: to make the system calls that bring pages into line with the spans
 *   complete: finished by the device, whether or not the program knows
 *   guard: page protection of the memory of operations in flight
 *   in flight: issued, and the host does not know yet that it is done
 *   known done: waited for by the program, itself or by something behind it
 *   not watched: of an operation: an early touch of it could not be seen
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   range: host memory that the driver knows: one allocation or one registration
 *   source: the memory that a copy reads
 *   stripe: a set of pages that share one of the guard's locks
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_TRACK_GUARDED_H
#define SC_TRACK_GUARDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "track/no_verdicts.h"

enum sc_guarding;
enum sc_snapshots;
enum sc_touch;
struct sc_access_change;
struct sc_inflight;
struct sc_ops;
struct sc_ticket;

/* Stores in `found` the operations whose pages are protected and for which a touch of this kind (a
 * read or write by the host) in the interval comes too early. */
void sc_guarded_find_touched(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                             enum sc_touch touch, struct sc_ops *found);

/* Records that a touch which came too early (a read or write by the host) waits for the operation.
 */
void sc_guarded_note_awaited(struct sc_inflight *inflight, const struct sc_ticket *ticket);
/* Stores in `found` the incomplete operations that have bytes on the pages of the interval, if a
 * touch of this kind comes too early for them (sc_inflight_find_beside_touch). Stores none if the
 * operation of sc_guarded_note_awaited is known done: then nothing shows that the program does not
 * wait by itself. */
void sc_guarded_find_beside_touch(struct sc_inflight *inflight, uintptr_t address,
                                  size_t size_bytes, enum sc_touch touch, struct sc_ops *found);

/* Unprotects those pages of the interval that are protected from a touch of this kind.
 * `keep_copies`: sources there are copied first, and compared when their operations are done, so
 * that a change is still found. Operations of which touches can no longer be noticed are counted
 * under the reason. */
void sc_guarded_unprotect(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                          enum sc_touch touch, bool keep_copies, enum sc_no_verdict_reason reason);

/* Stores in `fresh` those operations for which this thread was not the last one accused (reported
 * as touching their memory too early), so that a repeated touch is not reported again. */
void sc_guarded_find_unaccused(struct sc_inflight *inflight, const struct sc_ops *ops,
                               int32_t thread, struct sc_ops *fresh);
/* Records that the thread was reported for touching the operations too early. */
void sc_guarded_accuse(struct sc_inflight *inflight, const struct sc_ops *ops, int32_t thread);

/* Unprotects the operations' pages. */
void sc_guarded_end(struct sc_inflight *inflight, const struct sc_ops *ops);
/* Unprotects the pages of those operations that are complete, and leaves only the others in `ops`.
 */
void sc_guarded_end_complete(struct sc_inflight *inflight, struct sc_ops *ops);
void sc_guarded_end_all(struct sc_inflight *inflight);
/* Unprotects everything because the process has no mappings left, and counts the operations as not
 * watched for that reason. */
void sc_guarded_give_up(struct sc_inflight *inflight);

/* Sets whether pages of ranges in the interval may be protected. A stricter value that a range has
 * already stays. SC_GUARDING_FORBIDDEN also unprotects what is there. */
void sc_guarded_set(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                    enum sc_guarding guarding);

/* Limits how the library may read sources in ranges of the interval from now on. A stricter limit
 * that a range has already stays. */
void sc_guarded_limit_snapshots(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                                enum sc_snapshots snapshots);

/* Goes through the stripe's changes of protection (sc_spans_apply) up to the next one that needs a
 * system call, and stores that one. False: nothing is left to do. (A stripe is a set of pages that
 * share a lock.) */
bool sc_guarded_apply(struct sc_inflight *inflight, unsigned stripe,
                      struct sc_access_change *change);
/* Records that the system call of the change has failed (sc_spans_refuse). An operation whose pages
 * were to be protected is no longer watched, and is counted under the reason. */
void sc_guarded_refuse(struct sc_inflight *inflight, const struct sc_access_change *change,
                       enum sc_no_verdict_reason reason);

#endif
