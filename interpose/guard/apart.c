#include "interpose/guard/apart.h"

#include <stdatomic.h>
#include <sys/mman.h>

#include "common/checks.h"
#include "common/kernel.h"
#include "interpose/memory/pinned.h"

#include "common/poison.h"

enum {
    PLACES_BITS = 11,
    APART_MAX = 1024,
    TIMES_OFTEN = 4, /* so often must it be unprotected to become a separate mapping */
    TIMES_MAX = 64,  /* a count is at most this, so that another interval can replace it */
    PAGE_BITS_MIN = 12,
};

/* An interval of pages that is protected and unprotected as a whole. */
struct place {
    uintptr_t address;
    size_t size_bytes;
    uint32_t epoch; /* sc_pinned_epoch() when it became a separate mapping */
    uint16_t times; /* how often it was unprotected */
    bool apart;     /* it is a separate mapping */
};

static struct place places[1 << PLACES_BITS];
static _Atomic unsigned apart_count; /* changed under the caller's lock */
static bool given_up; /* the process ran out of mappings: no interval becomes one any more */

/* Returns the table's entry for an interval that begins here; intervals may share an entry. */
static struct place *entry_of(uintptr_t address)
{
    uint64_t page = address >> PAGE_BITS_MIN;
    return &places[page * UINT64_C(0x9e3779b97f4a7c15) >> (64 - PLACES_BITS)];
}

/* Gives the interval an madvise value. With one that differs from its neighbours' it is a mapping
 * of its own. False: Linux refuses. */
static bool set_advice(const struct place *place, int advice)
{
    return sc_kernel_call(SYS_madvise, place->address, place->size_bytes, advice) == 0;
}

/* Ends the separate mapping of the interval, if it is one: resets its madvise value, so that Linux
 * merges it with its neighbours. If pinned memory was freed since (the epoch has changed), other
 * memory may lie there, whose value is left alone. */
static void reset_advice(struct place *place)
{
    if (!place->apart)
        return;
    place->apart = false;
    SC_ASSERT(apart_count > 0);
    apart_count--;
    if (place->epoch == sc_pinned_epoch())
        set_advice(place, MADV_NORMAL);
}

/* Makes the interval a separate mapping by an madvise value of its own, if there are not too many
 * and the library has mapped the memory. Intervals of one size that lie side by side get two values
 * alternately, so that neighbours never have the same. Called again when pinned memory was freed
 * since (`was_apart`), as the memory may be new. */
static void separate_mapping(struct place *place)
{
    bool odd = place->address / place->size_bytes & 1;
    bool was_apart = place->apart;
    if (!was_apart && apart_count == APART_MAX)
        return;
    place->epoch = sc_pinned_epoch();
    place->apart =
        sc_pinned_has(place->address) && set_advice(place, odd ? MADV_SEQUENTIAL : MADV_RANDOM);
    apart_count += place->apart;
    SC_ASSERT(apart_count >= was_apart && apart_count <= APART_MAX + 1);
    apart_count -= was_apart;
    place->times = place->apart ? TIMES_OFTEN : 0;
}

/* Counts that exactly this interval is about to be unprotected. After TIMES_OFTEN times it becomes
 * a separate mapping, for which mprotect takes half the time. Another interval with the same entry
 * of the table lowers the count, and replaces it at the end. */
void sc_apart_note(uintptr_t address, size_t size_bytes)
{
    struct place *place = entry_of(address);
    if (place->address == address && place->size_bytes == size_bytes) {
        if (place->times < TIMES_MAX)
            place->times++;
        if (place->times >= TIMES_OFTEN && !given_up &&
            !(place->apart && place->epoch == sc_pinned_epoch()))
            separate_mapping(place);
    } else if (place->times > 1) {
        place->times--;
    } else {
        reset_advice(place);
        *place = (struct place){.address = address, .size_bytes = size_bytes, .times = 1};
    }
}

/* Is any interval a separate mapping, which can be merged when the process has no mappings left? */
bool sc_apart_any(void)
{
    return atomic_load_explicit(&apart_count, memory_order_relaxed) != 0;
}

/* In a forked child: resets the count alone, since the child protects no pages. Takes no lock,
 * which a thread of the parent may have held. */
void sc_apart_forget(void)
{
    atomic_store_explicit(&apart_count, 0, memory_order_relaxed);
}

/* Merges all separate intervals with their neighbours. No interval is separated from then on, as
 * the process may run out of mappings again. */
void sc_apart_join_all(void)
{
    if (given_up)
        return;
    given_up = true;
    for (unsigned i = 0; i < sizeof places / sizeof *places; i++)
        reset_advice(&places[i]);
}
