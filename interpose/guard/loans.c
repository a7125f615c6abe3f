#include "interpose/guard/loans.h"

#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

#include "common/checks.h"
#include "common/kernel.h"
#include "common/now.h"
#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "track/exempt_pages.h"
#include "track/track_parts.h"

#include "common/poison.h"

enum { LOANS = 512, SEARCH_NS = 1000000 };

/* A loan: memory that a system call of the program is using, so that it must not be protected.
 * `owner` is the id of the thread that makes the call, negative while the thread fills the loan in
 * or ends it; 0: the entry is free. Only the owner reads `frame`, which names the call. Other
 * threads may read a mixture of two loans while one ends and another begins; neither is then a loan
 * that they must see. */
struct loan {
    _Atomic int32_t owner;
    _Atomic uint32_t touch;
    _Atomic uintptr_t address;
    _Atomic uintptr_t end; /* 0: none */
    struct sc_frame frame;
};

static struct loan loans_made[LOANS];
static _Atomic unsigned used_to; /* the loans from this index on were never used */
/* Whoever lends and whoever protects changes this between storing and looking, so that one of the
 * two sees what the other has stored. */
static _Atomic unsigned order_point;

/* How many loans of this thread have not ended: those of system calls under way that a signal
 * handler interrupted, or of calls that were left by siglongjmp. */
static __thread unsigned live_loans;

/* ---- ending loans ---- */

/* Makes this thread (`self`) the one that fills the loan in or ends it. False: its owner is not
 * `from` any more, so that another thread does that, or has. */
static bool claim_loan(struct loan *loan, int32_t from, int32_t self)
{
    return atomic_compare_exchange_strong_explicit(&loan->owner, &from, -self, memory_order_acquire,
                                                   memory_order_relaxed);
}

/* Frees the table's entry of the loan, which this thread has claimed (claim_loan). */
static void end_loan(struct loan *loan)
{
    SC_ASSERT(atomic_load_explicit(&loan->owner, memory_order_relaxed) == -sc_thread_id());
    atomic_store_explicit(&loan->end, 0, memory_order_relaxed);
    atomic_store_explicit(&loan->owner, 0, memory_order_release);
}

/* Ends a loan of this thread (`self`), unless it has ended already, as a signal handler may have
 * done (end_abandoned_loans). The entry may then belong to another call, of another thread or with
 * its stack frame at another address (`place`). */
static void end_own_loan(struct loan *loan, int32_t self, uintptr_t place)
{
    if (atomic_load_explicit(&loan->owner, memory_order_relaxed) == self &&
        loan->frame.place == place && claim_loan(loan, self, self))
        end_loan(loan);
}

/* Ends the loans of this thread whose calls were left by siglongjmp, and so never ended them. A
 * call is under way as long as the function that made it has not returned (sc_frame_lives).
 * `place`: where the stack frame of the call lies that adds its first loan now; another loan from
 * there is over, since no two calls under way have the same frame. 0: no such call. */
static void end_abandoned_loans(int32_t self, uintptr_t place)
{
    unsigned kept = 0;
    unsigned count = atomic_load_explicit(&used_to, memory_order_acquire);
    for (struct loan *loan = loans_made; loan < loans_made + count; loan++) {
        if (atomic_load_explicit(&loan->owner, memory_order_relaxed) != self)
            continue;
        if (loan->frame.place != place && sc_frame_lives(&loan->frame))
            kept++;
        else
            end_own_loan(loan, self, loan->frame.place);
    }
    live_loans = kept;
}

/* Ends the loan if its thread does not exist any more, which tkill (without a signal) tells. True:
 * it was ended. */
static bool end_loan_if_gone(struct loan *loan)
{
    int32_t owner = atomic_load_explicit(&loan->owner, memory_order_relaxed);
    bool gone = owner != 0 && sc_kernel_call(SYS_tkill, owner < 0 ? -owner : owner) == -ESRCH;
    if (!gone || !claim_loan(loan, owner, sc_thread_id()))
        return false;
    end_loan(loan);
    return true;
}

/* Ends the loans of all threads that do not exist any more, when the table is full; returns whether
 * there were any. Each loan costs a system call, so this is done once in SEARCH_NS (1 ms) at most.
 */
static bool end_loans_of_gone_threads(void)
{
    static _Atomic uint64_t last_ns;
    uint64_t now_ns = sc_coarse_now_ns();
    bool any = false;
    if (now_ns - atomic_load_explicit(&last_ns, memory_order_relaxed) < SEARCH_NS)
        return false;
    atomic_store_explicit(&last_ns, now_ns, memory_order_relaxed);
    for (struct loan *loan = loans_made; loan < loans_made + LOANS; loan++)
        any |= end_loan_if_gone(loan);
    return any;
}

/* ---- adding loans ---- */

/* Makes `used_to` greater than this index, so that threads that protect pages look at the loan. */
static void raise_used_to(unsigned id)
{
    unsigned known = atomic_load_explicit(&used_to, memory_order_relaxed);
    while (known <= id && !atomic_compare_exchange_weak_explicit(
                              &used_to, &known, id + 1, memory_order_acq_rel, memory_order_relaxed))
        continue;
}

/* Takes a free entry of the table for this thread, and returns its index; LOANS: none is free. The
 * search begins at the entry that the thread took last, which is mostly free again. */
static unsigned take_free_loan(int32_t self)
{
    static __thread unsigned last;
    for (unsigned i = 0; i < LOANS; i++) {
        unsigned id = (last + i) % LOANS;
        if (atomic_load_explicit(&loans_made[id].owner, memory_order_relaxed) == 0 &&
            claim_loan(&loans_made[id], 0, self))
            return last = id;
    }
    return LOANS;
}

/* Takes a free entry of the table, if necessary one of a thread that does not exist any more.
 * Returns its index; LOANS: the table is full. */
static unsigned take_any_loan(int32_t self)
{
    unsigned id = take_free_loan(self);
    return id == LOANS && end_loans_of_gone_threads() ? take_free_loan(self) : id;
}

/* A full memory barrier between storing a loan (or a protection) and looking for protections (or
 * loans): of two threads that do so at once, one sees the other. */
void sc_loans_order(void)
{
    atomic_fetch_add_explicit(&order_point, 1, memory_order_acq_rel);
}

/* Stores one more loan of the system call; nothing if the table is full, as the pages may then be
 * protected. Counts it in live_loans before, since a signal handler may make a call in between and
 * leave this one for good. If the thread has loans that are not this call's, some may have been
 * left behind, and are ended. */
static void store_loan(struct sc_loans *loans, uintptr_t address, uintptr_t end,
                       enum sc_touch touch)
{
    int32_t self = sc_thread_id();
    if (sc_unlikely(live_loans > loans->count))
        end_abandoned_loans(self, loans->count ? 0 : loans->frame.place);
    live_loans++;
    unsigned id = take_any_loan(self);
    if (id == LOANS) {
        live_loans--;
        return;
    }
    struct loan *loan = &loans_made[id];
    raise_used_to(id);
    loan->frame = loans->frame;
    atomic_store_explicit(&loan->touch, touch, memory_order_relaxed);
    atomic_store_explicit(&loan->address, address, memory_order_relaxed);
    atomic_store_explicit(&loan->end, end, memory_order_relaxed);
    atomic_store_explicit(&loan->owner, self, memory_order_release);
    SC_ASSERT(loans->count < SC_LOANS_PER_CALL && id < LOANS);
    loans->ids[loans->count++] = (uint16_t)id;
}

/* Extends the loan so that it includes this interval, and all that lies between. If one of the two
 * is written, all of it counts as written. */
static void extend_loan(struct loan *loan, uintptr_t address, uintptr_t end, enum sc_touch touch)
{
    if (address < atomic_load_explicit(&loan->address, memory_order_relaxed))
        atomic_store_explicit(&loan->address, address, memory_order_relaxed);
    if (end > atomic_load_explicit(&loan->end, memory_order_relaxed))
        atomic_store_explicit(&loan->end, end, memory_order_relaxed);
    if (touch == SC_TOUCH_WRITE)
        atomic_store_explicit(&loan->touch, touch, memory_order_relaxed);
}

/* Stores that the system call will read or write the interval, so that it is not protected until
 * the call returns. A call with SC_LOANS_PER_CALL loans already has its last one extended. */
void sc_loans_add(struct sc_loans *loans, const void *address, size_t size_bytes,
                  enum sc_touch touch)
{
    uintptr_t start = (uintptr_t)address;
    if (loans->count < SC_LOANS_PER_CALL)
        store_loan(loans, start, start + size_bytes, touch);
    else
        extend_loan(&loans_made[loans->ids[loans->count - 1]], start, start + size_bytes, touch);
    sc_loans_order();
}

/* Ends all loans of the system call, which has returned. */
void sc_loans_end(struct sc_loans *loans)
{
    for (; loans->count; live_loans--)
        end_own_loan(&loans_made[loans->ids[--loans->count]], sc_thread_id(), loans->frame.place);
}

/* ---- the check of the guard ---- */

/* Would this change of protection forbid what a system call does with the loan's memory? Stores in
 * *lent the part of the loan that lies in the change. Pages that become read-only forbid only
 * writes. */
static bool find_conflict(struct loan *loan, const struct sc_access_change *change,
                          struct sc_lent *lent)
{
    uintptr_t start = atomic_load_explicit(&loan->address, memory_order_relaxed);
    uintptr_t end = atomic_load_explicit(&loan->end, memory_order_relaxed);
    lent->touch = (enum sc_touch)atomic_load_explicit(&loan->touch, memory_order_relaxed);
    if (start < change->address)
        start = change->address;
    if (end > change->address + change->size_bytes)
        end = change->address + change->size_bytes;
    lent->address = start;
    lent->size_bytes = end - start;
    return start < end && (change->access == SC_ACCESS_NONE || lent->touch == SC_TOUCH_WRITE);
}

/* Finds the first pages in the change that must never be protected, since Linux uses them at times
 * that nobody foresees (exempt_objects.h). Stored as memory that is written. */
static bool find_exempt(const struct sc_access_change *change, struct sc_lent *met)
{
    struct sc_exempt_run found;
    if (!sc_exempt_pages_find(sc_track_parts.exempt_pages, change->address,
                              change->address + change->size_bytes, *sc_track_parts.page_mask,
                              &found))
        return false;
    *met = (struct sc_lent){found.start, found.end - found.start, SC_TOUCH_WRITE};
    return true;
}

/* Finds the first part of a change of protection that must not be made: pages that a system call is
 * using (on loan) or that must never be protected. False: there is none, as always if the change
 * unprotects. Loans of threads that do not exist any more, and those that this thread has left by
 * siglongjmp, do not count. */
bool sc_loans_find(const struct sc_access_change *change, struct sc_lent *lent)
{
    bool found = false;
    struct sc_lent met;
    if (change->access == SC_ACCESS_ALL)
        return false;
    sc_loans_order();
    if (sc_unlikely(live_loans != 0))
        end_abandoned_loans(sc_thread_id(), 0);
    unsigned count = atomic_load_explicit(&used_to, memory_order_relaxed);
    for (struct loan *loan = loans_made; loan < loans_made + count; loan++) {
        if (!find_conflict(loan, change, &met) || end_loan_if_gone(loan))
            continue;
        if (!found || met.address < lent->address)
            *lent = met;
        found = true;
    }
    if (find_exempt(change, &met) && (!found || met.address < lent->address)) {
        *lent = met;
        found = true;
    }
    return found;
}
