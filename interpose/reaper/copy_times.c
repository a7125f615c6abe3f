#include "interpose/reaper/copy_times.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

#include "common/checks.h"
#include "common/deadlines.h"
#include "common/hazard.h"
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

/* A hazard whose copy's times are awaited. */
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

/* Asks the device which copies are complete. Returns whether any is, so that its record may be
 * there. */
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

/* Writes the times of a hazard's copy, if CUPTI has delivered them. True: done, or nothing will
 * come. */
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

/* Removes hazards from the list whose copies' times have been written, or will not come any more.
 */
static void finish_awaited(void)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < awaited_count; i++)
        if (!write_if_known(&awaited[i]))
            awaited[kept++] = awaited[i];
    awaited_count = kept;
}

/* Has CUPTI deliver its records, and wakes the threads that wait for that. `all`: also incomplete
 * buffers, whose unfinished records are lost. */
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
 * and writes times. */
static void run_pass(void)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < new_count && awaited_count < ENTRIES_MAX; i++)
        awaited[awaited_count++] = new_entries[i];
    SC_ASSERT(new_count <= ENTRIES_MAX && awaited_count <= ENTRIES_MAX);
    new_count = 0;
    pthread_mutex_unlock(&lock);
    if (query_device() || sc_timeline_lacks_buffers() || (managed.flushed && managed.has_any()))
        flush_records(/*all*/ false);
    finish_awaited();
}

/* Waits for work, `poll_ns` at most (0: without limit). Returns whether there is new work. */
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

/* Gives copies in flight a little time to end, and writes the last times. The last flush also takes
 * buffers in which a copy that does not end has a record. */
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

/* The thread: writes when the device made the copies of reported hazards, which CUPTI reports with
 * a delay. */
static void *run_thread(void *unused)
{
    uint64_t poll_ns = 0;
    (void)unused;
    wait_for_work(0); /* until there is work: before that, the driver is still within cuInit */
    sc_library_threads_enter_driver("safecopy-times");
    SC_CARRY();
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

/* Starts that thread. False: it could not be started. */
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

/* Waits a limited time until CUPTI has delivered its records. A thread that has given up leaves the
 * semaphore raised, which ends another thread's wait early; that is harmless. */
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

/* Enqueues a hazard for the thread, which finds and writes the times of its copy. */
void sc_copy_times_enqueue(const struct sc_hazard *hazard, const struct sc_ticket *ticket)
{
    if (!atomic_load_explicit(&runs, memory_order_acquire) || !hazard->copy.correlation_id)
        return;
    pthread_mutex_lock(&lock);
    SC_ASSERT(new_count <= ENTRIES_MAX);
    if (new_count < ENTRIES_MAX)
        new_entries[new_count++] = (struct awaited){.hazard = *hazard, .ticket = *ticket};
    pthread_mutex_unlock(&lock);
    sc_copy_times_wake();
}

/* Gives the thread a limited time for what it still waits for, at the end of the process. */
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

void sc_copy_times_child(void)
{
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    atomic_store(&runs, false);
}

uint64_t sc_copy_times_matched(void)
{
    return atomic_load(&matched);
}
