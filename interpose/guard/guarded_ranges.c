#include "interpose/guard/guarded_ranges.h"

#include "common/poison.h"

struct sc_guarded_ranges sc_guarded_ranges[SC_GUARDED_RANGES_LINES];

/* Returns how many times pages were protected by userfaultfd, or else by mprotect. Adds up counters
 * that are spread over cache lines. */
uint64_t sc_guarded_ranges_count(bool by_userfaultfd)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < SC_GUARDED_RANGES_LINES; i++)
        sum += atomic_load_explicit(&sc_guarded_ranges[i].counts[by_userfaultfd],
                                    memory_order_relaxed);
    return sum;
}
