/* Address space for the library's own pinned allocations of up to SC_AREAS_MAX_BYTES.
 *
 * An area has 2 MB, and so a page table of its own, for which the kernel has one lock: threads that
 * work in different areas do not wait for each other there. Allocations go to the areas in turn. No
 * allocation reaches from one area into another.
 *
 * The space is reserved once, without memory. A process whose address space is limited has none.
 *
 * Thread safe, not signal safe but for sc_areas_have; errno is kept. Locks: one of the module's
 * own, held over no system call but those that reserve the space.
 */
#ifndef SC_INTERPOSE_MEMORY_AREAS_H
#define SC_INTERPOSE_MEMORY_AREAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SC_AREAS_MAX_BYTES = 1 << 20, SC_AREAS_BYTES = 2 << 20, SC_AREAS_COUNT = 126 };

/* Set once, before the first allocation. Start 0: there is no such space. */
extern struct sc_areas {
    uintptr_t start;
    size_t size_bytes;
} sc_areas __attribute__((visibility("hidden")));

/* Does the address lie in an area? Two loads; signal safe. */
static inline bool sc_areas_have(uintptr_t address)
{
    return address - sc_areas.start < sc_areas.size_bytes;
}

/* Maps zeroed shared memory of whole pages there. 0: there is no room, or the kernel gives none. */
uintptr_t sc_areas_map(size_t size_bytes);

/* Gives it back. */
void sc_areas_unmap(uintptr_t start, size_t size_bytes);

#endif
