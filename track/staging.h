/* Staging memory for snapshots: small sources are copied here, and the device reads the copy.
 *
 * Staging memory is blocks that the device can read, each cut into slots of one of a few sizes. A
 * slot belongs to an operation until the operation is forgotten, and is handed out again only when
 * the operation is complete. The slot that came back last is handed out first, since it is still in
 * the cache. Nobody waits for a slot. Where none is left, the owner may add a block, up to a limit.
 *
 * Locks: every function needs the owner's lock.
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
    SC_STAGING_CLASS_MAX = 64 << 20, /* of slots of up to 32 KB; of larger ones twice as much */
};

struct sc_slot {
    void *bytes; /* packed: without the gaps of what they are a copy of */
    struct sc_staging *staging;
    struct sc_slot *next;
    struct sc_ticket ticket; /* of its last operation; stream 0: none yet */
    bool has_stream;         /* a reference to the ticket's stream: it came back too early */
    unsigned size_class;
};

/* What a slot is to have a copy of: what an operation on the stream is about to read. */
struct sc_slot_source {
    uint32_t stream;
    uint32_t range; /* 0: none */
    enum sc_buffer_kind kind;
    const struct sc_shape *shape;
    const struct sc_fold *fold;
};

struct sc_slot_list {
    struct sc_slot *first, *last;
    size_t slot_bytes; /* 0: no need for this class */
    size_t bytes;      /* of all its slots */
};

struct sc_staging {
    struct sc_order *order;
    struct sc_slot_list classes[SC_STAGING_CLASSES];
    _Atomic unsigned taken; /* slots that are out */
    unsigned wanting;       /* how often there was none */
};

/* Staging memory without a slot, for snapshots of up to so many bytes. The largest class is as wide
 * as the largest of them. */
void sc_staging_init(struct sc_staging *staging, struct sc_order *order, size_t snapshot_max_bytes);

/* What another block takes: memory that the device can read, and records. */
struct sc_staging_block {
    unsigned size_class;
    size_t bytes, record_bytes;
};

/* False if the class has as much as it may have, or none is as large. */
bool sc_staging_next_block(const struct sc_staging *staging, size_t size_bytes,
                           struct sc_staging_block *block);

/* `memory` and `records`, zeroed, live as long as any operation names one of the slots. */
void sc_staging_add(struct sc_staging *staging, const struct sc_staging_block *block, void *memory,
                    struct sc_slot *records);

/* A slot of at least this size whose last operation is complete, or NULL. */
struct sc_slot *sc_staging_take(struct sc_staging *staging, size_t size_bytes);

/* `ticket` names the operation that reads the slot, and its stream is not recycled until then. */
void sc_staging_give(struct sc_slot *slot, const struct sc_ticket *ticket);

/* The slot that was taken last is not used. */
void sc_staging_return(struct sc_slot *slot);

/* The same, but the stream of the ticket may keep the slot for its next snapshot. */
void sc_staging_keep(struct sc_slot *slot, const struct sc_ticket *ticket);

/* A slot that the stream has kept, or NULL. Lock-free: so a thread with a stream of its own needs
 * no lock for a snapshot, and finds the slot in its cache. */
struct sc_slot *sc_staging_take_kept(struct sc_staging *staging, uint32_t stream,
                                     size_t size_bytes);

/* Sees to it that the stream keeps a slot as large as this one, if there is one. */
void sc_staging_refill(const struct sc_slot *slot, uint32_t stream);

/* The stream is about to go; or slots are wanting: what the stream, or every stream, has kept comes
 * back. */
void sc_staging_give_kept(struct sc_order *order, uint32_t stream);
void sc_staging_give_all_kept(struct sc_order *order);

/* No slot will be taken any more. What streams have kept comes back. */
void sc_staging_end(struct sc_staging *staging);

/* Lock-free: is every slot back, so that the records may go? */
static inline bool sc_staging_is_whole(const struct sc_staging *staging)
{
    return atomic_load_explicit(&staging->taken, memory_order_acquire) == 0;
}

#endif
