#include "track/exempt_pages.h"

#include "common/poison.h"

typedef _Atomic uintptr_t place;

enum { PLACES = SC_EXEMPT_PAGES_SETS * SC_EXEMPT_PAGES_WAYS };

/* Returns the i-th place of the table of exempt pages (pages that must never be protected). */
static place *place_at(struct sc_exempt_pages *exempt, size_t i)
{
    return &exempt->sets[i / SC_EXEMPT_PAGES_WAYS].pages[i % SC_EXEMPT_PAGES_WAYS];
}

/* Clears the table of pages that must never be protected. Only places that are set are written, so
 * that Linux need not allocate untouched pages for it. */
void sc_exempt_pages_init(struct sc_exempt_pages *exempt)
{
    for (size_t i = 0; i < PLACES; i++)
        if (atomic_load_explicit(place_at(exempt, i), memory_order_relaxed))
            atomic_store_explicit(place_at(exempt, i), 0, memory_order_relaxed);
    sc_blocks_clear(&exempt->blocks);
}

/* Linux may use this page at any time (a mutex, an asynchronous read): it must never be protected.
 * The page goes into a free place of its set; false: there is none. The bounds are widened before,
 * as readers look at them first. */
bool sc_exempt_pages_add(struct sc_exempt_pages *exempt, uintptr_t page)
{
    struct sc_exempt_pages_set *set = &exempt->sets[sc_exempt_pages_set_of(page)];
    sc_blocks_add(&exempt->blocks, page, 1);
    for (unsigned i = 0; i < SC_EXEMPT_PAGES_WAYS; i++) {
        uintptr_t there = 0;
        if (atomic_compare_exchange_strong_explicit(&set->pages[i], &there, page,
                                                    memory_order_relaxed, memory_order_relaxed) ||
            there == page)
            return true;
    }
    return false;
}

/* ---- intervals: page by page, or place by place where they are longer than the table ---- */

/* Is the interval so long that a walk over the whole table is shorter than a look-up of each page?
 */
static bool is_long(uintptr_t start, uintptr_t end, uintptr_t page_mask)
{
    return (end - start) / (page_mask + 1) > PLACES / SC_EXEMPT_PAGES_WAYS;
}

/* Removes the page, which two threads may have added twice. */
static void remove_page(struct sc_exempt_pages *exempt, uintptr_t page)
{
    struct sc_exempt_pages_set *set = &exempt->sets[sc_exempt_pages_set_of(page)];
    for (unsigned i = 0; i < SC_EXEMPT_PAGES_WAYS; i++) {
        uintptr_t there = page;
        atomic_compare_exchange_strong_explicit(&set->pages[i], &there, 0, memory_order_relaxed,
                                                memory_order_relaxed);
    }
}

/* Removes all pages of the interval, by a walk over the table, for a long interval. */
static void remove_by_table(struct sc_exempt_pages *exempt, uintptr_t start, uintptr_t end)
{
    for (size_t i = 0; i < PLACES; i++) {
        uintptr_t page = atomic_load_explicit(place_at(exempt, i), memory_order_relaxed);
        if (page && page - start < end - start)
            remove_page(exempt, page);
    }
}

/* The memory ends that has these pages: other memory may come to lie there, and may be protected.
 * Most memory has none, which the bounds tell. */
void sc_exempt_pages_forget(struct sc_exempt_pages *exempt, uintptr_t start, uintptr_t end,
                            uintptr_t page_mask)
{
    if (start >= end || !sc_blocks_may_hold(&exempt->blocks, start, end - start))
        return;
    if (is_long(start, end, page_mask)) {
        remove_by_table(exempt, start, end);
        return;
    }
    for (uintptr_t page = start; page < end; page += page_mask + 1)
        if (sc_exempt_pages_have(exempt, page))
            remove_page(exempt, page);
}

/* Returns the first exempt page in a long interval, by a walk over the table; `end`: there is none.
 */
static uintptr_t scan_table(const struct sc_exempt_pages *exempt, uintptr_t start, uintptr_t end)
{
    uintptr_t first = end;
    for (size_t i = 0; i < PLACES; i++) {
        uintptr_t page = atomic_load_explicit(
            &exempt->sets[i / SC_EXEMPT_PAGES_WAYS].pages[i % SC_EXEMPT_PAGES_WAYS],
            memory_order_relaxed);
        if (page >= start && page < first)
            first = page;
    }
    return first;
}

/* Returns the first exempt page in a short interval, by looking up each of its pages; `end`: there
 * is none. */
static uintptr_t scan_pages(const struct sc_exempt_pages *exempt, uintptr_t start, uintptr_t end,
                            uintptr_t page_mask)
{
    uintptr_t page = start;
    while (page < end && !sc_exempt_pages_have(exempt, page))
        page += page_mask + 1;
    return page;
}

/* Pages are about to be protected: finds the first of them that must not be, and those that adjoin
 * it. Most memory has none, which the bounds tell. */
bool sc_exempt_pages_find(const struct sc_exempt_pages *exempt, uintptr_t start, uintptr_t end,
                          uintptr_t page_mask, struct sc_exempt_run *found)
{
    if (start >= end || !sc_blocks_may_hold(&exempt->blocks, start, end - start))
        return false;
    found->start = is_long(start, end, page_mask) ? scan_table(exempt, start, end)
                                                  : scan_pages(exempt, start, end, page_mask);
    found->end = found->start;
    while (found->end < end && sc_exempt_pages_have(exempt, found->end))
        found->end += page_mask + 1;
    return found->start < end;
}
