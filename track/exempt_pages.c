#include "track/exempt_pages.h"

#include "common/poison.h"

typedef _Atomic uintptr_t place;

enum { PLACES = SC_EXEMPT_PAGES_SETS * SC_EXEMPT_PAGES_WAYS };

static place *place_at(struct sc_exempt_pages *exempt, size_t i)
{
    return &exempt->sets[i / SC_EXEMPT_PAGES_WAYS].pages[i % SC_EXEMPT_PAGES_WAYS];
}

/* Clears the table. Only entries that are set are written, so that Linux need not allocate
 * untouched pages. */
void sc_exempt_pages_init(struct sc_exempt_pages *exempt)
{
    for (size_t i = 0; i < PLACES; i++)
        if (atomic_load_explicit(place_at(exempt, i), memory_order_relaxed))
            atomic_store_explicit(place_at(exempt, i), 0, memory_order_relaxed);
    sc_blocks_clear(&exempt->blocks);
}

/* Stores the page in the first free place of its set. The blocks are updated before, as a reader
 * checks them first. */
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

/* Is the interval so long that a walk over the whole table is shorter? */
static bool is_long(uintptr_t start, uintptr_t end, uintptr_t page_mask)
{
    return (end - start) / (page_mask + 1) > PLACES / SC_EXEMPT_PAGES_WAYS;
}

/* Removes the page, which may be in the table twice. */
static void remove_page(struct sc_exempt_pages *exempt, uintptr_t page)
{
    struct sc_exempt_pages_set *set = &exempt->sets[sc_exempt_pages_set_of(page)];
    for (unsigned i = 0; i < SC_EXEMPT_PAGES_WAYS; i++) {
        uintptr_t there = page;
        atomic_compare_exchange_strong_explicit(&set->pages[i], &there, 0, memory_order_relaxed,
                                                memory_order_relaxed);
    }
}

/* Removes all pages of the interval, by a walk over the table. */
static void remove_by_table(struct sc_exempt_pages *exempt, uintptr_t start, uintptr_t end)
{
    for (size_t i = 0; i < PLACES; i++) {
        uintptr_t page = atomic_load_explicit(place_at(exempt, i), memory_order_relaxed);
        if (page && page - start < end - start)
            remove_page(exempt, page);
    }
}

/* Removes the pages of the interval: looks up each, or walks over the table if the interval has
 * more pages than the table has sets. */
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

/* Returns the first exempt page in the interval by a walk over the table; `end`: there is none. */
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

/* Returns the first exempt page in the interval by looking up each page of it; `end`: there is
 * none. */
static uintptr_t scan_pages(const struct sc_exempt_pages *exempt, uintptr_t start, uintptr_t end,
                            uintptr_t page_mask)
{
    uintptr_t page = start;
    while (page < end && !sc_exempt_pages_have(exempt, page))
        page += page_mask + 1;
    return page;
}

/* Finds the first exempt page of the interval and the exempt pages that adjoin it, up to the
 * interval's end. */
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
