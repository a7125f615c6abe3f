#include "interpose/calls/memory.h"

#include "interpose/base/process.h"
#include "interpose/calls/device_memory.h"
#include "interpose/calls/device_uses.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/replaying.h"
#include "track/allocations.h"
#include "track/track.h"

#include "common/poison.h"

/* The driver maps device memory (cuMemMap) at multiples of this size. */
enum { GRANULE_BYTES = 2 << 20 };

/* Asks the driver for the size of the block of device memory that begins at the address; 0: none
 * begins there, or this driver cannot be asked. */
static size_t block_bytes_at(uintptr_t address)
{
    CUdeviceptr base = 0;
    size_t bytes = 0;
    if (!sc_real.cuMemGetAddressRange_v2 ||
        sc_real.cuMemGetAddressRange_v2(&base, &bytes, address) != CUDA_SUCCESS || base != address)
        return 0;
    return bytes;
}

/* Returns how many bytes of new memory a call gives the program. Memory of another process
 * (SC_MEMORY_IMPORTED) may be open already: 0, since its past still counts; else the driver knows
 * the size. */
static size_t new_bytes(const struct sc_memory *memory)
{
    if (memory->kind != SC_MEMORY_IMPORTED)
        return memory->size_bytes;
    return SC_TRACKED(sc_allocations_block_bytes(track.allocations, memory->name))
               ? 0
               : block_bytes_at(memory->name);
}

/* Called behind a call that has given the program memory: has what was done at its address
 * forgotten, by the tracker (option device=1) and for open captures (SC305). */
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

/* Will the driver accept to unmap this interval? It unmaps only whole mappings, so a mapping must
 * begin at the interval's start and none may reach beyond its end. The interval may have gaps. */
static bool is_unmapped_whole(const struct sc_memory *memory)
{
    uintptr_t end = memory->name + memory->size_bytes;
    SC_TRACK_SCOPE(track);
    return sc_allocations_may_begin_at(track.allocations, memory->name) &&
           sc_allocations_may_begin_at(track.allocations, end);
}

/* Called before device memory is unmapped: the driver does so without waiting, and a copy that
 * finds nothing there makes the context unusable. So operations in flight there are reported
 * (SC502), and in mode=fix waited for. Not behind the driver's call, in a replay, nor if the driver
 * will refuse. */
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

/* Is memory of another process still open, so that this call has only dropped one of several
 * references? */
static bool is_still_open(const struct sc_memory *memory)
{
    return memory->kind == SC_MEMORY_IMPORTED && block_bytes_at(memory->name);
}

/* Called behind a call that has given device memory back: has the tracker forget the blocks there.
 * An unmapping may cover several blocks, with gaps between them, so the whole interval is walked.
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
