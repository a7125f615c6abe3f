/* Device memory that operations in flight write or read: what copies, memsets, stream-ordered
 * allocations and frees do there, until the host knows that they are done.
 *
 * Two of them conflict if they touch a common byte, one of them does not merely read, and neither
 * comes after the other. An operation is forgotten when it is known done, and when a later one
 * stands for it: one that comes after it, has all of its bytes, and does not merely read, or reads
 * as it does, and does not merely possibly take place. Whatever is unordered with the earlier one
 * is then unordered with the later one, too. A later operation on stream 0 is the host's, which
 * frees the memory in no order but that of its waits: it conflicts with all that is not known done,
 * but the allocation. The latest SC_DEVICE_OPS_MAX are kept. Nothing conflicts with an unseen
 * operation, whose order may be made by values that streams wait for.
 *
 * An operation is a struct sc_op_info of kind SC_DEVICE. Its range is 0; it has no guard and no
 * snapshot.
 *
 * Locks: every function needs the owner's lock, except those that say "lock-free".
 */
#ifndef SC_TRACK_DEVICE_H
#define SC_TRACK_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "track/grid.h"
#include "track/hazard.h"
#include "track/inflight.h"
#include "track/order.h"
#include "track/pool.h"
#include "track/shape.h"

enum { SC_DEVICE_OPS_MAX = 1 << 16 };

/* What an operation does with device memory. */
struct sc_device_use {
    struct sc_shape shape;
    struct sc_fold fold;
    enum sc_direction direction; /* of the operation */
    bool reads;                  /* merely */
    bool is_possible;            /* the launch that has it may leave it out */
    uint32_t origin;             /* of the memory, where it is known already (track/origins.h) */
};

struct sc_device {
    struct sc_order *order;
    struct sc_pool ops;
    struct sc_grid grid;
    uint32_t first, last;               /* in order of issue */
    struct sc_no_verdicts *no_verdicts; /* of what is forgotten for want of room, or NULL */
};

/* 0 or -ENOMEM. */
int sc_device_init(struct sc_device *device, struct sc_order *order);
void sc_device_destroy(struct sc_device *device);

/* Lock-free: false only if no operation overlaps the interval. */
static inline bool sc_device_may_overlap(struct sc_device *device, uintptr_t address,
                                         size_t size_bytes)
{
    return sc_grid_may_overlap(&device->grid, address, size_bytes);
}

/* Adds to `conflicts` the operations that conflict with `info`, which is not issued yet or has just
 * been issued on info->ticket.stream. */
void sc_device_conflicts(struct sc_device *device, const struct sc_op_info *info,
                         struct sc_ops *conflicts);

/* Remembers an operation that was issued. Without memory it is not remembered. */
void sc_device_add(struct sc_device *device, const struct sc_op_info *info);

/* Operations of the stream behind the number are unseen from now on; or those that were issued at
 * this time are no more. */
void sc_device_unsee(struct sc_device *device, uint32_t stream, uint64_t number);
void sc_device_see(struct sc_device *device, uint32_t stream, uint64_t number, uint64_t ticks);

/* The driver hands the memory out, or has taken it back: what was in flight there is done, or the
 * driver itself orders what comes after it. */
void sc_device_forget(struct sc_device *device, uintptr_t address, size_t size_bytes);

/* All that is issued from now on in these contexts comes after all that was issued in them. What
 * was is forgotten, also for what other contexts do. Named are the ids of legacy streams, 0: none.
 */
void sc_device_forget_of(struct sc_device *device, const uint32_t *contexts, unsigned count);

#endif
