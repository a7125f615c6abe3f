/* Staging memory for snapshots: a small source is copied into staging memory, and the device reads
 * that copy (the snapshot) instead of the source.
 *
 * Staging memory consists of blocks that the device can read. Each block is cut into slots of one
 * of a few sizes. A slot belongs to an operation until the operation is forgotten, and is given to
 * another one only when the operation is complete. The slot that was released last is given out
 * first, since it is still in the cache. Nobody waits for a slot: if none is free, the caller may
 * add a block, up to a limit.
 *
 * Locks: every function needs the tracker's lock, except those that say "lock-free". */

/* Terms (docs/glossary.md):
 *   complete: finished by the device, whether or not the program knows
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   slot: the place of one snapshot in staging memory
 *   snapshot: a copy of a small source, which the device reads instead of the source
 *   source: the memory that a copy reads
 *   staging memory: pinned memory of the library's, cut into slots for snapshots
 *   ticket: the name of an operation: its stream, its number there, and its epoch
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_TRACK_STAGING_H
#define SC_TRACK_STAGING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/op_kinds.h"
#include "common/points.h"
#include "track/staging_classes.h"

struct sc_fold;
struct sc_order;
struct sc_shape;

enum {
    SC_STAGING_BLOCK_BYTES = 2 << 20,
    /* how many bytes of slots (places in staging memory) of each size up to 32 KB there are at
     * most; of larger sizes twice as many */
    SC_STAGING_CLASS_MAX = 64 << 20,
};

struct sc_slot {
    void *bytes; /* the snapshot, without the gaps between the source's rows */
    struct sc_staging *staging;
    struct sc_slot *next;
    /* the last operation that reads the slot (a place in staging memory); stream 0: none yet */
    struct sc_ticket ticket;
    /* the slot (a place in staging memory) holds a reference to the ticket's stream, since it was
     * released before its operation was complete */
    bool has_stream;
    unsigned size_class;
};

/* A source of which an operation on the stream that is about to be issued wants a snapshot. */
struct sc_slot_source {
    uint32_t stream;
    uint32_t range; /* 0: none */
    enum sc_buffer_kind kind;
    const struct sc_shape *shape;
    const struct sc_fold *fold;
};

struct sc_slot_list {
    struct sc_slot *first, *last;
    size_t slot_bytes; /* 0: there are no slots (places in staging memory) of this size */
    size_t bytes;      /* the bytes of all its slots (places in staging memory) */
};

struct sc_staging {
    struct sc_order *order;
    struct sc_slot_list classes[SC_STAGING_CLASSES];
    /* how many slots (places for snapshots) are given out, or kept by streams for their next
     * snapshot */
    _Atomic unsigned taken;
    /* how often no slot (a place in staging memory) was free; what streams keep is called in only
     * every so many times */
    unsigned wanting;
};

/* Initialises staging memory without slots (places in staging memory), for snapshots of up to
 * `snapshot_max_bytes`. Slots of the largest size hold that many bytes. */
void sc_staging_init(struct sc_staging *staging, struct sc_order *order, size_t snapshot_max_bytes);

/* The sizes of a block to be added: of its memory, which the device can read, and of the records of
 * its slots (places in staging memory). */
struct sc_staging_block {
    unsigned size_class;
    size_t bytes, record_bytes;
};

/* Stores how large the next block has to be whose slots (places in staging memory) hold snapshots
 * of `size_bytes`. Returns false if there are as many blocks as there may be, or if no slots are so
 * large. */
bool sc_staging_next_block(const struct sc_staging *staging, size_t size_bytes,
                           struct sc_staging_block *block);

/* Adds a block of slots (places in staging memory). `memory` and `records` (zeroed) must live as
 * long as an operation names one of the slots. */
void sc_staging_add(struct sc_staging *staging, const struct sc_staging_block *block, void *memory,
                    struct sc_slot *records);

/* Removes the block with these records and so many bytes of memory. Returns false, having done
 * nothing, if an operation reads or may still read one of its slots (places in staging memory). */
bool sc_staging_remove(struct sc_staging *staging, const struct sc_slot *records, size_t bytes);

/* Takes a slot (a place in staging memory) of at least this size whose last operation is complete;
 * NULL: none is free. */
struct sc_slot *sc_staging_take(struct sc_staging *staging, size_t size_bytes);

/* Releases a slot (the place of a snapshot). `ticket`: the operation that reads it, until whose end
 * nobody else gets the slot. The caller sees to it that the id of the ticket's stream names no
 * other stream until then. */
void sc_staging_release(struct sc_slot *slot, const struct sc_ticket *ticket);

/* Releases a slot (the place of a snapshot) that was taken for an operation which was not issued.
 */
void sc_staging_put_back(struct sc_slot *slot);

/* Releases a slot (a place in staging memory) as sc_staging_release does, but the ticket's stream
 * may keep the slot for its next snapshot. */
void sc_staging_release_to_stream(struct sc_slot *slot, const struct sc_ticket *ticket);

/* Takes the slot (a place in staging memory) of this size that the stream has kept, or returns
 * NULL. Lock-free: so a thread with a stream of its own needs no lock for a snapshot, and finds the
 * slot in its cache. */
struct sc_slot *sc_staging_take_kept(struct sc_staging *staging, uint32_t stream,
                                     size_t size_bytes);

/* The stream's slot (a place in staging memory) was taken for a snapshot: has the stream keep
 * another free one of this size for its next snapshot, unless it keeps one already. */
void sc_staging_refill_kept(const struct sc_slot *slot, uint32_t stream);

/* Release the slots (places in staging memory) that one stream keeps for its next snapshots, as it
 * is about to be removed; or those of all streams, because no slot is free. */
void sc_staging_release_kept(struct sc_order *order, uint32_t stream);
void sc_staging_release_all_kept(struct sc_order *order);

/* Ends the staging memory, from which no slot (a place in staging memory) is taken any more:
 * releases the slots that streams keep, and the references to streams. */
void sc_staging_end(struct sc_staging *staging);

/* Returns true if no slot (a place in staging memory) is given out or kept, so that the records may
 * be freed. Lock-free. */
static inline bool sc_staging_has_all_slots(const struct sc_staging *staging)
{
    return atomic_load_explicit(&staging->taken, memory_order_acquire) == 0;
}

#endif
