#include "interpose/base/plain_memory.h"

#include "interpose/base/mappings.h"
#include "interpose/base/thread_stack.h"
#include "track/spans.h"
#include "track/track.h"
#include "track/track_parts.h"

#include "common/poison.h"

/* The sc_mappings_disguised function: protected pages count as plain. */
static uintptr_t guarded_until(uintptr_t address, uintptr_t end)
{
    uintptr_t until = address;
    while (until < end && SC_TRACKED(sc_spans_cover(track.guards, until)))
        until = (until | sc_track_parts.guards->page_mask) + 1;
    return until < end ? until : end;
}

bool sc_plain_memory_is(uintptr_t address, size_t size_bytes)
{
    return sc_mappings_are_plain(address, size_bytes, guarded_until);
}

bool sc_plain_memory_is_heap(uintptr_t address, size_t size_bytes)
{
    return sc_mappings_are_plain_heap(address, size_bytes, guarded_until);
}

/* May the memory be a stack? Memory that is no heap may be any thread's. */
bool sc_plain_memory_may_be_stack(uintptr_t address, size_t size_bytes)
{
    return sc_thread_stack_overlaps(address, size_bytes) ||
           sc_thread_stack_overlaps_main(address, size_bytes) ||
           (sc_plain_memory_is(address, size_bytes) &&
            !sc_plain_memory_is_heap(address, size_bytes));
}
