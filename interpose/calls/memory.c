#include "interpose/calls/memory.h"

#include "interpose/base/process.h"
#include "interpose/calls/device_memory.h"
#include "interpose/calls/device_uses.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/replaying.h"
#include "track/allocations.h"
#include "track/track.h"

#include "common/poison.h"

/* Mappings begin at multiples of this size. */
enum { GRANULE_BYTES = 2 << 20 };

/* Returns the size of the driver's block that begins at the address; 0 if none begins there. */
static size_t block_bytes_at(uintptr_t address)
{
    CUdeviceptr base = 0;
    size_t bytes = 0;
    if (!sc_real.cuMemGetAddressRange_v2 ||
        sc_real.cuMemGetAddressRange_v2(&base, &bytes, address) != CUDA_SUCCESS || base != address)
        return 0;
    return bytes;
}

/* Returns how many bytes the program is given: 0 for memory that it had opened before. */
static size_t new_bytes(const struct sc_memory *memory)
{
    if (memory->kind != SC_MEMORY_IMPORTED)
        return memory->size_bytes;
    return SC_TRACKED(sc_allocations_block_bytes(track.allocations, memory->name))
               ? 0
               : block_bytes_at(memory->name);
}

/* Notes a new block of device memory in the tracker and for captures. */
void sc_memory_note_given(const struct sc_call *call, const struct sc_memory *memory)
{
    size_t size_bytes = sc_active() ? new_bytes(memory) : 0;
    if (size_bytes == 0)
        return;
    if (sc_memory_is_on_device(memory->kind))
        sc_device_memory_made(call, memory->name, size_bytes);
    if (sc_beside_needs_calls())
        sc_beside_note_allocated(memory->name, size_bytes);
}

/* Does the driver take the mapping back? It unmaps only whole mappings, but the interval may have
 * gaps where nothing is mapped. */
static bool is_unmapped_whole(const struct sc_memory *memory)
{
    uintptr_t end = memory->name + memory->size_bytes;
    SC_TRACK_SCOPE(track);
    return sc_allocations_may_begin_at(track.allocations, memory->name) &&
           sc_allocations_may_begin_at(track.allocations, end);
}

/* Judges device memory that is about to be unmapped, as a free that waits for nothing: the driver
 * unmaps without waiting, and a copy that finds nothing there then makes the context unusable. */
void sc_memory_note_leaving(const struct sc_call *call, const struct sc_memory *memory)
{
    if (!sc_active() || sc_replaying_follows() || !is_unmapped_whole(memory))
        return;
    const struct sc_allocation all = {
        .address = memory->name,
        .size_bytes = memory->size_bytes,
        .origin = SC_TRACKED(sc_allocations_origin(track.allocations, memory->name)),
    };
    sc_device_uses_judge_free(call, NULL, &all);
}

/* Is the opened memory still open, so that this call did not close it for good? */
static bool is_still_open(const struct sc_memory *memory)
{
    return memory->kind == SC_MEMORY_IMPORTED && block_bytes_at(memory->name);
}

/* Removes the blocks of device memory that the call has given back; it may have given back several.
 */
void sc_memory_note_left(const struct sc_memory *memory)
{
    uintptr_t at = memory->name;
    const uintptr_t end = at + (memory->size_bytes ? memory->size_bytes : 1);
    while (sc_active() && at < end && !is_still_open(memory)) {
        size_t freed_bytes = SC_TRACKED(sc_allocations_free(track.allocations, at));
        at += freed_bytes ? freed_bytes : GRANULE_BYTES;
    }
}
