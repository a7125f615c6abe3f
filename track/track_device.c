/* The tracker's device memory: what track/device.h has, under the tracker's lock. */
#include "track/checks.h"
#include "track/conflicts.h"
#include "track/device.h"
#include "track/kernel_flags.h"
#include "track/track_internal.h"

#include "track/poison.h"

void sc_track_device_conflicts(struct sc_track *track, const struct sc_op_info *info,
                               struct sc_ops *conflicts)
{
    if (!sc_device_may_overlap(&track->inflight, info->shape.address,
                               sc_shape_hull_bytes(&info->shape)))
        return;
    struct sc_ops_collector collector = {&track->inflight, conflicts, false};
    lock(track);
    sc_conflicts_visit(&track->inflight, info, sc_inflight_collect, &collector);
    unlock(track);
}

void sc_track_device_issue(struct sc_track *track, struct sc_op_info *infos, unsigned count)
{
    lock(track);
    if (infos[0].ticket.number == 0)
        sc_order_renew(&track->order, &infos[0].ticket);
    for (unsigned i = 0; i < count; i++) {
        infos[i].ticket = infos[0].ticket;
        sc_device_add(&track->inflight, &infos[i]);
    }
    unlock(track);
}

void sc_track_device_unsee(struct sc_track *track, uint32_t stream, uint64_t number)
{
    lock(track);
    sc_device_unsee(&track->inflight, stream, number);
    unlock(track);
}

void sc_track_device_see(struct sc_track *track, uint32_t stream, uint64_t number, uint64_t ticks)
{
    lock(track);
    sc_device_see(&track->inflight, stream, number, ticks);
    unlock(track);
}

void sc_track_device_allocated(struct sc_track *track, uintptr_t address, size_t size_bytes,
                               uint32_t context, uint32_t origin)
{
    lock(track);
    sc_device_forget(&track->inflight, address, size_bytes);
    sc_allocations_add(&track->allocations, address, size_bytes, context, origin);
    unlock(track);
}

void sc_track_device_serialized(struct sc_track *track, const uint32_t *contexts, unsigned count)
{
    lock(track);
    sc_device_forget_of(&track->inflight, contexts, count);
    unlock(track);
}

struct sc_allocation sc_track_device_begin_free(struct sc_track *track, uintptr_t address)
{
    lock(track);
    struct sc_allocation allocation = sc_allocations_begin_free(&track->allocations, address);
    unlock(track);
    return allocation;
}

void sc_track_device_end_free(struct sc_track *track, const struct sc_allocation *allocation,
                              bool freed, struct sc_op_info *info)
{
    lock(track);
    bool same = sc_allocations_end_free(&track->allocations, allocation, freed);
    if (same && info) {
        sc_order_renew(&track->order, &info->ticket);
        sc_device_add(&track->inflight, info);
    }
    unlock(track);
}

uint32_t sc_track_device_origin(struct sc_track *track, uintptr_t address)
{
    lock(track);
    uint32_t origin = sc_allocations_find(&track->allocations, address).origin;
    unlock(track);
    return origin;
}

size_t sc_track_device_block_bytes(struct sc_track *track, uintptr_t address)
{
    lock(track);
    const struct sc_allocation block = sc_allocations_find(&track->allocations, address);
    unlock(track);
    return block.address == address ? block.size_bytes : 0;
}

bool sc_track_device_begins_block(struct sc_track *track, uintptr_t address)
{
    lock(track);
    const struct sc_allocation block = sc_allocations_find(&track->allocations, address);
    unlock(track);
    return block.size_bytes == 0 || block.address == address;
}

static bool is_among(const uintptr_t *addresses, unsigned count, uintptr_t address)
{
    for (unsigned i = 0; i < count; i++)
        if (addresses[i] == address)
            return true;
    return false;
}

static bool is_held_against_kernels_locked(struct sc_track *track, uintptr_t address)
    SC_REQUIRES(*track)
{
    SC_ASSERT_HELD(&track->lock);
    size_t size_bytes = sc_allocations_find(&track->allocations, address).size_bytes;
    return size_bytes ? size_bytes > SC_KERNEL_FLAG_BYTES_MAX
                      : sc_device_may_overlap(&track->inflight, address, 1);
}

unsigned sc_track_device_keep_known(struct sc_track *track, uintptr_t *addresses, unsigned count)
{
    unsigned kept = 0;
    lock(track);
    for (unsigned i = 0; i < count; i++) {
        uintptr_t address = addresses[i];
        if (is_held_against_kernels_locked(track, address) && !is_among(addresses, kept, address))
            addresses[kept++] = address;
    }
    unlock(track);
    return kept;
}

void sc_track_device_context_gone(struct sc_track *track, uint32_t context)
{
    lock(track);
    sc_allocations_remove_of(&track->allocations, context);
    unlock(track);
}
