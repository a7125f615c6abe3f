#include "interpose/streams/host_functions.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "common/checks.h"
#include "common/kernel.h"
#include "common/now.h"
#include "common/ticks.h"
#include "interpose/base/process.h"
#include "interpose/base/sleeping_threads.h"
#include "interpose/guard/door.h"
#include "interpose/streams/plain_functions.h"
#include "interpose/streams/streams.h"
#include "interpose/streams/unfinished.h"
#include "report/options.h"
#include "track/op_info.h"

#include "common/poison.h"

enum {
    CALLS_MAX = 256,
    UNLISTED = CALLS_MAX + 1, /* the first name of calls that have no slot */
    UNLISTED_PLACES = 64,     /* counters, which streams share */
    PAST_MAX = 64,
    LEARNT_MAX = 16,
    /* A function has to be asleep at each of them: under some tools threads take turns. */
    SAMPLES_MIN = 25,
    SAMPLE_NS = 10 * 1000 * 1000,
    STEP_NS = 1000 * 1000,
    WAIT_EIGHTHS = 7, /* of stall_limit: who runs for longer counts as waiting */
};

/* The records of launched functions that have not returned. Whoever has claimed a record fills it
 * in before storing `launched`, which others look at first. */
static struct call {
    _Atomic uint64_t launched; /* sc_ticks(); 0: free or not filled in */
    _Atomic bool claimed;
    _Atomic uint32_t stream;
    _Atomic uintptr_t function;
    _Atomic int32_t thread; /* the thread that runs it; 0: none yet */
    _Atomic uint64_t began_ns, sampled_ns;
    _Atomic unsigned samples_asleep;   /* at how many samples in a row the thread was asleep */
    _Atomic uint64_t stepped_ns, time; /* when steps were last counted; the thread's time then */
    _Atomic unsigned steps;
    _Atomic bool waits;
    _Atomic bool is_asked, is_plain; /* its code was looked at; it can wait for nobody */
} calls[CALLS_MAX];

static _Atomic unsigned open_calls;

/* How many calls without a slot are open, by their streams. */
static _Atomic unsigned unlisted[UNLISTED_PLACES];
static _Atomic unsigned all_unlisted;

/* The last calls that were found to wait, and have returned. */
static struct past {
    _Atomic uint64_t launched, returned;
    _Atomic uint32_t stream;
} past[PAST_MAX];
static _Atomic unsigned next_past;

/* Functions that were found to wait. */
static _Atomic uintptr_t learnt[LEARNT_MAX];
static _Atomic unsigned next_learnt;

/* Counts a launched function for which no record is free, by its stream alone. Returns its number,
 * beyond those of records. */
static unsigned count_unlisted(uint32_t stream)
{
    unsigned place = stream % UNLISTED_PLACES;
    atomic_fetch_add(&unlisted[place], 1);
    atomic_fetch_add(&all_unlisted, 1);
    return UNLISTED + place;
}

/* Returns the record of a launched function by its number; NULL: it has none, and was only counted
 * or (0) not even that. */
static struct call *call_of(unsigned call)
{
    SC_ASSERT(call < UNLISTED + UNLISTED_PLACES);
    return call && call < UNLISTED ? &calls[call - 1] : NULL;
}

/* Called before the program's host function is launched: keeps since when, and on which stream, it
 * may wait for the program. Returns the number of its record. If no record is free the function is
 * only counted, by its stream; a plain one, which can wait for nobody, not even that (0). */
unsigned sc_host_functions_launched(uint64_t ticks, uint32_t stream, uintptr_t function)
{
    for (unsigned i = 0; i < CALLS_MAX; i++) {
        bool claimed = false;
        if (!atomic_compare_exchange_strong(&calls[i].claimed, &claimed, true))
            continue;
        atomic_store(&calls[i].function, function);
        atomic_store(&calls[i].stream, stream);
        atomic_store(&calls[i].thread, 0);
        atomic_store(&calls[i].samples_asleep, 0);
        atomic_store(&calls[i].sampled_ns, 0);
        atomic_store(&calls[i].steps, 0);
        atomic_store(&calls[i].stepped_ns, 0);
        atomic_store(&calls[i].waits, false);
        atomic_store(&calls[i].is_asked, false);
        atomic_store(&calls[i].is_plain, false);
        atomic_store(&calls[i].launched, ticks);
        atomic_fetch_add(&open_calls, 1);
        return i + 1;
    }
    return sc_plain_functions_is_one(function) ? 0 : count_unlisted(stream);
}

static __thread unsigned running_call __attribute__((tls_model("initial-exec"))); /* slot + 1 */
static __thread uint64_t own_ticks __attribute__((tls_model("initial-exec")));

uint64_t sc_host_functions_own_ticks(void)
{
    return own_ticks;
}

/* Called on the driver's thread before the program's function: notes which thread runs it, by which
 * a wait is seen. The function may touch pages that the library protects, so signals of faults are
 * unblocked there. */
void sc_host_functions_note_begun(unsigned call, uint64_t launched_ticks)
{
    struct call *own = call_of(call);
    own_ticks = launched_ticks;
    sc_guard_unblock_faults(false);
    if (!own)
        return;
    running_call = call;
    atomic_store(&own->began_ns, sc_now_ns());
    atomic_store(&own->thread, sc_thread_id());
}

/* Frees the record of a function that has returned, or that will never run as the driver has
 * refused it; one without a record (UNLISTED) is counted off its stream. If it was found to wait
 * for the program, its time and stream are kept: they excuse touches that have still to be
 * judged. */
void sc_host_functions_dropped(unsigned call)
{
    struct call *own = call_of(call);
    if (call >= UNLISTED) {
        SC_ASSERT(call - UNLISTED < UNLISTED_PLACES);
        SC_ASSERT(atomic_load(&unlisted[call - UNLISTED]) != 0 && atomic_load(&all_unlisted) != 0);
        atomic_fetch_sub(&unlisted[call - UNLISTED], 1);
        atomic_fetch_sub(&all_unlisted, 1);
    }
    if (!own)
        return;
    if (atomic_load(&own->waits)) {
        struct past *entry = &past[atomic_fetch_add(&next_past, 1) % PAST_MAX];
        atomic_store(&entry->returned, 0);
        atomic_store(&entry->launched, atomic_load(&own->launched));
        atomic_store(&entry->stream, atomic_load(&own->stream));
        atomic_store(&entry->returned, sc_ticks());
    }
    SC_ASSERT(atomic_load(&own->claimed) && atomic_load(&open_calls) != 0);
    atomic_fetch_sub(&open_calls, 1);
    atomic_store(&own->launched, 0);
    atomic_store(&own->claimed, false);
}

void sc_host_functions_note_ended(unsigned call)
{
    own_ticks = 0;
    running_call = 0;
    sc_host_functions_dropped(call);
}

/* Returns the stream's id as an operation's record keeps it; 0, which is no stream's id, if the
 * stream has waited for work that is not known to be done. The operation may then come after any
 * stream's functions. */
uint32_t sc_host_functions_stream_now(uint32_t stream)
{
    struct sc_stream_record *own = sc_streams_of_id(stream);
    return own && sc_unfinished_is_clear(own) ? stream : 0;
}

/* May the operation come after work on `stream`? Yes if that is its own stream, or if its stream
 * has waited for unknown work, as by an event. */
static bool may_follow(uint32_t stream, const struct sc_op_info *op)
{
    return stream == op->ticket.stream || sc_host_functions_stream_now(op->ticket.stream) == 0;
}

/* Looks whether the function's code shows that it can wait for nobody (a plain function). Only when
 * somebody asks, since that takes some microseconds, and launches are frequent. */
static void read_code_once(struct call *call)
{
    atomic_store(&call->is_plain, sc_plain_functions_is_one(atomic_load(&call->function)));
    atomic_store(&call->is_asked, true);
}

/* May the operation come after this launched function, so that the function holds it up? Not if it
 * was launched later, or on an unrelated stream. A plain function, which can wait for nobody,
 * counts as not there. */
static bool may_precede(struct call *call, const struct sc_op_info *op)
{
    uint64_t launched = atomic_load(&call->launched);
    if (launched == 0 || launched >= op->ticks || !may_follow(atomic_load(&call->stream), op))
        return false;
    if (!atomic_load(&call->is_asked))
        read_code_once(call);
    return !atomic_load(&call->is_plain);
}

/* May the operation come after a function without a record? Only its stream is known of such, and
 * not when it was launched. */
static bool unlisted_may_precede(const struct sc_op_info *op)
{
    if (atomic_load_explicit(&all_unlisted, memory_order_relaxed) == 0)
        return false;
    uint32_t stream = sc_host_functions_stream_now(op->ticket.stream);
    return !stream || atomic_load(&unlisted[stream % UNLISTED_PLACES]) != 0;
}

bool sc_host_functions_precede(unsigned call, const struct sc_op_info *op)
{
    struct call *own = call_of(call);
    return own ? may_precede(own, op) : call >= UNLISTED && unlisted_may_precede(op);
}

/* Is the launch listed already? Several functions can have the time of one launch. */
static bool is_in_list(const uint64_t *launched, unsigned count, uint64_t is)
{
    for (unsigned i = 0; i < count && i < SC_HOST_FUNCTIONS_LISTED; i++)
        if (launched[i] == is)
            return true;
    return false;
}

/* Lists the open functions before the operation by the times of their launches. The launch of a
 * graph and its running host nodes have one time, and are listed once. If one has no record, the
 * count says that not all are known. */
unsigned sc_host_functions_list(const struct sc_op_info *op, uint64_t *launched)
{
    unsigned count = 0;
    for (unsigned i = 0; i < CALLS_MAX; i++) {
        uint64_t is = atomic_load(&calls[i].launched);
        if (!may_precede(&calls[i], op) || is_in_list(launched, count, is))
            continue;
        if (count < SC_HOST_FUNCTIONS_LISTED)
            launched[count] = is;
        count++;
    }
    return unlisted_may_precede(op) ? SC_HOST_FUNCTIONS_LISTED + 1 : count;
}

/* Has a function with this launch's time still to return? */
bool sc_host_functions_is_open(uint64_t launched)
{
    bool is_open = false;
    for (unsigned i = 0; i < CALLS_MAX; i++)
        is_open |= atomic_load(&calls[i].launched) == launched;
    return is_open;
}

/* Called when a stream's function has returned: is it known that its code can wait for nobody? Only
 * if that was asked while it was open. It is read once more then: the loader may have bound its
 * calls since, and then more can be followed. */
bool sc_host_functions_was_plain(unsigned call)
{
    struct call *own = own_ticks ? call_of(call) : NULL;
    if (!own || !atomic_load(&own->is_asked))
        return false;
    if (!atomic_load(&own->is_plain)) /* the loader may have bound its calls since */
        read_code_once(own);
    return atomic_load(&own->is_plain);
}

/* Returns the time of this function's launch, or 0 if other functions of the same launch (host
 * nodes of a graph) are open: only the last one's return tells of the launch. */
uint64_t sc_host_functions_last_of(unsigned call)
{
    struct call *own = call_of(call);
    uint64_t launched = own ? atomic_load(&own->launched) : 0;
    for (unsigned i = 0; i < CALLS_MAX; i++)
        if (i + 1 != call && atomic_load(&calls[i].launched) == launched)
            return 0;
    return launched;
}

uint64_t sc_host_functions_own(void)
{
    return running_call ? atomic_load(&calls[running_call - 1].launched) : 0;
}

/* Is there a host function before the operation that has not returned, and may wait for the
 * program? */
bool sc_host_functions_are_open(const struct sc_op_info *op)
{
    if (atomic_load_explicit(&open_calls, memory_order_relaxed) == 0)
        return false;
    for (unsigned i = 0; i < CALLS_MAX; i++)
        if (may_precede(&calls[i], op))
            return true;
    return unlisted_may_precede(op);
}

/* ---- what a thread is doing ---- */

/* Returns the processor time that the thread has used, in ns, by which it is seen whether it runs
 * or sleeps; 0: the thread is gone. */
uint64_t sc_host_functions_time_of(int32_t thread)
{
    enum { OF_THREAD = 4, SCHEDULED = 2 }; /* as pthread_getcpuclockid makes it */
    struct timespec time = {0};
    long clock = (long)(int32_t)(~(uint32_t)thread << 3 | OF_THREAD | SCHEDULED);
    if (sc_kernel_call(SYS_clock_gettime, clock, &time, 0, 0, 0, 0) != 0)
        return 0;
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Counts a step if the thread that runs the function has used processor time since the last look,
 * at most one in a millisecond. Of threads that look at once only one counts. */
static void count_step(struct call *call)
{
    uint64_t now_ns = sc_now_ns();
    uint64_t stepped_ns = atomic_load(&call->stepped_ns);
    int32_t thread = atomic_load(&call->thread);
    if (thread == 0 || now_ns - stepped_ns < STEP_NS ||
        !atomic_compare_exchange_strong(&call->stepped_ns, &stepped_ns, now_ns))
        return;
    uint64_t time = sc_host_functions_time_of(thread);
    if (atomic_exchange(&call->time, time) != time)
        atomic_fetch_add(&call->steps, 1);
}

/* Looks at the functions of this launch, and returns at how many looks they were seen running. A
 * function that waits for a thread makes no steps. */
unsigned sc_host_functions_steps(uint64_t launched)
{
    unsigned steps = 0;
    for (unsigned i = 0; i < CALLS_MAX; i++) {
        if (atomic_load(&calls[i].launched) != launched)
            continue;
        count_step(&calls[i]);
        steps += atomic_load(&calls[i].steps);
    }
    return steps;
}

/* ---- learning ---- */

/* Was this function, by its address, found to wait for the program at an earlier run? */
static bool is_known_to_wait(uintptr_t function)
{
    for (unsigned i = 0; i < LEARNT_MAX && function; i++)
        if (atomic_load_explicit(&learnt[i], memory_order_relaxed) == function)
            return true;
    return false;
}

/* Notes that the function waits for the program, now and whenever it runs again: learnt once, it
 * need not be watched sleeping for long. */
static void note_waits(struct call *call)
{
    uintptr_t function = atomic_load(&call->function);
    if (function && !is_known_to_wait(function))
        atomic_store(&learnt[atomic_fetch_add(&next_learnt, 1) % LEARNT_MAX], function);
    atomic_store(&call->waits, true);
}

/* Does the calling thread run a host function? From before the program's function begins until
 * after it has returned. */
bool sc_host_functions_is_here(void)
{
    return running_call != 0;
}

void sc_host_functions_waits(void)
{
    if (running_call)
        note_waits(&calls[running_call - 1]);
}

/* Has a thread waited for the function for most of stall_limit, so that it probably waits for that
 * very thread? Only in mode=fix: in mode=report no thread waits, and a verdict is put off for as
 * long as the function takes. */
static bool has_waited_too_long(const struct call *call, uint64_t waits_since_ns, uint64_t now_ns)
{
    uint64_t began_ns = atomic_load(&call->began_ns);
    uint64_t since_ns = waits_since_ns > began_ns ? waits_since_ns : began_ns;
    return waits_since_ns != 0 && sc_options.mode == SC_MODE_FIX &&
           now_ns - since_ns > sc_options.stall_limit_ns / 8 * WAIT_EIGHTHS;
}

/* Looks at the thread of a running function. The function waits for the program if it did so
 * before, holds a thread up for too long, sleeps in a call that threads of this process end, or is
 * asleep at SAMPLES_MIN looks in a row. `waits_since_ns` 0: nobody waits, and one look is enough.
 * The thread's own function is not looked at: it is awake. */
static void check_call(struct call *call, uint64_t waits_since_ns)
{
    int32_t thread = atomic_load(&call->thread);
    uint64_t now_ns = sc_now_ns();
    uint64_t sampled_ns = atomic_load(&call->sampled_ns);
    if (thread == 0 || thread == sc_thread_id() || atomic_load(&call->waits))
        return;
    if (is_known_to_wait(atomic_load(&call->function)) ||
        has_waited_too_long(call, waits_since_ns, now_ns)) {
        note_waits(call);
        return;
    }
    if (waits_since_ns && (now_ns - sampled_ns < SAMPLE_NS ||
                           !atomic_compare_exchange_strong(&call->sampled_ns, &sampled_ns, now_ns)))
        return;
    enum sc_sleep sleep = sc_sleeping_threads_check(thread, sc_thread_id());
    if (sleep == SC_AWAKE)
        atomic_store(&call->samples_asleep, 0);
    else if (sleep == SC_SLEEPS_FOR_OWN || !waits_since_ns ||
             atomic_fetch_add(&call->samples_asleep, 1) + 1 >= SAMPLES_MIN)
        note_waits(call);
}

/* Called while a thread or a verdict waits: looks whether functions that have not returned seem to
 * wait for the program. */
void sc_host_functions_poll(uint64_t waits_since_ns)
{
    if (atomic_load_explicit(&open_calls, memory_order_relaxed) == 0)
        return;
    for (unsigned i = 0; i < CALLS_MAX; i++)
        if (atomic_load(&calls[i].launched))
            check_call(&calls[i], waits_since_ns);
}

/* Did the operation come after this function, which was found to wait for the program, and which
 * returned only after the touch? */
static bool was_waiting_before(const struct past *entry, const struct sc_op_info *op,
                               uint64_t touched_ticks)
{
    uint64_t returned = atomic_load(&entry->returned);
    return returned > op->ticks && returned >= touched_ticks &&
           atomic_load(&entry->launched) < op->ticks && may_follow(atomic_load(&entry->stream), op);
}

/* Has a host function before the operation waited for the program at the time of the touch? Then
 * the device cannot have run the operation before, and the touch was meant to come first. */
bool sc_host_functions_excuses(const struct sc_op_info *op, uint64_t touched_ticks)
{
    for (unsigned i = 0; i < CALLS_MAX; i++)
        if (atomic_load(&calls[i].waits) && may_precede(&calls[i], op))
            return true;
    for (unsigned i = 0; i < PAST_MAX; i++)
        if (was_waiting_before(&past[i], op, touched_ticks))
            return true;
    return false;
}
