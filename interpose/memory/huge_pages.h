/* Maps shared anonymous memory, the kind that the driver uses for its own pinned allocations, in
 * huge pages if the size is a multiple of theirs.
 *
 * Linux makes no huge pages of shared memory unless requested to (MADV_COLLAPSE, Linux 6.1). That
 * works whatever /sys/kernel/mm/transparent_hugepage/shmem_enabled says. Parts of huge pages may be
 * protected: Linux then maps the memory of such a page again at the next touch.
 *
 * Thread-safe, not signal-safe; no lock. No function is a cancellation point or calls a hook of the
 * library. */

/* Terms (docs/glossary.md):
 *   hook: our function in the place of one of the C library's
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 */

#ifndef SC_INTERPOSE_MEMORY_HUGE_PAGES_H
#define SC_INTERPOSE_MEMORY_HUGE_PAGES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SC_SMALL_PAGE_BYTES = 4 << 10, SC_HUGE_PAGE_BYTES = 2 << 20 };

/* Returns what ask() answers, and keeps it in *known (0 at first), so that Linux or the driver is
 * asked once. Two threads may ask at the same time, so ask() must give both the same answer. */
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

/* Returns true if the machine has pages of 4 KB and 2 MB, and its administrator allows huge ones.
 * Asked once. */
bool sc_huge_pages_fit(void);

/* Returns true if that many bytes of huge pages can probably be had without harm to other
 * processes, where the calling thread's NUMA policy wants them. A system call or two. */
bool sc_huge_pages_are_plenty(size_t size_bytes);

/* Maps zeroed memory; the size is a multiple of one of the page sizes. Huge pages are populated,
 * small ones are not. Returns the address; 0: Linux gives none, or cannot make all of the pages
 * huge. */
uintptr_t sc_huge_pages_map(size_t size_bytes);

/* Maps huge pages over reserved address space at `start`. False: it failed halfway, and the caller
 * must unmap what is mapped there by then. */
bool sc_huge_pages_fill(uintptr_t start, size_t size_bytes);

/* Unmaps memory that was mapped by the functions above. A size of 0 does nothing. */
void sc_huge_pages_unmap(uintptr_t start, size_t size_bytes);

#endif
