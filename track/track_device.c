/* The tracker's device memory: track/device.h and track/allocations.h under the tracker's lock. */
#include "track/track_device.h"
#include "common/checks.h"
#include "track/allocations.h"
#include "track/device.h"
#include "track/kernel_flags.h"
#include "track/track_internal.h"

#include "common/poison.h"

/* The driver has handed out device memory: earlier operations at the address were of a former
 * owner. */
void sc_track_device_allocated(struct sc_track *track, uintptr_t address, size_t size_bytes,
                               uint32_t context, uint32_t origin)
{
    lock(track);
    sc_device_forget(&track->inflight, address, size_bytes);
    sc_allocations_add(&track->allocations, address, size_bytes, context, origin);
    unlock(track);
}

/* The driver has answered a free of device memory. The free is recorded as an operation only if the
 * block is still the one that was freed: another thread may have been given the memory by now. */
void sc_track_device_end_free(struct sc_track *track, const struct sc_allocation *allocation,
                              bool freed, struct sc_op_info *info)
{
    lock(track);
    bool same = sc_allocations_end_free(&track->allocations, allocation, freed);
    if (same && info) {
        sc_order_renew_ticket(&track->order, &info->ticket);
        sc_device_add(&track->inflight, info);
    }
    unlock(track);
}

/* Is the address in the list already? A kernel often has one twice. */
static bool is_among(const uintptr_t *addresses, unsigned count, uintptr_t address)
{
    for (unsigned i = 0; i < count; i++)
        if (addresses[i] == address)
            return true;
    return false;
}

/* Is a kernel that has this address judged as a user of the memory there? Not if the block is so
 * small that it may hold flags (words that kernels poll and set). Where no block is known, only if
 * something is in flight there. */
static bool is_held_against_kernels_locked(struct sc_track *track, uintptr_t address)
    SC_REQUIRES(*track)
{
    SC_ASSERT_HELD(&track->lock);
    size_t size_bytes = sc_allocations_find(&track->allocations, address).size_bytes;
    return size_bytes ? size_bytes > SC_KERNEL_FLAG_BYTES_MAX
                      : sc_inflight_may_overlap_on_device(&track->inflight, address, 1);
}

/* Leaves in the list the addresses among a kernel's parameters that may matter: in a known block or
 * where something is in flight, each once. */
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
