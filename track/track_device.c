/* The tracker's device memory: what track/device.h has, under the tracker's lock. */
#include "track/track_internal.h"

#include "track/poison.h"

void sc_track_device_conflicts(struct sc_track *track, const struct sc_op_info *info,
                               struct sc_ops *conflicts)
{
    if (!sc_device_may_overlap(&track->device, info->shape.address,
                               sc_shape_hull_bytes(&info->shape)))
        return;
    lock(track);
    sc_device_conflicts(&track->device, info, conflicts);
    unlock(track);
}

void sc_track_device_issue(struct sc_track *track, struct sc_op_info *infos, unsigned count)
{
    lock(track);
    if (infos[0].ticket.number == 0)
        sc_order_renew(&track->order, &infos[0].ticket);
    for (unsigned i = 0; i < count; i++) {
        infos[i].ticket = infos[0].ticket;
        sc_device_add(&track->device, &infos[i]);
    }
    unlock(track);
}

void sc_track_device_allocated(struct sc_track *track, uintptr_t address, size_t size_bytes)
{
    lock(track);
    sc_device_forget(&track->device, address, size_bytes);
    sc_handles_put(&track->allocations, address, size_bytes);
    unlock(track);
}

size_t sc_track_device_take(struct sc_track *track, uintptr_t address)
{
    lock(track);
    size_t size_bytes = sc_handles_remove(&track->allocations, address);
    unlock(track);
    return size_bytes;
}
