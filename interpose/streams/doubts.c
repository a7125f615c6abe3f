#include "interpose/streams/doubts.h"

#include <pthread.h>
#include <stdatomic.h>

#include "common/checks.h"
#include "common/library_lock.h"
#include "common/points.h"
#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/streams/host_functions.h"
#include "track/order_calls.h"

#include "common/poison.h"

enum { DOUBTS_MAX = 256, STEPS_MIN = 4 };

/* A host function of which it is open whether it waits for the thread that has touched. */
struct function {
    uint64_t launched; /* its name in host_functions.h */
    unsigned steps;    /* how many it had made when the thread could last have let it go on */
    bool is_cleared;   /* it has not waited for the thread */
};

static pthread_mutex_t doubts_lock = PTHREAD_MUTEX_INITIALIZER; /* a leaf */
static struct doubt {
    bool is_used;
    bool is_in_call;        /* the thread is still in the call that touches */
    uint64_t raised_number; /* counts all doubts ever raised */
    int32_t thread;         /* that has touched */
    uint64_t within;        /* the host function that has touched, or 0 */
    struct sc_ticket of;    /* the operation that was touched */
    uint64_t wait; /* the number of the thread's wait for that operation; 0: it does not wait */
    uint64_t last_seen_wait; /* `wait` at the last look */
    unsigned count;          /* how many functions; those that are not listed are not known */
    struct function functions[SC_HOST_FUNCTIONS_LISTED];
} doubts[DOUBTS_MAX] SC_GUARDED_BY(doubts_lock);
static uint64_t wait_count SC_GUARDED_BY(doubts_lock);
static _Atomic uint64_t raised_count;
static _Atomic unsigned doubt_count;

static unsigned listed_count(const struct doubt *doubt)
{
    return doubt->count < SC_HOST_FUNCTIONS_LISTED ? doubt->count : SC_HOST_FUNCTIONS_LISTED;
}

/* Stores the host functions before the operation that have not returned: each may be waiting for
 * the thread that touches. */
static void list_functions(struct doubt *doubt, const struct sc_op_info *op)
{
    SC_ASSERT_HELD(&doubts_lock);
    uint64_t launched[SC_HOST_FUNCTIONS_LISTED] = {0};
    doubt->count = sc_host_functions_list(op, launched);
    for (unsigned i = 0; i < listed_count(doubt); i++)
        doubt->functions[i] = (struct function){.launched = launched[i]};
}

/* Called when a thread touches memory in flight while a host function before the operation has not
 * returned (mode=report): keeps until the verdict which functions those are, as each may be waiting
 * for this thread. Returns the doubt's number; 0: there is no room. */
unsigned sc_doubts_begin(const struct sc_op_info *op, const struct sc_ticket *ticket)
{
    unsigned begun = 0;
    sc_library_lock_acquire(&doubts_lock);
    for (unsigned i = 0; i < DOUBTS_MAX && !begun; i++) {
        if (doubts[i].is_used)
            continue;
        doubts[i] = (struct doubt){.is_used = true,
                                   .raised_number = atomic_fetch_add(&raised_count, 1) + 1,
                                   .thread = sc_thread_id(),
                                   .within = sc_host_functions_own(),
                                   .of = *ticket};
        list_functions(&doubts[i], op);
        atomic_fetch_add(&doubt_count, 1);
        /* another thread may still be about to count one down */
        SC_ASSERT(atomic_load(&doubt_count) <= 2 * DOUBTS_MAX);
        begun = i + 1;
    }
    sc_library_lock_release(&doubts_lock);
    return begun;
}

/* Forgets the doubt (whether a host function waits for a thread's touch), since the verdict is
 * given. Number 0 is the doubt for which there was no room. */
void sc_doubts_end(unsigned doubt)
{
    if (!doubt)
        return;
    SC_ASSERT(doubt <= DOUBTS_MAX);
    sc_library_lock_acquire(&doubts_lock);
    SC_ASSERT(doubts[doubt - 1].is_used);
    doubts[doubt - 1].is_used = false;
    sc_library_lock_release(&doubts_lock);
    atomic_fetch_sub(&doubt_count, 1);
}

/* ---- what the thread does ---- */

/* Was the doubt raised by a touch of the calling thread? */
static bool is_of_this_thread(const struct doubt *doubt)
{
    return doubt->is_used && doubt->thread == sc_thread_id();
}

/* Called when a thread begins to wait for operations that it has touched while host functions
 * before them were open (its doubts). A function that goes on during that wait has not waited for
 * this thread, which can do nothing. */
void sc_doubts_wait_begins(const struct sc_point *point)
{
    if (sc_likely(atomic_load_explicit(&doubt_count, memory_order_relaxed) == 0))
        return;
    sc_library_lock_acquire(&doubts_lock);
    wait_count++;
    for (unsigned i = 0; i < DOUBTS_MAX; i++)
        if (is_of_this_thread(&doubts[i]) && sc_order_point_covers(point, &doubts[i].of))
            doubts[i].wait = wait_count;
    sc_library_lock_release(&doubts_lock);
}

/* Called when the thread's wait for the device, or its call, is over. A host function that returns
 * from now on may have waited for something that this thread does, so it no longer proves the
 * thread's touches wrong. */
void sc_doubts_wait_ends(void)
{
    if (sc_likely(atomic_load_explicit(&doubt_count, memory_order_relaxed) == 0))
        return;
    sc_library_lock_acquire(&doubts_lock);
    for (unsigned i = 0; i < DOUBTS_MAX; i++)
        if (is_of_this_thread(&doubts[i])) {
            doubts[i].wait = 0;
            doubts[i].is_in_call = false;
        }
    sc_library_lock_release(&doubts_lock);
}

uint64_t sc_doubts_raised(void)
{
    return atomic_load_explicit(&raised_count, memory_order_relaxed);
}

/* Called before the thread calls the driver, with doubts that this very call has raised (more than
 * the `before` at its beginning): it touches memory behind host functions. A function that returns
 * before the call does has not waited for what comes after the call. */
void sc_doubts_call_begins(uint64_t before)
{
    if (sc_likely(sc_doubts_raised() == before))
        return;
    sc_library_lock_acquire(&doubts_lock);
    for (unsigned i = 0; i < DOUBTS_MAX; i++)
        doubts[i].is_in_call |= is_of_this_thread(&doubts[i]) && doubts[i].raised_number > before;
    sc_library_lock_release(&doubts_lock);
}

/* ---- what the functions do ---- */

/* Notes that the function, which its launch's time names, has not waited for the doubt's thread. */
static void clear_function(struct doubt *doubt, uint64_t launched)
{
    SC_ASSERT_HELD(&doubts_lock);
    for (unsigned i = 0; i < listed_count(doubt); i++)
        doubt->functions[i].is_cleared |= doubt->functions[i].launched == launched;
}

/* Called when a host function has returned: notes that it has not waited, in the doubts whose
 * thread is still in the call that touched, and so has done nothing since. A plain function, which
 * can wait for nobody by its code, has not waited in any. */
void sc_doubts_function_returned(unsigned call, bool is_plain)
{
    if (sc_likely(atomic_load_explicit(&doubt_count, memory_order_relaxed) == 0))
        return;
    uint64_t launched = sc_host_functions_last_of(call);
    sc_library_lock_acquire(&doubts_lock);
    for (unsigned i = 0; i < DOUBTS_MAX && launched; i++)
        if (doubts[i].is_used && (doubts[i].is_in_call || is_plain))
            clear_function(&doubts[i], launched);
    sc_library_lock_release(&doubts_lock);
}

/* Since the last look, was the thread unable to do what a function may have waited for? Yes if it
 * waited for the operation itself all the time, or has ended. If a host function made the touch:
 * when that function has returned, since its thread may run others. */
static bool thread_was_powerless(const struct doubt *doubt)
{
    if (doubt->within)
        return !sc_host_functions_is_open(doubt->within);
    return (doubt->wait && doubt->wait == doubt->last_seen_wait) ||
           sc_host_functions_time_of(doubt->thread) == 0;
}

/* Looks at the host functions that may be waiting for the doubt's thread. One that was seen to run
 * STEPS_MIN times while that thread was powerless has not waited for it: it would not have gone
 * on. */
static void check_functions(struct doubt *doubt)
{
    SC_ASSERT_HELD(&doubts_lock);
    bool is_powerless = thread_was_powerless(doubt);
    for (unsigned i = 0; i < listed_count(doubt); i++) {
        struct function *function = &doubt->functions[i];
        unsigned steps = function->launched ? sc_host_functions_steps(function->launched) : 0;
        if (!is_powerless)
            function->steps = steps;
        else if (steps >= function->steps + STEPS_MIN)
            function->is_cleared = true;
    }
    doubt->last_seen_wait = doubt->wait;
}

/* Called about every millisecond while the verdict on a touch waits: looks which host functions
 * were seen to go on without the thread that touched, and so did not wait for it. */
void sc_doubts_look(unsigned doubt)
{
    if (!doubt)
        return;
    SC_ASSERT(doubt <= DOUBTS_MAX);
    sc_library_lock_acquire(&doubts_lock);
    SC_ASSERT(doubts[doubt - 1].is_used);
    check_functions(&doubts[doubt - 1]);
    sc_library_lock_release(&doubts_lock);
}

/* May one of the host functions still have waited for the thread that touched? Then the touch is
 * not reported. Yes also for functions that had no room, and for doubt 0, which had none itself. */
bool sc_doubts_remain(unsigned doubt)
{
    if (!doubt)
        return true;
    sc_library_lock_acquire(&doubts_lock);
    const struct doubt *of = &doubts[doubt - 1];
    SC_ASSERT(of->is_used);
    bool remain = of->count > SC_HOST_FUNCTIONS_LISTED;
    for (unsigned i = 0; i < listed_count(of); i++)
        remain |= !of->functions[i].is_cleared;
    sc_library_lock_release(&doubts_lock);
    return remain;
}
