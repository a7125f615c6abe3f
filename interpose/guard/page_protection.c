#include "interpose/guard/page_protection.h"

#include <errno.h>
#include <sys/mman.h>

#include "common/kernel.h"
#include "common/pages.h"
#include "common/ticks.h"
#include "track/source_costs.h"

#include "common/poison.h"

int sc_page_protection_set(uintptr_t address, size_t size_bytes, enum sc_access access)
{
    static const long protections[] = {
        [SC_ACCESS_NONE] = PROT_NONE,
        [SC_ACCESS_READ] = PROT_READ,
        [SC_ACCESS_ALL] = PROT_READ | PROT_WRITE,
    };
    uint64_t before = sc_ticks();
    int result = (int)sc_kernel_call(SYS_mprotect, address, size_bytes, protections[access]);
    sc_source_costs_note(SC_SOURCE_BY_MPROTECT, size_bytes, sc_ticks() - before, false);
    return access == SC_ACCESS_ALL && result == -EPERM ? 0 : result;
}
