/* What the guard (interpose/guard/) asks of the operations in flight (track/inflight.h): which of
 * them forbid a touch, for which of them a thread was accused already, and which are no longer
 * guarded.
 *
 * After every function here that ends guards, the caller brings the pages into line
 * (sc_guarded_apply).
 *
 * Locks: every function needs the owner's lock. */
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

/* Stores in `found` the guarded operations for which such a touch of the interval comes too
 * early. */
void sc_guarded_find_touched(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                             enum sc_touch touch, struct sc_ops *found);

/* Notes that an early touch waits for the operation. */
void sc_guarded_note_awaited(struct sc_inflight *inflight, const struct sc_ticket *ticket);
/* If such a touch of the interval comes too early for an operation: stores in `found` the
 * incomplete operations that have bytes on the interval's pages (sc_inflight_find_beside_touch).
 * None, if the operation that was awaited last is known done: then nothing shows that the program
 * does not wait by itself. */
void sc_guarded_find_beside_touch(struct sc_inflight *inflight, uintptr_t address,
                                  size_t size_bytes, enum sc_touch touch, struct sc_ops *found);

/* Ends the guard of the pages (sc_inflight_let_go). Operations that are no longer watched
 * because of that are counted for the reason. */
void sc_guarded_let_go(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                       enum sc_touch touch, bool keep_copies, enum sc_no_verdict_reason reason);

/* Stores in `fresh` the operations for which this thread was not the last to be accused, so that a
 * repeated touch is not reported again. */
void sc_guarded_find_unaccused(struct sc_inflight *inflight, const struct sc_ops *ops,
                               int32_t thread, struct sc_ops *fresh);
/* Notes that the thread was accused of touching the operations too early. */
void sc_guarded_accuse(struct sc_inflight *inflight, const struct sc_ops *ops, int32_t thread);

/* Ends the guards of the operations. */
void sc_guarded_end(struct sc_inflight *inflight, const struct sc_ops *ops);
/* Ends the guards of those operations that are complete, and leaves only the others in `ops`. */
void sc_guarded_end_complete(struct sc_inflight *inflight, struct sc_ops *ops);
void sc_guarded_end_all(struct sc_inflight *inflight);
/* Ends all guards, because the process has no mappings left. The operations are counted as not
 * watched for that reason. */
void sc_guarded_give_up(struct sc_inflight *inflight);

/* Sets whether ranges in the interval may be guarded. Forbidding ends the guards that there are. A
 * range that was forbidden stays so. */
void sc_guarded_set(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                    enum sc_guarding guarding);

/* Limits how the host may read sources in ranges of the interval from now on. A stricter limit of a
 * range stays. */
void sc_guarded_limit_snapshots(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                                enum sc_snapshots snapshots);

/* Applies the lane's changes (sc_spans_apply) up to the next one that the kernel is to be told of,
 * and stores it. False: nothing is left to apply. */
bool sc_guarded_apply(struct sc_inflight *inflight, unsigned lane, struct sc_access_change *change);
/* The kernel has refused the change (sc_spans_refuse). An operation whose pages were to be
 * protected is no longer guarded, and is counted for the reason. */
void sc_guarded_refuse(struct sc_inflight *inflight, const struct sc_access_change *change,
                       enum sc_no_verdict_reason reason);

#endif
