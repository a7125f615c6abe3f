#include "interpose/base/object_range.h"

#include <link.h>
#include <stddef.h>

#include "common/objects.h"

#include "common/poison.h"

struct search {
    uintptr_t address;
    struct sc_object_range found;
};

/* A visitor of objects: ends the search at the one that has the address. */
static int find_range(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct search *search = argument;
    struct sc_object_range range = {UINTPTR_MAX, 0};
    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type != PT_LOAD)
            continue;
        if (start < range.start)
            range.start = start;
        if (start + segment->p_memsz > range.end)
            range.end = start + segment->p_memsz;
    }
    if (!sc_object_range_holds(&range, search->address))
        return 0;
    search->found = range;
    return 1;
}

struct sc_object_range sc_object_range_of(uintptr_t address)
{
    struct search search = {.address = address};
    sc_objects_visit(find_range, &search);
    return search.found;
}
