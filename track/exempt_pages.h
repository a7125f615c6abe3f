/* The set of pages that are exempt from protection, since Linux touches them at times that nobody
 * foresees: a mutex of the program lies there, or memory of an asynchronous read or write.
 *
 * The set is one hash table; a page is named by its address. A page has eight possible places; if
 * all are taken, it cannot be added. Any thread may add pages at any time. They are removed with
 * the range (registered or pinned memory) in which they lie.
 *
 * Lock-free, thread-safe and signal-safe. The set does not order a thread that adds a page with one
 * that looks for it at the same moment: they need an order of their own (interpose/guard/loans.h,
 * sc_loans_order). */

/* Terms (docs/glossary.md):
 *   exempt: of a page: never protected, since Linux uses it at times that nobody foresees
 *   guard: page protection of the memory of operations in flight
 *   loan: memory that a system call uses, unprotected until the call returns
 *   range: host memory that the driver knows: one allocation or one registration
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 */

#ifndef SC_TRACK_EXEMPT_PAGES_H
#define SC_TRACK_EXEMPT_PAGES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "track/blocks.h"

enum { SC_EXEMPT_PAGES_WAYS = 8, SC_EXEMPT_PAGES_SETS = 512 };

struct sc_exempt_pages {
    struct sc_blocks blocks; /* blocks of memory that have or had such pages */
    struct sc_exempt_pages_set {
        _Alignas(64) _Atomic uintptr_t pages[SC_EXEMPT_PAGES_WAYS]; /* 0: a free place */
    } sets[SC_EXEMPT_PAGES_SETS];
};

void sc_exempt_pages_init(struct sc_exempt_pages *exempt);

/* Adds the page. If two threads add it at the same time it may be in the table twice, which is
 * harmless. False: there is no room. */
bool sc_exempt_pages_add(struct sc_exempt_pages *exempt, uintptr_t page);

/* Removes the pages of the interval, which is whole pages. page_mask: the page size - 1. */
void sc_exempt_pages_forget(struct sc_exempt_pages *exempt, uintptr_t start, uintptr_t end,
                            uintptr_t page_mask);

struct sc_exempt_run {
    uintptr_t start, end;
};

/* Stores the first run of adjacent exempt pages (that must never be protected) in the interval,
 * which is whole pages. False: there is none. */
bool sc_exempt_pages_find(const struct sc_exempt_pages *exempt, uintptr_t start, uintptr_t end,
                          uintptr_t page_mask, struct sc_exempt_run *found);

/* ---- inline, since every pthread_mutex_lock may look for a page ---- */

static inline size_t sc_exempt_pages_set_of(uintptr_t page)
{
    return (page >> 12) * 0x9E3779B97F4A7C15u >> 55;
}

static inline bool sc_exempt_pages_have(const struct sc_exempt_pages *exempt, uintptr_t page)
{
    const struct sc_exempt_pages_set *set = &exempt->sets[sc_exempt_pages_set_of(page)];
    for (unsigned i = 0; i < SC_EXEMPT_PAGES_WAYS; i++)
        if (atomic_load_explicit(&set->pages[i], memory_order_relaxed) == page)
            return true;
    return false;
}

#endif
