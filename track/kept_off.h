/* Pages that are never guarded, since the kernel touches them at times that nobody foresees: a
 * mutex of the program's lies there, or what is read for it asynchronously.
 *
 * A set of pages, each named by the address at which it begins, in one table. A page has eight
 * places. Where all eight are taken there is no room for the page. Pages are added at any time, by
 * any thread, and go with the range in which they lie.
 *
 * Lock-free, thread- and signal-safe. The set gives no order between who adds a page and who looks
 * for the page at the same moment: they need one of their own.
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

/* Adds the page. Two threads at a time may add it twice, which does no harm. False: there is no
 * room. */
bool sc_kept_off_add(struct sc_kept_off *kept, uintptr_t page);

/* Removes the pages in the interval, which is whole pages; page_mask is the size of a page - 1. */
void sc_kept_off_forget(struct sc_kept_off *kept, uintptr_t start, uintptr_t end,
                        uintptr_t page_mask);

struct sc_kept_pages {
    uintptr_t start, end;
};

/* Finds the first run of such pages in the interval, which is whole pages. False: there is none. */
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
