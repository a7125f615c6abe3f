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

/* Is CUPTI to be used? With cupti=auto it is if a missed call matters more than the time that each
 * call then costs. It also is if its records are wanted: the timeline, which needs the calls'
 * correlation ids, and managed memory, whose records only a subscriber gets. */
static bool is_wanted(void)
{
    if (sc_options.cupti == SC_CUPTI_OFF)
        return false;
    return sc_options.cupti == SC_CUPTI_REQUIRE || sc_process_is_alone() || sc_options.strict ||
           sc_options.mode == SC_MODE_REPORT || sc_options.timeline || sc_options.um;
}

/* Reports and replays a call that CUPTI has reported and no wrapper has made. If the library is
 * alone (not preloaded), no wrapper makes any call, so nothing is reported as missed; the first
 * call activates the library. */
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

/* Returns the major versions of CUPTI to search for: that of the runtime's CUDA, then the driver's.
 * Ends with 0. */
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

/* Warns "WHAT cannot be met: CUPTI is held: by a tool". */
static void warn_unmet(const char *what, const struct sc_cupti_status *status)
{
    sc_warning_say("%s cannot be met: CUPTI is %s%s%s", what, sc_cupti_state_string(status->state),
                   status->detail[0] ? ": " : "", status->detail);
}

/* What the report says of CUPTI. */
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

/* Reports that CUPTI was wanted and cannot be used, or not any more. */
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

/* Is there any context? Then CUPTI would wait for its work, in cuptiSubscribe and to turn records
 * on. */
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

/* Warns that options are not met which need CUPTI's records. */
static void warn_no_records(const char *why)
{
    if (sc_options.timeline)
        sc_warning_say("timeline=1 cannot be met: %s", why);
    if (sc_options.um)
        sc_warning_say("um=1 cannot be met: %s", why);
}

/* Returns the records that the options request; NULL: none. */
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

/* Starts the thread that reads CUPTI's records, and warns of those that CUPTI does not deliver. */
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

/* Reports that CUPTI is not used because there is a context already: the work that CUPTI would wait
 * for may itself wait for this thread. */
static void start_too_late(void)
{
    sc_cupti_fail("CUDA was in use before the library");
    report_loss();
    warn_no_records("CUDA was in use before the library");
}

/* Looks up a function of CUPTI, and records where CUPTI's code lies, before CUPTI starts threads at
 * the first subscription. */
static void *cuptis_symbol(void *handle, const char *name)
{
    void *found = sc_loader_symbol(handle, name);
    if (found)
        sc_driver_code_note_cupti(found);
    return found;
}

/* Has CUPTI report driver calls that no wrapper sees, so that the report can say what was missed.
 */
void sc_audit_start(void)
{
    static struct sc_cupti_request request;
    struct sc_cupti_status status;
    if (!is_wanted()) {
        warn_no_records("it needs CUPTI, and cupti=off");
        return;
    }
    if (!sc_process_is_alone() && has_context()) {
        start_too_late();
        return;
    }
    request = (struct sc_cupti_request){
        .search = {cupti_majors(), sc_libraries_open, sc_libraries_find_path},
        .symbol = cuptis_symbol,
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

void sc_audit_make_way(void)
{
    SC_KEEP_ERRNO();
    if (sc_cupti_yield())
        report_loss();
}

void sc_audit_make_way_for_records(void)
{
    SC_KEEP_ERRNO();
    sc_cupti_yield_records();
}

void sc_audit_close(void)
{
    sc_cupti_stop(false);
}

void sc_audit_stop(bool unsubscribe)
{
    sc_cupti_stop(unsubscribe);
    sc_timeline_stop();
}

void sc_audit_child(void)
{
    sc_copy_times_child();
    sc_cupti_child();
}

/* What the summary says of the timeline. If the timeline was not begun, its state is CUPTI's. */
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

/* What the summary says of managed memory. */
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

/* Fills in the figures of CUPTI and of missed calls for the report's summary. */
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
