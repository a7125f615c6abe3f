/* Snapshots: small sources are copied in the call, and the device reads the copy.
 *
 * The copies lie in staging memory, a few megabytes for each context, which is registered with the
 * driver at the first need. From then on a snapshot costs no driver call and no allocation. When
 * there is no slot left, there is no snapshot.
 *
 * Thread safe, not signal safe. Locks: one of the module's own, before the tracker's; no lock of
 * the library may be held by the caller.
 */
#ifndef SC_INTERPOSE_MEMORY_SNAPSHOTS_H
#define SC_INTERPOSE_MEMORY_SNAPSHOTS_H

#include <stdbool.h>

enum sc_direction;
struct sc_context;
struct sc_fold;
struct sc_shape;
struct sc_slot;
struct sc_slot_source;

/* Is such a pageable source one of which snapshots are taken? `stable`: as of a struct sc_op_info.
 */
bool sc_snapshots_are_for(enum sc_direction direction, bool stable, const struct sc_shape *shape,
                          const struct sc_fold *fold);

/* Takes a slot for a snapshot, or NULL. The caller fills it, or gives it back. */
struct sc_slot *sc_snapshots_reserve(struct sc_context *context,
                                     const struct sc_slot_source *source);

/* Takes a snapshot of the source, if it is such a one. Its bytes are there already. Returns the
 * slot, whose bytes the device is to read: rows stand there without gaps. NULL: there is no
 * snapshot. */
struct sc_slot *sc_snapshots_take(struct sc_context *context, enum sc_direction direction,
                                  bool stable, const struct sc_slot_source *source);

/* Takes a snapshot for an upload of no more than snapshot_max (track/track_copies.h). Its bytes
 * are there then. False: it is none, or there is no slot at hand. */
struct sc_simple_copy;
bool sc_snapshots_begin_upload(struct sc_context *context, struct sc_simple_copy *copy);
/* The driver has refused it. Takes the tracker's lock. */
void sc_snapshots_refuse(const struct sc_simple_copy *copy);

/* A snapshot that nothing reads after all: its call was not made, or was refused. Takes the
 * tracker's lock. */
void sc_snapshots_return(struct sc_slot *slot);

/* The context's memory is gone with it, and no operation names its slots any more. */
void sc_snapshots_context_gone(struct sc_context *context);

#endif
