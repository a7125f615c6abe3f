#include "interpose/reaper/copy_times.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

#include "common/checks.h"
#include "common/deadlines.h"
#include "common/hazard.h"
#include "common/mutex.h"
#include "common/now.h"
#include "cupti_hooks/current_call.h"
#include "cupti_hooks/timeline.h"
#include "interpose/base/process.h"
#include "interpose/base/upcalls.h"
#include "interpose/reaper/library_threads.h"
#include "interpose/streams/marks.h"
#include "report/report.h"

#include "common/poison.h"

enum {
    ENTRIES_MAX = 256,
    NS_PER_MS = 1000 * 1000,
    POLL_MIN_NS = NS_PER_MS / 2,
    POLL_MAX_NS = 20 * NS_PER_MS,
    RECORD_MAX_S = 5,               /* so long after the copy's end its record counts as dropped */
    LAST_WAIT_NS = 200 * NS_PER_MS, /* at exit, for copies in flight */
    STOP_WAIT_NS = 400 * NS_PER_MS,
    MANAGED_POLL_NS = 100 * NS_PER_MS,
    FLUSH_WAIT_NS = 100 * NS_PER_MS,
};

/* A hazard that is in the report, and whose copy's times CUPTI has still to deliver. */
struct awaited {
    struct sc_hazard hazard;
    struct sc_ticket ticket;
    uint64_t complete_ns; /* when the copy was seen complete; 0: not yet */
};

/* Hazards that have just come, under the lock, a leaf. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct awaited new_entries[ENTRIES_MAX];
static unsigned new_count SC_GUARDED_BY(lock);

static struct awaited awaited[ENTRIES_MAX]; /* taken over by the thread, which alone uses them */
static unsigned awaited_count;

static sem_t work;
static sem_t stopped, flush_done;
static _Atomic unsigned flush_waiters; /* threads that wait for the next flush */
static _Atomic bool runs, stopping;
static struct sc_copy_times_managed managed;
static _Atomic uint64_t matched;

/* Notes for each hazard that waits for times whether its copy is complete, by the library's events
 * behind copies. Returns whether any is: only then may CUPTI have a record, and is worth a
 * flush. */
static bool query_device(void)
{
    bool any = false;
    for (unsigned i = 0; i < awaited_count; i++) {
        if (!awaited[i].complete_ns && sc_marks_show_complete(&awaited[i].ticket))
            awaited[i].complete_ns = sc_now_ns();
        any |= awaited[i].complete_ns != 0;
    }
    return any;
}

/* Writes when a hazard's copy ran (a `timing` line), if CUPTI has delivered its record. True: that
 * is done, or nothing will come, as CUPTI has been left or has dropped the record. */
static bool write_if_known(const struct awaited *one)
{
    struct sc_device_times times;
    if (!one->complete_ns)
        return false;
    if (!sc_timeline_find(one->hazard.copy.correlation_id, &times))
        return !sc_timeline_is_on() ||
               sc_now_ns() - one->complete_ns > RECORD_MAX_S * UINT64_C(1000000000);
    struct sc_report_timing timing = {times.start_ns, times.end_ns};
    sc_report_timing(&one->hazard, &timing);
    atomic_fetch_add(&matched, 1);
    return true;
}

/* Writes the times that are known by now, and removes these hazards from the list, with those for
 * which nothing will come any more. */
static void finish_awaited(void)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < awaited_count; i++)
        if (!write_if_known(&awaited[i]))
            awaited[kept++] = awaited[i];
    awaited_count = kept;
}

/* Has CUPTI deliver its records, passes those of managed memory on, and wakes the threads that wait
 * for that (sc_copy_times_flush). `all`: also buffers that are not full, in which records of
 * unfinished copies are lost; so only at the end. */
static void flush_records(bool all)
{
    unsigned waiting = atomic_exchange(&flush_waiters, 0);
    sc_timeline_flush(all);
    if (managed.flushed)
        managed.flushed();
    for (; waiting > 0; waiting--)
        sem_post(&flush_done);
}

/* One pass of the thread: takes over new hazards, has CUPTI deliver records if some may be there,
 * and writes times. A flush takes long, so there is none for nothing: a copy must be complete,
 * CUPTI lack buffers, or records of managed memory be wanted. */
static void run_pass(void)
{
    sc_mutex_lock(&lock);
    for (unsigned i = 0; i < new_count && awaited_count < ENTRIES_MAX; i++)
        awaited[awaited_count++] = new_entries[i];
    SC_ASSERT(new_count <= ENTRIES_MAX && awaited_count <= ENTRIES_MAX);
    new_count = 0;
    sc_mutex_unlock(&lock);
    if (query_device() || sc_timeline_lacks_buffers() || (managed.flushed && managed.has_any()))
        flush_records(/*all*/ false);
    finish_awaited();
}

/* Waits until another thread wakes this one, at most `poll_ns` (0: without limit). Returns whether
 * one did. Signals are blocked meanwhile, so that Linux gives those for the process to the
 * program's threads. */
static bool wait_for_work(uint64_t poll_ns)
{
    struct timespec at = sc_deadline_in(poll_ns);
    int result;
    sc_library_threads_block_signals();
    do
        result = poll_ns ? sc_sem_wait_until(&work, &at) : sem_wait(&work);
    while (result != 0 && errno == EINTR);
    bool fresh = result == 0;
    sc_library_threads_unblock_signals();
    return fresh;
}

/* Called at the end of the process: gives copies in flight LAST_WAIT_NS to end, and writes the last
 * times. The last flush also takes buffers that hold the record of a copy which does not end. */
static void finish_all_awaited(void)
{
    uint64_t until_ns = sc_now_ns() + LAST_WAIT_NS;
    uint64_t poll_ns = POLL_MIN_NS;
    for (run_pass(); awaited_count && sc_timeline_is_on() && sc_now_ns() < until_ns; run_pass()) {
        struct timespec moment = {.tv_nsec = (long)poll_ns};
        nanosleep(&moment, NULL);
        poll_ns = poll_ns * 2 < POLL_MAX_NS ? poll_ns * 2 : POLL_MAX_NS;
    }
    flush_records(/*all*/ true);
    finish_awaited();
}

/* The library's thread that writes when the device made the copies of reported hazards; CUPTI tells
 * that later. While copies are in flight it polls with growing pauses. Otherwise it sleeps until it
 * is woken, or with um=1 looks regularly for records of managed memory. */
static void *run_thread(void *unused)
{
    uint64_t poll_ns = 0;
    (void)unused;
    wait_for_work(0); /* until there is work: before that, the driver is still within cuInit */
    sc_library_threads_enter_driver("safecopy-times");
    SC_CARRY(); /* its driver calls are no missed calls of the program */
    for (bool fresh = true; !atomic_load(&stopping); fresh = wait_for_work(poll_ns)) {
        run_pass();
        if (!awaited_count && !sc_timeline_lacks_buffers())
            poll_ns = managed.flushed ? MANAGED_POLL_NS : 0;
        else if (fresh || poll_ns == 0)
            poll_ns = POLL_MIN_NS;
        else
            poll_ns = poll_ns * 2 < POLL_MAX_NS ? poll_ns * 2 : POLL_MAX_NS;
    }
    finish_all_awaited();
    sem_post(&stopped);
    return NULL;
}

/* Starts the thread that writes copies' times. `who`: who is told of flushes, for records of
 * managed memory. False: the thread could not be started. */
bool sc_copy_times_start(struct sc_copy_times_managed who)
{
    managed = who;
    sem_init(&work, 0, 0);
    sem_init(&stopped, 0, 0);
    sem_init(&flush_done, 0, 0);
    atomic_store(&runs, sc_library_threads_start(run_thread, SC_LIBRARY_THREADS_SMALL));
    return atomic_load(&runs);
}

void sc_copy_times_wake(void)
{
    if (atomic_load_explicit(&runs, memory_order_acquire))
        sem_post(&work);
}

/* Called where somebody wants what CUPTI knows of managed memory (um=1) by now: waits until the
 * thread has had it delivered, FLUSH_WAIT_NS at most. A thread that gave up earlier leaves the
 * semaphore raised. That ends another wait early, which does no harm. */
void sc_copy_times_flush(void)
{
    if (!atomic_load_explicit(&runs, memory_order_acquire) || !managed.flushed)
        return;
    SC_KEEP_ERRNO();
    struct timespec at = sc_deadline_in(FLUSH_WAIT_NS);
    atomic_fetch_add(&flush_waiters, 1);
    sem_post(&work);
    while (sc_sem_wait_until(&flush_done, &at) != 0 && errno == EINTR)
        continue;
}

/* Called when a hazard is in the report: has the thread find and write the times of its copy. Not
 * without timeline=1 (no thread), or for a copy that CUPTI has not numbered. Dropped if the list is
 * full. */
void sc_copy_times_enqueue(const struct sc_hazard *hazard, const struct sc_ticket *ticket)
{
    if (!atomic_load_explicit(&runs, memory_order_acquire) || !hazard->copy.correlation_id)
        return;
    sc_mutex_lock(&lock);
    SC_ASSERT(new_count <= ENTRIES_MAX);
    if (new_count < ENTRIES_MAX)
        new_entries[new_count++] = (struct awaited){.hazard = *hazard, .ticket = *ticket};
    sc_mutex_unlock(&lock);
    sc_copy_times_wake();
}

/* Called at the end of the process: gives the thread STOP_WAIT_NS for the times that it still waits
 * for. A second call does nothing. */
void sc_copy_times_stop(void)
{
    if (!atomic_load(&runs) || atomic_exchange(&stopping, true))
        return;
    struct timespec at = sc_deadline_in(STOP_WAIT_NS);
    sem_post(&work);
    while (sc_sem_wait_until(&stopped, &at) != 0 && errno == EINTR)
        continue;
    atomic_store(&runs, false);
}

/* Called in a child after fork, which has no such thread, and in which another thread may have had
 * the lock. */
void sc_copy_times_child(void)
{
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    atomic_store(&runs, false);
}

uint64_t sc_copy_times_matched(void)
{
    return atomic_load(&matched);
}
