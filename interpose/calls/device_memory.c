#include "interpose/calls/device_memory.h"

#include "interpose/base/process.h"
#include "interpose/driver/made_here.h"
#include "interpose/driver/replaying.h"
#include "interpose/streams/contexts.h"
#include "track/track.h"

#include "common/poison.h"

void sc_device_memory_note_made(const struct sc_call *call, uintptr_t address, size_t size_bytes)
{
    SC_KEEP_ERRNO();
    if (!sc_active() || size_bytes == 0)
        return;
    struct sc_context *context = sc_contexts_of_memory();
    sc_track_device_allocated(&sc_track, address, size_bytes, context ? context->legacy : 0,
                              sc_made_here(call));
}

/* What the call that the driver is about to carry out takes back. */
static __thread struct {
    uintptr_t address;
    struct sc_allocation allocation;
} leaving;

/* What is still there belongs to a call that has failed: it was not followed. */
static struct sc_allocation prepare(uintptr_t address)
{
    sc_device_memory_left(&leaving.allocation, false);
    leaving.address = address;
    leaving.allocation = SC_TRACKED(sc_allocations_begin_free(track.allocations, address));
    return leaving.allocation;
}

/* Behind the call the address may be the memory of another thread already. */
struct sc_allocation sc_device_memory_note_leaving(uintptr_t address)
{
    if (sc_replaying_prepares())
        return prepare(address);
    if (!sc_replaying_follows() || leaving.address != address)
        return SC_TRACKED(sc_allocations_begin_free(track.allocations, address));
    struct sc_allocation left = leaving.allocation;
    leaving.address = 0;
    leaving.allocation = (struct sc_allocation){0};
    return left;
}
