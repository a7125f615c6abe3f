#include "interpose/signals/blocked_threads.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "interpose/base/compiler.h"
#include "interpose/base/kernel_mask.h"
#include "interpose/base/process.h"
#include "interpose/base/sanitizers.h"
#include "interpose/base/spare_stack.h"
#include "report/file.h"
#include "track/kernel.h"
#include "track/text.h"
#include "track/ticks.h"

#include "track/poison.h"

enum {
    ENTRIES_BYTES = 1024,
    STATUS_BYTES = 4096,
    DRIVERS_MAX = 64,
    SOON_NS = 1000 * 1000,
    SELDOM_NS = 100 * 1000 * 1000,
    PAUSE_NS = 50 * 1000,
    LIBRARYS_NS = 500 * 1000 * 1000, /* of patience with what may be the C library's own moment, */
    FIRST_NS = 2 * 1000 * 1000       /* and with a handler of the program's, at the first look */
};

/* ---- one thread ---- */

static long read_status(const char *thread, char *text)
{
    char path[64];
    struct sc_text put;
    sc_text_init(&put, path, sizeof path);
    sc_text_put(&put, "/proc/self/task/");
    sc_text_put(&put, thread);
    sc_text_put(&put, "/status");
    long size = sc_file_read(path, text, STATUS_BYTES - 1);
    text[size > 0 ? size : 0] = '\0';
    return size;
}

/* What stands behind the words; "" if they are not there. */
static const char *behind(const char *status, const char *words)
{
    const char *at = strstr(status, words);
    return at ? at + strlen(words) : "";
}

/* How a thread blocks SIGSEGV. */
enum way { NOT_AT_ALL, PERHAPS_FOR_A_MOMENT, SURELY };

/* The signals that glibc keeps to itself tell of whom a mask is. No mask call of glibc's gives them
 * to a thread of the program's. glibc's helper of timers has the first of them, and so has a thread
 * of ours that has not got its name yet. All are blocked for the moment in which glibc starts or
 * ends a thread, and by system calls of the program's own. In that moment a thread does not sleep,
 * though it may wait for a processor. Threads of ours see to SIGSEGV themselves. */
static enum way way_of(const char *status)
{
    static const char kernels[] = "Name:\tiou-";
    static const char ours[] = "Name:\tsafecopy-";
    uint64_t mask = strtoull(behind(status, "\nSigBlk:\t"), NULL, 16);
    uint64_t librarys = mask & SC_KERNEL_MASK_LIBRARYS;
    if (!(mask & SC_SIGNAL_BIT(SIGSEGV)) || librarys == SC_SIGNAL_BIT(32) ||
        strncmp(status, kernels, sizeof kernels - 1) == 0 ||
        strncmp(status, ours, sizeof ours - 1) == 0)
        return NOT_AT_ALL;
    bool sleeps = behind(status, "\nState:\t")[0] == 'S';
    return librarys == SC_KERNEL_MASK_LIBRARYS && !sleeps ? PERHAPS_FOR_A_MOMENT : SURELY;
}

/* A place is taken for good: the driver has few threads. */
static _Atomic int32_t drivers[DRIVERS_MAX];
static _Atomic unsigned drivers_count;

void sc_blocked_threads_leave_out(void)
{
    unsigned place = atomic_fetch_add(&drivers_count, 1);
    if (place < DRIVERS_MAX)
        atomic_store(&drivers[place], sc_thread_id());
}

static bool is_drivers(int32_t thread)
{
    unsigned count = atomic_load(&drivers_count);
    for (unsigned i = 0; i < count && i < DRIVERS_MAX; i++)
        if (atomic_load(&drivers[i]) == thread)
            return true;
    return false;
}

static enum way way_of_thread(const char *name)
{
    char status[STATUS_BYTES];
    int32_t thread = atoi(name);
    if (is_drivers(thread) || read_status(name, status) <= 0)
        return NOT_AT_ALL;
    enum way way = way_of(status);
    return way == PERHAPS_FOR_A_MOMENT && thread == sc_thread_id() ? SURELY : way;
}

/* ---- all threads ---- */

static void look_at_some(const char *entries, long size, enum way *strongest)
{
    for (long at = 0; at < size && *strongest != SURELY;) {
        const struct dirent64 *entry = (const struct dirent64 *)(entries + at);
        enum way way = entry->d_name[0] != '.' ? way_of_thread(entry->d_name) : NOT_AT_ALL;
        *strongest = way > *strongest ? way : *strongest;
        at += entry->d_reclen;
    }
}

/* enum way *strongest. On a stack of ours: a copy may come from a coroutine's. */
static void look(void *strongest)
{
    _Alignas(struct dirent64) char entries[ENTRIES_BYTES];
    long size;
    long threads =
        sc_kernel_call(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *(enum way *)strongest = NOT_AT_ALL;
    if (threads < 0)
        return;
    while ((size = sc_kernel_call(SYS_getdents64, threads, entries, sizeof entries)) > 0)
        look_at_some(entries, size, strongest);
    sc_kernel_call(SYS_close, threads);
}

static long patience_ns(enum way way, bool is_patient)
{
    static const long patience[] = {[PERHAPS_FOR_A_MOMENT] = LIBRARYS_NS, [SURELY] = FIRST_NS};
    return is_patient ? patience[way] : 0;
}

static enum way look_once(uint64_t *took_ticks)
{
    enum way strongest;
    uint64_t before = sc_ticks();
    sc_spare_stack_call(look, &strongest);
    *took_ticks = sc_ticks() - before;
    return strongest;
}

/* The pauses grow, so that the longest patience is a dozen looks. *took_ticks: the last of them. */
static bool find(bool is_patient, uint64_t *took_ticks)
{
    int saved = errno;
    *took_ticks = 0;
    /* Its run-time has a thread that blocks all signals, and touches no memory of the program's. */
    if (sc_sanitizers_see_threads())
        return false;
    enum way strongest = look_once(took_ticks);
    for (long pause = PAUSE_NS, paused = 0; paused < patience_ns(strongest, is_patient);
         paused += pause, pause *= 2) {
        const struct timespec time = {.tv_nsec = pause};
        sc_kernel_call(SYS_nanosleep, &time, NULL);
        strongest = look_once(took_ticks);
    }
    errno = saved;
    return strongest != NOT_AT_ALL;
}

bool sc_blocked_threads_look_again(void)
{
    uint64_t took_ticks;
    return find(true, &took_ticks);
}

/* ---- how often ---- */

static _Atomic bool last;

bool sc_blocked_threads_were_found(void)
{
    return atomic_load_explicit(&last, memory_order_relaxed);
}

/* Nobody is waited for once a thread was found: the next look comes soon. */
bool sc_blocked_threads_any(void)
{
    static _Atomic uint64_t good_until; /* ticks */
    uint64_t took_ticks;
    bool was_found = atomic_load_explicit(&last, memory_order_relaxed);
    if (sc_likely(sc_ticks() < atomic_load_explicit(&good_until, memory_order_relaxed)))
        return was_found;
    bool is_found = find(!was_found, &took_ticks);
    uint64_t least = sc_ticks_in_ns(is_found ? SOON_NS : SELDOM_NS);
    uint64_t interval = took_ticks * (is_found ? 64 : 1000);
    atomic_store_explicit(&last, is_found, memory_order_relaxed);
    atomic_store_explicit(&good_until, sc_ticks() + (interval > least ? interval : least),
                          memory_order_relaxed);
    return is_found;
}
