/* What the guard and its touches ask of the operations in flight (track/inflight.h): which of them
 * forbid a touch, of which a thread was accused, and which are guarded no more.
 *
 * The caller brings the pages into line (sc_guarded_apply) after everything here that ends guards.
 *
 * Locks: every function needs the owner's lock.
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

/* Operations that forbid the host such a touch of the interval, as far as they are guarded now. */
void sc_guarded_touched(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                        enum sc_touch touch, struct sc_ops *found);

/* A touch that comes too early waits for the operation. */
void sc_guarded_note_awaited(struct sc_inflight *inflight, const struct sc_ticket *ticket);
/* The incomplete ones among these that have bytes on the pages of the interval, where such a touch
 * of the interval itself comes too early (sc_inflight_touched_beside). None, where the operation
 * that was awaited last is known done: nothing shows then that the program does not wait itself. */
void sc_guarded_touched_beside(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                               enum sc_touch touch, struct sc_ops *found);

/* Lets go of pages (sc_inflight_let_go). What is not watched then is counted for the reason. */
void sc_guarded_let_go(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                       enum sc_touch touch, bool keep_copies, enum sc_no_verdict_reason reason);

/* `fresh`: those of the operations of which the thread has not been accused. */
void sc_guarded_find_unaccused(struct sc_inflight *inflight, const struct sc_ops *ops,
                               int32_t thread, struct sc_ops *fresh);
/* Accuses the thread of touching the operations. */
void sc_guarded_accuse(struct sc_inflight *inflight, const struct sc_ops *ops, int32_t thread);

/* These operations are no longer guarded. */
void sc_guarded_end(struct sc_inflight *inflight, const struct sc_ops *ops);
/* The complete ones among these operations are no longer guarded; the others stay in `ops`. */
void sc_guarded_end_complete(struct sc_inflight *inflight, struct sc_ops *ops);
void sc_guarded_end_all(struct sc_inflight *inflight);
/* No operation is guarded any more, for want of mappings, which is counted. */
void sc_guarded_give_up(struct sc_inflight *inflight);

/* Says whether ranges in the interval may be guarded. Forbidding ends the guards that there are. */
void sc_guarded_set(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                    enum sc_guarding guarding);

/* Says how sources of ranges in the interval may be read from now on. What allows less stays. */
void sc_guarded_limit_snapshots(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                                enum sc_snapshots snapshots);

/* Steps of sc_spans_apply, up to one that the kernel is to be told of. It may refuse what the step
 * leads to (sc_spans_refuse): then the operation is not guarded, and is counted with the reason. */
bool sc_guarded_apply(struct sc_inflight *inflight, unsigned lane, struct sc_access_change *change);
void sc_guarded_refuse(struct sc_inflight *inflight, const struct sc_access_change *change,
                       enum sc_no_verdict_reason reason);

#endif
