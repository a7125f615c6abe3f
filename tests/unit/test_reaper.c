/* links: interpose/reaper/reaper.c interpose/reaper/excuses.c interpose/base/process.c
 *
 * What the reaper says of hazards, when it says so, and what it gives back. The tracker and the
 * report's counts are real; the device is a number of operations that are over, host functions are
 * two flags, and the reaper's thread is a plain one.
 */
#include "common/hazard.h"
#include "common/hazard_words.h"
#include "common/library_lock.h"
#include "common/now.h"
#include "common/points.h"
#include "common/ticks.h"
#include "cupti_hooks/current_call.h"
#include "interpose/base/process.h"
#include "interpose/base/real_libc.h"
#include "interpose/base/spare_stack.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/relaxed.h"
#include "interpose/guard/door.h"
#include "interpose/memory/pinned.h"
#include "interpose/reaper/copy_times.h"
#include "interpose/reaper/edges.h"
#include "interpose/reaper/excuses.h"
#include "interpose/reaper/library_threads.h"
#include "interpose/reaper/nvtx.h"
#include "interpose/reaper/reaper.h"
#include "interpose/streams/contexts.h"
#include "interpose/streams/doubts.h"
#include "interpose/streams/host_functions.h"
#include "interpose/streams/marks.h"
#include "interpose/streams/streams.h"
#include "report/annotations.h"
#include "report/report.h"
#include "tests/unit/destroy.h"
#include "tests/unit/locked.h"
#include "track/graphs.h"
#include "track/no_verdicts.h"
#include "track/op_info.h"
#include "track/order.h"
#include "track/order_calls.h"
#include "track/track.h"
#include "track/track_graphs.h"
#include "track/track_holds.h"
#include "track/track_ops.h"
#include "track/track_order.h"
#include "track/tracker.h"

#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

enum {
    QUEUE_MAX = 256, /* of the reaper */
    BLOCK = 0x100000,
    GRAPH = 0x777,
    STEP_NS = 100 * 1000,
    STEPS_MAX = 300 * 1000,
};

/* No test waits for so long: one that does is ended by its time limit. */
static const uint64_t for_ever_ns = 600ull * 1000 * 1000 * 1000;

static uint32_t legacy, one;

/* ---- the device ---- */

static _Atomic uint64_t device_done; /* so many operations of the stream are over */
static _Atomic unsigned asks;        /* how often the device was asked */
static _Atomic unsigned done_after;  /* everything is over when it was asked so often; 0: never */
static _Atomic bool blocks, is_blocked; /* what the reaper asks is not answered yet */
static _Atomic uint64_t last_asked;

static __thread bool is_reaper;

static void step(void)
{
    nanosleep(&(struct timespec){.tv_nsec = STEP_NS}, NULL);
}

/* Another thread is answered when the reaper has found that it has nothing to do. */
static bool lets_reaper_sleep;

static void let_reaper_sleep(void)
{
    uint32_t round = sc_reaper_pass_number();
    atomic_store(&blocks, false);
    while (sc_reaper_pass_number() == round)
        step();
    for (unsigned i = 0; i < 200; i++)
        step();
}

bool sc_marks_show_complete(const struct sc_ticket *ticket)
{
    unsigned asked = atomic_fetch_add(&asks, 1) + 1;
    if (!is_reaper && lets_reaper_sleep)
        let_reaper_sleep();
    while (is_reaper && atomic_load(&blocks)) {
        atomic_store(&is_blocked, true);
        step();
    }
    if (done_after && asked >= done_after)
        atomic_store(&device_done, UINT32_MAX);
    uint64_t done = atomic_load(&device_done);
    if (done >= ticket->number)
        sc_track_note_complete(&sc_track, ticket->stream, ticket->number);
    return done >= ticket->number;
}

bool sc_marks_show_incomplete(const struct sc_ticket *ticket, uint64_t last)
{
    atomic_store(&last_asked, last);
    return atomic_load(&device_done) < ticket->number;
}

static bool other_work_is_before_marks;

bool sc_marks_stand_close(const struct sc_ticket *ticket)
{
    (void)ticket;
    return !other_work_is_before_marks;
}

/* ---- contexts ---- */

static struct sc_context own_context;
static struct sc_stream_record legacy_record = {.context = &own_context};
static unsigned pushed;
static uintptr_t unregistered_at;
static bool has_context, is_in_host_function;

struct sc_stream_record *sc_streams_of_id(uint32_t id)
{
    return id == legacy ? &legacy_record : NULL;
}

bool sc_contexts_push(struct sc_context *context)
{
    ck_assert_ptr_eq(context, &own_context);
    pushed += has_context;
    return has_context;
}

void sc_contexts_pop(void)
{
    pushed--;
}

static bool is_context_busy;

bool sc_marks_await_context(struct sc_context *context, uint64_t deadline_ns)
{
    ck_assert_ptr_eq(context, &own_context);
    while (is_context_busy && sc_now_ns() < deadline_ns)
        step();
    return !is_context_busy;
}

static unsigned timeouts_told;

void sc_edges_warn_timeout(const char *api, const char *earlier_api)
{
    (void)api, (void)earlier_api;
    timeouts_told++;
}

static CUresult unregister(void *address)
{
    ck_assert_uint_eq(pushed, 1);
    unregistered_at = (uintptr_t)address;
    return CUDA_SUCCESS;
}

bool sc_host_functions_is_here(void)
{
    return is_in_host_function;
}

/* ---- host functions ---- */

static _Atomic bool is_open;           /* one that everything may be behind */
static _Atomic uint32_t open_in;       /* but what this stream does, if it is not 0, alone */
static _Atomic bool waits_for_program; /* and was found to do so */

uint32_t sc_host_functions_stream_now(uint32_t stream)
{
    return stream;
}

static bool is_behind_it(const struct sc_op_info *op)
{
    return !atomic_load(&open_in) || atomic_load(&open_in) == op->ticket.stream;
}

bool sc_host_functions_are_open(const struct sc_op_info *op)
{
    return atomic_load(&is_open) && is_behind_it(op);
}

void sc_host_functions_poll(uint64_t waits_since_ns)
{
    (void)waits_since_ns;
}

bool sc_host_functions_precede(unsigned call, const struct sc_op_info *op)
{
    return call && is_behind_it(op);
}

static _Atomic bool is_plain;

/* What mode=report cannot tell of a touch. */
static _Atomic bool is_in_doubt;
static _Atomic unsigned doubts_looked_at;

static _Atomic unsigned open_doubts;

unsigned sc_doubts_begin(const struct sc_op_info *op, const struct sc_ticket *ticket)
{
    ck_assert_uint_eq(op->ticket.stream, ticket->stream);
    return atomic_fetch_add(&open_doubts, 1) + 1;
}

void sc_doubts_end(unsigned doubt)
{
    ck_assert_uint_ne(doubt, 0);
    atomic_fetch_sub(&open_doubts, 1);
}

void sc_doubts_look(unsigned doubt)
{
    ck_assert_uint_ne(doubt, 0);
    atomic_fetch_add(&doubts_looked_at, 1);
}

bool sc_doubts_remain(unsigned doubt)
{
    ck_assert_uint_ne(doubt, 0);
    return atomic_load(&is_in_doubt);
}

bool sc_host_functions_was_plain(unsigned call)
{
    return call && atomic_load(&is_plain);
}

void sc_doubts_function_returned(unsigned call, bool is_plain_function)
{
    (void)call;
    (void)is_plain_function;
}

/* From when it is set on, the reaper's second question behind a function that has returned, which
 * is asked with no lock held, is answered when it is not set any more. */
static _Atomic bool holds_back, is_held_back;
static _Atomic unsigned asked_behind;

static void hold_reaper_back(void)
{
    if (!is_reaper || !atomic_load(&holds_back) || atomic_load(&is_open) ||
        atomic_fetch_add(&asked_behind, 1) != 1)
        return;
    atomic_store(&is_held_back, true);
    while (atomic_load(&holds_back))
        step();
}

/* Where it is not known when it was touched, the function may have returned before. */
bool sc_host_functions_excuses(const struct sc_op_info *op, uint64_t touched_ticks)
{
    hold_reaper_back();
    return atomic_load(&waits_for_program) && touched_ticks && is_behind_it(op);
}

/* ---- what else there is of the library ---- */

struct sc_real sc_real;
__thread struct sc_current_call sc_current_call;

static _Atomic unsigned threads_started;
static bool has_no_threads;
static _Atomic uintptr_t freed;
static _Atomic bool freed_early;

static void note_free(void *block)
{
    atomic_store(&freed_early, atomic_load(&device_done) == 0);
    atomic_store(&freed, (uintptr_t)block);
}

struct sc_allocator sc_allocator = {.free = note_free};

bool sc_library_threads_start(void *(*run)(void *), size_t stack_bytes)
{
    ck_assert_uint_eq(stack_bytes, SC_LIBRARY_THREADS_SMALL);
    pthread_t thread;
    threads_started++;
    return !has_no_threads && pthread_create(&thread, NULL, run, NULL) == 0 &&
           pthread_detach(thread) == 0;
}

void sc_library_threads_block_signals(void)
{
}

void sc_library_threads_unblock_signals(void)
{
}

void sc_library_threads_enter_driver(const char *name)
{
    (void)name;
    is_reaper = true;
    sc_library_lock_enter();
}

void sc_guard_apply(uint64_t stream_bits)
{
    (void)stream_bits;
}

void sc_real_libc_unmap(void *address, size_t size_bytes)
{
    (void)address;
    (void)size_bytes;
}

/* So many hazards and stalls, begun and ended, were shown. */
static _Atomic unsigned marked, stalls_begun, stalls_ended;

void sc_nvtx_mark(const struct sc_hazard *hazard)
{
    (void)hazard;
    marked++;
}

void sc_nvtx_stall_begin(const char *api)
{
    ck_assert_str_eq(api, "free");
    stalls_begun++;
}

void sc_nvtx_stall_end(void)
{
    stalls_ended++;
}

void sc_copy_times_enqueue(const struct sc_hazard *hazard, const struct sc_ticket *ticket)
{
    (void)hazard;
    (void)ticket;
}

CUresult sc_pinned_free(void *address)
{
    (void)address;
    return CUDA_SUCCESS;
}

struct sc_relaxed sc_relaxed_begin(void)
{
    return (struct sc_relaxed){0};
}

void sc_relaxed_end(struct sc_relaxed *relaxed)
{
    (void)relaxed;
}

/* ---- what tests do ---- */

static void set_up(void)
{
    sc_options_defaults(&sc_options);
    sc_options.stall_limit_ns = for_ever_ns;
    ck_assert_int_eq(sc_track_init(&sc_track), 0);
    legacy = sc_track_add_stream(&sc_track, SC_STREAM_LEGACY, 0, 1, 0);
    one = sc_track_add_stream(&sc_track, SC_STREAM_NONBLOCKING, legacy, 2, 0);
}

static bool await(bool (*is_so)(void))
{
    for (unsigned i = 0; i < STEPS_MAX && !is_so(); i++)
        step();
    return is_so();
}

static void tear_down(void)
{
    atomic_store(&blocks, false);
    atomic_store(&holds_back, false);
    sc_reaper_stop();
    ck_assert(await(sc_reaper_has_stopped));
    destroy_track(&sc_track);
}

static struct sc_op_info issue(void)
{
    SC_ISSUED(issued);
    struct sc_op_info info = {.api = "copy",
                              .shape = {BLOCK, 64, 64, 1},
                              .ticket.stream = one,
                              .direction = SC_H2D,
                              .kind = SC_REGISTERED,
                              .ticks = sc_ticks()};
    sc_track_issue(&sc_track, &(struct sc_order_call){0}, &info, 1, &issued);
    return info;
}

/* Work that may tell the host of the end of what the stream has. */
static void signal_host(void)
{
    struct sc_order_call call;
    sc_track_begin_call(&sc_track, one, &call);
    LOCKED(&sc_track, sc_order_note_call_signal(&sc_track.order, one, &call, false));
    sc_track_end_call(&sc_track, &call, true);
}

static void judge(const struct sc_op_info *op, enum sc_finding finding)
{
    const struct sc_hazard hazard = {.code = SC101, .copy.api = "copy", .event.api = "free"};
    sc_reaper_enqueue(&hazard, op, finding, NULL);
}

/* An operation with that ticket is not ordered with it. */
static void judge_order_with(const struct sc_op_info *op, uint32_t stream, uint64_t number)
{
    const struct sc_hazard hazard = {.code = SC204, .copy.api = "copy", .event.api = "copy"};
    const struct sc_later later = {.ticket = {.stream = stream, .number = number}};
    sc_reaper_enqueue(&hazard, op, SC_BY_ORDER, &later);
}

static void judge_order(const struct sc_op_info *op, uint32_t stream)
{
    judge_order_with(op, stream, UINT64_MAX);
}

static struct sc_report_counts counts(void)
{
    struct sc_report_counts found;
    sc_report_counts(&found);
    return found;
}

static void assert_reported(uint64_t observed, uint64_t latent)
{
    struct sc_report_counts found = counts();
    ck_assert_uint_eq(found.observed, observed);
    ck_assert_uint_eq(found.latent, latent);
    ck_assert_uint_eq(found.hazards, observed + latent);
}

/* So many uses had no verdict, for this reason and in this unit, and no others. */
static void assert_no_verdict(enum sc_no_verdict_unit unit, enum sc_no_verdict_reason reason,
                              uint64_t count)
{
    uint64_t all = 0;
    for (unsigned i = 0; i < SC_NO_VERDICT_COUNT; i++)
        all += sc_no_verdicts_of_reason(&sc_track.no_verdicts, i);
    ck_assert_uint_eq(sc_no_verdicts_of(&sc_track.no_verdicts, unit, reason), count);
    ck_assert_uint_eq(all, count);
}

static uint64_t expected;

static bool as_many_as_expected(void)
{
    return counts().hazards >= expected;
}

static void await_reports(uint64_t count)
{
    expected = count;
    ck_assert(await(as_many_as_expected));
}

static bool reaper_is_blocked(void)
{
    return atomic_load(&is_blocked);
}

static uint32_t first_round;

static bool a_round_has_passed(void)
{
    sc_reaper_wake();
    return sc_reaper_pass_number() - first_round >= 2; /* the first may have been under way */
}

/* Whatever the reaper can do now, it has done. */
static void let_a_round_pass(void)
{
    first_round = sc_reaper_pass_number();
    ck_assert(await(a_round_has_passed));
}

/* A free that is held until the device has done with the block. */
static struct sc_deallocation take_down(void)
{
    struct sc_deallocation request = {.address = BLOCK,
                                      .size_bytes = 64,
                                      .hold = true,
                                      .kind = SC_HOLD_FREE,
                                      .max_held_bytes = 1 << 20};
    sc_track_deallocate(&sc_track, &request);
    ck_assert_uint_ne(request.held, 0);
    sc_deallocation_end(&request);
    return request;
}

/* ---- judging ---- */

START_TEST(an_incomplete_operation_is_observed)
{
    struct sc_op_info op = issue();
    judge(&op, SC_BY_CALL);
    await_reports(1);
    assert_reported(1, 0);
}
END_TEST

START_TEST(a_complete_operation_is_latent)
{
    struct sc_op_info op = issue();
    atomic_store(&device_done, op.ticket.number);
    judge(&op, SC_BY_CALL);
    await_reports(1);
    assert_reported(0, 1);
}
END_TEST

START_TEST(an_incomplete_mark_behind_other_work_shows_nothing)
{
    struct sc_op_info op = issue();
    other_work_is_before_marks = true;
    judge(&op, SC_BY_CALL);
    await_reports(1);
    assert_reported(0, 1);
}
END_TEST

START_TEST(each_operation_is_asked_about_by_itself)
{
    struct sc_op_info first = issue();
    struct sc_op_info second = issue();
    atomic_store(&device_done, first.ticket.number);
    judge(&first, SC_BY_CALL);
    judge(&second, SC_BY_CALL);
    await_reports(2);
    assert_reported(1, 1);
}
END_TEST

START_TEST(the_end_that_the_host_may_have_learnt_of_is_no_hazard)
{
    struct sc_op_info op = issue();
    signal_host();
    ck_assert(sc_order_may_be_signalled(&sc_track.order, &op.ticket));
    atomic_store(&device_done, op.ticket.number);
    judge(&op, SC_BY_CALL);
    let_a_round_pass();
    assert_reported(0, 0);
    ck_assert_uint_eq(last_asked, op.ticket.number); /* by a mark before the signal */
    assert_no_verdict(SC_NO_VERDICT_TOUCHES, SC_NO_VERDICT_HEARD, 1);
}
END_TEST

START_TEST(before_that_end_it_is_observed)
{
    struct sc_op_info op = issue();
    signal_host();
    judge(&op, SC_BY_CALL);
    await_reports(1);
    assert_reported(1, 0);
}
END_TEST

START_TEST(what_is_asked_is_not_reported)
{
    enum sc_certainty certainty = SC_LATENT;
    struct sc_op_info op = issue();
    ck_assert(sc_reaper_finds_hazard(&op.ticket, &certainty));
    ck_assert_int_eq(certainty, SC_OBSERVED);
    atomic_store(&device_done, op.ticket.number);
    ck_assert(sc_reaper_finds_hazard(&op.ticket, &certainty));
    ck_assert_int_eq(certainty, SC_LATENT);
    signal_host();
    ck_assert(!sc_reaper_finds_hazard(&op.ticket, &certainty));
    assert_reported(0, 0);
    ck_assert_uint_eq(threads_started, 0);
}
END_TEST

START_TEST(a_report_halts_where_it_is_to)
{
    struct sc_op_info op = issue();
    sc_options.halt_on_error = true;
    judge(&op, SC_BY_CALL);
}
END_TEST

START_TEST(what_is_no_hazard_does_not_halt)
{
    struct sc_op_info op = issue();
    signal_host();
    atomic_store(&device_done, op.ticket.number);
    sc_options.halt_on_error = true;
    judge(&op, SC_BY_CALL);
    assert_reported(0, 0);
}
END_TEST

START_TEST(what_is_suppressed_is_counted_apart_and_does_not_halt)
{
    struct sc_op_info op = issue();
    struct sc_hazard hazard = {.code = SC101, .copy = {.api = "copy"}, .event = {.api = "free"}};
    sc_annotations_ignore_begin("known");
    sc_annotations_note(&hazard);
    sc_annotations_ignore_end();
    sc_options.halt_on_error = true;
    sc_reaper_enqueue(&hazard, &op, SC_BY_CALL, 0);
    sc_reaper_report(&hazard);
    sc_reaper_await_decided();
    assert_reported(0, 0);
    ck_assert_uint_eq(counts().suppressed, 2);
}
END_TEST

/* ---- host functions ---- */

START_TEST(what_may_be_excused_is_not_decided_for_who_asks_for_counts)
{
    struct sc_op_info op = issue();
    atomic_store(&is_open, true);
    judge(&op, SC_BY_TOUCH);
    sc_reaper_await_decided();
    assert_reported(0, 0);
    op = issue();
    judge(&op, SC_BY_CALL);
    sc_reaper_await_decided();
    assert_reported(1, 0);
}
END_TEST

START_TEST(a_touch_behind_a_host_function_waits_for_its_return)
{
    struct sc_op_info op = issue();
    atomic_store(&is_open, true);
    judge(&op, SC_BY_TOUCH);
    let_a_round_pass();
    assert_reported(0, 0);
    atomic_store(&device_done, op.ticket.number); /* what was observed then stays so */
    atomic_store(&is_open, false);
    await_reports(1);
    assert_reported(1, 0);
}
END_TEST

START_TEST(a_touch_for_which_the_host_function_waited_is_excused)
{
    struct sc_op_info op = issue();
    atomic_store(&is_open, true);
    judge(&op, SC_BY_TOUCH);
    let_a_round_pass();
    atomic_store(&waits_for_program, true);
    let_a_round_pass();
    atomic_store(&waits_for_program, false);
    atomic_store(&is_open, false);
    let_a_round_pass();
    assert_reported(0, 0);
    assert_no_verdict(SC_NO_VERDICT_TOUCHES, SC_NO_VERDICT_HOST_FUNCTION, 1);
}
END_TEST

START_TEST(a_touch_behind_what_is_known_to_wait_is_excused_at_once)
{
    struct sc_op_info op = issue();
    atomic_store(&waits_for_program, true);
    judge(&op, SC_BY_TOUCH);
    let_a_round_pass();
    assert_reported(0, 0);
    ck_assert_uint_eq(asks, 0); /* the device is not asked */
    assert_no_verdict(SC_NO_VERDICT_TOUCHES, SC_NO_VERDICT_HOST_FUNCTION, 1);
}
END_TEST

START_TEST(a_touch_of_an_unknown_time_waits_and_is_not_excused)
{
    struct sc_op_info op = issue();
    atomic_store(&is_open, true);
    atomic_store(&waits_for_program, true);
    judge(&op, SC_LATER);
    let_a_round_pass();
    assert_reported(0, 0);
    atomic_store(&is_open, false);
    await_reports(1);
    assert_reported(1, 0);
}
END_TEST

/* Of the first operation, of the second, of neither. */
START_TEST(an_order_is_excused_by_a_function_before_either_operation)
{
    struct sc_op_info op = issue();
    const uint32_t other = one + 1;
    const uint32_t streams[] = {one, other};
    for (unsigned i = 0; i < 2; i++) {
        atomic_store(&open_in, streams[i]);
        atomic_store(&is_open, true);
        judge_order(&op, other);
        let_a_round_pass();
        assert_reported(0, 0);
        atomic_store(&waits_for_program, true);
        let_a_round_pass();
        atomic_store(&waits_for_program, false);
        atomic_store(&is_open, false);
        let_a_round_pass();
        assert_reported(0, 0);
        assert_no_verdict(SC_NO_VERDICT_OPERATIONS, SC_NO_VERDICT_HOST_FUNCTION, i + 1);
    }
    atomic_store(&open_in, one + 2);
    atomic_store(&waits_for_program, true);
    atomic_store(&is_open, true);
    judge_order(&op, other);
    await_reports(1);
    assert_reported(1, 0);
}
END_TEST

START_TEST(an_order_behind_a_function_that_waits_for_nobody_is_reported_when_it_has_returned)
{
    struct sc_op_info op = issue();
    atomic_store(&open_in, one + 1);
    atomic_store(&is_open, true);
    judge_order(&op, one + 1);
    let_a_round_pass();
    assert_reported(0, 0);
    atomic_store(&is_open, false);
    await_reports(1);
    assert_reported(1, 0);
}
END_TEST

/* What the host knows at that moment, and not what it knows when the reaper comes. */
START_TEST(an_order_is_made_by_a_function_that_returns_when_one_of_the_two_is_done)
{
    struct sc_op_info op = issue();
    const uint32_t other = sc_track_add_stream(&sc_track, SC_STREAM_NONBLOCKING, legacy, 0x200, 0);
    struct sc_order_call call;
    atomic_store(&is_open, true);
    judge_order_with(&op, other, 1);
    sc_excuses_function_returned(1);
    let_a_round_pass();
    struct sc_op_info later = {.ticket.stream = other,
                               .shape = {BLOCK + 4096, 64, 64, 1},
                               .direction = SC_H2D,
                               .api = "copy"};
    struct sc_issued issued = {.conflicts = {0, NULL}, .overwritten = {0, NULL}};
    sc_track_begin_call(&sc_track, other, &call);
    sc_track_issue(&sc_track, &call, &later, 1, &issued);
    ck_assert_uint_eq(later.ticket.number, 1);
    struct sc_point point = sc_track_sync_point(&sc_track, other, SC_SCOPE_STREAM);
    sc_track_note_known(&sc_track, &point, NULL, NULL);
    atomic_store(&is_open, false); /* it is known too late */
    await_reports(1);
    assert_reported(1, 0);

    atomic_store(&is_open, true);
    judge_order_with(&op, other, 1);
    sc_excuses_function_returned(1);
    atomic_store(&is_open, false);
    let_a_round_pass();
    assert_reported(1, 0);
}
END_TEST

/* The same, but by the function's code: it can have waited for nothing. */
START_TEST(an_order_is_not_made_by_a_function_that_can_wait_for_nobody)
{
    struct sc_op_info op = issue();
    struct sc_point point = sc_track_sync_point(&sc_track, one, SC_SCOPE_STREAM);
    atomic_store(&is_open, true);
    judge_order_with(&op, one + 1, 1);
    sc_track_note_known(&sc_track, &point, NULL, NULL);
    atomic_store(&is_plain, true);
    sc_excuses_function_returned(1);
    atomic_store(&is_open, false);
    await_reports(1);
    assert_reported(1, 0);
}
END_TEST

/* Nobody waits for a touch in mode=report, nor knows when a synchronous call is over. */
START_TEST(what_is_in_doubt_is_not_reported)
{
    struct sc_op_info op = issue();
    sc_options.mode = SC_MODE_REPORT;
    for (unsigned i = 0; i < 2; i++) {
        atomic_store(&is_in_doubt, i == 0);
        atomic_store(&is_open, true);
        judge(&op, SC_BY_TOUCH);
        judge_order_with(&op, one + 1, 0);
        judge_order_with(&op, 0, 0);
        let_a_round_pass();
        assert_reported(0, 0);
        ck_assert_uint_ge(atomic_exchange(&doubts_looked_at, 0), 3);
        atomic_store(&is_open, false);
        if (i == 1)
            await_reports(3);
        let_a_round_pass();
        ck_assert_uint_eq(open_doubts, 0);
    }
    assert_reported(3, 0);
    assert_no_verdict(SC_NO_VERDICT_TOUCHES, SC_NO_VERDICT_HOST_FUNCTION, 3);
}
END_TEST

/* Of orders that find no place in the table it would not be known whether a function made them. */
START_TEST(orders_for_which_there_is_no_room_are_not_judged)
{
    enum { ORDERS_MAX = 256, MORE = 3 };
    struct sc_op_info op = issue();
    atomic_store(&is_open, true);
    for (unsigned i = 0; i < ORDERS_MAX + MORE; i++) {
        judge_order_with(&op, one + 1, 1);
        sc_reaper_decide_now();
    }
    let_a_round_pass();
    assert_no_verdict(SC_NO_VERDICT_OPERATIONS, SC_NO_VERDICT_ROOM, MORE);
    atomic_store(&is_open, false);
    await_reports(ORDERS_MAX);
    assert_reported(ORDERS_MAX, 0);
    assert_no_verdict(SC_NO_VERDICT_OPERATIONS, SC_NO_VERDICT_ROOM, MORE);
}
END_TEST

START_TEST(a_call_behind_a_host_function_is_reported_at_once)
{
    struct sc_op_info op = issue();
    atomic_store(&is_open, true);
    atomic_store(&waits_for_program, true);
    judge(&op, SC_BY_CALL);
    await_reports(1);
    assert_reported(1, 0);
}
END_TEST

START_TEST(awaited_verdicts_are_written_although_the_function_is_open)
{
    struct sc_op_info op = issue();
    atomic_store(&is_open, true);
    judge(&op, SC_BY_TOUCH);
    judge(&op, SC_BY_TOUCH);
    let_a_round_pass();
    assert_reported(0, 0);
    sc_reaper_await_all();
    await_reports(2); /* it does not wait for ever, and the machine may be slow */
    assert_reported(2, 0);
}
END_TEST

static bool reaper_is_held_back(void)
{
    return atomic_load(&is_held_back);
}

static void *let_reaper_go(void *unused)
{
    for (unsigned i = 0; i < 100; i++)
        step();
    atomic_store(&holds_back, false);
    return unused;
}

/* Half a second is how long who awaits them waits at most. */
START_TEST(a_verdict_on_its_way_is_awaited_too)
{
    const uint64_t most_ns = 500ull * 1000 * 1000;
    struct sc_op_info op = issue();
    pthread_t thread;
    atomic_store(&is_open, true);
    judge(&op, SC_BY_TOUCH);
    let_a_round_pass();
    atomic_store(&holds_back, true);
    atomic_store(&is_open, false);
    ck_assert(await(reaper_is_held_back));
    ck_assert_int_eq(pthread_create(&thread, NULL, let_reaper_go, NULL), 0);
    uint64_t begun_ns = sc_now_ns();
    sc_reaper_await_all();
    ck_assert(counts().hazards == 1 || sc_now_ns() - begun_ns >= most_ns);
    pthread_join(thread, NULL);
    await_reports(1);
}
END_TEST

START_TEST(the_end_writes_what_is_held_back)
{
    struct sc_op_info op = issue();
    atomic_store(&is_open, true);
    judge(&op, SC_BY_TOUCH);
    let_a_round_pass();
    sc_reaper_stop();
    await_reports(1);
    assert_reported(1, 0);
}
END_TEST

/* ---- more than there is room for ---- */

/* It has taken one verdict and does not come back. */
static void block_reaper(const struct sc_op_info *op)
{
    atomic_store(&blocks, true);
    judge(op, SC_BY_CALL);
    ck_assert(await(reaper_is_blocked));
}

START_TEST(what_is_not_queued_is_reported_at_once)
{
    const unsigned rest = 44;
    struct sc_op_info op = issue();
    block_reaper(&op);
    for (unsigned i = 0; i < QUEUE_MAX; i++)
        judge(&op, SC_BY_CALL);
    assert_reported(0, 0);
    for (unsigned i = 0; i < rest; i++)
        judge(&op, SC_BY_CALL);
    assert_reported(0, rest); /* nobody has asked the device */
    atomic_store(&blocks, false);
    await_reports(1 + QUEUE_MAX + rest);
    assert_reported(1 + QUEUE_MAX, rest);
}
END_TEST

START_TEST(what_is_not_queued_is_excused_all_the_same)
{
    struct sc_op_info op = issue();
    block_reaper(&op);
    for (unsigned i = 0; i < QUEUE_MAX; i++)
        judge(&op, SC_BY_CALL);
    atomic_store(&waits_for_program, true);
    judge(&op, SC_BY_TOUCH);
    assert_no_verdict(SC_NO_VERDICT_TOUCHES, SC_NO_VERDICT_HOST_FUNCTION, 1);
    signal_host();
    judge(&op, SC_BY_CALL);
    assert_reported(0, 0);
    ck_assert_uint_eq(sc_no_verdicts_of_reason(&sc_track.no_verdicts, SC_NO_VERDICT_ROOM), 1);
}
END_TEST

START_TEST(what_others_keep_back_is_not_forgotten)
{
    struct sc_op_info op = issue();
    block_reaper(&op);
    atomic_store(&is_open, true);
    judge(&op, SC_BY_TOUCH);
    lets_reaper_sleep = true;
    sc_reaper_decide_now();
    atomic_store(&is_open, false);
    await_reports(2);
    assert_reported(2, 0);
}
END_TEST

START_TEST(others_judge_while_the_reaper_is_busy)
{
    struct sc_op_info op = issue();
    block_reaper(&op);
    judge(&op, SC_BY_CALL);
    judge(&op, SC_BY_CALL);
    sc_reaper_decide_now();
    assert_reported(2, 0);
}
END_TEST

/* ---- holds ---- */

START_TEST(a_hold_ends_with_its_operation)
{
    issue();
    struct sc_deallocation taken = take_down();
    atomic_store(&done_after, 5);
    ck_assert(sc_reaper_await_hold(&taken, "free"));
    ck_assert_uint_eq(freed, BLOCK);
    ck_assert(!freed_early);
    ck_assert(!LOCKED(&sc_track, sc_holds_is_alive(&sc_track.holds, taken.held, taken.held_age)));
}
END_TEST

START_TEST(a_collection_gives_back_what_is_complete)
{
    struct sc_op_info op = issue();
    sc_reaper_collect(); /* there is no thread yet */
    take_down();
    ck_assert(sc_reaper_start());
    sc_reaper_collect();
    ck_assert_uint_eq(freed, 0);
    atomic_store(&device_done, op.ticket.number);
    sc_reaper_collect();
    ck_assert_uint_eq(freed, BLOCK);
    ck_assert(!freed_early);
}
END_TEST

START_TEST(a_wait_for_what_does_not_end_is_given_up)
{
    issue();
    struct sc_deallocation taken = take_down();
    sc_options.stall_limit_ns = 20 * 1000 * 1000;
    ck_assert(!sc_reaper_await_hold(&taken, "free"));
    ck_assert(!sc_reaper_await_no_hold(BLOCK, 64, "free"));
    ck_assert_uint_eq(freed, 0);
    ck_assert(LOCKED(&sc_track, sc_holds_is_alive(&sc_track.holds, taken.held, taken.held_age)));
}
END_TEST

START_TEST(an_interval_settles_with_its_holds)
{
    issue();
    take_down();
    atomic_store(&done_after, 5);
    ck_assert(sc_reaper_await_no_hold(BLOCK + 32, 1, "free"));
    ck_assert_uint_eq(freed, BLOCK);
    ck_assert_uint_eq(stalls_begun, 1);
    ck_assert_uint_ge(stalls_ended, 1);
    ck_assert(sc_reaper_await_no_hold(BLOCK, 64, "free")); /* nothing is held there any more */
    ck_assert_uint_eq(stalls_begun, 1);
}
END_TEST

/* ---- registrations ---- */

/* An end of a registration that waits for more than ever comes. */
static void keep_registration(void)
{
    own_context.legacy = legacy;
    sc_real.cuMemHostUnregister = unregister;
    atomic_store(&sc_process.is_active, true);
    struct sc_deallocation request = {.address = BLOCK,
                                      .size_bytes = 64,
                                      .hold = true,
                                      .kind = SC_HOLD_UNREGISTER,
                                      .context = legacy};
    issue();
    sc_track_deallocate(&sc_track, &request);
    ck_assert_uint_ne(request.held, 0);
    sc_deallocation_end(&request);
}

START_TEST(a_registration_ends_where_its_memory_is_used)
{
    keep_registration();
    has_context = true;
    sc_reaper_end_registrations(BLOCK + 64, 64);
    ck_assert_uint_eq(unregistered_at, 0);
    is_in_host_function = true;
    sc_reaper_end_registrations(BLOCK + 63, 64);
    ck_assert_uint_eq(unregistered_at, 0);
    is_in_host_function = false;
    sc_reaper_end_registrations(BLOCK + 63, 64);
    ck_assert_uint_eq(unregistered_at, BLOCK);
    ck_assert_uint_eq(pushed, 0);
    ck_assert(!sc_track_is_held(&sc_track, BLOCK, 64, SC_HOLDS_ALL));
}
END_TEST

START_TEST(a_registration_stays_beside_work_that_does_not_end)
{
    keep_registration();
    has_context = true;
    is_context_busy = true;
    sc_options.stall_limit_ns = 20 * 1000 * 1000;
    sc_reaper_end_registrations(BLOCK, 64);
    ck_assert_uint_eq(unregistered_at, 0);
    ck_assert_uint_eq(pushed, 0);
    ck_assert_uint_eq(timeouts_told, 1);
    ck_assert(sc_track_is_held(&sc_track, BLOCK, 64, SC_HOLDS_ALL));
    is_context_busy = false;
    sc_reaper_end_registrations(BLOCK, 64);
    ck_assert_uint_eq(unregistered_at, BLOCK);
}
END_TEST

START_TEST(a_registration_of_a_context_that_has_ended_is_no_more)
{
    keep_registration();
    sc_reaper_end_registrations(BLOCK, 64);
    ck_assert_uint_eq(unregistered_at, 0);
    ck_assert(!sc_track_is_held(&sc_track, BLOCK, 64, SC_HOLDS_ALL));
}
END_TEST

/* ---- graphs ---- */

/* A free that is held as long as there is the graph. */
static void deallocate_for_graph(void)
{
    const struct sc_graph_use use = {
        .node = 0x10, .shape = {BLOCK, 64, 64, 1}, .direction = SC_H2D, .kind = SC_REGISTERED};
    sc_track_graph_add(&sc_track, GRAPH, &use, NULL);
    take_down();
    ck_assert(sc_track_is_held(&sc_track, BLOCK, 1, SC_HOLDS_ALL | SC_HOLDS_BY_GRAPH));
}

START_TEST(an_unknown_graph_is_nothing_to_forget)
{
    deallocate_for_graph();
    sc_reaper_forget_graph(GRAPH + 1);
    sc_reaper_forget_graph(0);
    ck_assert(sc_track_is_held(&sc_track, BLOCK, 1, SC_HOLDS_ALL | SC_HOLDS_BY_GRAPH));
    ck_assert_uint_eq(threads_started, 0); /* nobody is woken */
}
END_TEST

static bool is_freed(void)
{
    return atomic_load(&freed) == BLOCK;
}

START_TEST(what_was_held_for_a_forgotten_graph_is_given_back)
{
    deallocate_for_graph();
    sc_reaper_forget_graph(GRAPH);
    ck_assert(await(is_freed));
}
END_TEST

/* ---- the end ---- */

static void stop(void)
{
    sc_reaper_stop();
    ck_assert(await(sc_reaper_has_stopped)); /* it does not wait for ever itself */
}

/* After that, hazards are reported on the spot, and nobody waits. */
static void assert_no_reaper(void)
{
    struct sc_op_info op = issue();
    struct sc_report_counts before = counts();
    judge(&op, SC_BY_CALL);
    assert_reported(before.observed, before.latent + 1);
    struct sc_deallocation taken = take_down();
    ck_assert(!sc_reaper_await_hold(&taken, "free"));
    ck_assert(!sc_reaper_await_no_hold(BLOCK, 64, "free"));
    ck_assert(!sc_reaper_start());
    sc_reaper_await_all();
}

START_TEST(after_the_end_hazards_are_reported_at_once)
{
    struct sc_op_info op = issue();
    ck_assert(sc_reaper_start());
    ck_assert(sc_reaper_start());
    judge(&op, SC_BY_CALL);
    stop();
    assert_reported(1, 0); /* what was still to be judged */
    assert_no_reaper();
    ck_assert_uint_eq(threads_started, 1);
}
END_TEST

START_TEST(it_may_end_before_it_began)
{
    stop();
    assert_no_reaper();
    ck_assert_uint_eq(threads_started, 0);
}
END_TEST

START_TEST(without_a_thread_hazards_are_reported_at_once)
{
    has_no_threads = true;
    ck_assert(!sc_reaper_start());
    assert_no_reaper();
}
END_TEST

START_TEST(a_child_has_no_reaper)
{
    sc_reaper_child();
    assert_no_reaper();
    ck_assert_uint_eq(threads_started, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reaper");
    TCase *tests = tcase_create("reaper");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, an_incomplete_operation_is_observed);
    tcase_add_test(tests, a_complete_operation_is_latent);
    tcase_add_test(tests, an_incomplete_mark_behind_other_work_shows_nothing);
    tcase_add_test(tests, each_operation_is_asked_about_by_itself);
    tcase_add_test(tests, the_end_that_the_host_may_have_learnt_of_is_no_hazard);
    tcase_add_test(tests, before_that_end_it_is_observed);
    tcase_add_test(tests, what_is_asked_is_not_reported);
    tcase_add_test_raise_signal(tests, a_report_halts_where_it_is_to, SIGABRT);
    tcase_add_test(tests, what_is_no_hazard_does_not_halt);
    tcase_add_test(tests, what_is_suppressed_is_counted_apart_and_does_not_halt);
    tcase_add_test(tests, what_may_be_excused_is_not_decided_for_who_asks_for_counts);
    tcase_add_test(tests, a_touch_behind_a_host_function_waits_for_its_return);
    tcase_add_test(tests, a_touch_for_which_the_host_function_waited_is_excused);
    tcase_add_test(tests, a_touch_behind_what_is_known_to_wait_is_excused_at_once);
    tcase_add_test(tests, a_touch_of_an_unknown_time_waits_and_is_not_excused);
    tcase_add_test(tests, an_order_is_excused_by_a_function_before_either_operation);
    tcase_add_test(tests, an_order_is_made_by_a_function_that_returns_when_one_of_the_two_is_done);
    tcase_add_test(tests, an_order_is_not_made_by_a_function_that_can_wait_for_nobody);
    tcase_add_test(tests, what_is_in_doubt_is_not_reported);
    tcase_add_test(tests, orders_for_which_there_is_no_room_are_not_judged);
    tcase_add_test(
        tests, an_order_behind_a_function_that_waits_for_nobody_is_reported_when_it_has_returned);
    tcase_add_test(tests, a_call_behind_a_host_function_is_reported_at_once);
    tcase_add_test(tests, awaited_verdicts_are_written_although_the_function_is_open);
    tcase_add_test(tests, a_verdict_on_its_way_is_awaited_too);
    tcase_add_test(tests, the_end_writes_what_is_held_back);
    tcase_add_test(tests, what_is_not_queued_is_reported_at_once);
    tcase_add_test(tests, what_is_not_queued_is_excused_all_the_same);
    tcase_add_test(tests, what_others_keep_back_is_not_forgotten);
    tcase_add_test(tests, others_judge_while_the_reaper_is_busy);
    tcase_add_test(tests, a_hold_ends_with_its_operation);
    tcase_add_test(tests, a_collection_gives_back_what_is_complete);
    tcase_add_test(tests, a_wait_for_what_does_not_end_is_given_up);
    tcase_add_test(tests, an_interval_settles_with_its_holds);
    tcase_add_test(tests, a_registration_ends_where_its_memory_is_used);
    tcase_add_test(tests, a_registration_stays_beside_work_that_does_not_end);
    tcase_add_test(tests, a_registration_of_a_context_that_has_ended_is_no_more);
    tcase_add_test(tests, an_unknown_graph_is_nothing_to_forget);
    tcase_add_test(tests, what_was_held_for_a_forgotten_graph_is_given_back);
    tcase_add_test(tests, after_the_end_hazards_are_reported_at_once);
    tcase_add_test(tests, it_may_end_before_it_began);
    tcase_add_test(tests, without_a_thread_hazards_are_reported_at_once);
    tcase_add_test(tests, a_child_has_no_reaper);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
