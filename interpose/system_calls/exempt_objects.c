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

/* Returns the size of a page minus 1. */
static uintptr_t page_mask(void)
{
    return *sc_track_parts.page_mask;
}

/* Returns the pages on which the object lies. */
static struct sc_pages pages_of(const void *object, size_t size_bytes)
{
    return sc_pages_around((uintptr_t)object, size_bytes, page_mask());
}

/* ---- letting go ---- */

/* Unprotects the pages if any is guarded, without a report: Linux is about to use an object there,
 * and the program does not. In a handler that interrupted a lock of the library no lock is taken.
 * No cancellation point: an asynchronous cancellation must not end the thread within a lock. */
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

/* Unprotects the object's page once, for a system call that is about to use the object, of whatever
 * size. The page may be protected again afterwards. */
void sc_exempt_objects_unprotect_once(const void *object)
{
    SC_KEEP_ERRNO();
    struct sc_pages pages = pages_of(object, 1);
    unprotect_pages(&pages);
}

/* ---- keeping off ---- */

/* Adds the pages to those that are never protected. False: they are too many, or the set is full.
 */
static bool exempt_all(const struct sc_pages *pages)
{
    if ((pages->end - pages->start) / (page_mask() + 1) > PAGES_MAX)
        return false;
    for (uintptr_t page = pages->start; page < pages->end; page += page_mask() + 1)
        if (!sc_exempt_pages_add(sc_track_parts.exempt_pages, page))
            return false;
    return true;
}

/* Has the allocation or registration with these pages never be guarded again, as there is no room
 * to record single pages. Does nothing in a handler that interrupted a lock of the library: then
 * the caller unprotects the pages only this time. */
static void forbid_guarding(const struct sc_pages *pages)
{
    if (sc_library_lock_depth)
        return;
    SC_UNCANCELLED();
    sc_losses_forbid_guarding((const void *)pages->start, pages->end - pages->start);
}

/* Has the object's pages never be protected from now on, and unprotects them. First stores that,
 * and then looks whether they are protected (sc_loans_order between the two): the guard does so the
 * other way round, so that one of the two sees the other. Does nothing while nothing is guarded at
 * all (guard=off, hooks not active). */
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

/* Are all pages of the object among those that are never protected already? */
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

/* May the object's pages be guarded: does any byte on them belong to memory that the driver knows?
 * It may be another object's byte, so whole pages count. */
static bool may_be_in_range(const void *object, size_t size_bytes)
{
    struct sc_pages pages = pages_of(object, size_bytes);
    return sc_blocks_may_hold(sc_track_parts.range_blocks, (uintptr_t)object, size_bytes) &&
           sc_track_may_have(&sc_track, SC_NEAR_RANGES, pages.start, pages.end - pages.start);
}

__thread struct sc_far_object sc_far_objects[SC_FAR_OBJECTS];

/* Records that no page of the object can be guarded, so that the next call with it is fast. Valid
 * for `version` of the set of memory that the driver knows; odd: it is just changing. Only for an
 * object that ends on its first page, as only that was looked at. The address is stored last, so
 * that a signal handler finds no mixture of two objects. */
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

/* Has the pages of an object never be protected, which Linux uses at times of its own, as it does a
 * mutex's word: it fails or aborts the process on a protected page. Does nothing if no page of the
 * object can be guarded, or that was done before, or the size cannot be an object's. */
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
