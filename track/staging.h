/* Staging memory for snapshots: small sources are copied there, and the device reads the copy.
 *
 * Staging memory consists of blocks that the device can read, each cut into slots of one of a few
 * sizes. A slot belongs to an operation until the operation is forgotten, and is handed out again
 * only when the operation is complete. The slot that came back last is handed out first, since it
 * is still in the cache. Nobody waits for a slot. If none is left, the owner may add a block, up to
 * a limit.
 *
 * Locks: every function needs the owner's lock, except those that say "lock-free". */
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
    /* how many bytes of slots there are at most of each size up to 32 KB; twice as many of larger
     * ones */
    SC_STAGING_CLASS_MAX = 64 << 20,
};

struct sc_slot {
    void *bytes; /* the snapshot, packed: without the source's gaps */
    struct sc_staging *staging;
    struct sc_slot *next;
    struct sc_ticket ticket; /* the last operation that reads it; stream 0: none yet */
    /* the slot holds a reference to the ticket's stream, since it came back before its operation
     * was complete */
    bool has_stream;
    unsigned size_class;
};

/* A source that an operation on the stream is about to read, and of which a snapshot is wanted. */
struct sc_slot_source {
    uint32_t stream;
    uint32_t range; /* 0: none */
    enum sc_buffer_kind kind;
    const struct sc_shape *shape;
    const struct sc_fold *fold;
};

struct sc_slot_list {
    struct sc_slot *first, *last;
    size_t slot_bytes; /* 0: the class is not used */
    size_t bytes;      /* the bytes of all slots of the class */
};

struct sc_staging {
    struct sc_order *order;
    struct sc_slot_list classes[SC_STAGING_CLASSES];
    _Atomic unsigned taken; /* how many slots are handed out, or kept by streams */
    unsigned wanting;       /* how often no slot was left */
};

/* Begins staging memory without a slot, for snapshots of up to `snapshot_max_bytes`. The slots of
 * the largest class hold that many bytes. */
void sc_staging_init(struct sc_staging *staging, struct sc_order *order, size_t snapshot_max_bytes);

/* The size of a block to be added: of its memory, which the device can read, and of its records. */
struct sc_staging_block {
    unsigned size_class;
    size_t bytes, record_bytes;
};

/* Stores how large the next block has to be that gives slots for snapshots of `size_bytes`. False:
 * there are as many as there may be, or no slots are so large. */
bool sc_staging_next_block(const struct sc_staging *staging, size_t size_bytes,
                           struct sc_staging_block *block);

/* Adds a block of slots. `memory` and `records` (zeroed) live as long as an operation names one of
 * the slots. */
void sc_staging_add(struct sc_staging *staging, const struct sc_staging_block *block, void *memory,
                    struct sc_slot *records);

/* Takes a block of so many bytes out, if no operation reads or may read any of its slots. */
bool sc_staging_remove(struct sc_staging *staging, const struct sc_slot *records, size_t bytes);

/* Takes a slot of at least this size whose last operation is complete; NULL: none is left. */
struct sc_slot *sc_staging_take(struct sc_staging *staging, size_t size_bytes);

/* Gives a slot back. `ticket` names the operation that reads it, whose stream is not recycled until
 * it is complete. */
void sc_staging_release(struct sc_slot *slot, const struct sc_ticket *ticket);

/* Gives back a slot that was taken and not used. */
void sc_staging_put_back(struct sc_slot *slot);

/* Gives a slot back as sc_staging_release does, but the ticket's stream may keep the slot for its
 * next snapshot. */
void sc_staging_release_to_stream(struct sc_slot *slot, const struct sc_ticket *ticket);

/* Takes the slot of this size that the stream has kept, or NULL. Lock-free. So a thread with a
 * stream of its own needs no lock for a snapshot, and finds the slot in its cache. */
struct sc_slot *sc_staging_take_kept(struct sc_staging *staging, uint32_t stream,
                                     size_t size_bytes);

/* Has the stream keep a free slot of the same size as this one, unless it keeps one already, for
 * its next snapshot. */
void sc_staging_refill_kept(const struct sc_slot *slot, uint32_t stream);

/* The stream is about to go; or slots are wanting: what the stream, or every stream, has kept comes
 * back. */
void sc_staging_release_kept(struct sc_order *order, uint32_t stream);
void sc_staging_release_all_kept(struct sc_order *order);

/* Ends the staging memory: no slot will be taken any more. Releases the slots that streams keep,
 * and the references to streams. */
void sc_staging_end(struct sc_staging *staging);

/* Lock-free: is every slot back, so that the records may go? */
static inline bool sc_staging_has_all_slots(const struct sc_staging *staging)
{
    return atomic_load_explicit(&staging->taken, memory_order_acquire) == 0;
}

#endif
