#include "interpose/missed/audit.h"

#include <string.h>

#include "common/now.h"
#include "common/own_lock.h"
#include "cupti_hooks/ear.h"
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

/* Auto: where a miss matters more than the nanoseconds that each call then costs, and where records
 * are asked for by themselves: the timeline, which needs the calls' numbers, and those of managed
 * memory, which who subscribes has for itself. */
static bool is_wanted(void)
{
    if (sc_options.cupti == SC_CUPTI_OFF)
        return false;
    return sc_options.cupti == SC_CUPTI_REQUIRE || sc_process_is_alone() || sc_options.strict ||
           sc_options.mode == SC_MODE_REPORT || sc_options.timeline || sc_options.um;
}

static void missed(const struct sc_missed_call *call, bool entering)
{
    SC_KEEP_ERRNO();
    if (sc_process_is_alone()) {
        sc_life_cuda_is_up();
    } else if (entering && call->audited) {
        struct sc_report_miss miss = {
            .api = call->name,
            .runtime_api = sc_ear.runtime_api,
            .thread = sc_thread_id(),
            .time_ns = sc_now_ns(),
            .stack = sc_unwind_here(SC_SITE()),
        };
        if (sc_report_missed(&miss) && !sc_own_lock_depth)
            sc_report_modules();
        sc_cupti_widen();
    }
    sc_replay(call, entering);
}

/* The runtime's CUDA, then the driver's. */
static const int *majors(void)
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

/* "WHAT cannot be met: CUPTI is held: by a tool". */
static void say_unmet(const char *what, const struct sc_cupti_status *status)
{
    sc_warning_say("%s cannot be met: CUPTI is %s%s%s", what, sc_cupti_state_string(status->state),
                   status->detail[0] ? ": " : "", status->detail);
}

static struct sc_report_cupti described(const struct sc_cupti_status *status)
{
    return (struct sc_report_cupti){
        .state = sc_cupti_state_string(status->state),
        .version = status->version,
        .library = status->library,
        .detail = status->detail,
    };
}

static void say_passed_over(const struct sc_cupti_status *status)
{
    if (status->passed_over[0])
        sc_warning_say("libcupti is not looked for where the path is relative: %s; name the whole "
                       "path, from / on",
                       status->passed_over);
}

/* It was wanted, and is not to be had, or not any more. */
static void tell_loss(void)
{
    struct sc_cupti_status status;
    sc_cupti_get_status(&status);
    struct sc_report_cupti cupti = described(&status);
    sc_report_cupti(&cupti);
    if (sc_options.cupti == SC_CUPTI_REQUIRE) {
        sc_report_fail();
        say_unmet("cupti=require", &status);
    }
    if (sc_options.timeline && status.state != SC_CUPTI_YIELDED)
        say_unmet("timeline=1", &status);
    if (sc_options.um && status.state != SC_CUPTI_YIELDED)
        say_unmet("um=1", &status);
}

/* ---- records: the timeline, and managed memory ---- */

/* Where there is a context, CUPTI waits for its work: in cuptiSubscribe, and to turn records on. */
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

static void say_no_records(const char *why)
{
    if (sc_options.timeline)
        sc_warning_say("timeline=1 cannot be met: %s", why);
    if (sc_options.um)
        sc_warning_say("um=1 cannot be met: %s", why);
}

static const struct sc_timeline_request *request_records(void)
{
    static struct sc_timeline_request request;
    request = (struct sc_timeline_request){
        .copies = sc_options.timeline,
        .starves = sc_copy_times_wake,
        .managed = sc_options.um ? sc_managed_hear : NULL,
    };
    return sc_options.timeline || sc_options.um ? &request : NULL;
}

/* We listen; do records come? */
static void follow_records(void)
{
    bool copies = sc_timeline_state() == SC_CUPTI_LISTENING;
    bool managed = sc_timeline_managed_state() == SC_CUPTI_LISTENING;
    struct sc_copy_times_managed who = {0};
    if (managed)
        who = (struct sc_copy_times_managed){sc_managed_is_there, sc_managed_judge_faults};
    bool runs = (copies || managed) && sc_copy_times_start(who);
    if (!runs && (copies || managed) && sc_cupti_yield_records())
        sc_timeline_fail();
    if (sc_options.timeline && !(runs && copies))
        sc_warning_say("timeline=1 cannot be met: CUPTI gives no activity records");
    if (sc_options.um && !(runs && managed)) {
        const char *detail = sc_timeline_managed_detail();
        sc_warning_say("um=1 cannot be met: CUPTI counts nothing of managed memory here%s%s",
                       detail[0] != '\0' ? ": " : "", detail);
    }
}

/* The work that is waited for may itself wait for the thread that brings us up. */
static void start_too_late(void)
{
    sc_cupti_fail("CUDA was in use before the library");
    tell_loss();
    say_no_records("CUDA was in use before the library");
}

/* CUPTI starts threads when somebody subscribes. */
static void *cuptis_symbol(void *handle, const char *name)
{
    void *found = sc_loader_symbol(handle, name);
    if (found)
        sc_driver_code_note_cupti(found);
    return found;
}

void sc_audit_start(void)
{
    static struct sc_cupti_request request;
    struct sc_cupti_status status;
    if (!is_wanted()) {
        say_no_records("it needs CUPTI, and cupti=off");
        return;
    }
    if (!sc_process_is_alone() && has_context()) {
        start_too_late();
        return;
    }
    request = (struct sc_cupti_request){
        .search = {majors(), sc_libraries_open, sc_libraries_find_path},
        .symbol = cuptis_symbol,
        .missed = missed,
        .told = sc_resource_news,
        .records = request_records(),
    };
    request.followed = sc_replay_ids(&request.followed_count);
    sc_cupti_start(&request);
    sc_cupti_get_status(&status);
    say_passed_over(&status);
    if (status.state == SC_CUPTI_LISTENING && request.records)
        follow_records();
    if (status.state != SC_CUPTI_LISTENING)
        tell_loss();
    else if (sc_process_is_alone())
        sc_cupti_widen();
}

void sc_audit_make_way(void)
{
    SC_KEEP_ERRNO();
    if (sc_cupti_yield())
        tell_loss();
}

void sc_audit_made_way(void)
{
    sc_cupti_tool_came();
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

/* Without CUPTI, as that is. */
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

void sc_audit_totals(struct sc_report_totals *totals)
{
    struct sc_cupti_status status;
    uint64_t wrapped, missed_calls;
    sc_cupti_get_status(&status);
    totals->cupti = described(&status);
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
