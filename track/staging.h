/* Staging memory for snapshots: small sources are copied here, and the device reads the copy.
 *
 * One block of memory that the device can read, cut into slots of a few sizes. A slot belongs to an
 * operation until that is forgotten, and is handed out again only when the operation is complete:
 * the one that came back last first, since it is still in the cache. When there is none left, there
 * is none: nobody waits.
 *
 * Locks: every function needs the owner's lock.
 */
#ifndef SC_TRACK_STAGING_H
#define SC_TRACK_STAGING_H

#include <stdbool.h>
#include <stddef.h>

#include "track/order.h"

enum { SC_STAGING_CLASSES = 2, SC_STAGING_CLASS_BYTES = 2 << 20 };

struct sc_slot {
    void *bytes;
    struct sc_staging *staging;
    struct sc_slot *next;
    struct sc_ticket ticket; /* of its last operation; stream 0: none yet */
    unsigned size_class;
};

struct sc_slot_list {
    struct sc_slot *first, *last;
    size_t slot_bytes;
};

struct sc_staging {
    struct sc_order *order;
    struct sc_slot_list classes[SC_STAGING_CLASSES];
};

/* Bytes of device-readable memory that a staging for snapshots of this size wants. */
size_t sc_staging_bytes(size_t snapshot_max_bytes);

/* Cuts `memory`, of sc_staging_bytes, into slots; the records lie in `records`, of
 * sc_staging_record_bytes. Both live as long as any operation names one of the slots. */
size_t sc_staging_record_bytes(size_t snapshot_max_bytes);
void sc_staging_init(struct sc_staging *staging, struct sc_order *order, size_t snapshot_max_bytes,
                     void *memory, struct sc_slot *records);

/* A slot of at least this size whose last operation is complete, or NULL. */
struct sc_slot *sc_staging_take(struct sc_staging *staging, size_t size_bytes);

/* `ticket` names the operation that reads the slot. */
void sc_staging_give(struct sc_slot *slot, const struct sc_ticket *ticket);

#endif
