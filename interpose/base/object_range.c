#include "interpose/base/object_range.h"

#include <link.h>
#include <stddef.h>

#include "common/objects.h"

#include "common/poison.h"

struct search {
    uintptr_t address;
    struct sc_object_range found;
};

/* Returns the addresses of a loaded object, from its lowest mapped segment to the end of its
 * highest. */
struct sc_object_range sc_object_range_in(const struct dl_phdr_info *object)
{
    struct sc_object_range range = {UINTPTR_MAX, 0};
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        uintptr_t start = object->dlpi_addr + segment->p_vaddr;
        if (segment->p_type != PT_LOAD)
            continue;
        range.start = start < range.start ? start : range.start;
        range.end = start + segment->p_memsz > range.end ? start + segment->p_memsz : range.end;
    }
    return range;
}

/* A visitor of objects: ends the search at the one that has the address. */
static int find_range(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct search *search = argument;
    const struct sc_object_range range = sc_object_range_in(info);
    (void)size;
    if (!sc_object_range_holds(&range, search->address))
        return 0;
    search->found = range;
    return 1;
}

/* Returns the addresses of the loaded object (program or library) that contains the address; an
 * empty range if none does. */
struct sc_object_range sc_object_range_of(uintptr_t address)
{
    struct search search = {.address = address};
    sc_objects_visit(find_range, &search);
    return search.found;
}
