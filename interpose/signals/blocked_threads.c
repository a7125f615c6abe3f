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
#include "interpose/base/spare_stack.h"
#include "track/kernel.h"
#include "track/text.h"
#include "track/ticks.h"

#include "track/poison.h"

enum {
    ENTRIES_BYTES = 1024,
    STATUS_BYTES = 4096,
    SOON_NS = 1000 * 1000,
    SELDOM_NS = 100 * 1000 * 1000,
    PAUSE_NS = 50 * 1000,
    LIBRARYS_NS = 100 * 1000 * 1000, /* of patience with what may be the C library's own moment */
    FIRST_NS = 2 * 1000 * 1000       /* with a handler of the program's, at the first look */
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
    long file = sc_kernel_call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return file;
    long size = sc_kernel_call(SYS_read, file, text, STATUS_BYTES - 1);
    sc_kernel_call(SYS_close, file);
    text[size > 0 ? size : 0] = '\0';
    return size;
}

static uint64_t mask_in(const char *status)
{
    static const char words[] = "\nSigBlk:\t";
    const char *at = strstr(status, words);
    return at ? strtoull(at + sizeof words - 1, NULL, 16) : 0;
}

/* How a thread blocks SIGSEGV. */
enum way { NOT_AT_ALL, PERHAPS_FOR_A_MOMENT, SURELY };

/* The signals that glibc keeps to itself tell of whom a mask is. No mask call of glibc's gives them
 * to a thread of the program's. glibc's helper of timers has the first of them. All are blocked for
 * the moment in which glibc starts or ends a thread, and by system calls of the program's own. */
static enum way way_of(const char *status)
{
    static const char kernels[] = "Name:\tiou-";
    uint64_t mask = mask_in(status), librarys = mask & SC_KERNEL_MASK_LIBRARYS;
    if (!(mask & SC_SIGNAL_BIT(SIGSEGV)) || librarys == SC_SIGNAL_BIT(32) ||
        strncmp(status, kernels, sizeof kernels - 1) == 0)
        return NOT_AT_ALL;
    return librarys == SC_KERNEL_MASK_LIBRARYS ? PERHAPS_FOR_A_MOMENT : SURELY;
}

static enum way way_of_thread(const char *thread)
{
    char status[STATUS_BYTES];
    return read_status(thread, status) > 0 ? way_of(status) : NOT_AT_ALL;
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

static long patience_ns(enum way way, bool is_first)
{
    if (way == PERHAPS_FOR_A_MOMENT)
        return LIBRARYS_NS;
    return way == SURELY && is_first ? FIRST_NS : 0;
}

/* The pauses grow, so that the longest patience is a dozen looks. */
static enum way look_for(bool is_first)
{
    enum way strongest;
    int saved = errno;
    sc_spare_stack_call(look, &strongest);
    for (long pause = PAUSE_NS, paused = 0; paused < patience_ns(strongest, is_first);
         paused += pause, pause *= 2) {
        const struct timespec time = {.tv_nsec = pause};
        sc_kernel_call(SYS_nanosleep, &time, NULL);
        sc_spare_stack_call(look, &strongest);
    }
    errno = saved;
    return strongest;
}

bool sc_blocked_threads_look_again(void)
{
    return look_for(false) != NOT_AT_ALL;
}

/* ---- how often ---- */

bool sc_blocked_threads_any(void)
{
    static _Atomic uint64_t good_until; /* ticks */
    static _Atomic bool last;
    uint64_t before = sc_ticks();
    uint64_t until = atomic_load_explicit(&good_until, memory_order_relaxed);
    if (sc_likely(before < until))
        return atomic_load_explicit(&last, memory_order_relaxed);
    bool found = look_for(until == 0) != NOT_AT_ALL;
    uint64_t after = sc_ticks();
    uint64_t least = sc_ticks_in_ns(found ? SOON_NS : SELDOM_NS);
    uint64_t interval = (after - before) * (found ? 64 : 1000);
    atomic_store_explicit(&last, found, memory_order_relaxed);
    atomic_store_explicit(&good_until, after + (interval > least ? interval : least),
                          memory_order_relaxed);
    return found;
}
