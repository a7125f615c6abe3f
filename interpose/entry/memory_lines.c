#include "interpose/entry/memory_lines.h"

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "cupti_hooks/ear.h"
#include "interpose/base/process.h"
#include "interpose/ledger/balance.h"
#include "interpose/reaper/own_threads.h"
#include "interpose/streams/host_functions.h"
#include "report/report.h"
#include "track/kernel.h"
#include "track/own_lock.h"
#include "track/own_pages.h"

#include "track/poison.h"

enum { NS_IN_S = 1000 * 1000 * 1000, STOP_MS = 100, MS_IN_NS = 1000 * 1000 };

static _Atomic uint32_t stops; /* a futex */
static _Atomic bool is_writing;

/* In a handler of a signal its signal is blocked. */
static bool has_blocked_signals(void)
{
    uint64_t mask = 0;
    sc_kernel_call(SYS_rt_sigprocmask, 0, NULL, &mask, sizeof mask);
    return mask != 0;
}

/* A thread that has been interrupted may be within the driver, with its locks, and so may one that
 * runs a host function: to ask would be to wait for itself. */
static bool may_ask(void)
{
    if (sc_own_lock_is_own_thread())
        return true;
    return !sc_ear_is_carried() && !sc_is_inside() && !sc_host_functions_is_here() &&
           !has_blocked_signals();
}

/* A thread that is within a lock of ours may hold one of the ledger's. */
struct sc_statement *sc_memory_lines_draw(bool asks)
{
    bool is_on = sc_options.memory && (!sc_own_lock_depth || sc_own_lock_is_own_thread());
    struct sc_statement *statement = is_on ? sc_pages_map(sizeof *statement) : NULL;
    if (statement)
        sc_balance_draw(statement, asks && may_ask());
    return statement;
}

void sc_memory_lines_give_back(struct sc_statement *statement)
{
    sc_pages_unmap(statement, sizeof *statement);
}

static void write_line(void)
{
    atomic_store(&is_writing, true);
    struct sc_statement *statement = atomic_load(&stops) ? NULL : sc_memory_lines_draw(true);
    if (statement && !atomic_load(&stops))
        sc_report_memory(statement);
    sc_memory_lines_give_back(statement);
    atomic_store(&is_writing, false);
}

static void sleep_once(void)
{
    const struct timespec every = {(time_t)(sc_options.memory_every_ns / NS_IN_S),
                                   (long)(sc_options.memory_every_ns % NS_IN_S)};
    sc_own_threads_close();
    sc_kernel_call(SYS_futex, &stops, FUTEX_WAIT_PRIVATE, 0, &every);
    sc_own_threads_open();
}

static void *run(void *unused)
{
    SC_CARRY();
    sc_own_threads_enter_driver("safecopy-memory");
    for (sleep_once(); !atomic_load(&stops); sleep_once())
        write_line();
    return unused;
}

void sc_memory_lines_start(void)
{
    if (sc_options.memory && sc_options.memory_every_ns)
        sc_own_threads_start(run, SC_OWN_THREADS_SMALL);
}

void sc_memory_lines_stop(void)
{
    const struct timespec pause = {0, MS_IN_NS};
    atomic_store(&stops, 1);
    sc_kernel_call(SYS_futex, &stops, FUTEX_WAKE_PRIVATE, 1);
    for (int i = 0; i < STOP_MS && atomic_load(&is_writing); i++)
        sc_kernel_call(SYS_nanosleep, &pause, NULL);
}
