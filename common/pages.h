/* What the host may do with pages, and with the bytes of a range: plain data. */
#ifndef SC_WORDS_PAGES_H
#define SC_WORDS_PAGES_H

#include <stddef.h>
#include <stdint.h>

enum sc_touch { SC_TOUCH_READ = 1, SC_TOUCH_WRITE = 2 };

/* What the host may do with a page, from most to least. */
enum sc_access { SC_ACCESS_ALL, SC_ACCESS_READ, SC_ACCESS_NONE };

/* Whole pages, from `start` up to `end`. */
struct sc_pages {
    uintptr_t start, end;
};

/* The pages that the interval touches; for an empty interval within a page: that page. `page_mask`:
 * the size of a page - 1. */
static inline struct sc_pages sc_pages_around(uintptr_t address, size_t size_bytes,
                                              uintptr_t page_mask)
{
    return (struct sc_pages){address & ~page_mask, (address + size_bytes + page_mask) & ~page_mask};
}

/* A change of pages' access that the kernel is to be told. */
struct sc_access_change {
    uintptr_t address;
    size_t size_bytes; /* 0: nothing to tell the kernel */
    enum sc_access access;
    uint32_t span; /* the span for which it is made (track/spans.h) */
};

/* May pages of a range be protected? FORBIDDEN: none, because their access is other than plain read
 * and write. WHOLE_PAGES: only pages of which an operation uses all bytes, because a stack lies in
 * the range. A range only changes to later values. */
enum sc_guarding {
    SC_GUARDING_UNKNOWN,
    SC_GUARDING_ALLOWED,
    SC_GUARDING_WHOLE_PAGES,
    SC_GUARDING_FORBIDDEN
};

/* May the host read sources in a range, for snapshots and comparisons? PEEKED: the kernel is asked
 * for the bytes, since the program may have taken its own access away. NONE: kernels may write
 * them, or reading is slow, or the mapping is no longer the one that the driver reads. */
enum sc_snapshots { SC_SNAPSHOTS_PLAIN, SC_SNAPSHOTS_PEEKED, SC_SNAPSHOTS_NONE };

#endif
