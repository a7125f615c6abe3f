#include "interpose/audit.h"

#include <errno.h>
#include <string.h>

#include "cupti_hooks/ear.h"
#include "cupti_hooks/subscription.h"
#include "interpose/alone.h"
#include "interpose/driver.h"
#include "interpose/follow.h"
#include "interpose/loader.h"
#include "interpose/process.h"
#include "interpose/told.h"
#include "interpose/unwind.h"
#include "track/ticks.h"

#include "track/poison.h"

/* Auto: where a miss matters more than the nanoseconds that each call then costs. */
static bool is_wanted(void)
{
    if (sc_options.cupti == SC_CUPTI_REQUIRE || (sc_is_alone() && sc_options.cupti != SC_CUPTI_OFF))
        return true;
    return sc_options.cupti == SC_CUPTI_AUTO &&
           (sc_options.strict || sc_options.mode == SC_MODE_REPORT);
}

static void missed(const struct sc_missed_call *call, bool entering)
{
    int saved = errno;
    if (sc_is_alone()) {
        sc_process_cuda_is_up();
    } else if (entering && call->audited) {
        struct sc_report_miss miss = {
            .api = call->name,
            .runtime_api = sc_ear.runtime_api,
            .thread = sc_thread_id(),
            .time_ns = sc_now_ns(),
            .stack = sc_unwind_here(SC_SITE()),
        };
        sc_report_missed(&miss);
        sc_cupti_widen();
    }
    sc_follow(call, entering);
    errno = saved;
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

static void complain(const struct sc_cupti_status *status)
{
    char line[256] = "cupti=require cannot be met: CUPTI is ";
    if (sc_options.cupti != SC_CUPTI_REQUIRE)
        return;
    sc_report_fail();
    strcat(line, sc_cupti_state_string(status->state));
    if (status->detail[0]) {
        strcat(line, ": ");
        strncat(line, status->detail, 128);
    }
    if (sc_options.verbosity > 0)
        sc_report_say(NULL, line);
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

/* It was wanted, and is not to be had, or not any more. */
static void tell_loss(void)
{
    struct sc_cupti_status status;
    sc_cupti_get_status(&status);
    struct sc_report_cupti cupti = described(&status);
    sc_report_cupti(&cupti);
    complain(&status);
}

void sc_audit_start(void)
{
    static struct sc_cupti_request request;
    struct sc_cupti_status status;
    if (!is_wanted())
        return;
    request = (struct sc_cupti_request){
        .majors = majors(),
        .symbol = sc_loader_symbol,
        .missed = missed,
        .told = sc_told,
    };
    request.followed = sc_follow_ids(&request.followed_count);
    sc_cupti_start(&request);
    sc_cupti_get_status(&status);
    if (status.state != SC_CUPTI_LISTENING)
        tell_loss();
    else if (sc_is_alone())
        sc_cupti_widen();
}

void sc_audit_make_way(void)
{
    int saved = errno;
    if (sc_cupti_yield())
        tell_loss();
    errno = saved;
}

void sc_audit_made_way(void)
{
    sc_cupti_tool_came();
}

void sc_audit_stop(bool unsubscribe)
{
    sc_cupti_stop(unsubscribe);
}

void sc_audit_child(void)
{
    sc_cupti_child();
}

void sc_audit_totals(struct sc_report_totals *totals)
{
    struct sc_cupti_status status;
    uint64_t wrapped, missed_calls;
    sc_cupti_get_status(&status);
    totals->cupti = described(&status);
    totals->coverage.wrapped = totals->operations;
    sc_cupti_counts(&wrapped, &missed_calls);
    if (!wrapped && !missed_calls && status.state != SC_CUPTI_LISTENING)
        return;
    totals->coverage.calls = wrapped + missed_calls;
    totals->coverage.wrapped = wrapped;
    totals->coverage.missed = sc_is_alone() ? 0 : missed_calls;
}
