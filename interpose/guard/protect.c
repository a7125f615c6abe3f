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

/* One for each lane. In lines of their own, since threads take different ones at the same time. */
static struct lane {
    struct sc_brief_lock lock __attribute__((aligned(64)));
} lanes[SC_SPANS_LANES];

static struct sc_spans *guards(void)
{
    return sc_track_parts.guards;
}

static unsigned lane_of(uintptr_t address)
{
    return sc_spans_lane(guards(), address);
}

static void give_lock(void *lock) SC_UNFOLLOWED
{
    sc_brief_lock_release(lock);
}

/* From now on the spare stack on which the thread runs may be left while it waits, which gives this
 * lock back. */
static void may_leave(unsigned lane)
{
    sc_spare_stack_undo_by(give_lock, &lanes[lane].lock);
}

static void may_not_leave(void)
{
    sc_spare_stack_undo_by(NULL, NULL);
}

/* Takes lane 0, which has all pages but those of areas with a lane of their own: mprotect guards
 * them. Threads wait here for each other, and not in the kernel; that is noted for the choice of
 * the mechanism. */
static void lock_shared(void) SC_UNFOLLOWED
{
    bool waits = !sc_brief_lock_try(&lanes[0].lock);
    if (waits)
        sc_brief_lock_acquire(&lanes[0].lock);
    sc_map_waits_note(waits);
}

/* Takes the lane's lock, which the thread may hold while it waits for the tracker's. */
static void lock(unsigned lane) SC_UNFOLLOWED
{
    if (lane == 0)
        lock_shared();
    else
        sc_brief_lock_acquire(&lanes[lane].lock);
    may_leave(lane);
}

/* The same if nobody has the lock. False: somebody has. */
static bool try_to_lock(unsigned lane) SC_UNFOLLOWED
{
    if (!sc_brief_lock_try(&lanes[lane].lock))
        return false;
    may_leave(lane);
    return true;
}

static void unlock(unsigned lane) SC_UNFOLLOWED
{
    may_not_leave();
    sc_brief_lock_release(&lanes[lane].lock);
}

/* ---- applying ---- */

/* Tells the kernel what the host may do with the pages. */
static int set_access(uintptr_t address, size_t size_bytes, enum sc_access access)
{
    SC_TRACE("protect address bytes access", address, size_bytes, access);
    if (access == SC_ACCESS_ALL && size_bytes && lane_of(address) == 0)
        sc_apart_note(address, size_bytes);
    return sc_page_access_set(address, size_bytes, access);
}

/* Makes the change but for pages on loan to the kernel, which must not be protected: their guard
 * ends, as after a touch beside an operation's bytes. Returns the first refusal. */
static int tell(struct sc_access_change change)
{
    uintptr_t end = change.address + change.size_bytes;
    int refused = 0;
    for (struct sc_lent lent; change.address < end && sc_loans_find(&change, &lent);) {
        struct sc_pages pages = sc_spans_pages(guards(), lent.address, lent.size_bytes);
        SC_TRACKED(sc_guarded_let_go(track.inflight, lent.address, lent.size_bytes, lent.touch,
                                     true, SC_NO_VERDICT_KERNEL));
        int result = set_access(change.address, pages.start - change.address, change.access);
        refused = refused ? refused : result;
        change.address = pages.end;
        change.size_bytes = end - change.address;
    }
    int result = set_access(change.address, change.size_bytes, change.access);
    return refused ? refused : result;
}

/* The kernel has refused the change. If it was to protect pages for an operation, the tracker ends
 * the operation's guard, and counts it as not watched. Pages that it was to unprotect stay covered,
 * and are tried again (retry). */
static void refuse(unsigned lane, const struct sc_access_change *change, int refused)
{
    if (refused == -ENOMEM && lane == 0)
        sc_apart_join_all();
    SC_TRACKED(
        sc_guarded_refuse(track.inflight, change,
                          refused == -ENOMEM ? SC_NO_VERDICT_MAPPINGS : SC_NO_VERDICT_MEMORY));
}

static void make_change(unsigned lane, const struct sc_access_change *change)
{
    int refused = change->size_bytes ? tell(*change) : 0;
    if (refused)
        refuse(lane, change, refused);
}

/* Makes all changes that are due in the lane. The thread may not be taken away between asking for a
 * change and making it, since the tracker then takes it for made. */
static void tell_all(unsigned lane)
{
    struct sc_access_change change;
    while (SC_TRACKED(sc_guarded_apply(track.inflight, lane, &change))) {
        may_not_leave();
        make_change(lane, &change);
        may_leave(lane);
    }
}

static bool retry(unsigned lane)
{
    return sc_spans_has_refused(guards(), lane) && SC_TRACKED(sc_spans_retry(track.guards, lane));
}

/* Makes all changes of the lane. If the kernel refuses to unprotect pages, which may take a
 * mapping, all guards end: to unprotect all pages together takes none. */
static void apply_locked(unsigned lane)
{
    SC_ASSERT_HELD(&lanes[lane].lock);
    sc_spans_own_lanes &= ~(UINT64_C(1) << lane);
    tell_all(lane);
    if (!retry(lane))
        return;
    may_not_leave();
    SC_TRACKED(sc_guarded_give_up(track.inflight));
    tell_all(lane);
    if (retry(lane))
        tell_all(lane);
}

/* Goes through the lanes in which this thread has made changes or operations of these streams have
 * ended. */
void sc_protect_apply(uint64_t stream_bits)
{
    SC_KEEP_ERRNO();
    uint64_t left = sc_spans_own_lanes | sc_spans_lanes_ending(guards(), stream_bits);
    left &= atomic_load_explicit(&guards()->unapplied_lanes, memory_order_acquire) |
            atomic_load_explicit(&guards()->due_lanes, memory_order_acquire);
    for (; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        lock(lane);
        apply_locked(lane);
        unlock(lane);
    }
}

/* ---- attending lanes ---- */

/* Attends the lanes: takes their locks, so that what a call changes there is told to the kernel at
 * once. Which lanes are attended is noted for the thread, so that sc_protect_tell_kernel finds
 * them. */
void sc_protect_attend_lanes(uint64_t attended) SC_UNFOLLOWED
{
    uint64_t left = attended;
    if (left & 1)
        lock_shared();
    for (left &= ~UINT64_C(1); left; left &= left - 1)
        sc_brief_lock_acquire(&lanes[__builtin_ctzll(left)].lock);
    sc_spans_attended = attended;
}

/* Makes the simple changes of the lane without the tracker's lock. One that is refused goes back to
 * the tracker. */
static void tell_due(unsigned lane)
{
    struct sc_access_change change;
    while (sc_spans_next_due(guards(), lane, &change)) {
        int refused = tell(change);
        if (!refused)
            sc_spans_note_told(guards(), lane, &change);
        else if (!SC_TRACKED(sc_spans_postpone(track.guards, lane, &change)))
            refuse(lane, &change, refused);
    }
}

/* Gives the lanes' locks back in the end. Changes that were not simple, or were refused, are made
 * as in sc_protect_apply. */
void sc_protect_tell_kernel(void) SC_UNFOLLOWED
{
    SC_KEEP_ERRNO();
    uint64_t left = sc_spans_attended;
    for (sc_spans_attended = 0; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        tell_due(lane);
        if (sc_spans_own_lanes >> lane & 1)
            apply_locked(lane);
        unlock(lane);
    }
}

/* Joins pages that were kept apart, so that the kernel can merge their mappings. Only lane 0 has
 * such pages. */
void sc_protect_join_all(void)
{
    SC_KEEP_ERRNO();
    lock(0);
    sc_apart_join_all();
    unlock(0);
}

/* ---- the lane of a page ---- */

/* Takes the lock of the lane that the page has. The lane may change until the lock is held, which
 * is under the locks of both lanes. */
static unsigned lock_lane_of(uintptr_t address) SC_UNFOLLOWED
{
    for (;;) {
        unsigned lane = lane_of(address);
        lock(lane);
        if (lane_of(address) == lane)
            return lane;
        unlock(lane);
    }
}

/* Moves the area under the locks of both lanes. */
static bool move_area(unsigned from, uintptr_t address, bool (*adopt)(uintptr_t)) SC_UNFOLLOWED
{
    unsigned to = sc_spans_own_lane(guards(), address);
    if (to != from)
        sc_brief_lock_acquire(&lanes[to].lock);
    apply_locked(from);
    bool moved = SC_TRACKED(sc_spans_move_area(track.guards, address)) && adopt(address);
    if (to != from)
        sc_brief_lock_release(&lanes[to].lock);
    return moved;
}

bool sc_protect_move_area(uintptr_t address, bool (*adopt)(uintptr_t))
{
    SC_KEEP_ERRNO();
    unsigned from = lock_lane_of(address);
    may_not_leave();
    bool moved = move_area(from, address, adopt);
    unlock(from);
    return moved;
}

void sc_protect_take_sources(const struct sc_pages *pages)
{
    SC_KEEP_ERRNO();
    unsigned lane = lock_lane_of(pages->start);
    sc_userfaults_take_sources(pages->start, pages->end - pages->start);
    unlock(lane);
}

/* How many of the bytes lie in the same lane as the first page. */
static size_t laned_part(const struct sc_pages *pages)
{
    uintptr_t next = (pages->start | (SC_SPANS_LANE_BYTES - 1)) + 1;
    return (next < pages->end ? next : pages->end) - pages->start;
}

/* Notes whether the latest operation on the pages is left to mprotect. Lane by lane, and only where
 * that differs from what is noted. */
void sc_protect_note_left(const struct sc_pages *pages, bool left)
{
    SC_KEEP_ERRNO();
    for (struct sc_pages rest = *pages; rest.start < rest.end; rest.start += laned_part(&rest)) {
        if (sc_userfaults_are_left(rest.start, laned_part(&rest), left))
            continue;
        unsigned lane = lock_lane_of(rest.start);
        sc_userfaults_leave(rest.start, laned_part(&rest), left);
        unlock(lane);
    }
}

void sc_protect_restore(const struct sc_pages *pages)
{
    SC_KEEP_ERRNO();
    for (struct sc_pages rest = *pages; rest.start < rest.end; rest.start += laned_part(&rest)) {
        unsigned lane = lock_lane_of(rest.start);
        sc_userfaults_restore(rest.start, laned_part(&rest));
        unlock(lane);
    }
}

void sc_protect_mend_page(uintptr_t address)
{
    SC_KEEP_ERRNO();
    uintptr_t mask = guards()->page_mask;
    unsigned lane = lock_lane_of(address);
    apply_locked(lane);
    sc_page_access_set(address & ~mask, mask + 1,
                       SC_TRACKED(sc_spans_access(track.guards, address)));
    unlock(lane);
}

/* Does a span cover the page? *access: what the host may do there. */
static bool is_covered(uintptr_t page, enum sc_access *access)
{
    SC_TRACK_SCOPE(track);
    *access = sc_spans_access(track.guards, page);
    return sc_spans_cover(track.guards, page);
}

/* Opens or closes the page if a span covers it; else the page is the program's. False: it is, or
 * the kernel refuses. */
static bool set_if_covered(uintptr_t page, bool open)
{
    SC_KEEP_ERRNO();
    unsigned lane = lock_lane_of(page);
    apply_locked(lane);
    enum sc_access access;
    bool covered = is_covered(page, &access);
    bool set = covered && sc_page_access_set(page, guards()->page_mask + 1,
                                             open ? SC_ACCESS_ALL : access) == 0;
    unlock(lane);
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

bool sc_protect_is_programs(uintptr_t address, enum sc_touch touch)
{
    SC_KEEP_ERRNO();
    unsigned lane = lock_lane_of(address);
    apply_locked(lane);
    bool programs =
        !SC_TRACKED(sc_spans_cover(track.guards, address)) && sc_page_access_denies(address, touch);
    unlock(lane);
    return programs;
}

/* Tries to take the lane's lock for a while. Not longer: whoever has it may be the very thread that
 * waits for the answer, or be stopped. */
static bool lock_in_time(unsigned lane)
{
    const struct timespec pause = {0, ANSWER_PAUSE_NS};
    for (unsigned i = 0; i < ANSWER_PAUSES; i++) {
        if (try_to_lock(lane))
            return true;
        sc_kernel_call(SYS_nanosleep, &pause, NULL);
    }
    return false;
}

/* Takes the page off again if another thread was about to do that while it was put back. */
static void keep_off_again(uintptr_t page)
{
    unsigned lane = lane_of(page);
    if (!sc_userfaults_is_off(page) || !lock_in_time(lane))
        return;
    sc_userfaults_keep_off_again(page);
    unlock(lane);
}

/* Answers a touch of a page that userfaultfd has reported. If nobody keeps the page off, the kernel
 * itself has taken it out: it is put back at once, as whoever has the lane's lock may wait for
 * it. */
bool sc_protect_answer_touch(uintptr_t address, bool may_deny)
{
    uintptr_t page = address & ~guards()->page_mask;
    if (!sc_userfaults_is_off(page)) {
        sc_userfaults_put_back(page, false);
        keep_off_again(page);
        return true;
    }
    unsigned lane = lane_of(page);
    bool is_locked = lock_in_time(lane);
    bool is_off = sc_userfaults_is_off(page) && sc_grid_find_at(&guards()->grid, page) != 0;
    bool is_denied = is_locked && is_off && may_deny;
    sc_userfaults_put_back(page, is_denied);
    if (is_locked)
        unlock(lane);
    return is_denied || !is_off;
}

bool sc_protect_let_through(uintptr_t address)
{
    return sc_page_access_set(address & ~guards()->page_mask, guards()->page_mask + 1,
                              SC_ACCESS_ALL) == 0;
}

/* In a forked child: makes all guarded pages accessible. In two rounds: what the kernel refuses in
 * the first, for want of mappings, it grants when the rest is unprotected. */
bool sc_protect_let_go_inherited(uintptr_t address)
{
    struct sc_access_change change;
    bool found = false;
    for (unsigned round = 0; round < 2; round++)
        for (uint32_t span = 0; sc_spans_inherited(guards(), &span, &change);) {
            found |= address - change.address < change.size_bytes;
            if (sc_page_access_set(change.address, change.size_bytes, change.access) == 0)
                sc_spans_let_go_inherited(guards(), span);
        }
    sc_spans_forget(guards());
    return found;
}
