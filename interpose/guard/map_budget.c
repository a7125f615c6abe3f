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

static _Atomic uint32_t allowed = FREE_SPANS;
static _Atomic uint64_t counted_ns;
static _Atomic bool counting;

static uint32_t span_count(void)
{
    return atomic_load_explicit(sc_track_parts.busy_spans, memory_order_relaxed);
}

/* Returns vm.max_map_count, which may be changed at any time. */
static uint64_t read_limit(void)
{
    uint64_t limit = sc_file_number("/proc/sys/vm/max_map_count", "");
    return limit ? limit : DEFAULT_MAX;
}

/* Counts the mappings of the process, and computes how many spans the guard may have: two mappings
 * for each, without the program's share. */
static void count_mappings(uint64_t now_ns)
{
    uint64_t usable = read_limit() / 4 * 3;
    uint64_t used = sc_mappings_count();
    uint64_t more = usable > used ? (usable - used) / 2 : 0;
    uint64_t most = span_count() + more;
    atomic_store_explicit(&allowed, (uint32_t)(most < UINT32_MAX ? most : UINT32_MAX),
                          memory_order_relaxed);
    atomic_store_explicit(&counted_ns, now_ns, memory_order_relaxed);
}

/* Are there few enough mappings for more guards? One thread counts at a time; the others take the
 * former answer. */
bool sc_map_budget_allows(void)
{
    uint32_t live = span_count();
    bool fits = live < atomic_load_explicit(&allowed, memory_order_relaxed);
    if (sc_likely(fits && live < FREE_SPANS))
        return true;
    uint64_t now_ns = sc_coarse_now_ns();
    uint64_t age_ns = now_ns - atomic_load_explicit(&counted_ns, memory_order_relaxed);
    if (age_ns > (fits ? COUNT_AGAIN_NS : ASK_AGAIN_NS) && !atomic_exchange(&counting, true)) {
        count_mappings(now_ns);
        atomic_store(&counting, false);
        fits = span_count() < atomic_load_explicit(&allowed, memory_order_relaxed);
    }
    return fits;
}

bool sc_map_budget_is_spent(void)
{
    return sc_mappings_count() + HARDLY_ANY >= read_limit();
}
