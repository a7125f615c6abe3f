#include "report/mechanism.h"

#include "common/kernel.h"
#include "report/file.h"
#include "report/options.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/poison.h"

/* Does the system swap? The file has a headline, and a line for each place to swap to. */
static bool has_swap(void)
{
    char text[512];
    long got = sc_file_read("/proc/swaps", text, sizeof text);
    const char *end = got > 0 ? memchr(text, '\n', (size_t)got) : NULL;
    return !end || end + 1 != text + got;
}

/* Valgrind warns of the system call userfaultfd, which it does not know. It preloads its own
 * libraries before ours. */
static bool is_under_valgrind(void)
{
    const char *preloaded = getenv("LD_PRELOAD");
    return preloaded && strstr(preloaded, "/vgpreload_");
}

/* Returns the mechanism for guard=on. Swap speaks against userfaultfd: the Linux kernel may swap
 * out a page that nobody keeps off, and a system call that meets a page of userfaultfd's then
 * fails, in a correct program. A seccomp filter does as well: it may kill for the system call, a
 * risk that only guard=uffd asks for. */
static enum sc_mechanism choose_for_on(void)
{
    if (is_under_valgrind())
        return SC_MECHANISM_MPROTECT;
    if (sc_kernel_is_filtered())
        return SC_MECHANISM_MPROTECT_FOR_FILTER;
    return has_swap() ? SC_MECHANISM_MPROTECT_FOR_SWAP : SC_MECHANISM_USERFAULTFD;
}

/* Only guard=on leaves the choice to the machine. */
enum sc_mechanism sc_mechanism_of(enum sc_guard_mode guard)
{
    switch (guard) {
    case SC_GUARD_OFF:
        return SC_MECHANISM_NONE;
    case SC_GUARD_UFFD:
        return SC_MECHANISM_USERFAULTFD;
    case SC_GUARD_ON:
        return choose_for_on();
    case SC_GUARD_MPROTECT:
        break;
    }
    return SC_MECHANISM_MPROTECT;
}
