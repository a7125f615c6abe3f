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

/* The owner is a thread, negative while it fills the loan in; 0: free. The frame is the owner's to
 * read. What others read may be of a loan that ends or begins just then, and so of none that they
 * have to see. */
struct loan {
    _Atomic int32_t owner;
    _Atomic uint32_t touch;
    _Atomic uintptr_t address;
    _Atomic uintptr_t end; /* 0: none */
    struct sc_frame frame;
};

static struct loan loans_made[LOANS];
static _Atomic unsigned used_to; /* those behind were never used */
static _Atomic unsigned looks;   /* of lenders and of the guard: each sees what came before */

/* Loans of this thread that were not given back: of calls that a signal handler interrupted, or of
 * such that it left. */
static __thread unsigned own_live;

/* ---- giving back ---- */

/* Takes the loan over for this thread to fill in or to end, if its owner is still `from`. */
static bool take(struct loan *loan, int32_t from, int32_t self)
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

/* Ends a loan of this thread. A loan that was thought to be left behind may have been ended
 * already, by its own call or by a handler that came in between, and be another call's. */
static void end_loans_of_thread(struct loan *loan, int32_t self, uintptr_t place)
{
    if (atomic_load_explicit(&loan->owner, memory_order_relaxed) == self &&
        loan->frame.place == place && take(loan, self, self))
        end_loan(loan);
}

/* Ends those loans of this thread whose calls were left (siglongjmp). `place`: the frame of the
 * call that lends now. Another loan with the same place is of a call that is over, since no two
 * calls under way have the same frame. */
static void end_left_loans(int32_t self, uintptr_t place)
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
    own_live = kept;
}

/* Ends the loan if its owner's thread does not exist any more. A system call. */
static bool end_loan_if_gone(struct loan *loan)
{
    int32_t owner = atomic_load_explicit(&loan->owner, memory_order_relaxed);
    bool gone = owner != 0 && sc_kernel_call(SYS_tkill, owner < 0 ? -owner : owner) == -ESRCH;
    if (!gone || !take(loan, owner, sc_thread_id()))
        return false;
    end_loan(loan);
    return true;
}

/* Ends the loans of all threads that are gone, when the table is full. Each loan costs a system
 * call, so this is done once in SEARCH_NS at most. */
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

/* ---- lending ---- */

/* Raises `used_to`, behind which no loan was ever made, above this loan. */
static void note_used(unsigned id)
{
    unsigned known = atomic_load_explicit(&used_to, memory_order_relaxed);
    while (known <= id && !atomic_compare_exchange_weak_explicit(
                              &used_to, &known, id + 1, memory_order_acq_rel, memory_order_relaxed))
        continue;
}

/* Takes a free loan. The search begins where this thread found one last. LOANS: none is free. */
static unsigned take_free(int32_t self)
{
    static __thread unsigned last;
    for (unsigned i = 0; i < LOANS; i++) {
        unsigned id = (last + i) % LOANS;
        if (atomic_load_explicit(&loans_made[id].owner, memory_order_relaxed) == 0 &&
            take(&loans_made[id], 0, self))
            return last = id;
    }
    return LOANS;
}

static unsigned take_any(int32_t self)
{
    unsigned id = take_free(self);
    return id == LOANS && end_loans_of_gone_threads() ? take_free(self) : id;
}

void sc_loans_order(void)
{
    atomic_fetch_add_explicit(&looks, 1, memory_order_acq_rel);
}

/* Notes one more loan of the call. Nothing is noted if the table is full. */
static void lend(struct sc_loans *loans, uintptr_t address, uintptr_t end, enum sc_touch touch)
{
    int32_t self = sc_thread_id();
    if (sc_unlikely(own_live > loans->count))
        end_left_loans(self, loans->count ? 0 : loans->frame.place);
    own_live++;
    unsigned id = take_any(self);
    if (id == LOANS) {
        own_live--;
        return;
    }
    struct loan *loan = &loans_made[id];
    note_used(id);
    loan->frame = loans->frame;
    atomic_store_explicit(&loan->touch, touch, memory_order_relaxed);
    atomic_store_explicit(&loan->address, address, memory_order_relaxed);
    atomic_store_explicit(&loan->end, end, memory_order_relaxed);
    atomic_store_explicit(&loan->owner, self, memory_order_release);
    SC_ASSERT(loans->count < SC_LOANS_PER_CALL && id < LOANS);
    loans->ids[loans->count++] = (uint16_t)id;
}

/* Has the loan cover this interval as well, and all that lies between. */
static void widen(struct loan *loan, uintptr_t address, uintptr_t end, enum sc_touch touch)
{
    if (address < atomic_load_explicit(&loan->address, memory_order_relaxed))
        atomic_store_explicit(&loan->address, address, memory_order_relaxed);
    if (end > atomic_load_explicit(&loan->end, memory_order_relaxed))
        atomic_store_explicit(&loan->end, end, memory_order_relaxed);
    if (touch == SC_TOUCH_WRITE)
        atomic_store_explicit(&loan->touch, touch, memory_order_relaxed);
}

void sc_loans_add(struct sc_loans *loans, const void *address, size_t size_bytes,
                  enum sc_touch touch)
{
    uintptr_t start = (uintptr_t)address;
    if (loans->count < SC_LOANS_PER_CALL)
        lend(loans, start, start + size_bytes, touch);
    else
        widen(&loans_made[loans->ids[loans->count - 1]], start, start + size_bytes, touch);
    sc_loans_order();
}

/* Ends all loans of the call. */
void sc_loans_end(struct sc_loans *loans)
{
    for (; loans->count; own_live--)
        end_loans_of_thread(&loans_made[loans->ids[--loans->count]], sc_thread_id(),
                            loans->frame.place);
}

/* ---- the guard's look ---- */

/* Does the loan overlap the change, and would the change forbid what the kernel does there? Stores
 * the part of the loan that lies in the change. */
static bool meets(struct loan *loan, const struct sc_access_change *change, struct sc_lent *lent)
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

/* The first pages kept off (exempt_objects.h) that the change would protect. */
static bool meets_exempt_page(const struct sc_access_change *change, struct sc_lent *met)
{
    struct sc_exempt_run found;
    if (!sc_exempt_pages_find(sc_track_parts.exempt_pages, change->address,
                              change->address + change->size_bytes, *sc_track_parts.page_mask,
                              &found))
        return false;
    *met = (struct sc_lent){found.start, found.end - found.start, SC_TOUCH_WRITE};
    return true;
}

/* The first interval of all that the change must not protect. */
bool sc_loans_find(const struct sc_access_change *change, struct sc_lent *lent)
{
    bool found = false;
    struct sc_lent met;
    if (change->access == SC_ACCESS_ALL)
        return false;
    sc_loans_order();
    if (sc_unlikely(own_live != 0))
        end_left_loans(sc_thread_id(), 0);
    unsigned count = atomic_load_explicit(&used_to, memory_order_relaxed);
    for (struct loan *loan = loans_made; loan < loans_made + count; loan++) {
        if (!meets(loan, change, &met) || end_loan_if_gone(loan))
            continue;
        if (!found || met.address < lent->address)
            *lent = met;
        found = true;
    }
    if (meets_exempt_page(change, &met) && (!found || met.address < lent->address)) {
        *lent = met;
        found = true;
    }
    return found;
}
