#include "interpose/calls/device_memory.h"

#include "interpose/base/process.h"
#include "interpose/driver/made_here.h"
#include "interpose/driver/replaying.h"
#include "interpose/streams/contexts.h"
#include "track/track.h"

#include "common/poison.h"

/* Called behind an allocation of device memory, with option device=1: has the tracker forget what
 * was done in earlier memory at the address, and remember which call made this block. */
void sc_device_memory_note_made(const struct sc_call *call, uintptr_t address, size_t size_bytes)
{
    SC_KEEP_ERRNO();
    if (!sc_active() || size_bytes == 0)
        return;
    struct sc_context *context = sc_contexts_of_memory();
    sc_track_device_allocated(&sc_track, address, size_bytes, context ? context->legacy : 0,
                              sc_made_here(call));
}

/* The block that the driver is about to free on this thread, in a call that came through no
 * wrapper: its wrapper runs once before the driver's call and once behind it (a replay). */
static __thread struct {
    uintptr_t address;
    struct sc_allocation allocation;
} leaving;

/* Called in the first run of a replayed free, before the driver's call: finds the block at the
 * address and stores it for the second run. If a block of an earlier call is still stored, that
 * call has failed, since its second run never came: its block is not freed after all. */
static struct sc_allocation find_leaving_block(uintptr_t address)
{
    sc_device_memory_left(&leaving.allocation, /*freed=*/false);
    leaving.address = address;
    leaving.allocation = SC_TRACKED(sc_allocations_begin_free(track.allocations, address));
    return leaving.allocation;
}

/* Called before device memory is freed, with option device=1: notes that the block at the address
 * is about to go, and returns what is known of it (size 0: nothing). The second run of a replay is
 * behind the driver's call, when the address may already be another thread's memory: it returns
 * what the first run has found. */
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
