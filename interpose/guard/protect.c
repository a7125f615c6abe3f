#include "interpose/guard/protect.h"

#include <errno.h>
#include <stdatomic.h>
#include <time.h>

#include "common/brief_lock.h"
#include "common/checks.h"
#include "common/kernel.h"
#include "common/ticks.h"
#include "common/trace.h"
#include "interpose/base/process.h"
#include "interpose/base/spare_stack.h"
#include "interpose/guard/apart.h"
#include "interpose/guard/loans.h"
#include "interpose/guard/map_waits.h"
#include "interpose/guard/page_access.h"
#include "interpose/guard/userfaults.h"
#include "track/grid.h"
#include "track/guarded.h"
#include "track/spans.h"
#include "track/spans_calls.h"
#include "track/track.h"
#include "track/track_parts.h"

#include "common/poison.h"

enum { ANSWER_PAUSE_NS = 50 * 1000, ANSWER_PAUSES = 4000 };

/* The lock of each stripe. In cache lines of their own, since threads use different ones at the
 * same time. */
static struct stripe {
    struct sc_brief_lock lock __attribute__((aligned(64)));
} stripes[SC_SPANS_STRIPES];

static struct sc_spans *guards(void)
{
    return sc_track_parts.guards;
}

static unsigned stripe_of(uintptr_t address)
{
    return sc_spans_stripe(guards(), address);
}

static void release_lock(void *lock) SC_UNFOLLOWED
{
    sc_brief_lock_release(lock);
}

/* Allows the call on this thread's spare stack to be abandoned while it waits for the tracker's
 * lock; this stripe's lock is then released. */
static void allow_abandoning(unsigned stripe)
{
    sc_spare_stack_undo_by(release_lock, &stripes[stripe].lock);
}

static void forbid_abandoning(void)
{
    sc_spare_stack_undo_by(NULL, NULL);
}

/* Locks stripe 0, which has all pages but those of areas with a stripe of their own: mprotect
 * guards them. Threads wait here for each other, and not in Linux; that is recorded for the choice
 * of the mechanism (map_waits.h). */
static void lock_shared(void) SC_UNFOLLOWED
{
    bool waits = !sc_brief_lock_try(&stripes[0].lock);
    if (waits)
        sc_brief_lock_acquire(&stripes[0].lock);
    sc_map_waits_note(waits);
}

/* Locks the stripe. The thread may hold the lock while it waits for the tracker's. */
static void lock_stripe(unsigned stripe) SC_UNFOLLOWED
{
    if (stripe == 0)
        lock_shared();
    else
        sc_brief_lock_acquire(&stripes[stripe].lock);
    allow_abandoning(stripe);
}

/* Locks the stripe if no thread holds its lock. False: one does. */
static bool try_to_lock(unsigned stripe) SC_UNFOLLOWED
{
    if (!sc_brief_lock_try(&stripes[stripe].lock))
        return false;
    allow_abandoning(stripe);
    return true;
}

static void unlock_stripe(unsigned stripe) SC_UNFOLLOWED
{
    forbid_abandoning();
    sc_brief_lock_release(&stripes[stripe].lock);
}

/* ---- applying ---- */

/* Sets the program's access to the pages by a system call. */
static int set_access(uintptr_t address, size_t size_bytes, enum sc_access access)
{
    SC_TRACE("protect address bytes access", address, size_bytes, access);
    if (access == SC_ACCESS_ALL && size_bytes && stripe_of(address) == 0)
        sc_apart_note(address, size_bytes);
    return sc_page_access_set(address, size_bytes, access);
}

/* Makes the change, except for pages on loan to a system call, which must not be protected: their
 * guard ends, as after a touch beside an operation's bytes. Returns the first failure. */
static int apply_change(struct sc_access_change change)
{
    uintptr_t end = change.address + change.size_bytes;
    int refused = 0;
    for (struct sc_lent lent; change.address < end && sc_loans_find(&change, &lent);) {
        struct sc_pages pages = sc_spans_pages(guards(), lent.address, lent.size_bytes);
        SC_TRACKED(sc_guarded_unprotect(track.inflight, lent.address, lent.size_bytes, lent.touch,
                                        true, SC_NO_VERDICT_KERNEL));
        int result = set_access(change.address, pages.start - change.address, change.access);
        refused = refused ? refused : result;
        change.address = pages.end;
        change.size_bytes = end - change.address;
    }
    int result = set_access(change.address, change.size_bytes, change.access);
    return refused ? refused : result;
}

/* Handles a change that Linux has refused. If it was to protect pages for an operation, the tracker
 * ends the operation's guard, and counts it as not watched. Pages that it was to unprotect stay
 * covered, and are tried again (retry). */
static void handle_refusal(unsigned stripe, const struct sc_access_change *change, int refused)
{
    if (refused == -ENOMEM && stripe == 0)
        sc_apart_join_all();
    SC_TRACKED(
        sc_guarded_refuse(track.inflight, change,
                          refused == -ENOMEM ? SC_NO_VERDICT_MAPPINGS : SC_NO_VERDICT_MEMORY));
}

/* Makes the change's system call, and handles a refusal. */
static void make_change(unsigned stripe, const struct sc_access_change *change)
{
    int refused = change->size_bytes ? apply_change(*change) : 0;
    if (refused)
        handle_refusal(stripe, change, refused);
}

/* Makes the system calls for all unapplied changes of the stripe. The call must not be abandoned
 * between asking the tracker for a change and making it, since the tracker then records the change
 * as made. */
static void apply_all(unsigned stripe)
{
    struct sc_access_change change;
    while (SC_TRACKED(sc_guarded_apply(track.inflight, stripe, &change))) {
        forbid_abandoning();
        make_change(stripe, &change);
        allow_abandoning(stripe);
    }
}

/* Has changes tried again that Linux has refused, if there are any. */
static bool retry_refused(unsigned stripe)
{
    return sc_spans_has_refused(guards(), stripe) &&
           SC_TRACKED(sc_spans_retry(track.guards, stripe));
}

/* Makes all changes of the stripe. If Linux refuses to unprotect pages, which may take a mapping,
 * all guards end: unprotecting all pages together takes none. */
static void apply_locked(unsigned stripe)
{
    SC_ASSERT_HELD(&stripes[stripe].lock);
    sc_spans_changed_stripes &= ~(UINT64_C(1) << stripe);
    apply_all(stripe);
    if (!retry_refused(stripe))
        return;
    forbid_abandoning();
    SC_TRACKED(sc_guarded_give_up(track.inflight));
    apply_all(stripe);
    if (retry_refused(stripe))
        apply_all(stripe);
}

/* Applies changes in the stripes where this thread has left some, or where operations of these
 * streams have ended. */
void sc_protect_apply(uint64_t stream_bits)
{
    SC_KEEP_ERRNO();
    uint64_t left = sc_spans_changed_stripes | sc_spans_stripes_ending(guards(), stream_bits);
    left &= atomic_load_explicit(&guards()->unapplied_stripes, memory_order_acquire) |
            atomic_load_explicit(&guards()->due_stripes, memory_order_acquire);
    for (; left; left &= left - 1) {
        unsigned stripe = (unsigned)__builtin_ctzll(left);
        lock_stripe(stripe);
        apply_locked(stripe);
        unlock_stripe(stripe);
    }
}

/* ---- locked stripes ---- */

/* Locks the stripes, so that the system calls for what is changed there are made right after the
 * change. Which stripes are locked is stored for the thread, for sc_protect_apply_and_unlock. */
void sc_protect_lock_stripes(uint64_t bits) SC_UNFOLLOWED
{
    uint64_t left = bits;
    if (left & 1)
        lock_shared();
    for (left &= ~UINT64_C(1); left; left &= left - 1)
        sc_brief_lock_acquire(&stripes[__builtin_ctzll(left)].lock);
    sc_spans_locked_stripes = bits;
}

/* Makes the due changes of the stripe without the tracker's lock. One that Linux refuses goes back
 * to the tracker. */
static void apply_due(unsigned stripe)
{
    struct sc_access_change change;
    while (sc_spans_next_due(guards(), stripe, &change)) {
        int refused = apply_change(change);
        if (!refused)
            sc_spans_note_applied(guards(), stripe, &change);
        else if (!SC_TRACKED(sc_spans_postpone(track.guards, stripe, &change)))
            handle_refusal(stripe, &change, refused);
    }
}

/* Unlocks the stripes in the end. Changes that were not simple, or were refused, are made as in
 * sc_protect_apply. */
void sc_protect_apply_and_unlock(void) SC_UNFOLLOWED
{
    SC_KEEP_ERRNO();
    uint64_t left = sc_spans_locked_stripes;
    for (sc_spans_locked_stripes = 0; left; left &= left - 1) {
        unsigned stripe = (unsigned)__builtin_ctzll(left);
        apply_due(stripe);
        if (sc_spans_changed_stripes >> stripe & 1)
            apply_locked(stripe);
        unlock_stripe(stripe);
    }
}

/* Merges mappings that were separated (apart.h). Only stripe 0 has such pages. */
void sc_protect_join_all(void)
{
    SC_KEEP_ERRNO();
    lock_stripe(0);
    sc_apart_join_all();
    unlock_stripe(0);
}

/* ---- the stripe of a page ---- */

/* Locks the stripe of the page. The page may move to another stripe until the lock is held; it
 * moves under the locks of both stripes. */
static unsigned lock_stripe_of(uintptr_t address) SC_UNFOLLOWED
{
    for (;;) {
        unsigned stripe = stripe_of(address);
        lock_stripe(stripe);
        if (stripe_of(address) == stripe)
            return stripe;
        unlock_stripe(stripe);
    }
}

/* Moves the area under the locks of both stripes. */
static bool move_area(unsigned from, uintptr_t address, bool (*adopt)(uintptr_t)) SC_UNFOLLOWED
{
    unsigned to = sc_spans_home_stripe(guards(), address);
    if (to != from)
        sc_brief_lock_acquire(&stripes[to].lock);
    apply_locked(from);
    bool moved = SC_TRACKED(sc_spans_move_area(track.guards, address)) && adopt(address);
    if (to != from)
        sc_brief_lock_release(&stripes[to].lock);
    return moved;
}

/* Moves the area to its stripe, under that stripe's lock. From then on the call cannot be
 * abandoned, since a move cannot be undone by halves. */
bool sc_protect_move_area(uintptr_t address, bool (*adopt)(uintptr_t))
{
    SC_KEEP_ERRNO();
    unsigned from = lock_stripe_of(address);
    forbid_abandoning();
    bool moved = move_area(from, address, adopt);
    unlock_stripe(from);
    return moved;
}

/* Registers the pages for write-protection by userfaultfd, under the stripe's lock, so that their
 * protection does not change meanwhile. */
void sc_protect_adopt_sources(const struct sc_pages *pages)
{
    SC_KEEP_ERRNO();
    unsigned stripe = lock_stripe_of(pages->start);
    sc_userfaults_adopt_sources(pages->start, pages->end - pages->start);
    unlock_stripe(stripe);
}

/* Returns how many of the bytes lie in the same stripe as the first page. */
static size_t stripe_part(const struct sc_pages *pages)
{
    uintptr_t next = (pages->start | (SC_SPANS_AREA_BYTES - 1)) + 1;
    return (next < pages->end ? next : pages->end) - pages->start;
}

/* Records by which mechanism the latest operation on the pages is guarded, stripe by stripe, and
 * only where that differs from what is recorded. */
void sc_protect_note_mechanism(const struct sc_pages *pages, bool by_mprotect)
{
    SC_KEEP_ERRNO();
    for (struct sc_pages rest = *pages; rest.start < rest.end; rest.start += stripe_part(&rest)) {
        if (sc_userfaults_mechanism_is_noted(rest.start, stripe_part(&rest), by_mprotect))
            continue;
        unsigned stripe = lock_stripe_of(rest.start);
        sc_userfaults_note_mechanism(rest.start, stripe_part(&rest), by_mprotect);
        unlock_stripe(stripe);
    }
}

/* Maps the pages again that userfaultfd guards and no span protects. */
void sc_protect_restore(const struct sc_pages *pages)
{
    SC_KEEP_ERRNO();
    for (struct sc_pages rest = *pages; rest.start < rest.end; rest.start += stripe_part(&rest)) {
        unsigned stripe = lock_stripe_of(rest.start);
        sc_userfaults_restore(rest.start, stripe_part(&rest));
        unlock_stripe(stripe);
    }
}

/* Sets the page's protection again to what the spans say it is, whatever it is now. */
void sc_protect_repair_page(uintptr_t address)
{
    SC_KEEP_ERRNO();
    uintptr_t mask = guards()->page_mask;
    unsigned stripe = lock_stripe_of(address);
    apply_locked(stripe);
    sc_page_access_set(address & ~mask, mask + 1,
                       SC_TRACKED(sc_spans_access(track.guards, address)));
    unlock_stripe(stripe);
}

/* Does a span cover the page? *access: the program's access there. */
static bool is_covered(uintptr_t page, enum sc_access *access)
{
    SC_TRACK_SCOPE(track);
    *access = sc_spans_access(track.guards, page);
    return sc_spans_cover(track.guards, page);
}

/* Makes the page accessible or protects it again, if a span covers it. False: no span does, or
 * Linux refuses. */
static bool set_if_covered(uintptr_t page, bool open)
{
    SC_KEEP_ERRNO();
    unsigned stripe = lock_stripe_of(page);
    apply_locked(stripe);
    enum sc_access access;
    bool covered = is_covered(page, &access);
    bool set = covered && sc_page_access_set(page, guards()->page_mask + 1,
                                             open ? SC_ACCESS_ALL : access) == 0;
    unlock_stripe(stripe);
    return set;
}

bool sc_protect_open_page(uintptr_t page)
{
    return set_if_covered(page, true);
}

void sc_protect_close_page(uintptr_t page)
{
    set_if_covered(page, false);
}

/* True if no span covers the page and its protection forbids the touch: then the program has set
 * it. */
bool sc_protect_is_program_fault(uintptr_t address, enum sc_touch touch)
{
    SC_KEEP_ERRNO();
    unsigned stripe = lock_stripe_of(address);
    apply_locked(stripe);
    bool programs =
        !SC_TRACKED(sc_spans_cover(track.guards, address)) && sc_page_access_denies(address, touch);
    unlock_stripe(stripe);
    return programs;
}

/* Tries to lock the stripe for a while. Not longer: its owner may be the very thread that waits for
 * the answer, or be stopped. */
static bool lock_in_time(unsigned stripe)
{
    const struct timespec pause = {0, ANSWER_PAUSE_NS};
    for (unsigned i = 0; i < ANSWER_PAUSES; i++) {
        if (try_to_lock(stripe))
            return true;
        sc_kernel_call(SYS_nanosleep, &pause, NULL);
    }
    return false;
}

/* Protects the page again if another thread was about to protect it while it was mapped for the
 * touch. */
static void protect_again(uintptr_t page)
{
    unsigned stripe = stripe_of(page);
    if (!sc_userfaults_is_protected(page) || !lock_in_time(stripe))
        return;
    sc_userfaults_protect_again(page);
    unlock_stripe(stripe);
}

/* Answers a touch of a page that userfaultfd has reported. If the page is not recorded as
 * protected, a system call of the program has removed it from the page tables (MADV_DONTNEED): it
 * is mapped at once, as the stripe's owner may wait for it. */
bool sc_protect_answer_touch(uintptr_t address, bool may_deny)
{
    uintptr_t page = address & ~guards()->page_mask;
    if (!sc_userfaults_is_protected(page)) {
        sc_userfaults_resume_touch(page, false);
        protect_again(page);
        return true;
    }
    unsigned stripe = stripe_of(page);
    bool is_locked = lock_in_time(stripe);
    bool is_off = sc_userfaults_is_protected(page) && sc_grid_find_at(&guards()->grid, page) != 0;
    bool is_denied = is_locked && is_off && may_deny;
    sc_userfaults_resume_touch(page, is_denied);
    if (is_locked)
        unlock_stripe(stripe);
    return is_denied || !is_off;
}

bool sc_protect_unprotect_at_once(uintptr_t address)
{
    return sc_page_access_set(address & ~guards()->page_mask, guards()->page_mask + 1,
                              SC_ACCESS_ALL) == 0;
}

/* Unprotects all pages in a forked child. In two rounds: what Linux refuses in the first, as the
 * process has no mappings left, succeeds when the rest is unprotected. */
bool sc_protect_unprotect_inherited(uintptr_t address)
{
    struct sc_access_change change;
    bool found = false;
    for (unsigned round = 0; round < 2; round++)
        for (uint32_t span = 0; sc_spans_inherited(guards(), &span, &change);) {
            found |= address - change.address < change.size_bytes;
            if (sc_page_access_set(change.address, change.size_bytes, change.access) == 0)
                sc_spans_note_inherited_unprotected(guards(), span);
        }
    sc_spans_forget(guards());
    return found;
}
