#include "interpose/entry/memory_lines.h"

#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "common/kernel.h"
#include "common/library_lock.h"
#include "common/now.h"
#include "common/own_pages.h"
#include "cupti_hooks/current_call.h"
#include "interpose/base/process.h"
#include "interpose/base/unwind.h"
#include "interpose/base/warning.h"
#include "interpose/ledger/balance.h"
#include "interpose/ledger/unaccounted.h"
#include "interpose/reaper/library_threads.h"
#include "interpose/streams/host_functions.h"
#include "report/report.h"

#include "common/poison.h"

enum { NS_IN_S = 1000 * 1000 * 1000, MS_IN_NS = 1000 * 1000 };
enum { STOP_MS = 500, OPEN_MS = 10 * 1000, AGAIN_MS = 100 };

static _Atomic bool is_writing;
static _Atomic bool is_asked; /* the signal asks for a line */

/* Are any signals blocked, as in a signal handler? Such a handler may have interrupted the driver.
 */
static bool has_blocked_signals(void)
{
    uint64_t mask = 0;
    sc_kernel_call(SYS_rt_sigprocmask, 0, NULL, &mask, sizeof mask);
    return mask != 0;
}

/* May this thread call the driver? Not if it may have been interrupted within the driver, or within
 * the library, or runs a function that the driver has called: it would wait for a lock that it
 * holds itself. The library's own threads always may. */
bool sc_memory_lines_may_ask(void)
{
    if (sc_library_lock_is_library_thread())
        return true;
    return !sc_library_lock_depth && !sc_current_call_is_carried() && !sc_is_inside() &&
           !sc_host_functions_is_here() && !has_blocked_signals();
}

/* Makes a statement of the memory that the process has. `asks`: the driver may be asked, if this
 * thread may. NULL with memory=off, without memory for it, or if the thread holds a lock of the
 * library, which may be the ledger's (the record of who has which memory). The caller frees it. */
struct sc_statement *sc_memory_lines_draw(bool asks)
{
    bool is_on =
        sc_options.memory && (!sc_library_lock_depth || sc_library_lock_is_library_thread());
    struct sc_statement *statement = is_on ? sc_pages_map(sizeof *statement) : NULL;
    if (statement)
        sc_balance_draw(statement, asks && sc_memory_lines_may_ask());
    if (statement)
        sc_unaccounted_fill(statement);
    return statement;
}

/* Frees a statement; NULL does nothing. */
void sc_memory_lines_free(struct sc_statement *statement)
{
    sc_pages_unmap(statement, sizeof *statement);
}

/* Wakes the thread that writes memory lines. It sleeps on the count of news about memory that is
 * unaccounted for, so one is counted. */
static void wake_thread(void)
{
    atomic_fetch_add(&sc_unaccounted_news, 1);
    sc_kernel_call(SYS_futex, &sc_unaccounted_news, FUTEX_WAKE_PRIVATE, 1);
}

/* Returns when the next line is due; never, if memory_every asks for none. */
static uint64_t next_line_ns(void)
{
    return sc_options.memory_every_ns ? sc_now_ns() + sc_options.memory_every_ns : UINT64_MAX;
}

/* Sleeps until `until_ns` (UINT64_MAX: without limit), or until the count of news is no longer
 * `news`. A signal may end the sleep, as this thread lets signals in only here. */
static void sleep_once(uint32_t news, uint64_t until_ns)
{
    uint64_t now_ns = sc_now_ns();
    uint64_t left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
    const struct timespec left = {(time_t)(left_ns / NS_IN_S), (long)(left_ns % NS_IN_S)};
    sc_library_threads_block_signals();
    sc_kernel_call(SYS_futex, &sc_unaccounted_news, FUTEX_WAIT_PRIVATE, news,
                   until_ns == UINT64_MAX ? NULL : &left);
    sc_library_threads_unblock_signals();
}

/* Asks the driver about memory that is unaccounted for, and writes a `memory` line if one is due,
 * by time or by signal. Returns whether to ask again soon. `is_writing` tells the end of the
 * process to wait for this; once the end has begun (sc_unaccounted_stops), the driver is not
 * called. */
static bool look_once(uint64_t *line_ns)
{
    atomic_store(&is_writing, true);
    bool is_restless = !atomic_load(&sc_unaccounted_stops) && sc_unaccounted_look();
    bool is_due = sc_now_ns() >= *line_ns;
    if (atomic_exchange(&is_asked, false) || is_due) {
        struct sc_statement *statement =
            atomic_load(&sc_unaccounted_stops) ? NULL : sc_memory_lines_draw(/*asks*/ true);
        if (statement && !atomic_load(&sc_unaccounted_stops))
            sc_report_memory(statement);
        sc_memory_lines_free(statement);
    }
    if (is_due)
        *line_ns = next_line_ns();
    atomic_store(&is_writing, false);
    return is_restless;
}

/* The thread that writes lines of memory at intervals and on a signal. After a call that may change
 * it, it also asks what memory the driver has taken for itself. The count of news is read before
 * the look, so that later news ends the sleep at once. */
static void *run_thread(void *unused)
{
    SC_CARRY();
    sc_library_threads_enter_driver("safecopy-memory");
    uint64_t line_ns = next_line_ns();
    while (!atomic_load(&sc_unaccounted_stops)) {
        uint32_t news = atomic_load(&sc_unaccounted_news);
        uint64_t again_ns = look_once(&line_ns) ? sc_now_ns() + AGAIN_MS * MS_IN_NS : UINT64_MAX;
        sleep_once(news, again_ns < line_ns ? again_ns : line_ns);
    }
    return unused;
}

/* The handler of memory_signal: asks the thread for a line. */
static void on_signal(int unused)
{
    (void)unused;
    atomic_store(&is_asked, true);
    wake_thread();
}

/* Installs the handler of the signal that memory_signal names. If the program has set an action of
 * its own (ignoring included), that stays, and the user is told. */
static void set_handler(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART | SA_ONSTACK}, old;
    int number = sc_options.memory_signal;
    if (!number)
        return;
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
        sigaction(number, &action, NULL);
    else
        sc_warning_say("memory_signal: the program has an action for it, which stays");
}

/* Starts the thread that writes memory lines, if the options ask for such lines. A user who asks
 * for lines that cannot be is told: strict=1 would pass for want of them. */
void sc_memory_lines_start(void)
{
    const char *why = NULL;
    if (!sc_options.memory &&
        (sc_options.leaks || sc_options.memory_every_ns || sc_options.memory_signal))
        why = "memory=off: leaks, memory_every and memory_signal have nothing to tell";
    else if (sc_options.leaks && !sc_unwind_is_deep())
        why = "leaks=1 has nothing to tell without whole stacks (stacks=full, and a libunwind)";
    if (why)
        sc_warning_say("%s", why);
    if (!sc_options.memory || !(sc_options.memory_every_ns || sc_options.memory_signal))
        return;
    sc_unaccounted_start();
    set_handler();
    sc_library_threads_start(run_thread, 0);
}

/* Waits, at the end of the process, until no line is being written: half a second, or longer while
 * the thread loads NVML, which must not be interrupted by the end. */
void sc_memory_lines_stop(void)
{
    const struct timespec pause = {0, MS_IN_NS};
    atomic_store(&sc_unaccounted_stops, true);
    wake_thread();
    const int most_ms = atomic_load(&sc_unaccounted_opens) ? OPEN_MS : STOP_MS;
    for (int i = 0; i < most_ms && atomic_load(&is_writing); i++)
        sc_kernel_call(SYS_nanosleep, &pause, NULL);
}
