#include "interpose/signals/blocked_threads.h"

#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/kernel.h"
#include "common/text.h"
#include "common/ticks.h"
#include "interpose/base/compiler.h"
#include "interpose/base/kernel_mask.h"
#include "interpose/base/process.h"
#include "interpose/base/sanitizers.h"
#include "interpose/base/spare_stack.h"
#include "report/file.h"

#include "common/poison.h"

enum {
    STATUS_BYTES = 4096,
    DRIVERS_MAX = 64,
    /* The least time between checks: while a thread is found that blocks SIGSEGV, and else. */
    SOON_NS = 1000 * 1000,
    SELDOM_NS = 100 * 1000 * 1000,
    /* The first pause between checks; each next one is twice as long, up to PAUSE_MAX_NS. */
    PAUSE_NS = 50 * 1000,
    PAUSE_MAX_NS = 20 * 1000 * 1000,
    HANDLER_MAX_NS =
        20 * 1000 * 1000, /* how long to wait for a handler of the program's to return */
    SIGHTINGS_MAX = 24,   /* how often a thread may be seen in a moment of glibc's, */
    STARTING_MAX_NS = 2000 * 1000 * 1000 /* having run since, and how long any threads may */
};

/* ---- one thread ---- */

/* Reads a small file of /proc/self/task/THREAD as text; "" if it cannot. Returns the size, or
 * -errno. */
static long read_of_thread(const char *thread, const char *file, char *text)
{
    char path[64];
    struct sc_text put = sc_text_in(path, sizeof path);
    sc_text_format(&put, "/proc/self/task/%s%s", thread, file);
    long size = sc_file_read(path, text, STATUS_BYTES - 1);
    text[size > 0 ? size : 0] = '\0';
    return size;
}

/* Returns the text after the words in `status`; "" if they are not there. */
static const char *text_after(const char *status, const char *words)
{
    const char *at = strstr(status, words);
    return at ? at + strlen(words) : "";
}

/* Returns the signal mask that a thread's /proc status shows; 0 if it shows none. */
static uint64_t mask_in(const char *status)
{
    return strtoull(text_after(status, "\nSigBlk:\t"), NULL, 16);
}

/* How a thread blocks SIGSEGV in Linux's mask; the stronger, the larger. */
enum blocking { NOT_AT_ALL, PERHAPS_FOR_A_MOMENT, SURELY };

/* Finds from a thread's /proc status whether it blocks SIGSEGV and may run code of the program: if
 * that touched a protected page, Linux would kill the process. Linux's workers (iou-) and threads
 * of the library do not count. Signals 32 and 33, which glibc reserves, show who set a mask: no
 * mask call of glibc blocks them. Only 32 blocked: glibc's timer thread, or a thread of the library
 * that has no name yet, which do not count. Both blocked: glibc is starting or ending the thread
 * (for a moment, in which it does not sleep), or the program used a system call of its own. */
static enum blocking blocking_in_status(const char *status)
{
    static const char worker[] = "Name:\tiou-";
    static const char ours[] = "Name:\tsafecopy-";
    uint64_t mask = mask_in(status);
    uint64_t reserved = mask & SC_KERNEL_MASK_LIBC;
    if (!(mask & SC_SIGNAL_BIT(SIGSEGV)) || reserved == SC_SIGNAL_BIT(32) ||
        strncmp(status, worker, sizeof worker - 1) == 0 ||
        strncmp(status, ours, sizeof ours - 1) == 0)
        return NOT_AT_ALL;
    bool sleeps = text_after(status, "\nState:\t")[0] == 'S';
    return reserved == SC_KERNEL_MASK_LIBC && !sleeps ? PERHAPS_FOR_A_MOMENT : SURELY;
}

/* Threads of the driver. An entry is taken for good, since the driver has few threads. */
static _Atomic int32_t drivers[DRIVERS_MAX];
static _Atomic unsigned driver_count;

/* Records that the calling thread is one of the driver's, which may block SIGSEGV: it runs none of
 * the program's code but host functions, before which SIGSEGV is unblocked. */
void sc_blocked_threads_leave_out(void)
{
    unsigned place = atomic_fetch_add(&driver_count, 1);
    if (place < DRIVERS_MAX)
        atomic_store(&drivers[place], sc_thread_id());
}

/* Is it a thread that sc_blocked_threads_leave_out was called on? */
static bool is_driver_thread(int32_t thread)
{
    unsigned count = atomic_load(&driver_count);
    for (unsigned i = 0; i < count && i < DRIVERS_MAX; i++)
        if (atomic_load(&drivers[i]) == thread)
            return true;
    return false;
}

/* Returns how the thread of that number (a name in /proc/self/task) blocks SIGSEGV. A thread of the
 * driver, or one that has ended, counts as not blocking it. */
static enum blocking blocking_of_thread(const char *name)
{
    char status[STATUS_BYTES];
    int32_t thread = atoi(name);
    if (is_driver_thread(thread) || read_of_thread(name, "/status", status) <= 0)
        return NOT_AT_ALL;
    enum blocking blocking = blocking_in_status(status);
    /* The calling thread is not being started or ended by glibc: it runs this. */
    return blocking == PERHAPS_FOR_A_MOMENT && thread == sc_thread_id() ? SURELY : blocking;
}

/* Sets *blocks to whether any thread, of whatever kind, blocks SIGSEGV in Linux's mask. False: it
 * is no thread of this process, or has ended. */
bool sc_blocked_threads_find(int32_t thread, bool *blocks)
{
    char name[16], status[STATUS_BYTES];
    struct sc_text put = sc_text_in(name, sizeof name);
    sc_text_format(&put, "%d", thread);
    if (read_of_thread(name, "/status", status) <= 0)
        return false;
    *blocks = mask_in(status) & SC_SIGNAL_BIT(SIGSEGV);
    return true;
}

#define RAN_UNKNOWN UINT64_MAX /* Linux does not show it */

/* Returns for how long the thread has run on a processor; 0: it has not run yet. Shows whether it
 * has run since an earlier check. */
static uint64_t ran_ns(const char *name)
{
    char text[STATUS_BYTES];
    return read_of_thread(name, "/schedstat", text) > 0 ? strtoull(text, NULL, 10) : RAN_UNKNOWN;
}

/* ---- all threads ---- */

/* The thread that may block SIGSEGV for a moment only, followed from check to check. On a loaded
 * machine a program that starts threads may have one that glibc is starting at every check. But
 * that is another thread each time, or the same one that has not run since. One that runs and is
 * found so again and again does block SIGSEGV. */
struct followed {
    int32_t thread; /* 0: none */
    uint64_t ran_ns;
    unsigned sightings; /* checks in a row that found it so, each after it has run */
};

/* What a check of all threads has found. */
struct seen {
    enum blocking strongest;
    int32_t thread; /* a thread seen blocking it like that, if possible the followed one */
    uint64_t ran_ns;
};

/* Records how the thread blocks SIGSEGV, if that is stronger than what was seen so far; of threads
 * that block it alike the followed one is kept. */
static void add_thread(struct seen *seen, enum blocking blocking, const char *name,
                       const struct followed *followed)
{
    int32_t thread = atoi(name);
    if (blocking < seen->strongest || blocking == NOT_AT_ALL ||
        (blocking == seen->strongest && thread != followed->thread))
        return;
    *seen = (struct seen){blocking, thread, blocking == PERHAPS_FOR_A_MOMENT ? ran_ns(name) : 0};
}

/* The argument and the result of check_all_threads. */
struct check {
    const struct followed *followed;
    struct seen seen;
};

/* Checks one thread of /proc/self/task (`name`). Returns whether the check can end: one that surely
 * blocks SIGSEGV is enough. */
static bool check_thread(void *context, const char *folder, const char *name)
{
    struct check *check = context;
    (void)folder;
    add_thread(&check->seen, blocking_of_thread(name), name, check->followed);
    return check->seen.strongest == SURELY;
}

/* Checks how each thread of the process blocks SIGSEGV; `context` is a struct check. Called on a
 * spare stack, since the program may run on a coroutine's small one. */
static void check_all_threads(void *context)
{
    sc_file_each_entry("/proc/self/task", UINT_MAX, check_thread, context);
}

/* Checks all threads once, and returns what was found. Counts for the thread that is found how
 * often it was found in a row, having run in between; another one begins at 0. */
static struct seen check_once(struct followed *followed, uint64_t *took_ticks)
{
    struct check check = {.followed = followed};
    uint64_t before = sc_ticks();
    sc_spare_stack_call(check_all_threads, &check);
    *took_ticks = sc_ticks() - before;
    if (check.seen.thread != followed->thread)
        *followed = (struct followed){check.seen.thread, check.seen.ran_ns, 0};
    else if (check.seen.ran_ns != followed->ran_ns || check.seen.ran_ns == RAN_UNKNOWN)
        *followed =
            (struct followed){check.seen.thread, check.seen.ran_ns, followed->sightings + 1};
    return check.seen;
}

/* May the thread that was found unblock SIGSEGV soon, so that waiting is better than guarding
 * nothing? One that surely blocks it may be in a handler of the program's (HANDLER_MAX_NS); another
 * one may be starting (STARTING_MAX_NS). `known`: the thread that the last search found: it is not
 * waited for again, nor is any other that surely blocks SIGSEGV. `paused_ns`: waited so far. */
static bool is_worth_a_wait(const struct seen *seen, const struct followed *followed, int32_t known,
                            long paused_ns)
{
    if (seen->strongest == NOT_AT_ALL || seen->thread == known)
        return false;
    return seen->strongest == SURELY
               ? !known && paused_ns < HANDLER_MAX_NS
               : followed->sightings < SIGHTINGS_MAX && paused_ns < STARTING_MAX_NS;
}

/* Returns a thread that blocks SIGSEGV in Linux's mask, or 0; waits for those that may unblock it
 * soon. `known` was found the last time, and is not waited for. *took_ticks: how long the last
 * check took. */
static int32_t find_blocked(int32_t known, uint64_t *took_ticks)
{
    SC_KEEP_ERRNO();
    struct followed followed = {0};
    *took_ticks = 0;
    /* ThreadSanitizer's run-time has a thread that blocks all signals, and touches no memory of the
     * program's. */
    if (sc_sanitizers_see_threads())
        return 0;
    struct seen seen = check_once(&followed, took_ticks);
    for (long pause = PAUSE_NS, paused = 0; is_worth_a_wait(&seen, &followed, known, paused);
         paused += pause, pause = pause < PAUSE_MAX_NS / 2 ? pause * 2 : PAUSE_MAX_NS) {
        const struct timespec time = {.tv_nsec = pause};
        sc_kernel_call(SYS_nanosleep, &time, NULL);
        seen = check_once(&followed, took_ticks);
    }
    return seen.thread;
}

/* Checks now whether a thread blocks SIGSEGV in Linux's mask. Called right after mask calls began
 * to leave it out: one that was under way may have blocked it. */
bool sc_blocked_threads_check_now(void)
{
    uint64_t took_ticks;
    return find_blocked(0, &took_ticks) != 0;
}

/* ---- how often ---- */

static _Atomic int32_t last; /* the thread that was found; 0: none */

/* Did the last check find a thread that blocks SIGSEGV in Linux's mask? */
bool sc_blocked_threads_were_found(void)
{
    return atomic_load_explicit(&last, memory_order_relaxed) != 0;
}

/* Does any thread block SIGSEGV in Linux's mask, so that mprotect must guard nothing? Mostly the
 * last answer: the next check comes after a thousand times what the last one took (64 times while a
 * thread is found, which is not waited for again). */
bool sc_blocked_threads_any(void)
{
    static _Atomic uint64_t good_until; /* ticks */
    uint64_t took_ticks;
    int32_t known = atomic_load_explicit(&last, memory_order_relaxed);
    if (sc_likely(sc_ticks() < atomic_load_explicit(&good_until, memory_order_relaxed)))
        return known != 0;
    int32_t found = find_blocked(known, &took_ticks);
    uint64_t least = sc_ticks_in_ns(found ? SOON_NS : SELDOM_NS);
    uint64_t interval = took_ticks * (found ? 64 : 1000);
    atomic_store_explicit(&last, found, memory_order_relaxed);
    atomic_store_explicit(&good_until, sc_ticks() + (interval > least ? interval : least),
                          memory_order_relaxed);
    return found != 0;
}
