#include "interpose/calls/memory.h"

#include "interpose/base/process.h"
#include "interpose/calls/device_memory.h"
#include "interpose/calls/device_uses.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/replaying.h"
#include "track/allocations.h"
#include "track/track.h"

#include "common/poison.h"

/* Mappings begin at multiples of it. */
enum { GRANULE_BYTES = 2 << 20 };

/* What the driver says of the block that begins there; 0 if there is none. */
static size_t bytes_at(uintptr_t address)
{
    CUdeviceptr base = 0;
    size_t bytes = 0;
    if (!sc_real.cuMemGetAddressRange_v2 ||
        sc_real.cuMemGetAddressRange_v2(&base, &bytes, address) != CUDA_SUCCESS || base != address)
        return 0;
    return bytes;
}

/* What was opened before is known, and in use. */
static size_t size_of(const struct sc_memory *memory)
{
    if (memory->kind != SC_MEMORY_IMPORTED)
        return memory->size_bytes;
    return SC_TRACKED(sc_allocations_block_bytes(track.allocations, memory->name))
               ? 0
               : bytes_at(memory->name);
}

void sc_memory_note_given(const struct sc_call *call, const struct sc_memory *memory)
{
    size_t size_bytes = sc_active() ? size_of(memory) : 0;
    if (size_bytes == 0)
        return;
    if (sc_memory_is_on_device(memory->kind))
        sc_device_memory_made(call, memory->name, size_bytes);
    if (sc_beside_is_asked())
        sc_beside_allocated(memory->name, size_bytes);
}

/* Does the driver take it back? It unmaps no part of a mapping, and does not mind addresses where
 * nothing is mapped. */
static bool is_whole(const struct sc_memory *memory)
{
    uintptr_t end = memory->name + memory->size_bytes;
    SC_TRACK_SCOPE(track);
    return sc_allocations_begins(track.allocations, memory->name) &&
           sc_allocations_begins(track.allocations, end);
}

/* It waits for nothing before it unmaps, and a copy that finds nothing there ends the context. */
void sc_memory_note_leaving(const struct sc_call *call, const struct sc_memory *memory)
{
    if (!sc_active() || sc_replaying_follows() || !is_whole(memory))
        return;
    const struct sc_allocation all = {
        .address = memory->name,
        .size_bytes = memory->size_bytes,
        .origin = SC_TRACKED(sc_allocations_origin(track.allocations, memory->name)),
    };
    sc_device_uses_judge_free(call, &all);
}

/* Is it open still? */
static bool is_there(const struct sc_memory *memory)
{
    return memory->kind == SC_MEMORY_IMPORTED && bytes_at(memory->name);
}

void sc_memory_note_left(const struct sc_memory *memory)
{
    uintptr_t at = memory->name;
    const uintptr_t end = at + (memory->size_bytes ? memory->size_bytes : 1);
    while (sc_active() && at < end && !is_there(memory)) {
        size_t freed_bytes = SC_TRACKED(sc_allocations_free(track.allocations, at));
        at += freed_bytes ? freed_bytes : GRANULE_BYTES;
    }
}
