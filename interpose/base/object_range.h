/* Finds the addresses of a loaded object (program or library).
 *
 * Thread-safe; not for signal handlers. */
#ifndef SC_INTERPOSE_BASE_OBJECT_RANGE_H
#define SC_INTERPOSE_BASE_OBJECT_RANGE_H

#include <stdbool.h>
#include <stdint.h>

struct sc_object_range {
    uintptr_t start, end;
};

struct dl_phdr_info;

/* Returns the addresses from the object's first mapped part to its last. */
struct sc_object_range sc_object_range_in(const struct dl_phdr_info *object);

/* Returns the range of the loaded object that contains the address; empty if none does. Takes the
 * loader's lock. */
struct sc_object_range sc_object_range_of(uintptr_t address);

/* Does the address lie in the range? Never in an empty one. */
static inline bool sc_object_range_holds(const struct sc_object_range *range, uintptr_t address)
{
    return address - range->start < range->end - range->start;
}

#endif
