#include "interpose/loans.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interpose/driver.h"
#include "interpose/process.h"

#include "track/poison.h"

enum { LOANS = 512 };

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

/* ---- those that nobody gives back ---- */

static bool is_thread_gone(int32_t thread)
{
    int saved = errno;
    bool gone = syscall(SYS_tkill, (long)thread, 0L) == -1 && errno == ESRCH;
    errno = saved;
    return gone;
}

static void give_back(struct loan *loan)
{
    atomic_store_explicit(&loan->end, 0, memory_order_relaxed);
    atomic_store_explicit(&loan->owner, 0, memory_order_release);
}

static void give_back_left_ones(int32_t self)
{
    unsigned kept = 0;
    unsigned count = atomic_load_explicit(&used_to, memory_order_acquire);
    for (struct loan *loan = loans_made; loan < loans_made + count; loan++) {
        if (atomic_load_explicit(&loan->owner, memory_order_relaxed) != self)
            continue;
        if (sc_frame_lives(&loan->frame))
            kept++;
        else
            give_back(loan);
    }
    own_live = kept;
}

/* ---- lending ---- */

static void note_used(unsigned id)
{
    unsigned known = atomic_load_explicit(&used_to, memory_order_relaxed);
    while (known <= id && !atomic_compare_exchange_weak_explicit(
                              &used_to, &known, id + 1, memory_order_acq_rel, memory_order_relaxed))
        continue;
}

static bool take(unsigned id, int32_t from, int32_t self)
{
    return atomic_compare_exchange_strong_explicit(&loans_made[id].owner, &from, -self,
                                                   memory_order_acquire, memory_order_relaxed);
}

/* A free one, where this thread found one last; or that of a thread that is gone. LOANS: none. */
static unsigned take_any(int32_t self)
{
    static __thread unsigned last;
    for (unsigned i = 0; i < LOANS; i++) {
        unsigned id = (last + i) % LOANS;
        if (atomic_load_explicit(&loans_made[id].owner, memory_order_relaxed) == 0 &&
            take(id, 0, self))
            return last = id;
    }
    for (unsigned id = 0; id < LOANS; id++) {
        int32_t owner = atomic_load_explicit(&loans_made[id].owner, memory_order_relaxed);
        if (owner != 0 && is_thread_gone(owner < 0 ? -owner : owner) && take(id, owner, self))
            return last = id;
    }
    return LOANS;
}

static void look_after_storing(void)
{
    atomic_fetch_add_explicit(&looks, 1, memory_order_acq_rel);
}

static void lend(struct sc_loans *loans, uintptr_t address, uintptr_t end, enum sc_touch touch)
{
    int32_t self = sc_thread_id();
    if (sc_unlikely(own_live > loans->count))
        give_back_left_ones(self);
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
    loans->ids[loans->count++] = (uint16_t)id;
}

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
    look_after_storing();
}

void sc_loans_end(struct sc_loans *loans)
{
    for (; loans->count; own_live--)
        give_back(&loans_made[loans->ids[--loans->count]]);
}

/* ---- the guard's look ---- */

static bool meets(struct loan *loan, const struct sc_guard_change *change, struct sc_lent *lent)
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

bool sc_loans_find(const struct sc_guard_change *change, struct sc_lent *lent)
{
    if (change->access == SC_ACCESS_ALL)
        return false;
    look_after_storing();
    if (sc_unlikely(own_live != 0))
        give_back_left_ones(sc_thread_id());
    unsigned count = atomic_load_explicit(&used_to, memory_order_relaxed);
    for (struct loan *loan = loans_made; loan < loans_made + count; loan++)
        if (meets(loan, change, lent))
            return true;
    return false;
}
