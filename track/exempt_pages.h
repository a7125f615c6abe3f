/* The set of pages that are never guarded, since the kernel touches them at times that nobody
 * foresees: a mutex of the program lies there, or memory that is read or written asynchronously.
 *
 * The set is one table, in which a page is named by the address at which it begins. A page may lie
 * in eight places. If all eight are taken, there is no room for it. Pages are added at any time, by
 * any thread, and are removed with the range in which they lie.
 *
 * Lock-free, thread- and signal-safe. The set does not order a thread that adds a page with one
 * that looks for it at the same moment: they need an order of their own. */
#ifndef SC_TRACK_EXEMPT_PAGES_H
#define SC_TRACK_EXEMPT_PAGES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "track/blocks.h"

enum { SC_EXEMPT_PAGES_WAYS = 8, SC_EXEMPT_PAGES_SETS = 512 };

struct sc_exempt_pages {
    struct sc_blocks blocks; /* where there are or were such pages */
    struct sc_exempt_pages_set {
        _Alignas(64) _Atomic uintptr_t pages[SC_EXEMPT_PAGES_WAYS]; /* 0: a free place */
    } sets[SC_EXEMPT_PAGES_SETS];
};

void sc_exempt_pages_init(struct sc_exempt_pages *kept);

/* Adds the page. If two threads add it at the same time it may be in the table twice, which does no
 * harm. False: there is no room. */
bool sc_exempt_pages_add(struct sc_exempt_pages *kept, uintptr_t page);

/* Removes the pages of the interval, which is whole pages. page_mask: the size of a page - 1. */
void sc_exempt_pages_forget(struct sc_exempt_pages *kept, uintptr_t start, uintptr_t end,
                            uintptr_t page_mask);

struct sc_exempt_run {
    uintptr_t start, end;
};

/* Stores the first run of pages of the set in the interval, which is whole pages. False: there is
 * none. */
bool sc_exempt_pages_find(const struct sc_exempt_pages *kept, uintptr_t start, uintptr_t end,
                          uintptr_t page_mask, struct sc_exempt_run *found);

/* ---- inline, since every pthread_mutex_lock may look for a page ---- */

static inline size_t sc_exempt_pages_set_of(uintptr_t page)
{
    return (page >> 12) * 0x9E3779B97F4A7C15u >> 55;
}

static inline bool sc_exempt_pages_have(const struct sc_exempt_pages *kept, uintptr_t page)
{
    const struct sc_exempt_pages_set *set = &kept->sets[sc_exempt_pages_set_of(page)];
    for (unsigned i = 0; i < SC_EXEMPT_PAGES_WAYS; i++)
        if (atomic_load_explicit(&set->pages[i], memory_order_relaxed) == page)
            return true;
    return false;
}

#endif
