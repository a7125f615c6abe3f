/* Shared anonymous memory, as the driver takes it for its own pinned allocations, in huge pages
 * where the size is of whole ones.
 *
 * The kernel has no huge pages for shared memory unless asked (MADV_COLLAPSE, Linux 6.1), which
 * works whatever /sys/kernel/mm/transparent_hugepage/shmem_enabled says. Once they are huge, parts
 * of them may be protected: the mapping of such a page is then made anew by the next touch.
 *
 * Thread-safe. Nothing here is a cancellation point, and none of our hooks sees it.
 */
#ifndef SC_INTERPOSE_MEMORY_HUGE_PAGES_H
#define SC_INTERPOSE_MEMORY_HUGE_PAGES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SC_SMALL_PAGE_BYTES = 4 << 10, SC_HUGE_PAGE_BYTES = 2 << 20 };

/* The answer to a question that is asked once; two threads that ask it at once find the same. */
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

/* Are pages of these sizes, and may there be huge ones? */
bool sc_huge_pages_fit(void);

/* Are so many huge pages likely to be had, without harm to others, where the calling thread wants
 * its memory to be? */
bool sc_huge_pages_are_plenty(size_t size_bytes);

/* Zeroed; a multiple of one of the page sizes. Small pages are not populated, huge ones are. 0 if
 * the kernel has none, or not all of them huge. */
uintptr_t sc_huge_pages_map(size_t size_bytes);
void sc_huge_pages_unmap(uintptr_t start, size_t size_bytes);

#endif
