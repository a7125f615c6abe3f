#include "interpose/guard/page_protection.h"

#include <errno.h>
#include <sys/mman.h>

#include "common/kernel.h"
#include "common/pages.h"

#include "common/poison.h"

/* Sets the program's access to the pages by mprotect, past the library's hook of it. Returns 0 or
 * -errno. -EPERM when unprotecting counts as done: the memory is sealed (mseal), so it cannot have
 * been protected. */
int sc_page_protection_set(uintptr_t address, size_t size_bytes, enum sc_access access)
{
    static const long protections[] = {
        [SC_ACCESS_NONE] = PROT_NONE,
        [SC_ACCESS_READ] = PROT_READ,
        [SC_ACCESS_ALL] = PROT_READ | PROT_WRITE,
    };
    int result = (int)sc_kernel_call(SYS_mprotect, address, size_bytes, protections[access]);
    return access == SC_ACCESS_ALL && result == -EPERM ? 0 : result;
}
