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

/* `owner` is a thread's id, negative while the thread fills the loan in or ends it; 0: the loan is
 * free. Only the owner reads `frame`. Other threads may read a mixture of two loans while one ends
 * and another begins; neither is then a loan that they must see. */
struct loan {
    _Atomic int32_t owner;
    _Atomic uint32_t touch;
    _Atomic uintptr_t address;
    _Atomic uintptr_t end; /* 0: none */
    struct sc_frame frame;
};

static struct loan loans_made[LOANS];
static _Atomic unsigned used_to;     /* the loans from this index on were never used */
static _Atomic unsigned order_point; /* both sides change it, which orders each after the other */

/* How many loans of this thread have not ended: those of system calls under way that a signal
 * handler interrupted, or of calls that were left by siglongjmp. */
static __thread unsigned live_loans;

/* ---- ending loans ---- */

/* Marks the loan as being filled in or ended by this thread. False: its owner is not `from` any
 * more. */
static bool claim_loan(struct loan *loan, int32_t from, int32_t self)
{
    return atomic_compare_exchange_strong_explicit(&loan->owner, &from, -self, memory_order_acquire,
                                                   memory_order_relaxed);
}

static void end_loan(struct loan *loan)
{
    SC_ASSERT(atomic_load_explicit(&loan->owner, memory_order_relaxed) == -sc_thread_id());
    atomic_store_explicit(&loan->end, 0, memory_order_relaxed);
    atomic_store_explicit(&loan->owner, 0, memory_order_release);
}

/* Ends a loan of this thread, unless it has ended already: then it may be another call's, whose
 * frame is at another place. */
static void end_loans_of_thread(struct loan *loan, int32_t self, uintptr_t place)
{
    if (atomic_load_explicit(&loan->owner, memory_order_relaxed) == self &&
        loan->frame.place == place && claim_loan(loan, self, self))
        end_loan(loan);
}

/* Ends the loans of this thread whose calls were left by siglongjmp. `place`: the frame of the call
 * that adds a loan now. Another loan with the same place is of a call that is over, since no two
 * calls under way have the same frame. */
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
            end_loans_of_thread(loan, self, loan->frame.place);
    }
    live_loans = kept;
}

/* Ends the loan if its owner's thread does not exist any more, which a system call (tkill without a
 * signal) checks. */
static bool end_loan_if_gone(struct loan *loan)
{
    int32_t owner = atomic_load_explicit(&loan->owner, memory_order_relaxed);
    bool gone = owner != 0 && sc_kernel_call(SYS_tkill, owner < 0 ? -owner : owner) == -ESRCH;
    if (!gone || !claim_loan(loan, owner, sc_thread_id()))
        return false;
    end_loan(loan);
    return true;
}

/* Ends the loans of all threads that do not exist any more, when the table is full. Each loan costs
 * a system call, so this is done once in SEARCH_NS at most. */
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

/* Makes `used_to` greater than this index. */
static void raise_used_to(unsigned id)
{
    unsigned known = atomic_load_explicit(&used_to, memory_order_relaxed);
    while (known <= id && !atomic_compare_exchange_weak_explicit(
                              &used_to, &known, id + 1, memory_order_acq_rel, memory_order_relaxed))
        continue;
}

/* Takes a free loan and returns its index. The search begins at the loan that this thread took
 * last. LOANS: none is free. */
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

static unsigned take_any_loan(int32_t self)
{
    unsigned id = take_free_loan(self);
    return id == LOANS && end_loans_of_gone_threads() ? take_free_loan(self) : id;
}

void sc_loans_order(void)
{
    atomic_fetch_add_explicit(&order_point, 1, memory_order_acq_rel);
}

/* Stores one more loan of the call. Stores nothing if the table is full. */
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

/* Extends the loan so that it includes this interval, and all that lies between. */
static void extend_loan(struct loan *loan, uintptr_t address, uintptr_t end, enum sc_touch touch)
{
    if (address < atomic_load_explicit(&loan->address, memory_order_relaxed))
        atomic_store_explicit(&loan->address, address, memory_order_relaxed);
    if (end > atomic_load_explicit(&loan->end, memory_order_relaxed))
        atomic_store_explicit(&loan->end, end, memory_order_relaxed);
    if (touch == SC_TOUCH_WRITE)
        atomic_store_explicit(&loan->touch, touch, memory_order_relaxed);
}

/* Stores that the system call will access the interval. If the call has SC_LOANS_PER_CALL loans
 * already, its last one is extended. */
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

void sc_loans_end(struct sc_loans *loans)
{
    for (; loans->count; live_loans--)
        end_loans_of_thread(&loans_made[loans->ids[--loans->count]], sc_thread_id(),
                            loans->frame.place);
}

/* ---- the check of the guard ---- */

/* Does the loan overlap the change, and would the change forbid what the system call does there?
 * Stores the part of the loan that lies in the change. */
static bool is_in_conflict(struct loan *loan, const struct sc_access_change *change,
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

/* Finds the first exempt pages (exempt_objects.h) that the change would protect. */
static bool conflicts_with_exempt(const struct sc_access_change *change, struct sc_lent *met)
{
    struct sc_exempt_run found;
    if (!sc_exempt_pages_find(sc_track_parts.exempt_pages, change->address,
                              change->address + change->size_bytes, *sc_track_parts.page_mask,
                              &found))
        return false;
    *met = (struct sc_lent){found.start, found.end - found.start, SC_TOUCH_WRITE};
    return true;
}

/* Finds pages that the change must not protect. Of all loans that conflict with it, and the first
 * exempt page, stores the one with the lowest address. */
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
        if (!is_in_conflict(loan, change, &met) || end_loan_if_gone(loan))
            continue;
        if (!found || met.address < lent->address)
            *lent = met;
        found = true;
    }
    if (conflicts_with_exempt(change, &met) && (!found || met.address < lent->address)) {
        *lent = met;
        found = true;
    }
    return found;
}
