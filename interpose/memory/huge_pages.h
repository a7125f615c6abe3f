/* Maps shared anonymous memory, the kind that the driver uses for its own pinned allocations, in
 * huge pages if the size is a multiple of theirs.
 *
 * The kernel makes no huge pages of shared memory unless asked (MADV_COLLAPSE, Linux 6.1). That
 * works whatever /sys/kernel/mm/transparent_hugepage/shmem_enabled says. Parts of huge pages may be
 * protected: the mapping of such a page is then made anew by the next touch.
 *
 * Thread safe, not signal safe; no lock. Nothing here is a cancellation point, and none of the
 * library's hooks sees it. */
#ifndef SC_INTERPOSE_MEMORY_HUGE_PAGES_H
#define SC_INTERPOSE_MEMORY_HUGE_PAGES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SC_SMALL_PAGE_BYTES = 4 << 10, SC_HUGE_PAGE_BYTES = 2 << 20 };

/* Asks a yes-or-no question once, and remembers the answer in *known (0 at first). Two threads that
 * ask at the same time find the same answer. */
static inline bool sc_huge_pages_remember(_Atomic int *known, bool (*ask)(void))
{
    enum { YES = 1, NO = 2 };
    int answer = atomic_load_explicit(known, memory_order_relaxed);
    if (!answer) {
        answer = ask() ? YES : NO;
        atomic_store_explicit(known, answer, memory_order_relaxed);
    }
    return answer == YES;
}

/* Does the machine have pages of 4 KB and 2 MB, and does the administrator allow huge ones? */
bool sc_huge_pages_fit(void);

/* Can so many bytes of huge pages probably be had without harm to others, where the NUMA policy of
 * the calling thread wants its memory? */
bool sc_huge_pages_are_plenty(size_t size_bytes);

/* Maps zeroed memory; the size is a multiple of one of the page sizes. Huge pages are populated,
 * small ones are not. 0: the kernel gives none, or cannot make all of the pages huge. */
uintptr_t sc_huge_pages_map(size_t size_bytes);

/* Maps huge pages over reserved space at the address. False: what is mapped there by then is for
 * the caller to unmap. */
bool sc_huge_pages_fill(uintptr_t start, size_t size_bytes);

/* Unmaps such memory. A size of 0 does nothing. */
void sc_huge_pages_unmap(uintptr_t start, size_t size_bytes);

#endif
