/* The tracker's guards and snapshots.
 *
 * The caller brings the pages into line (sc_track_apply_guards) after everything here that issues
 * or ends operations.
 *
 * Every function takes the tracker's lock for itself, unless its comment says "lock-free"
 * (track/track.h).
 */
#ifndef SC_TRACK_TRACK_GUARDS_H
#define SC_TRACK_TRACK_GUARDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "track/no_verdicts.h"
#include "track/pages.h"

struct sc_op_info;
struct sc_ops;
struct sc_slot;
struct sc_slot_source;
struct sc_staging;
struct sc_staging_block;
struct sc_take_down;
struct sc_ticket;
struct sc_track;

/* Operations that forbid the host such a touch of the interval, as far as they are guarded now. */
void sc_track_touched(struct sc_track *track, uintptr_t address, size_t size_bytes,
                      enum sc_touch touch, struct sc_ops *found);

/* A touch that comes too early waits for the operation. */
void sc_track_note_awaited(struct sc_track *track, const struct sc_ticket *ticket);
/* The incomplete ones among these that have bytes on the pages of the interval, where such a touch
 * of the interval itself comes too early (sc_inflight_touched_beside). None, where the operation
 * that was awaited last is known done: nothing shows then that the program does not wait itself. */
void sc_track_touched_beside(struct sc_track *track, uintptr_t address, size_t size_bytes,
                             enum sc_touch touch, struct sc_ops *found);

/* Before the device, or the host in order, writes the interval (sc_inflight_seal). */
void sc_track_seal(struct sc_track *track, uintptr_t address, size_t size_bytes,
                   struct sc_ops *overwritten);

/* Lets go of pages (sc_inflight_let_go). What is not watched then is counted for the reason. */
void sc_track_let_go(struct sc_track *track, uintptr_t address, size_t size_bytes,
                     enum sc_touch touch, bool keep_copies, enum sc_no_verdict_reason reason);

/* `fresh`: those of the operations of which the thread has not been accused. */
void sc_track_find_unaccused(struct sc_track *track, const struct sc_ops *ops, int32_t thread,
                             struct sc_ops *fresh);
/* Accuses the thread of touching the operations. */
void sc_track_accuse(struct sc_track *track, const struct sc_ops *ops, int32_t thread);

/* These operations are no longer guarded. */
void sc_track_unguard(struct sc_track *track, const struct sc_ops *ops);
/* The complete ones among these operations are no longer guarded; the others stay in `ops`. */
void sc_track_unguard_complete(struct sc_track *track, struct sc_ops *ops);
void sc_track_unguard_all(struct sc_track *track);
/* No operation is guarded any more, for want of mappings, which is counted. */
void sc_track_give_up_guards(struct sc_track *track);

/* Makes a hold of kind SC_HOLD_WAIT for these operations, which stay. `request` says where, and
 * gets `held`; 0: there is no memory. */
void sc_track_await(struct sc_track *track, const struct sc_ops *ops, struct sc_take_down *request);

/* Says whether ranges in the interval may be guarded. Forbidding ends the guards that there are. */
void sc_track_set_guarding(struct sc_track *track, uintptr_t address, size_t size_bytes,
                           enum sc_guarding guarding);

/* Says how sources of ranges in the interval may be read from now on. What allows less stays. */
void sc_track_limit_snapshots(struct sc_track *track, uintptr_t address, size_t size_bytes,
                              enum sc_snapshots snapshots);

/* Steps of sc_spans_apply, up to one that the kernel is to be told of. It may refuse what the step
 * leads to (sc_spans_refuse): then the operation is not guarded, and is counted with the reason. */
bool sc_track_apply_guards(struct sc_track *track, unsigned lane, struct sc_access_change *change);
void sc_track_refuse_guard(struct sc_track *track, const struct sc_access_change *change,
                           enum sc_no_verdict_reason reason);
bool sc_track_retry_guards(struct sc_track *track, unsigned lane);
bool sc_track_move_guards(struct sc_track *track, uintptr_t address); /* sc_spans_move_area */
bool sc_track_postpone_guard(struct sc_track *track, unsigned lane,
                             const struct sc_access_change *change); /* sc_spans_postpone */
enum sc_access sc_track_guarded_access(struct sc_track *track, uintptr_t address);
bool sc_track_guards_cover(struct sc_track *track, uintptr_t address);
bool sc_track_watches(struct sc_track *track, uintptr_t address,
                      enum sc_touch touch); /* sc_inflight_watches */
bool sc_track_is_stable(struct sc_track *track,
                        const struct sc_op_info *info); /* sc_inflight_is_stable */

/* Takes a slot for a snapshot of the source. The caller gives back a slot that is not issued.
 * Returns
 * - 0 and a slot;
 * - -ENOSPC where no slot is left, and the block that would give more (of no bytes: there are
 * enough blocks);
 * - -EBUSY while an operation that writes the range, or in no range what is read, has not been seen
 * complete. */
int sc_track_take_slot(struct sc_track *track, struct sc_staging *staging,
                       const struct sc_slot_source *source, struct sc_slot **slot,
                       struct sc_staging_block *missing);
void sc_track_give_slot(struct sc_track *track, struct sc_slot *slot);
void sc_track_end_slots(struct sc_track *track, struct sc_staging *staging); /* sc_staging_end */
void sc_track_add_slots(struct sc_track *track, struct sc_staging *staging,
                        const struct sc_staging_block *block, void *memory,
                        struct sc_slot *records);

#endif
