#include "report/mechanism.h"

#include "common/kernel.h"
#include "report/file.h"
#include "report/options.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/poison.h"

/* A line for each behind the first. Where the kernel does not say there may be some. */
static bool has_swap(void)
{
    char text[512];
    long got = sc_file_read("/proc/swaps", text, sizeof text);
    const char *end = got > 0 ? memchr(text, '\n', (size_t)got) : NULL;
    return !end || end + 1 != text + got;
}

/* It knows no userfaultfd, and warns of it. Its own libraries are preloaded before ours. */
static bool is_under_valgrind(void)
{
    const char *preloaded = getenv("LD_PRELOAD");
    return preloaded && strstr(preloaded, "/vgpreload_");
}

/* Where there is swap the kernel may take pages out of the page tables that nobody keeps off. A
 * system call that meets one of userfaultfd's then fails, in a program that is correct. Where there
 * is a seccomp filter it may kill for the asking, which only who asks for userfaultfd wants. */
static enum sc_mechanism choose(void)
{
    if (is_under_valgrind())
        return SC_MECHANISM_MPROTECT;
    if (sc_kernel_is_filtered())
        return SC_MECHANISM_MPROTECT_FOR_FILTER;
    return has_swap() ? SC_MECHANISM_MPROTECT_FOR_SWAP : SC_MECHANISM_USERFAULTFD;
}

enum sc_mechanism sc_mechanism_of(enum sc_guard_mode guard)
{
    switch (guard) {
    case SC_GUARD_OFF:
        return SC_MECHANISM_NONE;
    case SC_GUARD_UFFD:
        return SC_MECHANISM_USERFAULTFD;
    case SC_GUARD_ON:
        return choose();
    case SC_GUARD_MPROTECT:
        break;
    }
    return SC_MECHANISM_MPROTECT;
}
