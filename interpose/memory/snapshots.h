/* Takes snapshots: a small source is copied within the call, and the device reads the copy, so that
 * the program may change the source at once.
 *
 * The copies lie in staging memory, a few megabytes for each context, which is registered with the
 * driver when it is first needed. From then on a snapshot costs no driver call and no allocation.
 * If no slot is left, no snapshot is taken.
 *
 * Thread safe, not signal safe. Locks: one of the module's own, before the tracker's; the caller
 * may hold no lock of the library. */
#ifndef SC_INTERPOSE_MEMORY_SNAPSHOTS_H
#define SC_INTERPOSE_MEMORY_SNAPSHOTS_H

#include <stdbool.h>

enum sc_direction;
struct sc_context;
struct sc_fold;
struct sc_shape;
struct sc_slot;
struct sc_slot_source;

/* Is a snapshot to be taken of this pageable source? `stable`: as in struct sc_op_info. */
bool sc_snapshots_are_for(enum sc_direction direction, bool stable, const struct sc_shape *shape,
                          const struct sc_fold *fold);

/* Takes a free slot for a snapshot, which the caller fills, or gives back by sc_snapshots_return.
 * NULL: there is none. */
struct sc_slot *sc_snapshots_reserve(struct sc_context *context,
                                     const struct sc_slot_source *source);

/* Takes a snapshot of the source, if one is to be taken. Returns the slot with the bytes that the
 * device is to read; rows lie in it without gaps. NULL: there is no snapshot. */
struct sc_slot *sc_snapshots_take(struct sc_context *context, enum sc_direction direction,
                                  bool stable, const struct sc_slot_source *source);

/* Takes a slot for an upload (track/track_copies.h) of at most snapshot_max. The snapshot has its
 * bytes on return. False: the copy is no upload, or no slot is at hand. */
struct sc_simple_copy;
bool sc_snapshots_begin_upload(struct sc_context *context, struct sc_simple_copy *copy);
/* The driver has refused it. Takes the tracker's lock. */
void sc_snapshots_refuse(const struct sc_simple_copy *copy);

/* Gives back a snapshot that nothing reads: its call was not made, or was refused. Takes the
 * tracker's lock. */
void sc_snapshots_return(struct sc_slot *slot);

/* Has the context memory for snapshots? Gives up what nothing reads, and returns whether there was
 * any. Needs: the context is current, and idle, as the driver waits for it; the capture mode is
 * relaxed. */
bool sc_snapshots_have(const struct sc_context *context);
bool sc_snapshots_give_up(struct sc_context *context);

/* The context has ended, and its memory with it. No operation names its slots any more. */
void sc_snapshots_context_gone(struct sc_context *context);

#endif
