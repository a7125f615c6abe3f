#include "report/mechanism.h"

#include "common/kernel.h"
#include "report/file.h"
#include "report/options.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/poison.h"

/* May Linux swap pages out? /proc/swaps has a headline, and a line for each place to swap to. True
 * also if it cannot be read: mprotect, which is then used, is right with swap and without. */
static bool has_swap(void)
{
    char text[512];
    long got = sc_file_read("/proc/swaps", text, sizeof text);
    const char *end = got > 0 ? memchr(text, '\n', (size_t)got) : NULL;
    return !end || end + 1 != text + got;
}

/* Does the program run under Valgrind? It warns of the system call userfaultfd, which it does not
 * know. It is recognised by its own libraries, which it preloads before ours. */
static bool is_under_valgrind(void)
{
    const char *preloaded = getenv("LD_PRELOAD");
    return preloaded && strstr(preloaded, "/vgpreload_");
}

/* Returns how pages are protected with guard=on: by userfaultfd unless something speaks against
 * it. With swap Linux may swap out a protected page; a system call that meets such a page then
 * fails, in a correct program. A seccomp filter may kill the process for the system call, a risk
 * that only guard=uffd asks for. */
static enum sc_mechanism choose_for_on(void)
{
    if (is_under_valgrind())
        return SC_MECHANISM_MPROTECT;
    if (sc_kernel_is_filtered())
        return SC_MECHANISM_MPROTECT_FOR_FILTER;
    return has_swap() ? SC_MECHANISM_MPROTECT_FOR_SWAP : SC_MECHANISM_USERFAULTFD;
}

/* Returns how pages are protected with this value of the option `guard`. Only guard=on leaves the
 * choice to the machine. */
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
