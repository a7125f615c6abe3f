#include "interpose/guard/map_budget.h"

#include <stdatomic.h>
#include <stdint.h>

#include "common/now.h"
#include "interpose/base/compiler.h"
#include "interpose/base/mappings.h"
#include "report/file.h"
#include "track/track_parts.h"

#include "common/poison.h"

enum {
    FREE_SPANS = 2048, /* which every process can afford */
    DEFAULT_MAX = 65530,
    HARDLY_ANY = 64,
};

#define COUNT_AGAIN_NS UINT64_C(1000000000)
#define ASK_AGAIN_NS UINT64_C(50000000)
#define SHARE 32 /* a count is made again after so many times what the last one took */

static _Atomic uint32_t allowed = FREE_SPANS; /* how many spans the guard may have */
static _Atomic uint64_t counted_ns;           /* when the last count ended */
static _Atomic uint64_t took_ns;              /* how long the last count took */
static _Atomic bool counting;

/* Returns how many runs of pages (spans) the guard protects, or has still to unprotect. Each may
 * cost the process two mappings. */
static uint32_t span_count(void)
{
    return atomic_load_explicit(sc_track_parts.busy_spans, memory_order_relaxed);
}

/* Returns how many mappings Linux allows the process (vm.max_map_count), which root may change at
 * any time; the default if it cannot be read. */
static uint64_t read_limit(void)
{
    uint64_t limit = sc_file_number("/proc/sys/vm/max_map_count", "");
    return limit ? limit : DEFAULT_MAX;
}

/* Counts the mappings of the process, and stores how many runs of pages (spans) the guard may have:
 * those of now, and one more for every two mappings that are unused and not left to the program,
 * whose share is a quarter of all. */
static void count_mappings(void)
{
    uint64_t begun_ns = sc_now_ns();
    uint64_t usable = read_limit() / 4 * 3;
    uint64_t used = sc_mappings_count();
    uint64_t more = usable > used ? (usable - used) / 2 : 0;
    uint64_t most = span_count() + more;
    atomic_store_explicit(&allowed, (uint32_t)(most < UINT32_MAX ? most : UINT32_MAX),
                          memory_order_relaxed);
    atomic_store_explicit(&took_ns, sc_now_ns() - begun_ns, memory_order_relaxed);
    atomic_store_explicit(&counted_ns, sc_coarse_now_ns(), memory_order_relaxed);
}

/* Is it time to count the mappings again? Every second, or (`fits` false: the guard must leave out
 * operations) every 50 ms. But at most a SHARE-th of the time is spent on it: tens of thousands of
 * mappings take tens of milliseconds, and more on a busy machine. */
static bool is_count_due(bool fits)
{
    uint64_t pause_ns = atomic_load_explicit(&took_ns, memory_order_relaxed) * SHARE;
    uint64_t least_ns = fits ? COUNT_AGAIN_NS : ASK_AGAIN_NS;
    return sc_coarse_now_ns() > atomic_load_explicit(&counted_ns, memory_order_relaxed) +
                                    (pause_ns > least_ns ? pause_ns : least_ns);
}

/* May the guard protect another run of pages (span), for all that the process has mappings left?
 * Yes for the first FREE_SPANS; then the mappings are counted now and then. One thread counts at a
 * time; the others go by the former count. */
bool sc_map_budget_allows(void)
{
    uint32_t live = span_count();
    bool fits = live < atomic_load_explicit(&allowed, memory_order_relaxed);
    if (sc_likely(fits && live < FREE_SPANS))
        return true;
    if (is_count_due(fits) && !atomic_exchange(&counting, true)) {
        count_mappings();
        atomic_store(&counting, false);
        fits = span_count() < atomic_load_explicit(&allowed, memory_order_relaxed);
    }
    return fits;
}

/* Has the process all but HARDLY_ANY of the mappings that Linux allows? Then a failed mmap has
 * failed for that. */
bool sc_map_budget_is_spent(void)
{
    return sc_mappings_count() + HARDLY_ANY >= read_limit();
}
