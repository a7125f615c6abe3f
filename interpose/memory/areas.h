/* Reserves address space for the library's own pinned allocations, and allocates from it.
 *
 * An area is 2 MB, which has a page table of its own. Linux has one lock for each page table:
 * threads that work in different areas do not wait for each other in Linux. Allocations of up to
 * SC_AREAS_MAX_BYTES share the first areas, which they use in turn; none reaches from one area into
 * another. These areas have stripes of their own from the beginning (a stripe is a set of pages
 * that share a lock of the guard, track/spans.h). A larger allocation, a block, has whole areas,
 * each of which gets a stripe when one is wanted (sc_protect_move_area).
 *
 * The space is reserved once, without memory. A process whose address space is limited has none.
 *
 * Thread-safe, not signal-safe except for sc_areas_have; errno is kept. Locks: one of this module,
 * held over no system call but those that reserve the space. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 *   span: a run of pages that one operation wants protected
 *   stripe: a set of pages that share one of the guard's locks
 */

#ifndef SC_INTERPOSE_MEMORY_AREAS_H
#define SC_INTERPOSE_MEMORY_AREAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SC_AREAS_MAX_BYTES = 1 << 20,
    SC_AREAS_BYTES = 2 << 20,
    SC_AREAS_SHARED = 126,
    SC_AREAS_COUNT = 8190, /* 16 GB */
};

/* The reserved address space, whole areas of 2 MB; set once, before the first allocation. `start`
 * 0: there is none. `page_states`: a byte for each page, which belongs to the guard
 * (interpose/guard/userfaults.h) and is 0 when the page is mapped. */
extern struct sc_areas {
    uintptr_t start;
    size_t size_bytes;
    _Atomic uint8_t *page_states;
} sc_areas __attribute__((visibility("hidden")));

/* Returns true if the address lies in the reserved space, where the library may protect pages part
 * by part. Two loads; signal-safe. */
static inline bool sc_areas_have(uintptr_t address)
{
    return address - sc_areas.start < sc_areas.size_bytes;
}

/* Returns true if the address lies in one of the areas that allocations of up to SC_AREAS_MAX_BYTES
 * share. Signal-safe. */
static inline bool sc_areas_are_shared(uintptr_t address)
{
    return sc_areas_have(address) &&
           address - sc_areas.start < (uintptr_t)SC_AREAS_SHARED * SC_AREAS_BYTES;
}

/* Returns true if the address lies in an area that has a stripe of its own: a lock of page
 * protection that other areas do not wait for. Signal-safe. */
bool sc_areas_have_stripe(uintptr_t address);

/* Maps zeroed shared memory of whole pages in a shared area. Returns its address; 0: there is no
 * room, or Linux gives none. */
uintptr_t sc_areas_map(size_t size_bytes);

/* Allocates as many adjacent whole areas as the size needs, with nothing mapped in them. Returns
 * the address; 0: there are not so many free ones. */
uintptr_t sc_areas_take_block(size_t size_bytes);

/* Frees what sc_areas_map or sc_areas_take_block has returned. None of its pages may be protected.
 */
void sc_areas_unmap(uintptr_t start, size_t size_bytes);

/* Reserves address space at a multiple of SC_AREAS_BYTES, with nothing mapped in it, as huge pages
 * need it. Returns the address; 0: there is none. No lock. */
uintptr_t sc_areas_reserve(size_t size_bytes);

#endif
