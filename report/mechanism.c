#include "report/mechanism.h"

#include "track/poison.h"

#include "track/kernel.h"

#include <sys/sysinfo.h>

static bool has_swap(void)
{
    struct sysinfo info;
    return sc_kernel_call(SYS_sysinfo, &info) != 0 || info.totalswap != 0;
}

/* Where there is swap the kernel may take pages out of the page tables that nobody keeps off. A
 * system call that meets one of userfaultfd's then fails, in a program that is correct. */
enum sc_mechanism sc_mechanism_of(enum sc_guard_mode guard)
{
    switch (guard) {
    case SC_GUARD_OFF:
        return SC_MECHANISM_NONE;
    case SC_GUARD_UFFD:
        return SC_MECHANISM_USERFAULTFD;
    case SC_GUARD_ON:
        return has_swap() ? SC_MECHANISM_MPROTECT_FOR_SWAP : SC_MECHANISM_USERFAULTFD;
    case SC_GUARD_MPROTECT:
        break;
    }
    return SC_MECHANISM_MPROTECT;
}
