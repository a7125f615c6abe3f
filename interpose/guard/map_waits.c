#include "interpose/guard/map_waits.h"

#include <stdatomic.h>

#include "common/ticks.h"

#include "common/poison.h"

/* What userfaultfd takes by one thread was measured on an H200's host, for each page of a buffer.
 * By several threads it takes longer, too. */
enum {
    CALL_NS = 1500,
    PAGE_NS = 100,
    PAGE_BYTES = 4 << 10,
    MOST_BYTES = 512 << 10, /* of larger ones most is whole huge pages, which cost no more */
    WEIGHT = 16,            /* of what was measured before, against the newest */
    UNIT = 256,
    LONG = 3 * UNIT + UNIT / 4, /* three threads with 64 pages wait 25 us and gain nothing */
    LONGEST = 6 * UNIT,         /* one call that was interrupted says no more than this */
};

/* How many times as long as userfaultfd's mprotect's calls take, in UNITs; a moving average. */
static _Atomic unsigned times_as_long;

static uint64_t ticks_in_us(void)
{
    static _Atomic uint32_t known;
    uint32_t ticks = atomic_load_explicit(&known, memory_order_relaxed);
    if (!ticks) {
        ticks = (uint32_t)sc_ticks_in_ns(1000);
        atomic_store_explicit(&known, ticks, memory_order_relaxed);
    }
    return ticks;
}

void sc_map_waits_note(size_t size_bytes, uint64_t ticks)
{
    static _Atomic size_t latest_pages;
    size_t pages = (size_bytes < MOST_BYTES ? size_bytes : MOST_BYTES) / PAGE_BYTES;
    if (size_bytes)
        atomic_store_explicit(&latest_pages, pages, memory_order_relaxed);
    else
        pages = atomic_load_explicit(&latest_pages, memory_order_relaxed);
    uint64_t expected = (CALL_NS + pages * PAGE_NS) * ticks_in_us() / 1000;
    uint64_t times = ticks * UNIT / (expected + 1);
    unsigned now = times < LONGEST ? (unsigned)times : LONGEST;
    unsigned before = atomic_load_explicit(&times_as_long, memory_order_relaxed);
    unsigned after = before - before / WEIGHT + now / WEIGHT;
    atomic_store_explicit(&times_as_long, after, memory_order_relaxed);
}

bool sc_map_waits_are_long(void)
{
    return atomic_load_explicit(&times_as_long, memory_order_relaxed) > LONG;
}
