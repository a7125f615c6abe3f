#include "interpose/guard/steps.h"

#include <stdatomic.h>

#include "common/pages.h"
#include "interpose/guard/door.h"
#include "interpose/guard/neighbours.h"
#include "interpose/guard/protect.h"
#include "interpose/signals/single_step.h"
#include "interpose/signals/upwards.h"
#include "track/guarded.h"
#include "track/inflight_calls.h"
#include "track/track.h"
#include "track/track_parts.h"

#include "common/poison.h"

enum { STEPS_MAX = 32, PLACES = 64 };

/* For each page: how many reads were stepped in a row. Two pages may share an entry. */
static _Atomic uint64_t places[PLACES];

static uintptr_t page_bytes(void)
{
    return *sc_track_parts.page_mask + 1;
}

/* Counts the read on the page, and returns how many there were in a row. At STEPS_MAX it is better
 * to unprotect the page. */
static unsigned count_read(uintptr_t address)
{
    uint64_t page = address / page_bytes();
    _Atomic uint64_t *place = &places[page % PLACES];
    uint64_t word = atomic_load_explicit(place, memory_order_relaxed);
    uint64_t number = word / STEPS_MAX == page ? word % STEPS_MAX + 1 : 1;
    atomic_store_explicit(place, page * STEPS_MAX + number % STEPS_MAX, memory_order_relaxed);
    return (unsigned)number;
}

/* Protects the page again after the stepped instruction. If that has done only a part of its work
 * and will go on (`is_repeated`), unprotects the page for good. */
static void close_page(uintptr_t page, bool is_repeated)
{
    if (is_repeated) {
        SC_TRACKED(sc_guarded_unprotect(track.inflight, page, page_bytes(), SC_TOUCH_WRITE, true,
                                        SC_NO_VERDICT_NEIGHBOURS));
        sc_guard_apply(SC_GUARD_ALL);
    }
    sc_protect_close_page(page);
}

/* Steps the faulting instruction. Only reads are stepped, and only on a page with incomplete copies
 * to the host. */
bool sc_steps_open_page(const struct sc_fault *fault, enum sc_touch touch)
{
    uintptr_t page = fault->address & -page_bytes();
    if (touch != SC_TOUCH_READ ||
        !SC_TRACKED(sc_inflight_watches_page(track.inflight, fault->address, touch)))
        return false;
    unsigned number = count_read(fault->address);
    if (number == STEPS_MAX || !sc_single_step_begin(fault, page, close_page) ||
        !sc_protect_open_page(page))
        return false;
    if (number == 1)
        sc_neighbours_note_touch(fault->address);
    return true;
}
