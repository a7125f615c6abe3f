#include "interpose/system_calls/exempt_objects.h"

#include <limits.h>

#include "common/library_lock.h"
#include "common/pages.h"
#include "common/uncancelled.h"
#include "interpose/base/process.h"
#include "interpose/guard/door.h"
#include "interpose/guard/loans.h"
#include "interpose/guard/touches.h"
#include "interpose/losses/losses.h"
#include "interpose/reaper/culprit.h"
#include "track/blocks.h"
#include "track/exempt_pages.h"
#include "track/track_parts.h"
#include "track/track_views.h"

#include "common/poison.h"

enum { PAGES_MAX = 256 }; /* of one object */

static uintptr_t page_mask(void)
{
    return *sc_track_parts.page_mask;
}

static struct sc_pages pages_of(const void *object, size_t size_bytes)
{
    return sc_pages_around((uintptr_t)object, size_bytes, page_mask());
}

/* ---- letting go ---- */

/* Unprotects pages as a touch by the program would. A handler that interrupted a lock of the
 * library cannot wait for copies, and an asynchronous cancellation must not end the thread within a
 * lock. */
static void unprotect_pages(const struct sc_pages *pages)
{
    static const struct sc_culprit nobody = {.api = ""};
    const void *start = (const void *)pages->start;
    size_t size_bytes = pages->end - pages->start;
    if (!sc_guard_has(start, size_bytes))
        return;
    SC_UNCANCELLED();
    if (sc_library_lock_depth)
        sc_touches_by_kernel(start, size_bytes, SC_TOUCH_WRITE,
                             &nobody); /* does not wait within a lock */
    else
        sc_guard_unprotect(start, size_bytes);
}

void sc_exempt_objects_unprotect_once(const void *object)
{
    SC_KEEP_ERRNO();
    struct sc_pages pages = pages_of(object, 1);
    unprotect_pages(&pages);
}

/* ---- keeping off ---- */

/* Exempts the object's pages. False: there is no room for all. */
static bool exempt_all(const struct sc_pages *pages)
{
    if ((pages->end - pages->start) / (page_mask() + 1) > PAGES_MAX)
        return false;
    for (uintptr_t page = pages->start; page < pages->end; page += page_mask() + 1)
        if (!sc_exempt_pages_add(sc_track_parts.exempt_pages, page))
            return false;
    return true;
}

/* Ends the guarding of the object's whole range. Does nothing in a handler that interrupted a lock
 * of the library: the caller then unprotects the pages only this time. */
static void forbid_guarding(const struct sc_pages *pages)
{
    if (sc_library_lock_depth)
        return;
    SC_UNCANCELLED();
    sc_losses_forbid_guarding((const void *)pages->start, pages->end - pages->start);
}

/* Exempts the object's pages from now on, and unprotects them. */
static __attribute__((noinline)) void exempt(const void *object, size_t size_bytes)
{
    SC_KEEP_ERRNO();
    struct sc_pages pages = pages_of(object, size_bytes);
    if (!sc_options.guard || !sc_active())
        return;
    /* A range that is no longer guarded may still have protected pages, so pages are unprotected in
     * any case. */
    if (!sc_track_is_guarding_forbidden(&sc_track, (uintptr_t)object) && !exempt_all(&pages))
        forbid_guarding(&pages);
    sc_loans_order();
    unprotect_pages(&pages);
}

/* Are all pages of the object exempt already? */
static bool is_exempt(uintptr_t address, size_t size_bytes)
{
    uintptr_t page = address & ~page_mask();
    while (sc_exempt_pages_have(sc_track_parts.exempt_pages, page)) {
        page += page_mask() + 1;
        if (page - address >= size_bytes)
            return true;
    }
    return false;
}

/* May the object's page be guarded? It may be because of other memory on it, so the whole page
 * counts. */
static bool may_be_in_range(const void *object, size_t size_bytes)
{
    struct sc_pages pages = pages_of(object, size_bytes);
    return sc_blocks_may_hold(sc_track_parts.range_blocks, (uintptr_t)object, size_bytes) &&
           sc_track_may_have(&sc_track, SC_NEAR_RANGES, pages.start, pages.end - pages.start);
}

__thread struct sc_far_object sc_far_objects[SC_FAR_OBJECTS];

/* Records an object that need not be exempt, so that the next call with it is fast. The address is
 * stored last, so that a signal handler finds no mixture of two objects. */
void sc_exempt_objects_note_far(const void *object, uint64_t version)
{
    struct sc_far_object *far = sc_exempt_objects_far_entry(object);
    if ((version & 1) || ((uintptr_t)object & page_mask()) + SC_FAR_OBJECT_BYTES > page_mask() + 1)
        return;
    far->address = 0;
    atomic_signal_fence(memory_order_seq_cst);
    far->version = version;
    atomic_signal_fence(memory_order_seq_cst);
    far->address = (uintptr_t)object;
}

/* Exempts an object from protection that Linux uses at times of its own, as it does a mutex's word.
 */
void sc_exempt_objects_add(const void *object, size_t size_bytes)
{
    uintptr_t address = (uintptr_t)object;
    uint64_t version = sc_exempt_objects_ranges_version();
    if (size_bytes - 1 >= SSIZE_MAX || address + size_bytes + page_mask() < address)
        return;
    if (!may_be_in_range(object, size_bytes))
        sc_exempt_objects_note_far(object, version);
    else if (!is_exempt(address, size_bytes))
        exempt(object, size_bytes);
}
