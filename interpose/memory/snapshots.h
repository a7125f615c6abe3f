/* Takes snapshots: copies a small source within the call, so that the device reads the copy and the
 * program may change the source at once.
 *
 * The copies lie in staging memory, a few megabytes for each context, which is registered with the
 * driver when it is first needed and cut into slots. From then on a snapshot costs no driver call
 * and no allocation. If no slot is free, no snapshot is taken.
 *
 * Thread-safe, not signal-safe. Locks: one of this module, before the tracker's; the caller may
 * hold no lock of the library. */

/* Terms (docs/glossary.md):
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   slot: the place of one snapshot in staging memory
 *   snapshot: a copy of a small source, which the device reads instead of the source
 *   source: the memory that a copy reads
 *   staging memory: pinned memory of the library's, cut into slots for snapshots
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 *   upload: a small simple copy to the device, of which the device reads a snapshot
 */

#ifndef SC_INTERPOSE_MEMORY_SNAPSHOTS_H
#define SC_INTERPOSE_MEMORY_SNAPSHOTS_H

#include <stdbool.h>

enum sc_buffer_kind;
enum sc_direction;
struct sc_context;
struct sc_fold;
struct sc_shape;
struct sc_slot;
struct sc_slot_source;

/* Returns true if a snapshot (a copy that the device reads instead) should be taken of this
 * source of the kind `kind`. `stable`: nothing but the host can change its bytes until the device
 * reads them (struct sc_op_info). Takes none itself. */
bool sc_snapshots_are_for(enum sc_direction direction, bool stable, enum sc_buffer_kind kind,
                          const struct sc_shape *shape, const struct sc_fold *fold);

/* Takes a free slot (a place in staging memory) for a snapshot. The caller fills it, or releases it
 * by sc_snapshots_return. NULL: there is none. */
struct sc_slot *sc_snapshots_reserve(struct sc_context *context,
                                     const struct sc_slot_source *source);

/* Takes a snapshot of the source, if one should be taken: copies it into a slot, from which the
 * device is to read; rows lie there without gaps. NULL: the device reads the source itself. */
struct sc_slot *sc_snapshots_take(struct sc_context *context, enum sc_direction direction,
                                  bool stable, const struct sc_slot_source *source);

/* Takes a snapshot for an upload: a small copy to the device from pinned memory that nothing else
 * uses (track/track_copies.h). False: the copy is no such, or no slot is free; nothing is taken
 * then. */
struct sc_simple_copy;
bool sc_snapshots_begin_upload(struct sc_context *context, struct sc_simple_copy *copy);
/* Releases the slot (the place of the copied source) of an upload that the driver has refused.
 * Takes the tracker's lock. */
void sc_snapshots_refuse(const struct sc_simple_copy *copy);

/* Releases a slot (the place of a copied source) that no operation reads: its call was not made, or
 * was refused. Takes the tracker's lock. */
void sc_snapshots_return(struct sc_slot *slot);

/* Called when the driver lacks memory for the program: has the context staging memory? give_up
 * frees the part of which the device reads nothing, and returns whether there was any. The context
 * has to be current and idle, as the driver waits for it, and the capture mode relaxed. */
bool sc_snapshots_have(const struct sc_context *context);
bool sc_snapshots_give_up(struct sc_context *context);

/* Called when the context has ended: unmaps its staging memory, the pinned memory with copies of
 * sources. No operation reads there any more. */
void sc_snapshots_context_gone(struct sc_context *context);

#endif
