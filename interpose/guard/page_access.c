#include "interpose/guard/page_access.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "interpose/guard/mappings.h"
#include "interpose/memory/areas.h"
#include "interpose/memory/userfaults.h"
#include "track/kernel.h"

#include "track/poison.h"

int sc_page_access_set(uintptr_t address, size_t size_bytes, enum sc_access access)
{
    static const long protections[] = {
        [SC_ACCESS_NONE] = PROT_NONE,
        [SC_ACCESS_READ] = PROT_READ,
        [SC_ACCESS_ALL] = PROT_READ | PROT_WRITE,
    };
    if (size_bytes == 0)
        return 0;
    if (sc_areas_have(address))
        return sc_userfaults_set(address, size_bytes, access);
    int result = (int)sc_kernel_call(SYS_mprotect, address, size_bytes, protections[access]);
    return access == SC_ACCESS_ALL && result == -EPERM ? 0 : result;
}

bool sc_page_access_denies(uintptr_t address, enum sc_touch touch)
{
    return !sc_mappings_allow(address, touch == SC_TOUCH_WRITE);
}
