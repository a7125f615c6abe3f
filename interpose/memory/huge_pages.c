#include "interpose/memory/huge_pages.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "common/kernel.h"
#include "interpose/base/process.h"
#include "interpose/base/real_libc.h"
#include "interpose/memory/areas.h"

#include "common/poison.h"

/* Newer than the C library's headers. */
#define POPULATE_WRITE 23 /* MADV_POPULATE_WRITE, Linux 5.14 */
#define COLLAPSE 25       /* MADV_COLLAPSE, Linux 6.1 */

enum {
    STEP_BYTES = 64 << 20, /* made huge at a time, so that a lack of memory shows early */
    FAILURES_MAX = 8,      /* so many failures mean that no huge pages can be had */
};

static _Atomic unsigned failures;

/* ---- what the machine is like ---- */

/* Reads the first line of a file of Linux (/sys). False: it cannot be read. */
static bool read_line(const char *path, char *text, size_t room)
{
    long fd = sc_kernel_call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    long got = fd >= 0 ? sc_kernel_call(SYS_read, fd, text, room - 1) : -1;
    if (fd >= 0)
        sc_kernel_call(SYS_close, fd);
    text[got > 0 ? got : 0] = 0;
    return got > 0;
}

/* Do huge pages fit this machine: are small pages 4 KB and huge ones 2 MB, and does the
 * administrator allow any? The file has "always [madvise] never", with the choice in brackets.
 * MADV_COLLAPSE would work with each, but whoever has chosen never gets none. */
static bool query_fit(void)
{
    char text[64];
    return sysconf(_SC_PAGESIZE) == SC_SMALL_PAGE_BYTES &&
           read_line("/sys/kernel/mm/transparent_hugepage/enabled", text, sizeof text) &&
           !strstr(text, "[never]") &&
           read_line("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", text, sizeof text) &&
           strcmp(text, "2097152\n") == 0;
}

/* Has the machine one NUMA node only? Then it makes no difference on which one pages lie. */
static bool query_one_node(void)
{
    char text[64];
    return read_line("/sys/devices/system/node/online", text, sizeof text) &&
           strcmp(text, "0\n") == 0;
}

/* Does the thread's NUMA policy spread pages over nodes? Huge pages would be spread in units of 2
 * MB, or not at all, so such a program gets none. No with one node, or if Linux does not tell. */
static bool is_interleaved(void)
{
    enum { INTERLEAVE = 3, WEIGHTED_INTERLEAVE = 6, MODE_BITS = 0xff };
    static _Atomic int one_node;
    int mode = 0;
    if (sc_huge_pages_remember(&one_node, query_one_node) ||
        sc_kernel_call(SYS_get_mempolicy, &mode, NULL, 0, NULL, 0) != 0)
        return false;
    mode &= MODE_BITS;
    return mode == INTERLEAVE || mode == WEIGHTED_INTERLEAVE;
}

bool sc_huge_pages_fit(void)
{
    static _Atomic int fit;
    return sc_huge_pages_remember(&fit, query_fit);
}

/* Has the machine at least twice as much free memory? The driver would refuse more than there is,
 * but to try that here would take memory from other processes. No either if huge pages have failed
 * FAILURES_MAX times, or if the NUMA policy spreads pages over nodes. */
bool sc_huge_pages_are_plenty(size_t size_bytes)
{
    struct sysinfo info;
    return atomic_load_explicit(&failures, memory_order_relaxed) < FAILURES_MAX &&
           sysinfo(&info) == 0 && size_bytes / info.mem_unit <= info.freeram / 2 &&
           !is_interleaved();
}

/* ---- mappings ---- */

/* Maps anonymous pages; the library's own hooks let the call pass (SC_INSIDE). 0: Linux refuses. */
static uintptr_t map(uintptr_t at, size_t size_bytes, int protection, int flags)
{
    SC_INSIDE();
    void *got = mmap((void *)at, size_bytes, protection, flags | MAP_ANONYMOUS, -1, 0);
    return got == MAP_FAILED ? 0 : (uintptr_t)got;
}

void sc_huge_pages_unmap(uintptr_t start, size_t size_bytes)
{
    if (size_bytes)
        sc_real_libc_unmap((void *)start, size_bytes);
}

/* Makes Linux back the memory with huge pages. One small page of each is populated, and all are
 * collapsed then: Linux collapses no empty range, and to populate everything first takes ten times
 * as long. A lack of memory is an error here, where a touch would end the process. */
static bool make_huge(uintptr_t start, size_t size_bytes)
{
    for (uintptr_t at = start; at < start + size_bytes; at += SC_HUGE_PAGE_BYTES)
        if (sc_kernel_call(SYS_madvise, at, SC_SMALL_PAGE_BYTES, POPULATE_WRITE) != 0)
            return false;
    return sc_kernel_call(SYS_madvise, start, size_bytes, COLLAPSE) == 0;
}

/* Makes the memory huge pages, part by part: Linux may have to move much other memory for that, and
 * a lack shows early so. False: it could not; after FAILURES_MAX such cases no more are tried. */
static bool make_all_huge(uintptr_t start, size_t size_bytes)
{
    bool made = true;
    for (size_t done = 0; made && done < size_bytes; done += STEP_BYTES) {
        size_t left = size_bytes - done;
        made = make_huge(start + done, left < STEP_BYTES ? left : STEP_BYTES);
    }
    if (!made)
        atomic_fetch_add_explicit(&failures, 1, memory_order_relaxed);
    return made;
}

bool sc_huge_pages_fill(uintptr_t start, size_t size_bytes)
{
    return map(start, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED) &&
           make_all_huge(start, size_bytes);
}

/* Maps huge pages over reserved addresses, since these are aligned: Linux makes pages huge only
 * from a boundary of 2 MB on. 0: there are no addresses, or not enough huge pages. */
static uintptr_t map_huge(size_t size_bytes)
{
    uintptr_t start = sc_areas_reserve(size_bytes);
    if (start && !sc_huge_pages_fill(start, size_bytes)) {
        sc_huge_pages_unmap(start, size_bytes);
        return 0;
    }
    return start;
}

uintptr_t sc_huge_pages_map(size_t size_bytes)
{
    return size_bytes % SC_HUGE_PAGE_BYTES ? map(0, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED)
                                           : map_huge(size_bytes);
}
