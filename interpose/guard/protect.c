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

/* The lock of each stripe (a set of pages). In cache lines of their own, since threads use
 * different ones at the same time. */
static struct stripe {
    struct sc_brief_lock lock __attribute__((aligned(64)));
} stripes[SC_SPANS_STRIPES];

/* Returns the tracker's record of which pages operations want protected (track/spans.h). */
static struct sc_spans *guards(void)
{
    return sc_track_parts.guards;
}

/* Returns the stripe (set of pages with a lock of its own) of the page. Without its lock the answer
 * may be outdated at once. */
static unsigned stripe_of(uintptr_t address)
{
    return sc_spans_stripe(guards(), address);
}

/* Undoes lock_stripe when the call on a spare stack is abandoned (allow_abandoning). */
static void release_lock(void *lock) SC_UNFOLLOWED
{
    sc_brief_lock_release(lock);
}

/* Allows the call that this thread makes on a spare stack to be abandoned while it waits for the
 * tracker's lock; this stripe's lock is then released. Otherwise the thread could hold the stripe
 * while it waits for an owner that is stopped until this thread handles a signal. */
static void allow_abandoning(unsigned stripe)
{
    sc_spare_stack_undo_by(release_lock, &stripes[stripe].lock);
}

/* Forbids from now on to abandon the call that this thread makes on a spare stack while it waits
 * for the tracker's lock: before the thread does what must not be left half done, and before it
 * releases the stripe. */
static void forbid_abandoning(void)
{
    sc_spare_stack_undo_by(NULL, NULL);
}

/* Locks stripe 0: all pages that mprotect guards, of which Linux serves one thread at a time. So
 * threads wait here for each other, and not in Linux; how often is recorded, since userfaultfd is
 * the better mechanism when many do (map_waits.h). */
static void lock_shared(void) SC_UNFOLLOWED
{
    bool waits = !sc_brief_lock_try(&stripes[0].lock);
    if (waits)
        sc_brief_lock_acquire_over_call(&stripes[0].lock);
    sc_map_waits_note(waits);
}

/* Locks the stripe (a set of pages). Changes of its pages' protection are then made by this thread
 * alone. */
static void lock_stripe(unsigned stripe) SC_UNFOLLOWED
{
    if (stripe == 0)
        lock_shared();
    else
        sc_brief_lock_acquire_over_call(&stripes[stripe].lock);
    allow_abandoning(stripe);
}

/* Locks the stripe if no thread has locked it. False: one has, and the caller must not wait. Within
 * a call on a spare stack, the lock is given back where that call is abandoned. */
static bool try_to_lock(unsigned stripe) SC_UNFOLLOWED
{
    if (!sc_brief_lock_try(&stripes[stripe].lock))
        return false;
    allow_abandoning(stripe);
    return true;
}

/* Unlocks the stripe. An abandoned call would have nothing to release from now on. */
static void unlock_stripe(unsigned stripe) SC_UNFOLLOWED
{
    forbid_abandoning();
    sc_brief_lock_release(&stripes[stripe].lock);
}

/* ---- applying ---- */

/* Sets the program's access to the pages by a system call; returns 0 or -errno. Pages of stripe 0
 * (mprotect's) that are unprotected are counted: an interval for which that happens often becomes a
 * mapping of its own, which is faster (apart.h). */
static int set_access(uintptr_t address, size_t size_bytes, enum sc_access access)
{
    SC_TRACE("protect address bytes access", address, size_bytes, access);
    if (access == SC_ACCESS_ALL && size_bytes && stripe_of(address) == 0)
        sc_apart_note(address, size_bytes);
    return sc_page_access_set(address, size_bytes, access);
}

/* Gives the pages their access, except for pages that a system call of the program is using at
 * present (on loan): that would fail. Operations are no longer guarded there. Returns 0, or the
 * first failure (-errno). */
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

/* Handles a change of protection that Linux has refused. If it was to protect pages for an
 * operation, the operation is no longer guarded, and counts as not watched. Pages that it was to
 * unprotect stay recorded as protected, and are tried again (retry_refused). -ENOMEM: the process
 * has no mappings left, so those kept separate for speed are merged; stripe 0 alone has such. */
static void handle_refusal(unsigned stripe, const struct sc_access_change *change, int refused)
{
    if (refused == -ENOMEM && stripe == 0)
        sc_apart_join_all();
    SC_TRACKED(
        sc_guarded_refuse(track.inflight, change,
                          refused == -ENOMEM ? SC_NO_VERDICT_MAPPINGS : SC_NO_VERDICT_MEMORY));
}

/* Makes the system call of a change of protection, and handles a refusal. Size 0: there was nothing
 * to do. */
static void make_change(unsigned stripe, const struct sc_access_change *change)
{
    int refused = change->size_bytes ? apply_change(*change) : 0;
    if (refused)
        handle_refusal(stripe, change, refused);
}

/* Makes the system calls for all changes of protection that the tracker has recorded in the stripe.
 * Between asking the tracker for a change and making it, the call on a spare stack must not be
 * abandoned: the tracker takes the change as made. */
static void apply_all(unsigned stripe)
{
    struct sc_access_change change;
    while (SC_TRACKED(sc_guarded_apply(track.inflight, stripe, &change))) {
        forbid_abandoning();
        make_change(stripe, &change);
        allow_abandoning(stripe);
    }
}

/* Returns whether Linux has refused to unprotect pages of the stripe; if so, the tracker now has
 * these changes as still to be made. */
static bool retry_refused(unsigned stripe)
{
    return sc_spans_has_refused(guards(), stripe) &&
           SC_TRACKED(sc_spans_retry(track.guards, stripe));
}

/* Makes all recorded changes of the stripe, which the caller has locked. Unprotecting some pages of
 * a mapping may take another mapping, which Linux refuses when the process has none left. Then
 * nothing is guarded any more, since unprotecting all pages together takes none. */
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

/* Makes the recorded changes of protection in the stripes where this thread has left some, or where
 * operations of these streams have ended. Stripes without a recorded change are not locked. */
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

/* Locks the stripes (sets of pages), from the lowest, before the tracker records changes of
 * protection there. The system calls can then follow without another look under the tracker's lock.
 * Which stripes are locked is stored for the thread, for sc_protect_apply_and_unlock. */
void sc_protect_lock_stripes(uint64_t bits) SC_UNFOLLOWED
{
    uint64_t left = bits;
    if (left & 1)
        lock_shared();
    for (left &= ~UINT64_C(1); left; left &= left - 1)
        sc_brief_lock_acquire_over_call(&stripes[__builtin_ctzll(left)].lock);
    sc_spans_locked_stripes = bits;
}

/* Makes the changes that the tracker has recorded as due: simple ones, for which this thread had
 * locked the stripe before. Needs no lock of the tracker. A change that Linux refuses goes back to
 * the tracker: to unprotect pages is tried again, to protect pages is given up. */
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

/* Makes the changes of protection recorded since sc_protect_lock_stripes, and unlocks the stripes
 * (sets of pages) that it has locked. Changes that took more than one system call, or were refused,
 * are made under the tracker's lock. */
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

/* Merges the mappings that were kept separate for speed (apart.h), as the process has no mappings
 * left. Only stripe 0 has such pages. */
void sc_protect_join_all(void)
{
    SC_KEEP_ERRNO();
    lock_stripe(0);
    sc_apart_join_all();
    unlock_stripe(0);
}

/* ---- the stripe of a page ---- */

/* Locks the stripe of the page, and returns it. Until the lock is held, another thread may move the
 * page to another stripe, so that is checked; afterwards it cannot, as that takes the locks of both
 * stripes. */
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

/* Moves the area (2 MB of pinned memory) of the address to the stripe meant for it and calls
 * `adopt`, under the locks of both stripes. False: something in the area is guarded, or `adopt` has
 * failed. The recorded changes are made before, since only an area without any can move. */
static bool move_area(unsigned from, uintptr_t address, bool (*adopt)(uintptr_t)) SC_UNFOLLOWED
{
    unsigned to = sc_spans_home_stripe(guards(), address);
    if (to != from)
        sc_brief_lock_acquire_over_call(&stripes[to].lock);
    apply_locked(from);
    bool moved = SC_TRACKED(sc_spans_move_area(track.guards, address)) && adopt(address);
    if (to != from)
        sc_brief_lock_release(&stripes[to].lock);
    return moved;
}

/* Moves the area (2 MB of pinned memory) of the address to the stripe meant for it, where
 * userfaultfd guards its pages; `adopt` registers them. A call on a spare stack cannot be abandoned
 * meanwhile, since two locks are held. */
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

/* Returns how many bytes from the first page on lie in one area, and so in one stripe. */
static size_t stripe_part(const struct sc_pages *pages)
{
    uintptr_t next = (pages->start | (SC_SPANS_AREA_BYTES - 1)) + 1;
    return (next < pages->end ? next : pages->end) - pages->start;
}

/* Records by which mechanism the latest operation on the pages is guarded, stripe by stripe under
 * its lock. Takes no lock where that is recorded already, as it mostly is. */
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

/* Maps pages again that a system call of the program has removed from the page tables, if they are
 * registered with userfaultfd and not protected. Otherwise each would wait at its next use for the
 * thread that answers touches. */
void sc_protect_restore(const struct sc_pages *pages)
{
    SC_KEEP_ERRNO();
    for (struct sc_pages rest = *pages; rest.start < rest.end; rest.start += stripe_part(&rest)) {
        unsigned stripe = lock_stripe_of(rest.start);
        sc_userfaults_restore(rest.start, stripe_part(&rest));
        unlock_stripe(stripe);
    }
}

/* Sets the page's protection to what the tracker's record says, whatever it is now. Called when the
 * same fault comes again and again, so that the thread does not fault for ever. */
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

/* Is the page recorded as protected for an operation, or as still to be unprotected? *access: what
 * the program may do there. */
static bool is_covered(uintptr_t page, enum sc_access *access)
{
    SC_TRACK_SCOPE(track);
    *access = sc_spans_access(track.guards, page);
    return sc_spans_cover(track.guards, page);
}

/* Makes a guarded page accessible (`opens`), or protects it again as recorded. False: no operation
 * guards the page, so that its protection is the program's, or Linux refuses. */
static bool set_if_covered(uintptr_t page, bool opens)
{
    SC_KEEP_ERRNO();
    unsigned stripe = lock_stripe_of(page);
    apply_locked(stripe);
    enum sc_access access;
    bool covered = is_covered(page, &access);
    bool set = covered && sc_page_access_set(page, guards()->page_mask + 1,
                                             opens ? SC_ACCESS_ALL : access) == 0;
    unlock_stripe(stripe);
    return set;
}

/* Makes a guarded page accessible, for one instruction that uses bytes beside an operation's. */
bool sc_protect_open_page(uintptr_t page)
{
    return set_if_covered(page, true);
}

/* Protects the page again after that instruction, unless nothing guards it any more. */
void sc_protect_close_page(uintptr_t page)
{
    set_if_covered(page, false);
}

/* Is the fault the program's own? Makes all recorded changes first, so that the guard has nothing
 * left to do. Then the fault is the program's if no operation guards the page, and the page forbids
 * the touch all the same. */
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

/* Locks the stripe for the thread that answers touches, within 0.2 s. False: it is still locked.
 * Its owner may be stopped, or be the very thread whose touch waits for the answer. */
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

/* Protects the page again if another thread has protected it while it was mapped for a touch. */
static void protect_again(uintptr_t page)
{
    unsigned stripe = stripe_of(page);
    if (!sc_userfaults_is_protected(page) || !lock_in_time(stripe))
        return;
    sc_userfaults_protect_again(page);
    unlock_stripe(stripe);
}

/* Answers a touch of a page for which a thread waits in Linux (userfaultfd). If the page is not
 * recorded as protected, a system call of the program has removed it from the page tables
 * (MADV_DONTNEED): it is mapped at once, as the thread that waits may have locked the stripe. If an
 * operation guards it and `may_deny`, it becomes mprotect's, so that the touch raises SIGSEGV.
 * False: the touch gets through although an operation guards the page. */
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
    bool guarded = sc_userfaults_is_protected(page) && sc_grid_find_at(&guards()->grid, page) != 0;
    bool is_denied = is_locked && guarded && may_deny;
    sc_userfaults_resume_touch(page, is_denied);
    if (is_locked)
        unlock_stripe(stripe);
    return is_denied || !guarded;
}

/* Makes the page accessible without a lock, for a signal handler that has interrupted the owner of
 * one. False: Linux refuses. */
bool sc_protect_unprotect_at_once(uintptr_t address)
{
    return sc_page_access_set(address & ~guards()->page_mask, guards()->page_mask + 1,
                              SC_ACCESS_ALL) == 0;
}

/* Unprotects all pages in a forked child, which has copies of them and of their protection, and
 * forgets them. Takes no lock. Two rounds: what Linux refuses in the first, as the process has no
 * mappings left, succeeds when the rest is unprotected. Returns whether the address was among
 * them, so that a fault there is repeated. */
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
