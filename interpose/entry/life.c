/* Start, fork and exit.
 *
 * A process ends in one of four ways that let us speak: exit (also by returning from main), _exit,
 * quick_exit and _Exit. For the first, a handler registered by the constructor runs after all
 * others, since it came first; calling exit again from a handler only changes the status. A process
 * that dies by a signal or by exec leaves a report without a summary; before exec and abort what
 * was found is written.
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#include "common/checks.h"
#include "common/deadlines.h"
#include "common/library_lock.h"
#include "common/mutex.h"
#include "common/own_pages.h"
#include "common/trace.h"
#include "common/uncancelled.h"
#include "cupti_hooks/current_call.h"
#include "cupti_hooks/subscription.h"
#include "interpose/base/compiler.h"
#include "interpose/base/loader.h"
#include "interpose/base/process.h"
#include "interpose/base/sanitizers.h"
#include "interpose/base/spare_stack.h"
#include "interpose/base/thread_stack.h"
#include "interpose/base/unwind.h"
#include "interpose/base/upcalls.h"
#include "interpose/capture/captures.h"
#include "interpose/driver/driver.h"
#include "interpose/entry/children.h"
#include "interpose/entry/injected.h"
#include "interpose/entry/life.h"
#include "interpose/entry/memory_lines.h"
#include "interpose/entry/never_freed.h"
#include "interpose/entry/unreached.h"
#include "interpose/guard/door.h"
#include "interpose/ledger/balance.h"
#include "interpose/ledger/booking.h"
#include "interpose/ledger/limits.h"
#include "interpose/ledger/managed.h"
#include "interpose/missed/audit.h"
#include "interpose/postmortem/postmortem.h"
#include "interpose/reaper/copy_times.h"
#include "interpose/reaper/large_copies.h"
#include "interpose/reaper/nvtx.h"
#include "interpose/reaper/reaper.h"
#include "interpose/streams/contexts.h"
#include "interpose/streams/marks.h"
#include "interpose/streams/streams.h"
#include "ledger/limit_events.h"
#include "report/annotations.h"
#include "report/options.h"
#include "report/report.h"
#include "report/roll.h"
#include "report/suppressing.h"
#include "track/hold.h"
#include "track/track.h"
#include "track/track_front.h"
#include "track/track_parts.h"

#include "common/poison.h"

enum { DEVICES_MAX = 64, DEVICE_NAME_BYTES = 128, UP_MAX_NS = 1000 * 1000 * 1000 };

enum { UNKNOWN = -1 }; /* an exit status that is not known */

enum { LAST_ROOM_BYTES = 96 << 10 };

static pthread_once_t started = PTHREAD_ONCE_INIT;
static pthread_mutex_t up_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool up;
static _Atomic bool summarised;
static struct sc_statement *asked; /* drawn while the driver could be asked; NULL: not yet */
static int quick_status = UNKNOWN; /* the status of quick_exit; UNKNOWN: our hook was not called */
static bool tells_no_use;          /* verbosity=2, and this process is no forked child */

/* ---- start ---- */

/* Prints a line about the options or suppressions on stderr, unless verbosity=0. */
static void say_line(void *context, const char *line)
{
    const struct sc_options *options = context;
    if (options->verbosity > 0)
        sc_report_say(NULL, line);
}

static char *first_options; /* a program may overwrite its environment, as setproctitle does */

/* Copies the options as they are when the library is loaded. They are read when CUDA is used, and
 * the program may change its environment or overwrite it before. */
static void keep_options(void)
{
    const char *text = getenv("SAFECOPY_OPTIONS");
    size_t bytes = text ? strlen(text) + 1 : 0;
    first_options = bytes ? sc_pages_map(bytes) : NULL;
    if (first_options)
        memcpy(first_options, text, bytes);
}

/* Returns the options of the environment as it is now, or else as it was at the start. */
static const char *options_text(void)
{
    const char *text = getenv("SAFECOPY_OPTIONS");
    return text ? text : first_options;
}

/* Reads the options, and starts what they ask for: once, at the first sign of CUDA. In a setuid
 * program mode is off: it must not trust the environment, and the loader would not preload the
 * library anyway. Options that cannot be right make the run fail if strict=1 asks for that. Without
 * memory for the tables the library does nothing. */
static void read_options(void)
{
    sc_options_defaults(&sc_options);
    if (getauxval(AT_SECURE)) {
        sc_options.mode = SC_MODE_OFF;
        return;
    }
    sc_options_parse(&sc_options, options_text(), say_line, &sc_options);
    if (sc_options.misspells_strict)
        sc_report_fail();
    if (sc_options.help && sc_report_has_stderr())
        sc_options_print_table(STDERR_FILENO);
    if (sc_options.mode == SC_MODE_OFF) {
        sc_roll_note_off();
        return;
    }
    if (!sc_suppressing_load(&sc_options, say_line, &sc_options) && sc_options.strict) {
        say_line(&sc_options, "the run fails when it ends: strict=1 wants the suppressions right");
        sc_report_fail();
    }
    sc_marks_start();
    if (sc_track_init(&sc_track) || sc_contexts_init() || sc_streams_init() || sc_captures_init()) {
        sc_report_say(NULL, "not enough memory to start; the program runs unprotected");
        sc_options.mode = SC_MODE_OFF;
    }
    bool judges = sc_options.strict || sc_options.mode == SC_MODE_REPORT;
    bool wants_device = judges || sc_options.kernels != SC_KERNELS_OFF;
    sc_track_start(&sc_track,
                   sc_options.device == SC_DEVICE_ON ||
                       (sc_options.device == SC_DEVICE_AUTO && wants_device),
                   judges);
}

/* Finds the functions by which the library waits until a time (pthread_cond_clockwait and the
 * like), if this C library has them: libc's own under a sanitizer, which would report races
 * otherwise; else through the library's own hooks, like all its waits. */
static void find_clock_waits(void)
{
    sc_cond_clockwait_function *cond =
        (sc_cond_clockwait_function *)sc_sanitizers_past("pthread_cond_clockwait");
    if (!cond && sc_loader_real("pthread_cond_clockwait"))
        cond = pthread_cond_clockwait;
    sc_deadlines_use(cond, sc_loader_real("sem_clockwait") ? sem_clockwait : NULL);
}

/* Starts the library at the first sign of CUDA, once. A thread in a constructor, which holds the
 * loader's lock, may wait for `started` here. So whatever takes that lock comes after pthread_once,
 * and may be done by several threads. */
void sc_life_start(void)
{
    SC_KEEP_ERRNO();
    pthread_once(&started, read_options);
    sc_loader_find_all();
    find_clock_waits();
    if (sc_process_wants_wrappers())
        sc_unwind_start(&sc_options);
}

/* Opens the report, whose first line says the versions and the devices of this run. */
static void open_report(void)
{
    static char names[DEVICES_MAX][DEVICE_NAME_BYTES];
    static const char *name_list[DEVICES_MAX];
    struct sc_report_run run = {.runtime_version = sc_driver_runtime_version(),
                                .alone = sc_process_is_alone(),
                                .device_names = name_list};
    int count = 0;
    sc_real.cuDriverGetVersion(&run.driver_version);
    sc_real.cuDeviceGetCount(&count);
    for (int i = 0; i < count && i < DEVICES_MAX; i++) {
        CUdevice device;
        if (sc_real.cuDeviceGet(&device, i) != CUDA_SUCCESS ||
            sc_real.cuDeviceGetName(names[i], DEVICE_NAME_BYTES, device) != CUDA_SUCCESS)
            break;
        name_list[run.device_count++] = names[i];
    }
    sc_report_open(&sc_options, &run);
}

static void at_cuda_exit(int status, void *argument);

/* Opens the report, starts what watches for the whole run, and makes wrappers and hooks active at
 * last: the driver is initialised. A library without a preload has started the audit (its use of
 * CUPTI) already. */
static void become_active(void)
{
    SC_TRACE("cuda-up");
    open_report();
    sc_balance_start();
    sc_limits_start();
    if (!sc_process_is_alone())
        sc_audit_start(); /* before on_exit, so that libcupti's own exit handlers run after ours */
    on_exit(at_cuda_exit, NULL);
    sc_nvtx_start();
    sc_guard_process(SC_GUARD_USES_CUDA);
    sc_process_uses_cuda(sc_current_call_may_be_known());
}

/* Takes the lock, and waits for it a second at most. The thread that brings the library up may wait
 * for the loader's lock, which a constructor that calls cuInit has already: such a thread goes on
 * before the library is up. */
static int lock_in_time(pthread_mutex_t *lock) SC_TRY_ACQUIRES(0, *lock)
{
    struct timespec until = sc_deadline_in(UP_MAX_NS);
    return sc_mutex_lock_until(lock, &until);
}

/* Makes the library active on the first thread that comes; others wait until it is, for a limited
 * time. Without a driver it stays inactive. Lines of memory are started without the lock, as that
 * creates a thread. */
static void come_up_once(void)
{
    if (!sc_driver_attach(NULL)) /* waits while another thread fills the table */
        return;
    if (lock_in_time(&up_lock) != 0)
        return;
    bool is_first = !atomic_load_explicit(&up, memory_order_relaxed);
    if (is_first) {
        become_active();
        atomic_store_explicit(&up, true, memory_order_release);
    }
    sc_mutex_unlock(&up_lock);
    if (is_first)
        sc_memory_lines_start();
}

/* Makes the library active once the driver is initialised: called after cuInit has succeeded, or,
 * without wrappers, at calls that CUPTI reports. Left out in a call of libcupti's, which itself
 * calls cuInit while the library comes up. */
void sc_life_cuda_is_up(void)
{
    if (sc_likely(atomic_load_explicit(&up, memory_order_acquire)) || !sc_process_wants_wrappers())
        return;
    if (sc_cupti_is_asking()) /* libcupti itself calls cuInit while we come up */
        return;
    SC_KEEP_ERRNO();
    SC_NO_CANCELLATION_POINT();
    sc_thread_stack_learn();
    sc_spare_stack_start();
    come_up_once();
}

/* ---- fork ---- */

/* Makes the library inactive in a forked child. CUDA does not work in the child of a process that
 * has used it, so neither does the library. (A child that is forked before works like any process.)
 * Only the calling thread lives on, so a lock that another thread held is never released: no hook
 * of an inactive process takes one. The library does not hold its locks over fork to prevent that.
 * Between its fork handler and the fork come those of other libraries and of the allocator, which
 * wait for their locks, and who holds those may be waiting for ours. */
static void prepare_child(void)
{
    tells_no_use = false;
    sc_process_forked();
    sc_annotations_child();
    if (atomic_load(&up))
        sc_process_stops();
    sc_guard_process(SC_GUARD_FORKED);
    if (!atomic_load(&up))
        return;
    sc_track_ignore_libc(&sc_track);
    sc_audit_child();
    sc_reaper_child();
    sc_nvtx_child();
    sc_report_child();
}

/* _Fork runs no handlers of fork, so ours is called here. It may be called in a signal handler. */
typedef pid_t fork_function(void);

SC_EXPORT pid_t _Fork(void);
/* Hook of _Fork, which runs no handlers of fork, so the library's is called here. It may be called
 * in a signal handler. */
SC_EXPORT pid_t _Fork(void)
{
    pid_t child = SC_NEXT(fork_function *, "_Fork")();
    SC_KEEP_ERRNO();
    if (child == 0)
        prepare_child();
    return child;
}

/* ---- exit ---- */

/* Returns an exit status as the parent process sees it: exit(256) is success. */
static int status_outside(int status)
{
    return status & 0xff;
}

/* Has this very process used CUDA under the library? Not a child of vfork, which shares its memory
 * and must not end or report anything of it. */
bool sc_life_is_ours(void)
{
    return atomic_load(&up) && sc_process_is_owner();
}

/* Stores the totals of freed memory that was kept for the device. This takes the tracker's lock, so
 * it is a function that can be left at the end of the process. */
static void store_hold_totals(void *holds)
{
    *(struct sc_hold_totals *)holds = SC_TRACKED(sc_holds_totals(track.holds));
}

/* Collects what the report's summary line says about the whole run. If a signal handler has
 * interrupted a thread with a lock of the library, the totals behind the tracker's lock are left
 * out. */
static struct sc_report_totals totals_of(int status, bool final)
{
    struct sc_hold_totals holds = {0};
    if (!sc_library_lock_depth)
        sc_spare_stack_call_last(store_hold_totals, &holds);
    struct sc_report_totals totals = {
        .operations = sc_track_operations(&sc_track),
        .held_peak_bytes = holds.peak_bytes,
        .held_peak_ns = holds.peak_ns,
        .taken_early = sc_marks_taken_early(),
        .driver_late = sc_large_copies_driver_late(),
        .shared_memory = atomic_load(&sc_booking_shared),
        .no_verdicts = sc_track_parts.no_verdicts,
        .guard = sc_guard_totals(),
        .exit_status = status,
        .final = final,
    };
    sc_audit_totals(&totals);
    return totals;
}

/* Prints what a debug build has traced, if verbosity=3 asks for it. */
static void print_trace(void)
{
    if (sc_options.verbosity < 3)
        return;
    if (SC_TRACE_ON)
        sc_trace_print();
    else
        sc_report_say(NULL, "verbosity=3: this build has no trace; one of `make DEBUG=1` has");
}

/* Writes a `summary` line. `final`: it is the last one. `asks`: the driver may be asked about
 * memory. A statement that was drawn earlier, while the driver still could be asked, is preferred.
 * The loader's lock is not taken by a thread that a handler has interrupted within a lock of the
 * library. */
static void write_summary(int status, bool final, bool asks)
{
    struct sc_report_totals totals = totals_of(status, final);
    struct sc_statement *drawn = atomic_load(&up) && !asked ? sc_memory_lines_draw(asks) : NULL;
    if (drawn && (final || asks))
        sc_children_find(drawn);
    totals.memory = asked ? asked : drawn;
    struct sc_limit_events *limits = sc_pages_map(sizeof *limits);
    totals.limits = limits && sc_limits_draw(limits) ? limits : NULL;
    if (!sc_library_lock_depth) /* for lines that the reaper has written */
        sc_report_modules();
    sc_report_summary(&totals);
    sc_memory_lines_free(drawn);
    sc_pages_unmap(limits, sizeof *limits);
    print_trace();
}

/* Writes the summary of the run. With `comes_again` a preliminary one, since memory that is never
 * freed will only be known behind the program's destructors; the driver is asked now, as it may be
 * gone then. Otherwise the last one, once. */
static void sum_up_run(int status, bool asks, bool comes_again)
{
    if (comes_again) {
        asked = sc_memory_lines_draw(asks);
        if (asked)
            sc_children_find(asked);
        write_summary(UNKNOWN, false, asks);
    } else if (!atomic_exchange(&summarised, true))
        write_summary(status, true, asks);
}

/* Writes a summary of the run so far, for safecopy_dump; the process goes on. The driver is not
 * asked: the thread may be within it. */
void sc_life_dump(void)
{
    write_summary(UNKNOWN, /*final*/ false, /*asks*/ false);
}

/* Writes a statement of the memory that is held, as JSON, into the caller's buffer. Its length is 0
 * if there is none, or if it does not fit. */
void sc_life_memory(void *question)
{
    struct sc_life_question *of = question;
    struct sc_statement *memory = sc_memory_lines_draw(of->asks);
    of->length = memory ? sc_report_memory_text(memory, of->json, of->size) : 0;
    sc_memory_lines_free(memory);
}

/* Calls the function at the end of the process, on a stack with enough room: a signal handler on a
 * stack of a few KB may end the process, or one after a stack overflow. */
static void call_at_last(sc_spare_function *function, void *argument)
{
    if (sc_thread_stack_has_room(LAST_ROOM_BYTES))
        function(argument);
    else
        sc_spare_stack_call_alone(function, argument);
}

/* The end of the process: arguments and result of end_all. */
struct ending {
    int status;       /* the process's own; result: the one to end with */
    bool unsubscribe; /* the driver can still be asked: its exit handlers have not run */
};

/* Stops showing hazards to tools (NVTX). This may wait for a lock, so it is a function that can be
 * left at the end of the process. */
static void stop_showing(void *unused)
{
    (void)unused;
    sc_nvtx_stop();
}

/* Stops the library's threads, gives the last verdicts on hazards, and writes the summary. A signal
 * handler may end the process that has interrupted code with a lock of the library
 * (sc_library_lock_depth): whatever takes locks is left out then. */
static void end_all(void *argument)
{
    struct ending *ending = argument;
    sc_audit_close();
    sc_memory_lines_stop();
    if (!sc_library_lock_depth) {
        sc_reaper_stop();
        sc_guard_process(SC_GUARD_ENDS);
        sc_copy_times_stop();
        sc_spare_stack_call_last(stop_showing, NULL);
    }
    sc_audit_stop(ending->unsubscribe);
    if (!sc_library_lock_depth)
        sc_managed_end();
    sc_booking_process_ends();
    ending->status = sc_report_exit_status(ending->status);
    sum_up_run(ending->status, ending->unsubscribe, ending->unsubscribe && sc_options.leaks);
}

/* Writes all that is still to be reported, at the end of the process; returns the status to exit
 * with. Only the process that has used CUDA writes anything: a child of vfork shares its memory but
 * not its pid. A cancelled thread may end the process as well, and must not be ended in here. */
static int conclude_process(int status, bool unsubscribe)
{
    SC_TRACE("conclude status", status);
    if (!sc_life_is_ours())
        return status;
    SC_UNCANCELLED();
    sc_postmortem_await();
    struct ending ending = {status, unsubscribe};
    call_at_last(end_all, &ending);
    return ending.status;
}

/* Concludes the process after the driver's exit handlers have run, so that the driver is not asked;
 * then makes wrappers and hooks inactive. Returns the status to exit with. */
static int end_process(int status)
{
    int final_status = conclude_process(status, /*unsubscribe*/ false);
    if (sc_life_is_ours())
        sc_process_stops();
    return final_status;
}

/* An exit handler: concludes the process while the driver still works. Registered after the
 * driver's own handlers, so it runs before them, and the device can still be asked. Hooks stay
 * active: what destructors free in flight is held until the process has ended. exit() from a
 * handler only changes the status. */
static void at_cuda_exit(int status, void *argument)
{
    (void)argument;
    int own = status_outside(status);
    int final_status = conclude_process(own, /*unsubscribe*/ true);
    if (final_status != own)
        exit(final_status);
}

/* Reports that CUDA was used without the library: a run of which nothing was seen must not look
 * like a clean one. */
static void report_unreached(int status)
{
    sc_life_start();
    if (!sc_process_wants_wrappers())
        return;
    sc_report_open(&sc_options, &(struct sc_report_run){.unreached = true});
    sc_report_summary(&(struct sc_report_totals){.exit_status = status, .final = true});
    if (sc_options.verbosity > 0)
        sc_report_say(NULL,
                      "this process used CUDA, but no call of it came through the library: nothing "
                      "was protected or looked for (docs/limits.md)");
}

/* Reports, if no call came through this library, that CUDA was used all the same, or with
 * verbosity=2 that it was not used. Only a copy of the library that the program uses says so, since
 * another copy may see calls. */
static void report_nothing_seen(int status)
{
    if (atomic_load(&up) || !(sc_process_is_alone() || sc_is_preloaded()))
        return;
    if (sc_unreached_was_used())
        report_unreached(status);
    else if (tells_no_use)
        sc_report_say(NULL, "loaded, and saw no use of CUDA in this process");
}

/* Reports memory that was never freed (SC601). Not if a signal handler ends the process that has
 * interrupted code with a lock of the library: it would wait for its own thread. */
static void report_never_freed(void *unused)
{
    (void)unused;
    if (!sc_library_lock_depth)
        sc_never_freed_report();
}

/* The exit handler that was registered first, so it runs last: writes the final summary, with
 * memory that nobody has freed (if leaks=1), and gives the process the status that strict=1 asks
 * for. Without a preload the frees of destructors are not seen. exit() from a handler only changes
 * the status. */
static void at_exit(int status, void *argument)
{
    (void)argument;
    int own = status_outside(status);
    report_nothing_seen(own);
    if (sc_options.leaks && sc_options.memory && !sc_process_is_alone() && sc_life_is_ours() &&
        !atomic_load(&summarised))
        call_at_last(report_never_freed, NULL);
    int final_status = end_process(own);
    if (final_status != own)
        exit(final_status);
}

/* The handler of quick_exit that was registered first, so it runs last: concludes the process. The
 * status can only be changed by ending the process at once. */
static void at_quick_exit_last(void)
{
    int final_status = end_process(quick_status);
    if (final_status != quick_status)
        _exit(final_status);
}

typedef void exit_function(int status);

/* Calls the real _exit or the like, which does not return, whatever its type says. */
static __attribute__((noreturn)) void call_real_exit(exit_function *real, int status)
{
    real(status);
    __builtin_unreachable();
}

/* Concludes the process before a call that ends it without exit handlers. Returns the status to end
 * with. */
int sc_life_finish(int status)
{
    return end_process(status_outside(status));
}

/* Hook of _exit, which runs no exit handlers: the summary is written before. */
SC_EXPORT void _exit(int status)
{
    call_real_exit(SC_NEXT(exit_function *, "_exit"), sc_life_finish(status));
}

/* Hook of _Exit, which runs no exit handlers: the summary is written before. */
SC_EXPORT void _Exit(int status)
{
    call_real_exit(SC_NEXT(exit_function *, "_Exit"), sc_life_finish(status));
}

/* Hook of quick_exit: notes the status for the handler above, which is not told it. */
SC_EXPORT void quick_exit(int status)
{
    quick_status = status_outside(status);
    call_real_exit(SC_NEXT(exit_function *, "quick_exit"), status);
}

/* Waits until tools were shown all hazards (NVTX). This may wait for a lock, so it is a function
 * that can be left at the end of the process. */
static void show_all(void *unused)
{
    (void)unused;
    sc_nvtx_await();
}

/* Writes to disk what was found, before a call that may end or replace the process (exec, abort). A
 * child of vfork goes on as another process, and has nothing to write. A thread that a handler has
 * interrupted within a lock of the library would wait for itself. */
void sc_life_may_vanish(void)
{
    SC_KEEP_ERRNO();
    if (!sc_active() || sc_library_lock_depth || !sc_life_is_ours())
        return;
    SC_UNCANCELLED();
    sc_postmortem_await();
    sc_reaper_await_all();
    sc_spare_stack_call_last(show_all, NULL);
}

/* The exit status by which a shell shows SIGABRT. */
enum { ABORTED = 128 + SIGABRT };

/* Prints on stderr how many hazards were found so far. */
static void print_findings(void)
{
    struct sc_report_totals totals = totals_of(ABORTED, false);
    sc_report_say_aborting(&totals);
}

/* Prints what was found as the program aborts, since no summary will come. An abort by
 * halt_on_error was explained already. With a lock of the library held by the interrupted thread
 * nothing is said. */
static void say_aborting(void)
{
    if (!sc_library_lock_depth && !sc_options.halt_on_error && sc_life_is_ours())
        print_findings();
}

/* Writes what must not be lost when the program calls abort: what was in flight, hazards that are
 * not on disk yet, and their count. `site`: where abort was called. */
static void note_abort(void *site)
{
    sc_postmortem_write_on_abort(site);
    sc_life_may_vanish();
    say_aborting();
}

typedef void abort_function(void);

/* Hook of abort, which runs no exit handlers: what was found is written before. */
SC_EXPORT void abort(void)
{
    call_at_last(note_abort, SC_SITE());
    SC_NEXT(abort_function *, "abort")();
    __builtin_unreachable();
}

/* Do the options let the library work? Asked before CUDA is used. They are fully read only then, so
 * that a process that never uses CUDA is told of no mistakes in them. In a setuid program they are
 * not trusted. */
static bool wants_to_work(void)
{
    return sc_options_find_choice(options_text(), "mode") != SC_MODE_OFF && !getauxval(AT_SECURE);
}

/* Prepares what must be in place before CUDA is used: whether signals are shared with the program,
 * and whether the end of a process without CUDA is told (verbosity=2). */
static void begin_by_options(void)
{
    bool works = wants_to_work();
    tells_no_use = works && sc_options_find_choice(options_text(), "verbosity") == 2;
    sc_guard_process(works ? SC_GUARD_STARTS : SC_GUARD_STARTS_UNWANTED);
}

/* Is the library off in this process? Once CUDA is used it is not; before, the environment says. */
bool sc_life_is_off(void)
{
    return !atomic_load(&up) && !wants_to_work();
}

/* Begins when the library is loaded, before main: keeps the options, the label that a test has left
 * in the environment, the files behind descriptors, and the list of processes in which `safecopy
 * run` finds this one. The handlers of exit are registered before anybody else's, so that they run
 * last. */
static __attribute__((constructor)) void construct(void)
{
    keep_options();
    sc_annotations_start();
    begin_by_options();
    sc_report_note_descriptors();
    sc_roll_take(getauxval(AT_SECURE) ? NULL : getenv(SC_ROLL_VARIABLE));
    pthread_atfork(NULL, NULL, prepare_child);
    on_exit(at_exit, NULL);
    at_quick_exit(at_quick_exit_last);
}
