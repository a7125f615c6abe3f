#include "interpose/reaper/reaper.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "common/checks.h"
#include "common/deadlines.h"
#include "common/hazard.h"
#include "common/hazard_words.h"
#include "common/kernel.h"
#include "common/library_lock.h"
#include "common/now.h"
#include "common/trace.h"
#include "common/uncancelled.h"
#include "cupti_hooks/current_call.h"
#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/base/real_libc.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/relaxed.h"
#include "interpose/guard/door.h"
#include "interpose/memory/pinned.h"
#include "interpose/reaper/copy_times.h"
#include "interpose/reaper/edges.h"
#include "interpose/reaper/excuses.h"
#include "interpose/reaper/library_threads.h"
#include "interpose/reaper/nvtx.h"
#include "interpose/streams/contexts.h"
#include "interpose/streams/host_functions.h"
#include "interpose/streams/marks.h"
#include "interpose/streams/streams.h"
#include "ledger/ledger.h"
#include "report/report.h"
#include "track/graph_frees.h"
#include "track/hold.h"
#include "track/hold_kind.h"
#include "track/no_verdicts.h"
#include "track/op_info.h"
#include "track/order_calls.h"
#include "track/track.h"
#include "track/track_holds.h"
#include "track/track_parts.h"
#include "track/track_presence.h"

#include "common/poison.h"

enum {
    QUEUE_MAX = 256,
    POSTPONED_MAX = 256,
    AWAITED_MAX = 256,
    POLL_MIN_NS = 20 * 1000,
    POLL_MAX_NS = 1000 * 1000,
    STOP_WAIT_NS = 500 * 1000 * 1000,
    POLL_NS = 5 * 1000 * 1000, /* as a decision by another thread ends no pass */
    NS_PER_S = 1000 * 1000 * 1000,
    WRITING_MAX_S = 5,
};

/* A hazard of which it is to be decided whether it counts, and whether the operation was still
 * running (observed) or complete by luck (latent). */
struct candidate {
    struct sc_hazard hazard;
    struct sc_ticket ticket;
    struct sc_excuse excuse;
    bool taken;        /* op_info.taken of the operation */
    bool by_operation; /* and not by a touch, or by a call that takes memory away */
    bool signalled;    /* the host may have learnt of its end, by a word that the device writes */
    uint64_t last;     /* the first such word follows this operation of the stream; 0: not known */
    bool is_queried, counts; /* the device was queried; it is a hazard that counts */
};

static struct {
    pthread_mutex_t lock;              /* a leaf, like the tracker's */
    pthread_cond_t work;               /* something to do */
    pthread_cond_t done;               /* something was done */
    bool is_wanted, started, stopping; /* of the thread */
    _Atomic bool stopped;
    bool woken;                 /* there is something to do since the thread checked last */
    _Atomic uint32_t passes;    /* how many passes the thread has made; a futex */
    _Atomic bool awaited;       /* somebody waits for the next pass */
    unsigned first, count;      /* candidates to be decided */
    _Atomic unsigned undecided; /* the same count, to be read without the lock */
    unsigned deciding;          /* taken out of the queue, not yet on disk */
    bool found;                 /* one of those decided was a hazard */
    struct candidate queue[QUEUE_MAX];
    unsigned postponed_count; /* decided, and to be reported if nothing excuses them */
    _Atomic bool decides_all; /* all are to be decided now: there is no more time */
    struct candidate postponed[POSTPONED_MAX];
} reaper = {.lock = PTHREAD_MUTEX_INITIALIZER,
            .work = PTHREAD_COND_INITIALIZER,
            .done = PTHREAD_COND_INITIALIZER};

static _Atomic bool runs; /* started, and not stopping: to be read without the lock */

/* For debug builds: do the counts fit the queues, and is the count that is read without the lock
 * the same as the true one? */
static SC_CHECKER void check_queue(void)
{
    SC_ASSERT_HELD(&reaper.lock);
    SC_ASSERT(reaper.count <= QUEUE_MAX && reaper.first < QUEUE_MAX);
    SC_ASSERT(reaper.postponed_count <= POSTPONED_MAX);
    SC_ASSERT(atomic_load_explicit(&reaper.undecided, memory_order_relaxed) == reaper.count);
}

/* Takes the reaper's lock, as one of the library's: a fault handler that interrupts its owner sees
 * that, and does not wait for it. */
static void lock_reaper(void) SC_ACQUIRES(reaper.lock)
{
    sc_library_lock_acquire(&reaper.lock);
}

static void start_thread(void);

/* Releases the lock, and only then starts the reaper's thread, if that was requested under it. To
 * create a thread the C library may wait for one that is stopped and waits for this lock. */
static void unlock_reaper(void) SC_RELEASES(reaper.lock)
{
    bool starts = reaper.is_wanted && !reaper.started && !reaper.stopping;
    reaper.started = reaper.started || starts;
    sc_library_lock_release(&reaper.lock);
    if (sc_unlikely(starts))
        start_thread();
}

/* ---- deciding on hazards ---- */

/* Returns the hazard as a candidate, which is still to be decided. Whether the host may have learnt
 * of the operation's end unseen (`signalled`) is asked now: later it may have. */
static struct candidate candidate_of(const struct sc_hazard *hazard, const struct sc_ticket *ticket)
{
    SC_TRACK_SCOPE(track);
    bool signalled = sc_order_may_be_signalled(track.order, ticket);
    uint64_t last = signalled ? sc_order_first_signal(track.order, ticket) : 0;
    return (struct candidate){
        .hazard = *hazard, .ticket = *ticket, .signalled = signalled, .last = last};
}

/* Asks the device, by the library's events (marks), whether the hazard counts, and how certain it
 * is. A complete operation is no hazard if the host may have learnt of its end (`signalled`). An
 * incomplete one is observed, unless the event has other work before it, which may be what runs, or
 * the driver had read the source already (`taken`). */
static bool query_hazard(const struct candidate *candidate, enum sc_certainty *certainty)
{
    const struct sc_ticket *ticket = &candidate->ticket;
    bool is_complete = candidate->signalled ? !sc_marks_show_incomplete(ticket, candidate->last)
                                            : sc_marks_show_complete(ticket);
    bool is_seen_incomplete =
        !is_complete && (candidate->signalled || sc_marks_stand_close(ticket));
    *certainty = is_seen_incomplete && !candidate->taken ? SC_OBSERVED : SC_LATENT;
    return !is_complete || !candidate->signalled;
}

/* Would a hazard with this operation count now? For callers that act by the answer, and report
 * later. Stores whether it is observed or latent. */
bool sc_reaper_finds_hazard(const struct sc_ticket *ticket, enum sc_certainty *certainty)
{
    SC_KEEP_ERRNO();
    struct candidate candidate =
        candidate_of(&(struct sc_hazard){.code = SC_HAZARD_CODE_COUNT}, ticket);
    bool counts = query_hazard(&candidate, certainty);
    return counts;
}

/* Writes the hazard to the report, shows it to a profiler, and has the copy's times written
 * (timeline=1). False: the user has suppressed it. */
static bool report_candidate(const struct candidate *candidate)
{
    if (sc_report_suppresses(&candidate->hazard))
        return false;
    sc_nvtx_mark(&candidate->hazard);
    if (sc_report_hazard(&candidate->hazard))
        sc_copy_times_enqueue(&candidate->hazard, &candidate->ticket);
    return true;
}

/* Counts the hazard as one without a verdict, for this reason, in place of a report. */
static void count_undecided(const struct candidate *candidate, enum sc_no_verdict_reason reason)
{
    sc_no_verdicts_add(sc_track_parts.no_verdicts,
                       candidate->by_operation ? SC_NO_VERDICT_OPERATIONS : SC_NO_VERDICT_TOUCHES,
                       reason, 1);
}

/* ---- what may be excused ---- */

/* Is the hazard excused, as a host function or kernel may have waited for the program? Counts it as
 * undecided then. The answer is final. */
static bool count_if_excused(const struct candidate *candidate)
{
    bool holds = sc_excuses_hold_at_last(&candidate->excuse);
    if (holds)
        count_undecided(candidate, sc_excuses_reason(&candidate->excuse));
    return holds;
}

/* Keeps the hazard undecided while a host function that may excuse it has not returned. False:
 * nothing can excuse it any more, there is no room, or the reaper ends. With halt_on_error the
 * program must not go on, so there is no waiting either. */
static bool postpone_candidate(const struct candidate *candidate)
{
    if (sc_options.halt_on_error || !sc_excuses_are_awaited(&candidate->excuse))
        return false;
    lock_reaper();
    bool room = !reaper.stopping && !reaper.stopped && reaper.postponed_count < POSTPONED_MAX;
    if (room) {
        reaper.postponed[reaper.postponed_count++] = *candidate;
        SC_CHECK(check_queue());
        reaper.woken = true; /* the thread may sleep, having no work */
        pthread_cond_signal(&reaper.work);
    }
    unlock_reaper();
    return room;
}

/* Takes a postponed hazard off the list that can be decided: it is excused, or cannot be excused
 * any more. `all`: any one, as there is no more time. False: there is none. Counts it in
 * `deciding`, for those who wait until all is on disk. */
static bool take_decided(struct candidate *decided, bool all)
{
    bool found = false;
    lock_reaper();
    for (unsigned i = 0; i < reaper.postponed_count && !found; i++) {
        const struct candidate *each = &reaper.postponed[i];
        found = all || sc_excuses_hold(&each->excuse) || !sc_excuses_are_awaited(&each->excuse);
        if (found) {
            *decided = *each;
            SC_CHECK(check_queue());
            reaper.postponed[i] = reaper.postponed[--reaper.postponed_count];
            reaper.deciding++;
        }
    }
    unlock_reaper();
    return found;
}

/* Looks whether host functions that may excuse postponed hazards have returned, or wait.
 * `since_ns`: since when a hazard is postponed. */
static void poll_postponed(uint64_t since_ns)
{
    sc_host_functions_poll(since_ns);
    lock_reaper();
    for (unsigned i = 0; i < reaper.postponed_count; i++)
        sc_excuses_poll(&reaper.postponed[i].excuse);
    unlock_reaper();
}

/* Returns since when the first postponed hazard waits for its verdict; 0: none does, so there is
 * nothing to poll. */
static uint64_t postponed_since(void)
{
    lock_reaper();
    uint64_t since_ns = reaper.postponed_count ? reaper.postponed[0].excuse.since_ns : 0;
    unlock_reaper();
    return since_ns;
}

/* Called in each pass of the reaper's thread: reports postponed hazards, or counts them as excused,
 * as far as that can be decided. `all`: each of them, as there is no more time. Wakes those who
 * wait until all is on disk. */
static void report_postponed(bool all)
{
    struct candidate decided;
    uint64_t since_ns = postponed_since();
    if (since_ns)
        poll_postponed(since_ns);
    while (since_ns && take_decided(&decided, all)) {
        if (!count_if_excused(&decided))
            report_candidate(&decided);
        sc_excuses_end(&decided.excuse);
        lock_reaper();
        SC_ASSERT(reaper.deciding > 0);
        reaper.deciding--;
        pthread_cond_broadcast(&reaper.done);
        unlock_reaper();
    }
}

/* Asks the device about the hazard, unless that was done when it was queued. A second answer could
 * be another one, since the operation may be complete by now. */
static void decide_once(struct candidate *candidate)
{
    if (!candidate->is_queried)
        candidate->counts = query_hazard(candidate, &candidate->hazard.certainty);
    candidate->is_queried = true;
}

/* Decides a hazard of the queue: it is excused, does not count, is postponed since it may still be
 * excused, or is reported. The device is not asked about an excused one. Returns true if it was
 * reported or postponed. */
static bool decide_candidate(const struct candidate *candidate)
{
    struct candidate given = *candidate;
    bool holds = sc_excuses_hold(&given.excuse);
    if (!holds)
        decide_once(&given);
    if (!holds && !given.counts)
        count_undecided(&given, SC_NO_VERDICT_HEARD);
    if (!holds && given.counts && postpone_candidate(&given))
        return true;
    bool counts = holds || given.counts;
    bool found = counts && !count_if_excused(&given) && report_candidate(&given);
    sc_excuses_end(&given.excuse);
    return found;
}

/* Decides the next hazard of the queue. The lock is released meanwhile, as that calls the driver
 * and writes the report; `deciding` tells others that one is under way. False: the queue is
 * empty. */
static bool decide_next_locked(void) SC_REQUIRES(reaper.lock)
{
    SC_ASSERT_HELD(&reaper.lock);
    if (reaper.count == 0)
        return false;
    struct candidate candidate = reaper.queue[reaper.first];
    reaper.first = (reaper.first + 1) % QUEUE_MAX;
    reaper.count--;
    atomic_store_explicit(&reaper.undecided, reaper.count, memory_order_relaxed);
    reaper.deciding++;
    SC_CHECK(check_queue());
    unlock_reaper();
    bool found = decide_candidate(&candidate);
    lock_reaper();
    reaper.found |= found;
    SC_ASSERT(reaper.deciding > 0);
    reaper.deciding--;
    pthread_cond_broadcast(&reaper.done);
    return true;
}

/* Called before a wait for the device: decides all queued hazards on the calling thread. After the
 * wait every operation would look complete, and be latent at best. */
void sc_reaper_decide_now(void)
{
    if (sc_likely(atomic_load_explicit(&reaper.undecided, memory_order_relaxed) == 0))
        return;
    SC_KEEP_ERRNO();
    lock_reaper();
    while (decide_next_locked())
        continue;
    unlock_reaper();
}

/* ---- giving back ---- */

/* Makes the real call that frees memory: the program has freed it in flight, and the device is done
 * with it now. False: pinned and registered memory goes back to the driver, whose call waits for
 * the context, so the reaper must not make it. A hold that is only waited for has no memory. */
static bool free_by_reaper(const struct sc_release *release)
{
    switch (release->kind) {
    case SC_HOLD_FREE:
        sc_real_libc_free((void *)release->address);
        return true;
    case SC_HOLD_UNMAP:
        sc_real_libc_unmap((void *)release->address, release->size_bytes);
        return true;
    case SC_HOLD_WAIT:
        return true;
    case SC_HOLD_FREE_PINNED:
    case SC_HOLD_UNREGISTER:
        break;
    }
    return false;
}

/* Frees held pinned or registered memory (freed by the program in flight) of this context by the
 * driver. False: it is other memory. The driver allows that under a capture only in the relaxed
 * mode; the hooks let the call's own frees pass (SC_INSIDE). */
static bool free_pinned(const struct sc_release *release, const struct sc_context *context)
{
    if (!sc_hold_is_drivers(release->kind) || release->context != context->legacy)
        return false;
    SC_RELAXED();
    SC_INSIDE();
    if (release->kind == SC_HOLD_UNREGISTER)
        sc_real.cuMemHostUnregister((void *)release->address);
    else
        sc_pinned_free((void *)release->address);
    return true;
}

static _Atomic uint64_t gave_back;

uint64_t sc_reaper_gave_back(void)
{
    return atomic_load(&gave_back);
}

/* Ends a hold (memory that the program has freed in flight), if the memory was freed now. Else
 * gives it back to the tracker, to be tried again. Of pinned memory the ledger of memory is told
 * how long it was held. A held free may wait for the end of a registration there, so the reaper
 * looks again. */
static void end_or_put_back(const struct sc_release *release, bool ended)
{
    if (ended) {
        if (sc_hold_is_drivers(release->kind))
            atomic_fetch_add(&gave_back, 1);
        SC_TRACKED(sc_holds_end(track.holds, release->hold));
        if (release->kind == SC_HOLD_FREE_PINNED)
            sc_ledger_let_go(&sc_ledger, release->age, sc_now_ns() - release->since_ns);
    } else
        SC_TRACKED(sc_holds_put_back(track.holds, release->hold));
    if (ended && release->kind == SC_HOLD_UNREGISTER)
        sc_reaper_wake(); /* the memory itself may be freed now */
}

/* Called when the program itself has waited for the context: frees its pinned memory that the
 * program has freed in flight, if the operations are complete. The driver's call waits for the
 * context, and only now that takes no time. True: some was freed. */
bool sc_reaper_give_back_pinned(const struct sc_context *context)
{
    bool any = false;
    if (sc_likely(!sc_track_has_any(&sc_track, SC_HAS_HOLDS)) || !context)
        return false;
    SC_KEEP_ERRNO();
    struct sc_release release = sc_track_take_ready(&sc_track, 0);
    while (release.hold) {
        sc_guard_apply(SC_GUARD_ALL);
        bool gave = free_pinned(&release, context);
        end_or_put_back(&release, gave);
        any |= gave;
        release = sc_track_take_ready(&sc_track, release.age);
    }
    return any;
}

/* Is the registration of memory there kept, which the program has ended? Mostly nothing is held at
 * all. */
static bool is_registration_kept(uintptr_t address, size_t size_bytes)
{
    return sc_track_has_any(&sc_track, SC_HAS_HOLDS) && sc_active() &&
           sc_track_is_held(&sc_track, address, size_bytes, SC_HOLDS_UNREGISTERED);
}

/* Waits until the context has nothing to do, up to the deadline. A wait that was in vain is not
 * made again for twenty times as long: work may wait for what the program does next, which may be
 * many calls. */
static bool await_context(struct sc_context *context, uint64_t since_ns, uint64_t until_ns)
{
    static _Atomic uint64_t not_before_ns;
    bool waits = since_ns >= atomic_load(&not_before_ns);
    bool is_over = sc_marks_await_context(context, waits ? until_ns : since_ns);
    if (waits && !is_over) {
        atomic_store(&not_before_ns, until_ns + 20 * (until_ns - since_ns));
        sc_edges_warn_timeout("a use of memory that was unregistered", "earlier work");
    }
    return is_over;
}

/* Ends a registration by the driver, in its own context. Where that has ended, the registration
 * has, too. The driver's call waits for the context, so it is made only once all is done there.
 * False: it is not, or the context is about to end; the registration is kept on. */
static bool end_registration(const struct sc_release *release, uint64_t since_ns, uint64_t until_ns)
{
    const struct sc_stream_record *legacy = sc_streams_of_id(release->context);
    bool is_live = legacy && sc_contexts_push(legacy->context);
    bool ends = !is_live || (await_context(legacy->context, since_ns, until_ns) &&
                             !sc_contexts_is_quiet(legacy->context));
    if (is_live && ends)
        free_pinned(release, legacy->context);
    if (is_live)
        sc_contexts_pop();
    end_or_put_back(release, ends);
    return ends;
}

/* The program goes on to use memory that it has unregistered: ends registrations that are kept
 * there. One that another thread is ending is waited for. */
void sc_reaper_end_registrations(uintptr_t address, size_t size_bytes)
{
    if (sc_likely(!is_registration_kept(address, size_bytes)) || sc_host_functions_is_here())
        return;
    SC_KEEP_ERRNO();
    const struct timespec pause = {.tv_nsec = POLL_MAX_NS};
    const uint64_t since_ns = sc_now_ns(), until_ns = since_ns + sc_options.stall_limit_ns;
    do {
        struct sc_release release =
            SC_TRACKED(sc_holds_take_unregistered(track.holds, address, size_bytes));
        if (release.hold && !end_registration(&release, since_ns, until_ns))
            return;
        if (!release.hold)
            sc_kernel_call(SYS_nanosleep, &pause, NULL);
    } while (is_registration_kept(address, size_bytes) && sc_now_ns() < until_ns);
}

/* Frees all memory that the program has freed in flight and whose operations are complete. Pinned
 * memory is left: it is freed in the program's own waits alone. Pages are unprotected first. */
static void free_ready(void)
{
    struct sc_release release = sc_track_take_ready(&sc_track, 0);
    while (release.hold) {
        sc_guard_apply(SC_GUARD_ALL);
        end_or_put_back(&release, free_by_reaper(&release));
        release = sc_track_take_ready(&sc_track, release.age);
    }
}

/* Asks the device about operations for which holds (memory freed in flight) wait. One question for
 * each stream is enough, by its latest such operation: an event that is added for it comes behind
 * the earlier ones, and the question looks at all events of the stream. The streams are listed
 * AWAITED_MAX at a time. */
static void query_awaited_streams(void)
{
    struct sc_ticket tickets[AWAITED_MAX];
    uint32_t after = 0;
    unsigned count;
    do {
        count = SC_TRACKED(sc_holds_list_awaited(track.holds, after, tickets, AWAITED_MAX));
        for (unsigned i = 0; i < count; i++)
            sc_marks_show_complete(&tickets[i]);
        after = tickets[AWAITED_MAX - 1].stream;
    } while (count == AWAITED_MAX);
}

/* ---- the thread ---- */

/* Sleeps until there is work; at most `poll_ns`, if that is not 0. Releases the lock meanwhile, and
 * blocks signals, so that Linux gives those for the process to the program's threads. */
static void wait_for_work_locked(uint64_t poll_ns) SC_REQUIRES(reaper.lock)
{
    SC_ASSERT_HELD(&reaper.lock);
    if (reaper.woken || reaper.stopping)
        return;
    struct timespec at = sc_deadline_in(poll_ns);
    sc_library_threads_block_signals();
    if (poll_ns == 0)
        pthread_cond_wait(&reaper.work, &reaper.lock);
    else
        sc_cond_wait_until(&reaper.work, &reaper.lock, &at);
    sc_library_threads_unblock_signals();
}

/* Counts a pass of the reaper's thread, and wakes the threads that wait for one (sc_reaper_sleep).
 * Without such threads the system call is saved. */
static void end_pass(void)
{
    atomic_fetch_add(&reaper.passes, 1);
    if (atomic_exchange(&reaper.awaited, false))
        sc_kernel_call(SYS_futex, &reaper.passes, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* The reaper's thread: decides queued hazards, frees held memory (freed by the program in flight)
 * whose operations are complete, and unprotects pages. While memory or hazards wait, it makes
 * passes with growing pauses; else it sleeps. At the end of the process it decides what is left. */
static void *run_thread(void *argument)
{
    uint64_t poll_ns = 0;
    (void)argument;
    sc_library_threads_enter_driver("safecopy-reaper");
    SC_CARRY(); /* its driver calls are no missed calls of the program */
    lock_reaper();
    while (!reaper.stopping) {
        wait_for_work_locked(poll_ns);
        bool fresh = reaper.woken;
        reaper.woken = false;
        while (decide_next_locked())
            fresh = true;
        unlock_reaper();
        query_awaited_streams();
        sc_guard_apply(SC_GUARD_ALL);
        free_ready();
        report_postponed(atomic_exchange(&reaper.decides_all, false));
        bool has_work = SC_TRACKED(sc_holds_have_work(track.holds)) || postponed_since();
        end_pass();
        lock_reaper();
        if (!has_work)
            poll_ns = 0;
        else if (fresh || poll_ns == 0)
            poll_ns = POLL_MIN_NS;
        else
            poll_ns = poll_ns * 5 / 4 < POLL_MAX_NS ? poll_ns * 5 / 4 : POLL_MAX_NS;
    }
    while (decide_next_locked())
        continue;
    unlock_reaper();
    report_postponed(true);
    lock_reaper();
    reaper.stopped = true;
    pthread_cond_broadcast(&reaper.done);
    unlock_reaper();
    end_pass();
    return NULL;
}

/* Starts the thread. If that fails, wakes those who wait for it, and later hazards are reported at
 * once. */
static void start_thread(void)
{
    if (sc_library_threads_start(run_thread, SC_LIBRARY_THREADS_SMALL))
        return;
    lock_reaper();
    reaper.stopped = true;
    atomic_store_explicit(&runs, false, memory_order_release);
    pthread_cond_broadcast(&reaper.done);
    unlock_reaper();
    end_pass();
}

/* Requests the thread, which unlock_reaper starts. Nothing to do if it was started, or the process
 * ends. */
static void want_thread_locked(void) SC_REQUIRES(reaper.lock)
{
    SC_ASSERT_HELD(&reaper.lock);
    if (reaper.started || reaper.stopping)
        return;
    reaper.is_wanted = true;
    atomic_store_explicit(&runs, true, memory_order_release);
}

/* Gives the reaper's thread work: has it started if need be, and wakes it. `woken` keeps it from
 * sleeping if it is at work just now. */
static void wake_locked(void) SC_REQUIRES(reaper.lock)
{
    SC_ASSERT_HELD(&reaper.lock);
    want_thread_locked();
    reaper.woken = true;
    pthread_cond_signal(&reaper.work);
}

/* Called before a page is protected: starts the thread, unless it runs. False: it cannot be
 * started, and nothing may be left to it. */
bool sc_reaper_start(void)
{
    if (sc_likely(atomic_load_explicit(&runs, memory_order_acquire)))
        return true;
    int saved = errno;
    lock_reaper();
    want_thread_locked();
    unlock_reaper();
    errno = saved;
    return atomic_load_explicit(&runs, memory_order_acquire);
}

/* Wakes the reaper's thread, or starts it: the program has freed memory in flight, or something has
 * ended that held memory waits for. */
void sc_reaper_wake(void)
{
    SC_KEEP_ERRNO();
    lock_reaper();
    wake_locked();
    unlock_reaper();
}

/* ---- what hooks call ---- */

/* With halt_on_error=1: the hazard was just queued; waits until the reaper has written it, and
 * aborts. If it was none after all, returns. So it does after stall_limit: the reaper may need what
 * this thread holds. The lock is released once, since that starts the thread. */
static void halt_when_on_disk_locked(void) SC_REQUIRES(reaper.lock)
{
    SC_ASSERT_HELD(&reaper.lock);
    SC_NO_CANCELLATION_POINT();
    unlock_reaper(); /* this starts the thread */
    lock_reaper();
    const struct timespec until = sc_deadline_in(sc_options.stall_limit_ns);
    int result = 0;
    while ((reaper.count || reaper.deciding) && !reaper.stopped && result != ETIMEDOUT)
        result = sc_cond_wait_until(&reaper.done, &reaper.lock, &until);
    if (!reaper.found)
        return;
    unlock_reaper();
    abort();
}

/* Begins to find out what excuses the hazard, by how it was found. A call that frees memory is not
 * excused: a correct program waits before it. */
static void begin_excuse(struct sc_excuse *excuse, const struct sc_op_info *op,
                         enum sc_finding finding, const struct sc_later *later)
{
    if (finding == SC_BY_TOUCH)
        sc_excuses_of_touch(excuse, op);
    else if (finding == SC_LATER)
        sc_excuses_of_past_touch(excuse, op);
    else if (finding == SC_BY_ORDER)
        sc_excuses_of_order(excuse, op, later);
}

/* Queues a hazard for the reaper's thread, which asks the device whether it counts. Libc's hooks
 * and the fault handler may not call the driver. If the queue is full, or the thread has ended, it
 * is reported at once as latent, or counted as undecided if it might not count. */
void sc_reaper_enqueue(const struct sc_hazard *hazard, const struct sc_op_info *op,
                       enum sc_finding finding, const struct sc_later *later)
{
    SC_KEEP_ERRNO();
    struct candidate candidate = candidate_of(hazard, &op->ticket);
    candidate.taken = op->taken;
    candidate.by_operation = finding == SC_BY_ORDER && later->ticket.number;
    if (candidate.signalled && finding == SC_BY_ORDER)
        decide_once(&candidate); /* this thread may call the driver; later it may be complete */
    begin_excuse(&candidate.excuse, op, finding, later);
    lock_reaper();
    bool queued = !reaper.stopped && !reaper.stopping && reaper.count < QUEUE_MAX;
    if (queued) {
        unsigned slot = (reaper.first + reaper.count++) % QUEUE_MAX;
        reaper.queue[slot] = candidate;
        atomic_store_explicit(&reaper.undecided, reaper.count, memory_order_relaxed);
        SC_CHECK(check_queue());
        wake_locked();
    }
    if (queued && sc_options.halt_on_error)
        halt_when_on_disk_locked();
    unlock_reaper();
    if (!queued && candidate.signalled)
        count_undecided(&candidate, SC_NO_VERDICT_ROOM);
    else if (!queued && !count_if_excused(&candidate))
        sc_reaper_report(hazard);
    if (!queued)
        sc_excuses_end(&candidate.excuse);
}

/* Writes a hazard whose certainty is known to the report, unless the user has suppressed it. Names
 * of modules go with it, unless a lock of the library is held or this is a thread of the library's:
 * they take the loader's lock. With halt_on_error=1 ends the process. */
void sc_reaper_report(const struct sc_hazard *hazard)
{
    SC_TRACE("hazard code certainty", hazard->code, hazard->certainty);
    if (sc_report_suppresses(hazard))
        return;
    sc_nvtx_mark(hazard);
    if (sc_report_hazard(hazard) && !sc_library_lock_depth)
        sc_report_modules();
    if (sc_options.halt_on_error)
        abort();
}

/* The memory for whose end of use a call waits: one hold, or all holds in an interval. */
struct awaited {
    const char *api;                     /* the call that waits */
    const struct sc_deallocation *taken; /* its hold; NULL: all holds on the interval */
    uintptr_t address;
    size_t size_bytes;
};

/* Is the device done with the memory that a call waits for: has its hold ended, or have all that
 * the reaper has on the interval? Holds of pinned memory do not count there: they end in waits of
 * the program's alone. */
static bool has_ended(const struct awaited *awaited)
{
    return awaited->taken ? !SC_TRACKED(sc_holds_is_alive(track.holds, awaited->taken->held,
                                                          awaited->taken->held_age))
                          : !sc_track_is_held(&sc_track, awaited->address, awaited->size_bytes,
                                              SC_HOLDS_REAPERS);
}

uint32_t sc_reaper_pass_number(void)
{
    return atomic_load(&reaper.passes);
}

bool sc_reaper_has_stopped(void)
{
    return atomic_load(&reaper.stopped);
}

/* Sleeps until the reaper has ended pass number `pass`, or until the time. `passes` is a futex,
 * which the reaper counts up after each pass; if it has done so by now, this returns at once. */
void sc_reaper_sleep(uint32_t pass, uint64_t until_ns)
{
    const struct timespec at = {.tv_sec = (time_t)(until_ns / NS_PER_S),
                                .tv_nsec = (long)(until_ns % NS_PER_S)};
    SC_KEEP_ERRNO();
    atomic_store(&reaper.awaited, true);
    sc_kernel_call(SYS_futex, &reaper.passes, FUTEX_WAIT_BITSET_PRIVATE, pass, &at, NULL,
                   FUTEX_BITSET_MATCH_ANY);
}

/* Waits until the device is done with the memory, so that its holds have ended, at most
 * stall_limit; false: they have not. Keeps no lock and leaves nothing to clean up, since a signal
 * handler of the program may leave by siglongjmp. It is no cancellation point, since the hooked
 * function may be none. */
static bool wait_until_ended(const struct awaited *awaited)
{
    uint64_t until_ns = sc_now_ns() + sc_options.stall_limit_ns;
    bool shown = false;
    sc_reaper_wake();
    while (!sc_reaper_has_stopped() && sc_now_ns() < until_ns) {
        uint32_t pass = sc_reaper_pass_number();
        if (has_ended(awaited))
            break;
        if (!shown)
            sc_nvtx_stall_begin(awaited->api);
        shown = true;
        sc_reaper_sleep(pass, until_ns);
    }
    if (shown)
        sc_nvtx_stall_end();
    return has_ended(awaited);
}

bool sc_reaper_await_hold(const struct sc_deallocation *taken, const char *api)
{
    return wait_until_ended(&(struct awaited){.api = api, .taken = taken});
}

/* Called where the program registers memory that it has freed before, or frees a block twice: waits
 * until nothing is held there. What is held for graphs alone goes at once: they may live for ever.
 */
bool sc_reaper_await_no_hold(uintptr_t address, size_t size_bytes, const char *api)
{
    SC_TRACKED(sc_holds_forget_graphs(track.holds, address, size_bytes));
    return wait_until_ended(
        &(struct awaited){.api = api, .address = address, .size_bytes = size_bytes});
}

/* Called by safecopy_release: has the reaper look at all memory that was freed in flight, and waits
 * until it has made one whole pass, so that what can be freed is. The pass that is under way may
 * have looked already, so the second end counts. */
void sc_reaper_collect(void)
{
    SC_KEEP_ERRNO();
    uint64_t until_ns = sc_now_ns() + STOP_WAIT_NS;
    uint32_t first = sc_reaper_pass_number();
    /* The present pass may have checked already, so it does not count. */
    while (atomic_load_explicit(&runs, memory_order_acquire) && sc_now_ns() < until_ns) {
        uint32_t pass = sc_reaper_pass_number();
        if (pass - first >= 2)
            break;
        sc_reaper_wake();
        sc_reaper_sleep(pass, until_ns);
    }
}

/* A wait for the reaper at the end of the process, where threads may be gone that hold a lock: how
 * long it may last, and whether this thread has the reaper's lock. */
struct patience {
    uint64_t until_ns, last_ns; /* usually; while a hazard is being reported */
    bool has_lock;
};

/* Takes the reaper's lock, and waits for it STOP_WAIT_NS at most: at the end of the process the
 * thread that has it may be gone. False: it was not taken. */
static bool lock_patiently(struct patience *patience) SC_UNFOLLOWED
{
    struct timespec until = sc_deadline_in(STOP_WAIT_NS);
    sc_library_lock_enter();
    patience->has_lock = sc_lock_until(&reaper.lock, &until) == 0;
    if (!patience->has_lock)
        sc_library_lock_leave();
    return patience->has_lock;
}

/* Begins a wait for the reaper that ends by itself: after STOP_WAIT_NS, or WRITING_MAX_S while a
 * hazard is being written. Takes the reaper's lock; `has_lock` says whether that was possible. */
static struct patience begin_patience(void)
{
    uint64_t now_ns = sc_now_ns();
    struct patience patience = {now_ns + STOP_WAIT_NS, now_ns + WRITING_MAX_S * (uint64_t)NS_PER_S,
                                false};
    lock_patiently(&patience);
    return patience;
}

static void end_patience(const struct patience *patience) SC_UNFOLLOWED
{
    if (patience->has_lock)
        sc_library_lock_release(&reaper.lock);
}

/* Waits a moment for the reaper, with its lock released. False: the time is over, or the lock
 * cannot be had again. To find the names of a hazard's functions may take a second, so while one is
 * written the wait goes on up to `last_ns`. A condition variable would take the lock again without
 * a limit. */
static bool wait_patiently_locked(struct patience *patience) SC_UNFOLLOWED
{
    SC_ASSERT_HELD(&reaper.lock);
    uint64_t now_ns = sc_now_ns();
    if (now_ns > patience->until_ns && (!reaper.deciding || now_ns > patience->last_ns))
        return false;
    uint32_t pass = sc_reaper_pass_number();
    sc_library_lock_release(&reaper.lock);
    sc_reaper_sleep(pass, now_ns + POLL_NS);
    return lock_patiently(patience);
}

/* Called before the program reads counts, or a report is written at its wish: waits until the
 * reaper has decided all queued hazards, for a limited time. Postponed ones are left. */
void sc_reaper_await_decided(void)
{
    struct patience patience = begin_patience();
    while (patience.has_lock && (reaper.count || reaper.deciding) && !reaper.stopped &&
           wait_patiently_locked(&patience))
        continue;
    end_patience(&patience);
}

/* Called before exec or the end of the program: waits until all hazards are on disk, for a limited
 * time. The reaper decides postponed ones now, as nothing can excuse them later. */
void sc_reaper_await_all(void) SC_UNFOLLOWED
{
    struct patience patience = begin_patience();
    if (patience.has_lock && reaper.postponed_count) {
        atomic_store(&reaper.decides_all, true);
        wake_locked();
    }
    while (patience.has_lock && (reaper.count || reaper.deciding || reaper.postponed_count) &&
           !reaper.stopped && wait_patiently_locked(&patience))
        continue;
    end_patience(&patience);
}

/* Called at the end of the process: has the reaper's thread write what is left and end, and waits
 * for that a limited time. Without a thread it counts as stopped: hazards are reported at once from
 * then on. */
void sc_reaper_stop(void)
{
    struct patience patience = begin_patience();
    if (patience.has_lock) {
        reaper.stopping = true;
        atomic_store_explicit(&runs, false, memory_order_release);
        reaper.stopped |= !reaper.started;
        pthread_cond_signal(&reaper.work);
    }
    while (patience.has_lock && (!reaper.stopped || reaper.deciding) &&
           wait_patiently_locked(&patience))
        continue;
    end_patience(&patience);
}

/* Called in a child after fork, which has no reaper's thread: nothing is queued there any more, and
 * the lock may have been another thread's. */
void sc_reaper_child(void)
{
    pthread_mutex_init(&reaper.lock, NULL);
    atomic_store_explicit(&runs, false, memory_order_release);
    reaper.started = false;
    reaper.stopping = true;
    reaper.stopped = true;
    reaper.count = 0;
    reaper.postponed_count = 0;
}

void sc_reaper_graph_changed(void)
{
    if (sc_track_has_any(&sc_track, SC_HAS_HOLDS))
        sc_reaper_wake();
}

void sc_reaper_remove_graph(uint32_t known)
{
    SC_TRACKED(sc_graphs_remove(track.graphs, known));
    sc_reaper_graph_changed();
}

/* Forgets what a graph used that the driver has destroyed: its handle and its record go together.
 */
void sc_reaper_forget_graph(uintptr_t graph)
{
    uint32_t known = graph ? SC_TRACKED(sc_graphs_detach(track.graphs, graph)) : 0;
    if (known)
        sc_reaper_remove_graph(known);
}
