/* links: interpose/streams/doubts.c interpose/streams/host_functions.c interpose/base/process.c
 *
 * Which host functions may have waited for a touch that nobody has held up, and which have gone on
 * by themselves. The functions run on a thread of the test's; time is real, and no test depends on
 * how much of it passes.
 */
#include "common/now.h"
#include "common/op_kinds.h"
#include "common/points.h"
#include "common/ticks.h"
#include "interpose/base/process.h"
#include "interpose/base/sleeping_threads.h"
#include "interpose/guard/door.h"
#include "interpose/streams/doubts.h"
#include "interpose/streams/host_functions.h"
#include "interpose/streams/plain_functions.h"
#include "interpose/streams/streams.h"
#include "interpose/streams/unfinished.h"
#include "report/options.h"
#include "tests/unit/destroy.h"
#include "track/op_info.h"
#include "track/order.h"
#include "track/order_calls.h"

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { STREAM = 5, FUNCTION = 0x1000, LOOKS_MAX = 20000 };

/* ---- what else there is of the library ---- */

struct sc_stream_record *sc_streams_of_id(uint32_t stream)
{
    static struct sc_stream_record record;
    (void)stream;
    return &record;
}

bool sc_unfinished_is_clear(struct sc_stream_record *stream)
{
    (void)stream;
    return true;
}

static bool is_plain;
static enum sc_sleep sleeps;

bool sc_plain_functions_is_one(uintptr_t function)
{
    return function && is_plain;
}

enum sc_sleep sc_sleeping_threads_check(int32_t thread, int32_t waiter)
{
    ck_assert_int_ne(thread, waiter);
    return sleeps;
}

bool sc_guard_unblock_faults(bool is_own)
{
    return is_own;
}

/* ---- a host function that polls ---- */

static struct polling {
    unsigned call;
    uint64_t launched;
    _Atomic bool is_open, has_begun;
    _Atomic unsigned rounds;
    pthread_t thread;
} polling;

static void *poll_until_open(void *spins)
{
    sc_host_functions_note_begun(polling.call, polling.launched);
    while (!atomic_load(&polling.is_open)) {
        atomic_fetch_add(&polling.rounds, 1);
        atomic_store(&polling.has_begun, true);
        if (!spins)
            usleep(200);
    }
    sc_host_functions_note_ended(polling.call);
    return NULL;
}

static void launch(uintptr_t function)
{
    polling.launched = sc_ticks();
    polling.call = sc_host_functions_launched(polling.launched, STREAM, function);
    atomic_store(&polling.is_open, false);
    atomic_store(&polling.has_begun, false);
    atomic_store(&polling.rounds, 0);
}

static void begin(bool spins)
{
    ck_assert_int_eq(
        pthread_create(&polling.thread, NULL, poll_until_open, spins ? (void *)&polling : NULL), 0);
    while (!atomic_load(&polling.has_begun))
        usleep(100);
}

static void open_gate(void)
{
    atomic_store(&polling.is_open, true);
    pthread_join(polling.thread, NULL);
}

static struct sc_op_info behind(void)
{
    return (struct sc_op_info){.ticket = {.stream = STREAM}, .ticks = sc_ticks()};
}

/* ---- the thread that touches ---- */

static struct sc_order order;
static uint32_t touched_stream, other_stream;
static struct sc_ticket touched;

static struct toucher {
    unsigned doubt;
    const struct sc_point *awaits; /* NULL: it does not wait */
    _Atomic bool has_touched, ends;
    pthread_t thread;
} toucher;

static void *touch(void *unused)
{
    struct sc_op_info op = behind();
    toucher.doubt = sc_doubts_begin(&op, &touched);
    if (toucher.awaits)
        sc_doubts_wait_begins(toucher.awaits);
    atomic_store(&toucher.has_touched, true);
    while (!atomic_load(&toucher.ends))
        usleep(100);
    sc_doubts_wait_ends();
    return unused;
}

static void start_touching(const struct sc_point *awaits)
{
    toucher.awaits = awaits;
    atomic_store(&toucher.has_touched, false);
    atomic_store(&toucher.ends, false);
    ck_assert_int_eq(pthread_create(&toucher.thread, NULL, touch, NULL), 0);
    while (!atomic_load(&toucher.has_touched))
        usleep(100);
    ck_assert_uint_ne(toucher.doubt, 0);
}

static void end_touching(void)
{
    atomic_store(&toucher.ends, true);
    pthread_join(toucher.thread, NULL);
}

static bool is_cleared_after(unsigned looks)
{
    bool remains = true;
    for (unsigned i = 0; i < looks && remains; i++) {
        sc_doubts_look(toucher.doubt);
        remains = sc_doubts_remain(toucher.doubt);
        usleep(1100);
    }
    return !remains;
}

static void set_up(void)
{
    sc_options_defaults(&sc_options);
    is_plain = false;
    sleeps = SC_AWAKE;
    sc_options.mode = SC_MODE_REPORT;
    sc_ticks_start();
    sc_order_init(&order);
    uint32_t legacy = sc_order_add(&order, SC_STREAM_LEGACY, 0);
    touched_stream = sc_order_add(&order, SC_STREAM_NONBLOCKING, legacy);
    other_stream = sc_order_add(&order, SC_STREAM_NONBLOCKING, legacy);
    touched = sc_order_issue(&order, touched_stream);
    sc_order_issue(&order, other_stream);
}

static void tear_down(void)
{
    destroy_order(&order);
}

/* ---- tests ---- */

START_TEST(a_function_that_goes_on_while_the_toucher_waits_for_what_is_behind_it_is_no_gate)
{
    struct sc_point point = sc_order_point(&order, touched_stream);
    launch(FUNCTION);
    begin(_i == 1);
    start_touching(&point);
    ck_assert(sc_doubts_remain(toucher.doubt));
    ck_assert(is_cleared_after(LOOKS_MAX));
    open_gate();
    ck_assert(!sc_doubts_remain(toucher.doubt));
    end_touching();
    sc_doubts_end(toucher.doubt);
    sc_order_release_point(&order, &point);
}
END_TEST

START_TEST(a_function_that_begins_when_the_toucher_has_ended_is_no_gate)
{
    launch(FUNCTION);
    start_touching(NULL);
    end_touching();
    begin(false);
    ck_assert(is_cleared_after(LOOKS_MAX));
    open_gate();
}
END_TEST

/* Whatever it does: it may be about to open the gate. */
START_TEST(a_toucher_that_does_not_wait_may_open_a_gate)
{
    launch(FUNCTION);
    begin(false);
    start_touching(NULL);
    ck_assert(!is_cleared_after(100));
    open_gate();
    ck_assert(sc_doubts_remain(toucher.doubt));
    end_touching();
}
END_TEST

START_TEST(a_toucher_that_waits_for_something_else_may_open_a_gate_afterwards)
{
    struct sc_point point = sc_order_point(&order, other_stream);
    launch(FUNCTION);
    begin(false);
    start_touching(&point);
    ck_assert(!is_cleared_after(100));
    open_gate();
    ck_assert(sc_doubts_remain(toucher.doubt));
    end_touching();
    sc_order_release_point(&order, &point);
}
END_TEST

START_TEST(a_gate_that_was_open_before_it_began_may_have_waited)
{
    struct sc_point point = sc_order_point(&order, touched_stream);
    launch(FUNCTION);
    start_touching(&point);
    atomic_store(&polling.is_open, true);
    poll_until_open(NULL);
    ck_assert(!is_cleared_after(20));
    end_touching();
    sc_order_release_point(&order, &point);
}
END_TEST

/* A thread of the driver's may run the one function when it has run the other. */
START_TEST(a_host_function_that_has_touched_is_out_of_it_when_it_has_returned)
{
    launch(FUNCTION);
    uint64_t ticks = sc_ticks();
    unsigned call = sc_host_functions_launched(ticks, STREAM + 1, FUNCTION + 3);
    sc_host_functions_note_begun(call, ticks);
    struct sc_op_info op = behind();
    toucher.doubt = sc_doubts_begin(&op, &touched);
    begin(false);
    ck_assert(!is_cleared_after(50));
    sc_host_functions_note_ended(call);
    ck_assert(is_cleared_after(LOOKS_MAX));
    open_gate();
}
END_TEST

/* 0: while the call that touches is on, 1: when it has ended, 2: the thread is in another call. */
START_TEST(a_function_that_returns_within_the_call_that_touches_is_no_gate)
{
    struct sc_op_info op = behind();
    launch(FUNCTION);
    op.ticks = sc_ticks();
    uint64_t before = sc_doubts_raised();
    unsigned doubt = sc_doubts_begin(&op, &touched);
    sc_doubts_call_begins(_i == 2 ? sc_doubts_raised() : before);
    if (_i == 1)
        sc_doubts_wait_ends();
    sc_doubts_function_returned(polling.call, false);
    sc_host_functions_dropped(polling.call);
    ck_assert_int_eq(sc_doubts_remain(doubt), _i != 0);
    sc_doubts_end(doubt);
}
END_TEST

/* The nodes of a launch have one name, and others may be to come. */
START_TEST(a_node_that_returns_is_not_the_whole_launch)
{
    struct sc_op_info op = behind();
    uint64_t ticks = op.ticks - 1;
    unsigned first = sc_host_functions_launched(ticks, STREAM, FUNCTION);
    unsigned second = sc_host_functions_launched(ticks, STREAM, FUNCTION + 1);
    uint64_t before = sc_doubts_raised();
    unsigned doubt = sc_doubts_begin(&op, &touched);
    sc_doubts_call_begins(before);
    sc_doubts_function_returned(first, false);
    sc_host_functions_dropped(first);
    ck_assert(sc_doubts_remain(doubt));
    sc_doubts_function_returned(second, false);
    sc_host_functions_dropped(second);
    ck_assert(!sc_doubts_remain(doubt));
    sc_doubts_end(doubt);
}
END_TEST

START_TEST(each_of_several_functions_has_to_be_cleared)
{
    struct sc_point point = sc_order_point(&order, touched_stream);
    unsigned other = sc_host_functions_launched(sc_ticks(), STREAM, FUNCTION + 1);
    launch(FUNCTION);
    begin(false);
    start_touching(&point);
    ck_assert(!is_cleared_after(100));
    sc_host_functions_dropped(other);
    open_gate();
    end_touching();
    sc_order_release_point(&order, &point);
}
END_TEST

START_TEST(more_functions_than_are_listed_are_not_told_apart)
{
    unsigned calls[SC_HOST_FUNCTIONS_LISTED + 1];
    uint64_t launched[SC_HOST_FUNCTIONS_LISTED];
    uint64_t first =
        sc_ticks() - SC_HOST_FUNCTIONS_LISTED - 1; /* a tick may be longer than a call */
    for (unsigned i = 0; i <= SC_HOST_FUNCTIONS_LISTED; i++)
        calls[i] = sc_host_functions_launched(first + i, STREAM, FUNCTION);
    struct sc_op_info op = behind();
    ck_assert_uint_eq(sc_host_functions_list(&op, launched), SC_HOST_FUNCTIONS_LISTED + 1);
    toucher.doubt = sc_doubts_begin(&op, &touched);
    for (unsigned i = 0; i <= SC_HOST_FUNCTIONS_LISTED; i++)
        sc_host_functions_dropped(calls[i]);
    ck_assert(sc_doubts_remain(toucher.doubt));
}
END_TEST

START_TEST(doubts_without_room_remain)
{
    struct sc_op_info op = behind();
    unsigned last = 0;
    unsigned count = 0;
    for (; (last = sc_doubts_begin(&op, &touched)) != 0; count++)
        ck_assert_uint_lt(count, 10000);
    ck_assert(sc_doubts_remain(0));
    sc_doubts_look(0);
    sc_doubts_end(0);
    sc_doubts_end(1);
    ck_assert_uint_eq(sc_doubts_begin(&op, &touched), 1);
}
END_TEST

/* Who is not held up cannot lose patience: the function may take as long as it likes. */
START_TEST(a_function_that_takes_long_waits_for_whoever_is_held_up)
{
    bool is_report = _i == 1;
    sc_options.mode = is_report ? SC_MODE_REPORT : SC_MODE_FIX;
    sc_options.stall_limit_ns = 1;
    launch(FUNCTION + 7 + (uintptr_t)_i);
    begin(false);
    struct sc_op_info op = behind();
    uint64_t since_ns = sc_now_ns();
    while (sc_now_ns() - since_ns < 2)
        continue;
    sc_host_functions_poll(since_ns);
    ck_assert_int_eq(sc_host_functions_excuses(&op, 0), !is_report);
    open_gate();
}
END_TEST

/* They have no slot, so that nothing is known of when they were launched. */
START_TEST(functions_for_which_there_is_no_room_may_be_before_all_on_their_streams)
{
    enum { CALLS_MAX = 256 };
    unsigned calls[CALLS_MAX];
    uint64_t launched[SC_HOST_FUNCTIONS_LISTED];
    struct sc_op_info op = behind();
    for (unsigned i = 0; i < CALLS_MAX; i++)
        calls[i] = sc_host_functions_launched(sc_ticks(), STREAM + 1, FUNCTION);
    ck_assert(!sc_host_functions_are_open(&op));
    unsigned more = sc_host_functions_launched(sc_ticks(), STREAM, FUNCTION);
    sc_host_functions_note_begun(more, sc_ticks());
    ck_assert(sc_host_functions_are_open(&op));
    ck_assert(sc_host_functions_precede(more, &op));
    ck_assert(!sc_host_functions_excuses(&op, 0));
    ck_assert_uint_gt(sc_host_functions_list(&op, launched), SC_HOST_FUNCTIONS_LISTED);
    unsigned doubt = sc_doubts_begin(&op, &touched);
    sc_doubts_look(doubt);
    sc_doubts_function_returned(more, false);
    sc_host_functions_note_ended(more);
    ck_assert(sc_doubts_remain(doubt));
    sc_doubts_end(doubt);
    ck_assert(!sc_host_functions_are_open(&op));
    is_plain = true;
    ck_assert_uint_eq(sc_host_functions_launched(sc_ticks(), STREAM, FUNCTION), 0);
    for (unsigned i = 0; i < CALLS_MAX; i++)
        sc_host_functions_dropped(calls[i]);
}
END_TEST

START_TEST(what_is_launched_later_or_elsewhere_is_not_before_the_operation)
{
    struct sc_op_info op = behind();
    unsigned later = sc_host_functions_launched(sc_ticks(), STREAM, FUNCTION);
    unsigned elsewhere = sc_host_functions_launched(op.ticks - 1, STREAM + 1, FUNCTION);
    unsigned before = sc_host_functions_launched(op.ticks - 1, STREAM, FUNCTION);
    ck_assert(!sc_host_functions_precede(later, &op));
    ck_assert(!sc_host_functions_precede(elsewhere, &op));
    ck_assert(sc_host_functions_precede(before, &op));
    ck_assert(!sc_host_functions_precede(0, &op));
    sc_host_functions_dropped(later);
    sc_host_functions_dropped(elsewhere);
    sc_host_functions_dropped(before);
}
END_TEST

/* ---- functions that wait for nobody ---- */

START_TEST(a_function_that_waits_for_nobody_is_not_open)
{
    is_plain = true;
    launch(FUNCTION);
    struct sc_op_info op = behind();
    uint64_t launched[SC_HOST_FUNCTIONS_LISTED];
    ck_assert(!sc_host_functions_are_open(&op));
    ck_assert(!sc_host_functions_precede(polling.call, &op));
    ck_assert_uint_eq(sc_host_functions_list(&op, launched), 0);
    sc_host_functions_dropped(polling.call);
}
END_TEST

/* A node of a graph is not its launch, of which other nodes are to come. */
START_TEST(what_is_known_of_a_function_at_its_end_clears_the_doubt)
{
    bool is_node = _i == 1;
    launch(FUNCTION);
    struct sc_op_info op = behind();
    toucher.doubt = sc_doubts_begin(&op, &touched);
    sc_host_functions_note_begun(polling.call, is_node ? 0 : polling.launched);
    ck_assert(sc_doubts_remain(toucher.doubt));
    is_plain = true;
    bool was_plain = sc_host_functions_was_plain(polling.call);
    ck_assert_int_eq(was_plain, !is_node);
    sc_doubts_function_returned(polling.call, was_plain);
    sc_host_functions_note_ended(polling.call);
    ck_assert_int_eq(sc_doubts_remain(toucher.doubt), is_node);
    sc_doubts_end(toucher.doubt);
}
END_TEST

/* ---- functions that are asleep ---- */

START_TEST(a_function_that_sleeps_for_own_threads_is_found_at_once)
{
    launch(FUNCTION + 8);
    begin(false);
    struct sc_op_info op = behind();
    sleeps = _i == 0 ? SC_SLEEPS_FOR_OWN : _i == 1 ? SC_SLEEPS : SC_AWAKE;
    sc_host_functions_poll(sc_now_ns());
    ck_assert_int_eq(sc_host_functions_excuses(&op, 0), sleeps == SC_SLEEPS_FOR_OWN);
    open_gate();
}
END_TEST

static Suite *all_tests(void)
{
    Suite *suite = suite_create("doubts");
    TCase *tests = tcase_create("doubts");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(
        tests, a_function_that_goes_on_while_the_toucher_waits_for_what_is_behind_it_is_no_gate, 0,
        2);
    tcase_add_test(tests, a_function_that_begins_when_the_toucher_has_ended_is_no_gate);
    tcase_add_test(tests, a_toucher_that_does_not_wait_may_open_a_gate);
    tcase_add_test(tests, a_toucher_that_waits_for_something_else_may_open_a_gate_afterwards);
    tcase_add_test(tests, a_gate_that_was_open_before_it_began_may_have_waited);
    tcase_add_test(tests, a_host_function_that_has_touched_is_out_of_it_when_it_has_returned);
    tcase_add_loop_test(tests, a_function_that_returns_within_the_call_that_touches_is_no_gate, 0,
                        3);
    tcase_add_test(tests, a_node_that_returns_is_not_the_whole_launch);
    tcase_add_test(tests, each_of_several_functions_has_to_be_cleared);
    tcase_add_test(tests, more_functions_than_are_listed_are_not_told_apart);
    tcase_add_loop_test(tests, a_function_that_takes_long_waits_for_whoever_is_held_up, 0, 2);
    tcase_add_test(tests, doubts_without_room_remain);
    tcase_add_test(tests, functions_for_which_there_is_no_room_may_be_before_all_on_their_streams);
    tcase_add_test(tests, what_is_launched_later_or_elsewhere_is_not_before_the_operation);
    tcase_add_test(tests, a_function_that_waits_for_nobody_is_not_open);
    tcase_add_loop_test(tests, what_is_known_of_a_function_at_its_end_clears_the_doubt, 0, 2);
    tcase_add_loop_test(tests, a_function_that_sleeps_for_own_threads_is_found_at_once, 0, 3);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(all_tests());
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
