/* Pages that are never guarded, since the kernel touches them at times that nobody foresees: a
 * mutex of the program's lies there, or what is read for it asynchronously.
 *
 * A set of pages, each by the address it begins at, in one table: a page has eight places, and
 * where they are taken there is no more room for it. Entries are made at any time, by any thread,
 * and go when the range goes that they lie in.
 *
 * Lock-free, async-signal-safe. Who adds a page and who looks for it at the same moment need an
 * order between them that the set does not give.
 */
#ifndef SC_TRACK_KEPT_OFF_H
#define SC_TRACK_KEPT_OFF_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "track/blocks.h"

enum { SC_KEPT_OFF_WAYS = 8, SC_KEPT_OFF_SETS = 512 };

struct sc_kept_off {
    struct sc_blocks blocks; /* where there are or were any */
    struct sc_kept_off_set {
        _Alignas(64) _Atomic uintptr_t pages[SC_KEPT_OFF_WAYS]; /* 0: a free place */
    } sets[SC_KEPT_OFF_SETS];
};

void sc_kept_off_init(struct sc_kept_off *kept);

/* Once or, by two threads at a time, twice. False: there is no room. */
bool sc_kept_off_add(struct sc_kept_off *kept, uintptr_t page);

/* The interval is whole pages; page_mask is the size of a page - 1. */
void sc_kept_off_forget(struct sc_kept_off *kept, uintptr_t start, uintptr_t end,
                        uintptr_t page_mask);

struct sc_kept_pages {
    uintptr_t start, end;
};

/* The first such pages that follow on each other in the interval, which is whole pages. False: it
 * has none. */
bool sc_kept_off_find(const struct sc_kept_off *kept, uintptr_t start, uintptr_t end,
                      uintptr_t page_mask, struct sc_kept_pages *found);

/* ---- looking for one page is what every pthread_mutex_lock may do ---- */

static inline size_t sc_kept_off_set_of(uintptr_t page)
{
    return (page >> 12) * 0x9E3779B97F4A7C15u >> 55;
}

static inline bool sc_kept_off_has(const struct sc_kept_off *kept, uintptr_t page)
{
    const struct sc_kept_off_set *set = &kept->sets[sc_kept_off_set_of(page)];
    for (unsigned i = 0; i < SC_KEPT_OFF_WAYS; i++)
        if (atomic_load_explicit(&set->pages[i], memory_order_relaxed) == page)
            return true;
    return false;
}

#endif
