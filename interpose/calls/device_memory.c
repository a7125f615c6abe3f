#include "interpose/calls/device_memory.h"

#include "interpose/base/process.h"
#include "interpose/driver/made_here.h"
#include "interpose/driver/replaying.h"
#include "interpose/streams/contexts.h"
#include "track/track.h"

#include "common/poison.h"

/* Adds the block to the tracker, so that uses of it are not compared with uses of earlier memory at
 * the address. */
void sc_device_memory_note_made(const struct sc_call *call, uintptr_t address, size_t size_bytes)
{
    SC_KEEP_ERRNO();
    if (!sc_active() || size_bytes == 0)
        return;
    struct sc_context *context = sc_contexts_of_memory();
    sc_track_device_allocated(&sc_track, address, size_bytes, context ? context->legacy : 0,
                              sc_made_here(call));
}

/* Replay: the allocation that the driver is about to take back, on this thread. */
static __thread struct {
    uintptr_t address;
    struct sc_allocation allocation;
} leaving;

/* Finds the block before the driver's call. A block that is still stored here is of an earlier
 * call, which has failed. */
static struct sc_allocation find_leaving_block(uintptr_t address)
{
    sc_device_memory_left(&leaving.allocation, /*freed=*/false);
    leaving.address = address;
    leaving.allocation = SC_TRACKED(sc_allocations_begin_free(track.allocations, address));
    return leaving.allocation;
}

/* Notes that the allocation at the address is about to be freed, and returns what is known of it.
 * After the driver's call the address may already be another thread's memory, so the second run of
 * a replay returns what the first one has found. */
struct sc_allocation sc_device_memory_note_leaving(uintptr_t address)
{
    if (sc_replaying_prepares())
        return find_leaving_block(address);
    if (!sc_replaying_follows() || leaving.address != address)
        return SC_TRACKED(sc_allocations_begin_free(track.allocations, address));
    struct sc_allocation left = leaving.allocation;
    leaving.address = 0;
    leaving.allocation = (struct sc_allocation){0};
    return left;
}
