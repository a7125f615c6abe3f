/* links: interpose/reaper/deallocation.c interpose/base/process.c
 *
 * What becomes of memory that the program takes away: deferred, waited for, or reported only. The
 * tracker is real; the report, the pages and the reaper write down that they were called.
 */
#include "common/brief_lock.h"
#include "common/handles.h"
#include "common/hazard_words.h"
#include "common/pages.h"
#include "common/points.h"
#include "interpose/base/process.h"
#include "interpose/base/recently.h"
#include "interpose/guard/door.h"
#include "interpose/reaper/culprit.h"
#include "interpose/reaper/deallocation.h"
#include "interpose/reaper/hazards.h"
#include "interpose/reaper/reaper.h"
#include "tests/unit/destroy.h"
#include "tests/unit/locked.h"
#include "track/graphs.h"
#include "track/hold.h"
#include "track/hold_kind.h"
#include "track/inflight_calls.h"
#include "track/op_info.h"
#include "track/spans.h"
#include "track/track.h"
#include "track/track_graphs.h"
#include "track/track_holds.h"
#include "track/track_ops.h"
#include "track/track_order.h"
#include "track/tracker.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 0x100000, BLOCK_BYTES = 64, GRAPH = 0x777 };

static const struct sc_culprit culprit = {"free", NULL, NULL};
static uint32_t legacy, one;

/* ---- what else there is of the library ---- */

static char steps[16]; /* (a)pply, (r)eport, (w)ait, wa(k)e, (e)vent, in their order */
static enum sc_hazard_code code;
static enum sc_action action;
static unsigned reported;

static void note_step(char step)
{
    size_t count = strlen(steps);
    ck_assert_uint_lt(count + 1, sizeof steps);
    steps[count] = step;
}

void sc_guard_apply(uint64_t stream_bits)
{
    (void)stream_bits;
    note_step('a');
}

void sc_hazards_report(enum sc_hazard_code given_code, enum sc_action given_action,
                       const struct sc_ops *ops, const struct sc_buffer *buffer,
                       const struct sc_culprit *by)
{
    note_step('r');
    code = given_code;
    action = given_action;
    reported = ops->count;
    ck_assert_uint_eq(buffer->address, BLOCK);
    ck_assert_uint_eq(buffer->size_bytes, BLOCK_BYTES);
    ck_assert_ptr_eq(by, &culprit);
}

struct sc_hazard_event sc_hazards_event(const struct sc_culprit *by)
{
    note_step('e');
    return (struct sc_hazard_event){.api = by->api};
}

bool sc_reaper_await_hold(const struct sc_deallocation *taken, const char *api)
{
    ck_assert_ptr_nonnull(api);
    ck_assert(LOCKED(&sc_track, sc_holds_is_alive(&sc_track.holds, taken->held, taken->held_age)));
    note_step('w');
    return true;
}

void sc_reaper_wake(void)
{
    note_step('k');
}

static unsigned freed; /* entries of the history */

void sc_recently_note_freed(const char *api, void *site, uintptr_t address, size_t size_bytes)
{
    ck_assert_ptr_eq(api, culprit.api);
    ck_assert_ptr_eq(site, culprit.site);
    ck_assert_uint_eq(address, BLOCK);
    ck_assert_uint_eq(size_bytes, BLOCK_BYTES);
    freed++;
}

/* ---- what tests do ---- */

static void set_up(void)
{
    memset(steps, 0, sizeof steps);
    sc_options = (struct sc_options){.mode = SC_MODE_FIX,
                                     .max_held_bytes = 1 << 30,
                                     .postmortem = true}; /* and kernels are off */
    ck_assert_int_eq(sc_track_init(&sc_track), 0);
    sc_brief_lock_acquire(&sc_track.lock);
    sc_spans_add(&sc_track.inflight.guards, (struct sc_span_owner){0, 0}, 16 * BLOCK, BLOCK_BYTES,
                 SC_ACCESS_READ, 0);
    sc_brief_lock_release(&sc_track.lock);
    legacy = sc_track_add_stream(&sc_track, SC_STREAM_LEGACY, 0, 1, 0);
    one = sc_track_add_stream(&sc_track, SC_STREAM_NONBLOCKING, legacy, 2, 0);
}

static void tear_down(void)
{
    destroy_track(&sc_track);
}

static void issue(void)
{
    SC_ISSUED(issued);
    struct sc_op_info info = {.api = "copy",
                              .shape = {BLOCK, BLOCK_BYTES, BLOCK_BYTES, 1},
                              .ticket.stream = one,
                              .direction = SC_H2D,
                              .kind = SC_PAGEABLE};
    sc_track_issue(&sc_track, &(struct sc_order_call){0}, &info, 1, &issued);
}

static bool is_in_flight(void)
{
    SC_OPS(found);
    LOCKED(&sc_track, sc_inflight_find_in(&sc_track.inflight, BLOCK, BLOCK_BYTES, &found));
    return found.count != 0;
}

static struct sc_deallocation of_kind(enum sc_hold_kind kind)
{
    return (struct sc_deallocation){
        .address = BLOCK, .size_bytes = BLOCK_BYTES, .hold = true, .kind = kind};
}

/* Whether the memory is kept. */
static bool make(struct sc_deallocation request)
{
    bool kept = sc_deallocation_handle(&request, SC104, &culprit);
    sc_deallocation_end(&request);
    return kept;
}

static void name_block_as(enum sc_buffer_kind kind)
{
    const struct sc_graph_use use = {.node = 1,
                                     .shape = {BLOCK, BLOCK_BYTES, BLOCK_BYTES, 1},
                                     .direction = SC_H2D,
                                     .kind = kind,
                                     .range = kind == SC_REGISTERED};
    sc_track_graph_add(&sc_track, GRAPH, &use, NULL);
}

static void name_block_by_graph(void)
{
    name_block_as(SC_PAGEABLE);
}

static struct sc_hazard_event freed_by(void)
{
    struct sc_graph_use use;
    struct sc_graph_extra extra = {0};
    uint32_t graph = (uint32_t)sc_handles_get(&sc_track.graphs.by_handle, GRAPH);
    ck_assert(SC_TRACKED(sc_graphs_get_use(track.graphs, graph, 0, &use, &extra)));
    return extra.freed_by;
}

/* ---- the kinds of hold ---- */

START_TEST(what_is_not_in_flight_goes)
{
    ck_assert(!make(of_kind(SC_HOLD_FREE)));
    ck_assert_uint_eq(reported, 0);
    ck_assert_str_eq(steps, "ar");
}
END_TEST

START_TEST(the_history_has_what_goes_in_flight)
{
    struct sc_deallocation stays = of_kind(SC_HOLD_WAIT);
    stays.stays = true;
    atomic_store(&sc_process.is_active, true);
    make(of_kind(SC_HOLD_FREE));
    ck_assert_uint_eq(freed, 0);
    issue();
    make(stays);
    ck_assert_uint_eq(freed, 0);
    make(of_kind(SC_HOLD_FREE));
    ck_assert_uint_eq(freed, 1);
}
END_TEST

START_TEST(with_postmortem_0_there_is_no_history)
{
    sc_options.postmortem = false;
    atomic_store(&sc_process.is_active, true);
    issue();
    make(of_kind(SC_HOLD_FREE));
    ck_assert_uint_eq(freed, 0);
}
END_TEST

START_TEST(a_free_in_flight_is_deferred)
{
    issue();
    ck_assert(make(of_kind(SC_HOLD_FREE)));
    ck_assert_uint_eq(reported, 1);
    ck_assert_int_eq(code, SC104);
    ck_assert_int_eq(action, SC_ACTION_DEFERRED);
    ck_assert_str_eq(steps, "ark");
    ck_assert(sc_track_is_held(&sc_track, BLOCK, 1, SC_HOLDS_FREED | SC_HOLDS_STARTING));
    ck_assert(!is_in_flight());
}
END_TEST

START_TEST(a_wait_is_over_when_the_memory_goes)
{
    issue();
    ck_assert(!make(of_kind(SC_HOLD_WAIT)));
    ck_assert_uint_eq(reported, 1);
    ck_assert_int_eq(action, SC_ACTION_STALLED);
    ck_assert_str_eq(steps, "arw");
    ck_assert(!is_in_flight());
}
END_TEST

START_TEST(in_mode_report_nothing_is_held)
{
    sc_options.mode = SC_MODE_REPORT;
    issue();
    ck_assert(!make(of_kind(SC_HOLD_FREE)));
    ck_assert_uint_eq(reported, 1);
    ck_assert_int_eq(action, SC_ACTION_REPORTED);
    ck_assert_str_eq(steps, "ar");
    ck_assert(!is_in_flight());
    ck_assert_uint_eq(sc_track.holds.oldest, 0);
}
END_TEST

static void launch_kernel(void)
{
    struct sc_op_info info = {.api = "kernel",
                              .shape = {BLOCK, 1, 1, 1},
                              .ticket.stream = one,
                              .direction = SC_NO_DIRECTION,
                              .kind = SC_PAGEABLE};
    sc_track_issue_one(&sc_track, &info, 1);
}

START_TEST(a_kernel_is_held_for_where_that_is_asked_for)
{
    launch_kernel();
    sc_options.kernels = SC_KERNELS_REPORT;
    SC_DEALLOCATION request = of_kind(SC_HOLD_FREE);
    ck_assert(!sc_deallocation_handle(&request, SC101, &culprit));
    ck_assert(sc_deallocation_needs_no_wait(&request));
    ck_assert_int_eq(action, SC_ACTION_REPORTED);
    ck_assert(!is_in_flight());
    launch_kernel();
    sc_options.kernels = SC_KERNELS_ORDER;
    SC_DEALLOCATION ordered = of_kind(SC_HOLD_FREE);
    ck_assert(sc_deallocation_handle(&ordered, SC101, &culprit));
    ck_assert(!sc_deallocation_needs_no_wait(&ordered));
    ck_assert_int_eq(action, SC_ACTION_DEFERRED);
}
END_TEST

START_TEST(nothing_is_held_unasked)
{
    struct sc_deallocation request = of_kind(SC_HOLD_FREE);
    request.hold = false;
    issue();
    ck_assert(!make(request));
    ck_assert_int_eq(action, SC_ACTION_REPORTED);
    ck_assert_str_eq(steps, "ar");
}
END_TEST

/* ---- max_held ---- */

START_TEST(past_max_held_a_free_waits)
{
    sc_options.max_held_bytes = BLOCK_BYTES - 1;
    issue();
    ck_assert(!make(of_kind(SC_HOLD_FREE)));
    ck_assert_uint_eq(reported, 1);
    ck_assert_int_eq(action, SC_ACTION_STALLED);
    ck_assert_str_eq(steps, "arw");
    ck_assert(!is_in_flight());
}
END_TEST

START_TEST(past_max_held_the_driver_waits_for_its_own)
{
    sc_options.max_held_bytes = BLOCK_BYTES - 1;
    issue();
    ck_assert(!make(of_kind(SC_HOLD_FREE_PINNED)));
    ck_assert_uint_eq(reported, 1);
    ck_assert_int_eq(action, SC_ACTION_STALLED);
    ck_assert_str_eq(steps, "ar");
    ck_assert(is_in_flight());
}
END_TEST

START_TEST(a_caller_may_hold_more)
{
    struct sc_deallocation request = of_kind(SC_HOLD_FREE);
    sc_options.max_held_bytes = BLOCK_BYTES - 1;
    request.max_held_bytes = UINT64_MAX;
    issue();
    ck_assert(make(request));
    ck_assert_int_eq(action, SC_ACTION_DEFERRED);
}
END_TEST

/* ---- graphs ---- */

START_TEST(launches_are_told_of_the_call)
{
    name_block_by_graph();
    ck_assert(make(of_kind(SC_HOLD_FREE)));
    ck_assert_str_eq(steps, "eark");
    ck_assert_str_eq(freed_by().api, "free");
    ck_assert(!freed_by().unregistered);
    ck_assert(sc_track_is_held(&sc_track, BLOCK, 1, SC_HOLDS_ALL | SC_HOLDS_BY_GRAPH));
}
END_TEST

START_TEST(launches_are_told_of_a_registration_that_ends)
{
    name_block_as(SC_REGISTERED);
    ck_assert(make(of_kind(SC_HOLD_UNREGISTER)));
    ck_assert(freed_by().unregistered);
}
END_TEST

/* The driver copies what was pageable in the capture as that for good. */
START_TEST(pageable_nodes_need_no_registration)
{
    name_block_by_graph();
    ck_assert(!make(of_kind(SC_HOLD_UNREGISTER)));
    ck_assert_ptr_null(freed_by().api);
    sc_deallocation_note_for_graphs(BLOCK, BLOCK_BYTES, true, false, &culprit);
    ck_assert_ptr_null(freed_by().api);
}
END_TEST

START_TEST(launches_are_told_of_what_goes_without_a_hold)
{
    sc_deallocation_note_for_graphs(BLOCK, BLOCK_BYTES, false, true, &culprit);
    ck_assert_str_eq(steps, "");
    name_block_by_graph();
    sc_deallocation_note_for_graphs(BLOCK, BLOCK_BYTES, false, true, &culprit);
    ck_assert_str_eq(steps, "e");
    ck_assert_str_eq(freed_by().api, "free");
    ck_assert(freed_by().detached);
}
END_TEST

START_TEST(only_who_settles_ends_what_is_held_for_a_graph)
{
    struct sc_deallocation settles = of_kind(SC_HOLD_WAIT);
    settles.settles = true;
    name_block_by_graph();
    ck_assert(make(of_kind(SC_HOLD_UNMAP)));
    make(of_kind(SC_HOLD_WAIT));
    ck_assert(sc_track_is_held(&sc_track, BLOCK, 1, SC_HOLDS_ALL | SC_HOLDS_BY_GRAPH));
    make(settles);
    ck_assert(!sc_track_is_held(&sc_track, BLOCK, 1, SC_HOLDS_ALL | SC_HOLDS_BY_GRAPH));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("deallocation");
    TCase *group = tcase_create("deallocation");
    tcase_add_checked_fixture(group, set_up, tear_down);
    tcase_add_test(group, what_is_not_in_flight_goes);
    tcase_add_test(group, the_history_has_what_goes_in_flight);
    tcase_add_test(group, with_postmortem_0_there_is_no_history);
    tcase_add_test(group, a_free_in_flight_is_deferred);
    tcase_add_test(group, a_wait_is_over_when_the_memory_goes);
    tcase_add_test(group, in_mode_report_nothing_is_held);
    tcase_add_test(group, a_kernel_is_held_for_where_that_is_asked_for);
    tcase_add_test(group, nothing_is_held_unasked);
    tcase_add_test(group, past_max_held_a_free_waits);
    tcase_add_test(group, past_max_held_the_driver_waits_for_its_own);
    tcase_add_test(group, a_caller_may_hold_more);
    tcase_add_test(group, launches_are_told_of_the_call);
    tcase_add_test(group, launches_are_told_of_a_registration_that_ends);
    tcase_add_test(group, pageable_nodes_need_no_registration);
    tcase_add_test(group, launches_are_told_of_what_goes_without_a_hold);
    tcase_add_test(group, only_who_settles_ends_what_is_held_for_a_graph);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
