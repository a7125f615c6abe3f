#include "interpose/base/plain_memory.h"

#include "interpose/base/mappings.h"
#include "interpose/base/thread_stack.h"
#include "track/spans.h"
#include "track/track.h"
#include "track/track_parts.h"

#include "common/poison.h"

/* Tells the reading of mappings which pages the library has protected while the device uses them:
 * those count as plain, as they were. Returns where such pages from `address` on end, at most
 * `end`. */
static uintptr_t guarded_until(uintptr_t address, uintptr_t end)
{
    uintptr_t until = address;
    while (until < end && SC_TRACKED(sc_spans_cover(track.guards, until)))
        until = (until | sc_track_parts.guards->page_mask) + 1;
    return until < end ? until : end;
}

/* Is all of the memory readable and writable and not executable, as malloc's is? Pages count as the
 * program mapped them, also while the library protects them. */
bool sc_plain_memory_is(uintptr_t address, size_t size_bytes)
{
    return sc_mappings_are_plain(address, size_bytes, guarded_until);
}

/* Is all of the memory plain (as malloc's is), and can no thread's stack lie there? The library
 * must not protect pages of a stack. */
bool sc_plain_memory_is_heap(uintptr_t address, size_t size_bytes)
{
    return sc_mappings_are_plain_heap(address, size_bytes, guarded_until);
}

/* May the memory be a stack: this thread's, the main thread's or an alternate one, or another
 * thread's? Nobody tells where other threads' stacks are: plain memory that is no heap may be one.
 */
bool sc_plain_memory_may_be_stack(uintptr_t address, size_t size_bytes)
{
    return sc_thread_stack_overlaps(address, size_bytes) ||
           sc_thread_stack_overlaps_main(address, size_bytes) ||
           (sc_plain_memory_is(address, size_bytes) &&
            !sc_plain_memory_is_heap(address, size_bytes));
}
