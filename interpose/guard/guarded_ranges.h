/* Counts how many ranges of pages were protected by mprotect and how many by userfaultfd, for the
 * report's summary. The counters only grow. They are spread over cache lines by address, since
 * different threads count at the same time. Lock-free; thread-safe and signal-safe. */

/* Terms (docs/glossary.md):
 *   range: host memory that the driver knows: one allocation or one registration
 */

#ifndef SC_INTERPOSE_GUARD_GUARDED_RANGES_H
#define SC_INTERPOSE_GUARD_GUARDED_RANGES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { SC_GUARDED_RANGES_LINES = 16, SC_GUARDED_RANGES_SHIFT = 21 /* an area's */ };

extern struct sc_guarded_ranges {
    _Atomic uint64_t counts[2]; /* by mprotect, by userfaultfd */
} __attribute__((aligned(64))) sc_guarded_ranges[SC_GUARDED_RANGES_LINES]
    __attribute__((visibility("hidden")));

/* Counts a range of pages, from `start` on, that was protected by userfaultfd or else by mprotect.
 */
static inline void sc_guarded_ranges_note(uintptr_t start, bool by_userfaultfd)
{
    unsigned line = (start >> SC_GUARDED_RANGES_SHIFT) % SC_GUARDED_RANGES_LINES;
    atomic_fetch_add_explicit(&sc_guarded_ranges[line].counts[by_userfaultfd], 1,
                              memory_order_relaxed);
}

/* Returns how many ranges were protected by userfaultfd, or else by mprotect. */
uint64_t sc_guarded_ranges_count(bool by_userfaultfd);

#endif
