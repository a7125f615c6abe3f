/* Access of the program to pages, and of the library to the bytes of a range (registered or pinned
 * memory): plain data. */

/* Terms (docs/glossary.md):
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   snapshot: a copy of a small source, which the device reads instead of the source
 *   source: the memory that a copy reads
 *   span: a run of pages that one operation wants protected
 */

#ifndef SC_WORDS_PAGES_H
#define SC_WORDS_PAGES_H

#include <stddef.h>
#include <stdint.h>

/* What a touch (an access of the host to memory) does. */
enum sc_touch { SC_TOUCH_READ = 1, SC_TOUCH_WRITE = 2 };

/* The access that the program has to a page, from most to least: the guard takes some away while
 * an operation uses the page. */
enum sc_access { SC_ACCESS_ALL, SC_ACCESS_READ, SC_ACCESS_NONE };

/* Whole pages, from `start` up to `end`. */
struct sc_pages {
    uintptr_t start, end;
};

/* Returns the pages that the interval overlaps; for an empty interval within a page: that page.
 * `page_mask`: the page size - 1. */
static inline struct sc_pages sc_pages_around(uintptr_t address, size_t size_bytes,
                                              uintptr_t page_mask)
{
    return (struct sc_pages){address & ~page_mask, (address + size_bytes + page_mask) & ~page_mask};
}

/* A change of pages' access that is to be made by a system call. */
struct sc_access_change {
    uintptr_t address;
    size_t size_bytes; /* 0: no system call is needed */
    enum sc_access access;
    uint32_t span; /* the span for which it is made (track/spans.h) */
};

/* May pages of a range (pinned or registered memory) be protected while operations use it?
 * FORBIDDEN: none, because the program has not given them plain read and write access.
 * WHOLE_PAGES: only pages of which an operation uses all bytes, because a thread's stack lies in
 * the range. The value of a range only ever changes to a later one. */
enum sc_guarding {
    SC_GUARDING_UNKNOWN,
    SC_GUARDING_ALLOWED,
    SC_GUARDING_WHOLE_PAGES,
    SC_GUARDING_FORBIDDEN
};

/* How may the library read a source (memory that a copy reads) in a range, for snapshots, which
 * the device reads instead, and for comparisons? PLAIN: directly. PEEKED: by a system call, since
 * the program may have taken its own access away (common/peek.h). NONE: not at all, since GPU
 * kernels may write it, or reading is slow, or the mapping is no longer the one that the driver
 * reads. */
enum sc_snapshots { SC_SNAPSHOTS_PLAIN, SC_SNAPSHOTS_PEEKED, SC_SNAPSHOTS_NONE };

#endif
