#include "common/own_pages.h"

#include <sys/mman.h>

#include "common/kernel.h"

#include "common/poison.h"

/* Maps zeroed memory for the library; NULL: there is none. By a system call: mmap is a hook of the
 * library's, which would take locks that the caller may hold. */
void *sc_pages_map(size_t size_bytes)
{
    long pages = sc_kernel_call(SYS_mmap, NULL, size_bytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages < 0 ? NULL : (void *)pages;
}

/* Unmaps such memory by a system call (munmap is a hook); NULL does nothing. */
void sc_pages_unmap(void *pages, size_t size_bytes)
{
    if (pages)
        sc_kernel_call(SYS_munmap, pages, size_bytes);
}
