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

/* For each page: for how many reads in a row it was made accessible. Pages share entries, and the
 * count begins anew with another page. */
static _Atomic uint64_t places[PLACES];

/* Returns the size of a page. */
static uintptr_t page_bytes(void)
{
    return *sc_track_parts.page_mask + 1;
}

/* Counts a read beside the bytes in flight on the page, and returns its number in a row, from 1 to
 * STEPS_MAX. At STEPS_MAX it costs less to unprotect the page, and the count begins anew. */
static unsigned count_read(uintptr_t address)
{
    uint64_t page = address / page_bytes();
    _Atomic uint64_t *place = &places[page % PLACES];
    uint64_t word = atomic_load_explicit(place, memory_order_relaxed);
    uint64_t number = word / STEPS_MAX == page ? word % STEPS_MAX + 1 : 1;
    atomic_store_explicit(place, page * STEPS_MAX + number % STEPS_MAX, memory_order_relaxed);
    return (unsigned)number;
}

/* Protects the page again after the single instruction for which it was accessible. If that was
 * stopped within its work and will go on (`is_repeated`, as a string instruction does), it would
 * fault again and again: then unprotects the page for good. */
static void close_page(uintptr_t page, bool is_repeated)
{
    if (is_repeated) {
        SC_TRACKED(sc_guarded_unprotect(track.inflight, page, page_bytes(), SC_TOUCH_WRITE, true,
                                        SC_NO_VERDICT_NEIGHBOURS));
        sc_guard_apply(SC_GUARD_ALL);
    }
    sc_protect_close_page(page);
}

/* Makes the page accessible for the faulting instruction alone, which touches it beside the bytes
 * in flight. Only for a read, and while an operation still forbids reading the page, as an
 * incomplete copy to the host does. False: the caller must unprotect the page. The first read in a
 * row counts as a touch of the page, of which many leave it unprotected (neighbours.h). */
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
