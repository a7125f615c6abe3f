#include "interpose/missed/audit.h"

#include <string.h>

#include "common/library_lock.h"
#include "common/now.h"
#include "cupti_hooks/current_call.h"
#include "cupti_hooks/subscription.h"
#include "cupti_hooks/timeline.h"
#include "interpose/base/compiler.h"
#include "interpose/base/loader.h"
#include "interpose/base/process.h"
#include "interpose/base/unwind.h"
#include "interpose/base/upcalls.h"
#include "interpose/base/warning.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/driver_code.h"
#include "interpose/ledger/managed.h"
#include "interpose/ledger/moves.h"
#include "interpose/missed/replay.h"
#include "interpose/missed/resource_news.h"
#include "interpose/reaper/copy_times.h"
#include "report/libraries.h"
#include "report/options.h"
#include "report/report.h"

#include "common/poison.h"

/* Do the options want CUPTI to report driver calls? With cupti=auto they do where a call that no
 * wrapper sees matters more than the time that each call then costs (strict=1, mode=report), or
 * where CUPTI's records are needed: for the timeline, and for managed memory. A library that is
 * alone (not preloaded) sees calls by CUPTI only. */
static bool is_wanted(void)
{
    if (sc_options.cupti == SC_CUPTI_OFF)
        return false;
    return sc_options.cupti == SC_CUPTI_REQUIRE || sc_process_is_alone() || sc_options.strict ||
           sc_options.mode == SC_MODE_REPORT || sc_options.timeline || sc_options.um;
}

/* Called by CUPTI's callback, at the beginning (`entering`) and at the end of a driver call that
 * came through no wrapper: counts and reports it as missed, and runs its wrapper for what that
 * notes (a replay). If the library is alone (not preloaded), no call comes through wrappers, so
 * nothing is reported as missed; the first call activates the library. The list of modules, which
 * names the stack's frames, is not written within a lock of the library. */
static void on_missed_call(const struct sc_missed_call *call, bool entering)
{
    SC_KEEP_ERRNO();
    if (sc_process_is_alone()) {
        sc_life_cuda_is_up();
    } else if (entering && call->audited) {
        struct sc_report_miss miss = {
            .api = call->name,
            .runtime_api = sc_current_call.runtime_api,
            .thread = sc_thread_id(),
            .time_ns = sc_now_ns(),
            .stack = sc_unwind_here(SC_SITE()),
        };
        if (sc_report_missed(&miss) && !sc_library_lock_depth)
            sc_report_modules();
        sc_cupti_follow_more();
    }
    sc_replay(call, entering);
}

/* Returns the major versions of libcupti to search for, ended by 0: that of the program's CUDA
 * runtime, then the driver's. */
static const int *cupti_majors(void)
{
    static int list[3];
    int version = 0;
    int count = 0;
    sc_real.cuDriverGetVersion(&version);
    if (sc_driver_runtime_version() >= 11000)
        list[count++] = sc_driver_runtime_version() / 1000;
    if (count == 0 || list[0] != version / 1000)
        list[count] = version / 1000;
    return list;
}

/* Warns that an option (`what`) is not met because of CUPTI's state, for example "timeline=1 cannot
 * be met: CUPTI is held: by a tool". */
static void warn_unmet(const char *what, const struct sc_cupti_status *status)
{
    sc_warning_say("%s cannot be met: CUPTI is %s%s%s", what, sc_cupti_state_string(status->state),
                   status->detail[0] ? ": " : "", status->detail);
}

/* Returns what the report says of CUPTI. */
static struct sc_report_cupti describe_cupti(const struct sc_cupti_status *status)
{
    return (struct sc_report_cupti){
        .state = sc_cupti_state_string(status->state),
        .version = status->version,
        .library = status->library,
        .detail = status->detail,
    };
}

/* Warns that libcupti was not searched for on a relative path, where anyone may have put one. */
static void warn_passed_over(const struct sc_cupti_status *status)
{
    if (status->passed_over[0])
        sc_warning_say("libcupti is not looked for where the path is relative: %s; name the whole "
                       "path, from / on",
                       status->passed_over);
}

/* Reports that CUPTI was wanted and cannot be used, or not any more, and warns of options that are
 * not met for that reason. A tool that took CUPTI over (YIELDED) is the user's wish, so no warning.
 */
static void report_loss(void)
{
    struct sc_cupti_status status;
    sc_cupti_get_status(&status);
    struct sc_report_cupti cupti = describe_cupti(&status);
    sc_report_cupti(&cupti);
    if (sc_options.cupti == SC_CUPTI_REQUIRE) {
        sc_report_fail();
        warn_unmet("cupti=require", &status);
    }
    if (sc_options.timeline && status.state != SC_CUPTI_YIELDED)
        warn_unmet("timeline=1", &status);
    if (sc_options.um && status.state != SC_CUPTI_YIELDED)
        warn_unmet("um=1", &status);
}

/* ---- records: the timeline, and managed memory ---- */

/* Does the process have any CUDA context already? Then CUPTI would wait for its work, both in
 * cuptiSubscribe and when records are turned on. Asked before CUPTI is started. */
static bool has_context(void)
{
    CUcontext current = NULL;
    int devices = 0;
    if (sc_real.cuCtxGetCurrent(&current) == CUDA_SUCCESS && current)
        return true;
    sc_real.cuDeviceGetCount(&devices);
    for (CUdevice device = 0; device < devices; device++) {
        unsigned flags;
        int alive = 0;
        if (sc_real.cuDevicePrimaryCtxGetState(device, &flags, &alive) == CUDA_SUCCESS && alive)
            return true;
    }
    return false;
}

/* Warns that options which need CUPTI's records (timeline, um) are not met, and why. */
static void warn_no_records(const char *why)
{
    if (sc_options.timeline)
        sc_warning_say("timeline=1 cannot be met: %s", why);
    if (sc_options.um)
        sc_warning_say("um=1 cannot be met: %s", why);
}

/* Returns which of CUPTI's records the options ask for (times of copies, faults and moves of
 * managed memory), for sc_cupti_start; NULL: none. */
static const struct sc_timeline_request *request_records(void)
{
    static struct sc_timeline_request request;
    request = (struct sc_timeline_request){
        .copies = sc_options.timeline,
        .starves = sc_copy_times_wake,
        .managed = sc_options.um ? sc_managed_note_news : NULL,
    };
    return sc_options.timeline || sc_options.um ? &request : NULL;
}

/* Called when CUPTI has started and records are wanted: starts the library's thread that reads
 * them. If there is no such thread, the records are given up, since nobody would empty CUPTI's
 * buffers. Warns of records that are wanted and do not come. */
static void start_records(void)
{
    bool copies = sc_timeline_state() == SC_CUPTI_LISTENING;
    bool managed = sc_timeline_managed_state() == SC_CUPTI_LISTENING;
    struct sc_copy_times_managed calls = {0};
    if (managed)
        calls = (struct sc_copy_times_managed){sc_managed_is_there, sc_managed_judge_faults};
    bool is_running = (copies || managed) && sc_copy_times_start(calls);
    if (!is_running && (copies || managed) && sc_cupti_yield_records())
        sc_timeline_fail();
    if (sc_options.timeline && !(is_running && copies))
        sc_warning_say("timeline=1 cannot be met: CUPTI gives no activity records");
    if (sc_options.um && !(is_running && managed)) {
        const char *detail = sc_timeline_managed_detail();
        sc_warning_say("um=1 cannot be met: CUPTI counts nothing of managed memory here%s%s",
                       detail[0] != '\0' ? ": " : "", detail);
    }
}

/* Called instead of a start if there is a context already: reports that CUPTI is not used. It would
 * wait for the context's work, which may itself wait for this thread. */
static void report_too_late(void)
{
    sc_cupti_fail("CUDA was in use before the library");
    report_loss();
    warn_no_records("CUDA was in use before the library");
}

/* Looks up a function of libcupti, for cupti_hooks/, and notes where libcupti's code lies: threads
 * that CUPTI starts (from the first subscription on) are known by that. NULL: there is no such
 * function. */
static void *find_cupti_symbol(void *handle, const char *name)
{
    void *found = sc_loader_symbol(handle, name);
    if (found)
        sc_driver_code_note_cupti(found);
    return found;
}

/* Called when CUDA has been initialised: has CUPTI report driver calls from now on, so that calls
 * which come through no wrapper are noticed and replayed. If CUPTI cannot be used, that is
 * reported. If the library is alone (not preloaded), all kinds of calls are followed from the
 * start. */
void sc_audit_start(void)
{
    static struct sc_cupti_request request;
    struct sc_cupti_status status;
    if (!is_wanted()) {
        warn_no_records("it needs CUPTI, and cupti=off");
        return;
    }
    if (!sc_process_is_alone() && has_context()) {
        report_too_late();
        return;
    }
    request = (struct sc_cupti_request){
        .search = {cupti_majors(), sc_libraries_open, sc_libraries_find_path},
        .symbol = find_cupti_symbol,
        .missed = on_missed_call,
        .told = sc_resource_news,
        .records = request_records(),
    };
    request.followed = sc_replay_ids(&request.followed_count);
    sc_cupti_start(&request);
    sc_cupti_get_status(&status);
    warn_passed_over(&status);
    if (status.state == SC_CUPTI_LISTENING && request.records)
        start_records();
    if (status.state != SC_CUPTI_LISTENING)
        report_loss();
    else if (sc_process_is_alone())
        sc_cupti_follow_more();
}

/* Called before a profiler's call of CUPTI: ends the library's use of CUPTI, which only one client
 * can have. That is reported, since calls are missed from now on. */
void sc_audit_make_way(void)
{
    SC_KEEP_ERRNO();
    if (sc_cupti_yield())
        report_loss();
}

/* Called before another tool registers for CUPTI's records: gives the library's records up. */
void sc_audit_make_way_for_records(void)
{
    SC_KEEP_ERRNO();
    sc_cupti_yield_records();
}

/* Called when the process ends: CUPTI's callbacks are ignored from now on; records still come. */
void sc_audit_close(void)
{
    sc_cupti_stop(false);
}

/* Called at the end of the process, after sc_audit_close: ends the library's use of CUPTI.
 * `unsubscribe`: CUPTI may still be called. */
void sc_audit_stop(bool unsubscribe)
{
    sc_cupti_stop(unsubscribe);
    sc_timeline_stop();
}

/* Called in a forked child, where CUPTI does not work: ends the library's use of it without calls.
 */
void sc_audit_child(void)
{
    sc_copy_times_child();
    sc_cupti_child();
}

/* Fills in what the summary says of the timeline (option timeline=1). If that was not begun, the
 * state of CUPTI says why. */
static void describe_timeline(const struct sc_cupti_status *cupti,
                              struct sc_report_timeline *timeline)
{
    struct sc_timeline_counts counts;
    enum sc_cupti_state state = sc_timeline_state();
    if (!sc_options.timeline)
        return;
    sc_timeline_get_counts(&counts);
    timeline->state = sc_cupti_state_string(state == SC_CUPTI_UNUSED ? cupti->state : state);
    timeline->records = counts.records;
    timeline->dropped = counts.dropped;
    timeline->matched = sc_copy_times_matched();
}

/* Fills in what the summary says of CUPTI's records of managed memory (option um=1). If they were
 * not asked for, the state of CUPTI says why. */
static void describe_um(const struct sc_cupti_status *cupti, struct sc_report_um *um)
{
    struct sc_timeline_counts counts;
    enum sc_cupti_state state = sc_timeline_managed_state();
    bool is_asked = state != SC_CUPTI_UNUSED;
    if (!sc_options.um)
        return;
    sc_timeline_get_counts(&counts);
    *um = (struct sc_report_um){
        .state = sc_cupti_state_string(is_asked ? state : cupti->state),
        .detail = is_asked ? sc_timeline_managed_detail() : cupti->detail,
        .dropped = counts.dropped,
        .counts = sc_moves_counts(),
    };
}

/* Fills in the summary's figures of CUPTI, and of driver calls that came through wrappers
 * (`wrapped`) or did not (`missed`). Without CUPTI only the wrapped operations are known. If the
 * library is alone (not preloaded), every call comes through no wrapper, so none counts as missed.
 */
void sc_audit_totals(struct sc_report_totals *totals)
{
    struct sc_cupti_status status;
    uint64_t wrapped, missed_calls;
    sc_cupti_get_status(&status);
    totals->cupti = describe_cupti(&status);
    describe_timeline(&status, &totals->timeline);
    describe_um(&status, &totals->um);
    totals->coverage.wrapped = totals->operations;
    sc_cupti_counts(&wrapped, &missed_calls);
    if (!wrapped && !missed_calls && status.state != SC_CUPTI_LISTENING)
        return;
    totals->coverage.calls = wrapped + missed_calls;
    totals->coverage.wrapped = wrapped;
    totals->coverage.missed = sc_process_is_alone() ? 0 : missed_calls;
}
