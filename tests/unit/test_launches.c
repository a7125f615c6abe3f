/* Launches of graphs whose nodes record events: what the events stand for, and what is in flight
 * until the host has heard of them. A launch is issued here as interpose/calls/graph_launch.c does.
 */
#include "track/track.h"

#include <check.h>
#include <stdlib.h>

enum {
    BASE = 0x100000,
    PAGE = 4096,
    EXEC = 0x7000,
    FIRST = 0xe000,
    SECOND = 0xe010,
    OTHER = 0xe020
};
enum { FIRST_NODE = 0x50, SECOND_NODE = 0x60 };

static struct sc_track track;
static uint32_t legacy, one, two;

static void set_up(void)
{
    ck_assert_int_eq(sc_track_init(&track), 0);
    legacy = sc_track_add_stream(&track, SC_STREAM_LEGACY, 0, 1, 0);
    one = sc_track_add_stream(&track, SC_STREAM_NONBLOCKING, legacy, 3, 0);
    two = sc_track_add_stream(&track, SC_STREAM_NONBLOCKING, legacy, 4, 0);
}

static void tear_down(void)
{
    sc_track_destroy(&track);
}

/* ---- an exec ---- */

static struct sc_graph_use use_of(uintptr_t node, unsigned page)
{
    return (struct sc_graph_use){.node = node,
                                 .shape = {BASE + page * PAGE, 64, 64, 1},
                                 .direction = SC_H2D,
                                 .kind = SC_REGISTERED};
}

static void add_use(uintptr_t node, unsigned page, unsigned step)
{
    struct sc_graph_use use = use_of(node, page);
    sc_track_graph_add(&track, EXEC, &use, NULL);
    ck_assert(sc_track_graph_tell_of(&track, EXEC, node, step));
}

static void add_event(uintptr_t node, uintptr_t event, unsigned step)
{
    const struct sc_graph_event recorded = {.node = node, .event = event};
    sc_track_graph_add_event(&track, EXEC, &recorded);
    sc_track_graph_let_tell(&track, EXEC, node, step);
}

/* Pages 0 and 1 are read before the first event, page 2 before the second one, page 3 behind it.
 * The nodes are told of in another order. */
static void make_exec(uintptr_t first, uintptr_t second)
{
    sc_track_graph_begin_exec(&track, EXEC, legacy);
    add_use(4, 3, 0);
    add_use(3, 2, 2);
    add_use(2, 1, 1);
    add_use(1, 0, 1);
    add_event(SECOND_NODE, second, 2);
    add_event(FIRST_NODE, first, 1);
    sc_track_graph_end_exec(&track, EXEC, false);
}

static uint32_t exec_id(void)
{
    return sc_graphs_find(&track.graphs, EXEC);
}

/* ---- a launch ---- */

struct launching {
    uint32_t stream;
    struct sc_order_call call;
    struct sc_point before;
    struct sc_told told;
};

static void begin(struct launching *launching, uint32_t stream)
{
    *launching = (struct launching){.stream = stream};
    sc_track_begin_launch(&track, exec_id(), stream, &launching->call);
    launching->before = sc_track_call_point(&track, stream, &launching->call);
    launching->told.last = launching->before.number;
}

static void issue(struct launching *launching, const struct sc_graph_use *run)
{
    SC_ISSUED(issued);
    struct sc_op_info info = {.api = "launch",
                              .shape = run->shape,
                              .ticket.stream = launching->stream,
                              .direction = run->direction,
                              .kind = run->kind,
                              .by_graph = true,
                              .unjudged = run->unjudged};
    sc_track_issue(&track, &(struct sc_order_call){0}, &info, 1, &issued);
    sc_told_note(&launching->told, run->told, info.ticket.number);
}

/* `again`: as a launch on the stream of the last one. `between`: another thread has issued there
 * before the first operation, or -1 before none, or before the one of that number. */
static void end(struct launching *launching, bool again, int between)
{
    const struct sc_graph_uses *runs = &sc_graphs_at(&track.graphs, exec_id())->exec.runs;
    struct sc_relaunch relaunch = {
        .exec = exec_id(), .stream = launching->stream, .api = "launch", .told = &launching->told};
    sc_track_end(&track, &launching->call, true);
    if (again)
        sc_track_launch_again(&track, &relaunch);
    for (uint32_t i = relaunch.done; i < runs->count; i++) {
        struct sc_graph_use other = use_of(9, 9);
        if (between == (int)i)
            issue(&(struct launching){.stream = launching->stream}, &other);
        issue(launching, &runs->list[i]);
    }
    sc_track_launch_records(&track, exec_id(), &launching->before, &launching->told);
    sc_track_launched(&track, EXEC, launching->stream);
}

static void launch(uint32_t stream, bool again)
{
    struct launching launching;
    begin(&launching, stream);
    end(&launching, again, -1);
}

/* ---- what is in flight ---- */

static bool in_flight(unsigned page)
{
    SC_OPS(ops);
    sc_track_in_flight(&track, BASE + page * PAGE, 64, &ops);
    return ops.count;
}

static void expect_in_flight(bool first, bool second, bool third, bool fourth)
{
    ck_assert_int_eq(in_flight(0), first);
    ck_assert_int_eq(in_flight(1), second);
    ck_assert_int_eq(in_flight(2), third);
    ck_assert_int_eq(in_flight(3), fourth);
}

static void hear_of(uintptr_t event)
{
    struct sc_point point = sc_track_event_point(&track, event);
    sc_track_known(&track, &point, NULL);
}

static void synchronise(uint32_t stream)
{
    struct sc_point point = sc_track_point(&track, stream, SC_SCOPE_STREAM);
    sc_track_known(&track, &point, NULL);
}

/* ---- the tests ---- */

START_TEST(an_event_stands_for_what_is_before_its_node)
{
    make_exec(FIRST, SECOND);
    launch(one, false);
    expect_in_flight(true, true, true, true);
    hear_of(FIRST);
    expect_in_flight(false, false, true, true);
    hear_of(SECOND);
    expect_in_flight(false, false, false, true);
    synchronise(one);
    expect_in_flight(false, false, false, false);
}
END_TEST

START_TEST(a_later_event_stands_for_what_an_earlier_one_does)
{
    make_exec(FIRST, SECOND);
    launch(one, false);
    hear_of(SECOND);
    expect_in_flight(false, false, false, true);
}
END_TEST

START_TEST(what_came_before_the_launch_is_done)
{
    struct launching before = {.stream = one};
    struct sc_graph_use other = use_of(9, 9);
    issue(&before, &other);
    make_exec(FIRST, SECOND);
    launch(one, false);
    ck_assert(in_flight(9));
    hear_of(FIRST);
    ck_assert(!in_flight(9));
}
END_TEST

/* Each launch records the events anew. */
START_TEST(an_event_means_the_latest_launch)
{
    make_exec(FIRST, SECOND);
    for (int turn = 0; turn < 3; turn++) {
        launch(one, turn > 0);
        expect_in_flight(true, true, true, true);
        hear_of(FIRST);
        expect_in_flight(false, false, true, true);
    }
    launch(one, true);
    launch(one, true);
    hear_of(SECOND);
    expect_in_flight(false, false, false, true);
}
END_TEST

START_TEST(a_point_that_was_taken_before_the_launch_tells_of_the_former)
{
    make_exec(FIRST, SECOND);
    launch(one, false);
    struct sc_point former = sc_track_event_point(&track, SECOND);
    launch(one, true);
    sc_track_known(&track, &former, NULL);
    expect_in_flight(true, true, true, true);
    hear_of(SECOND);
    expect_in_flight(false, false, false, true);
}
END_TEST

START_TEST(a_launch_on_another_stream_comes_behind)
{
    make_exec(FIRST, SECOND);
    launch(one, false);
    launch(two, false);
    hear_of(FIRST);
    expect_in_flight(false, false, true, true); /* the former launch is done */
    hear_of(SECOND);
    expect_in_flight(false, false, false, true);
}
END_TEST

START_TEST(who_waits_for_the_event_is_behind_it)
{
    struct sc_wait wait;
    make_exec(FIRST, SECOND);
    launch(one, false);
    sc_track_begin_wait(&track, two, FIRST, &wait);
    sc_track_end_wait(&track, &wait, true);
    synchronise(two);
    expect_in_flight(false, false, true, true);
}
END_TEST

START_TEST(on_a_legacy_stream_it_is_alike)
{
    make_exec(FIRST, SECOND);
    launch(legacy, false);
    hear_of(FIRST);
    expect_in_flight(false, false, true, true);
    launch(legacy, true);
    hear_of(SECOND);
    expect_in_flight(false, false, false, true);
}
END_TEST

static unsigned judged(unsigned page)
{
    struct sc_op_info touch = {.shape = {BASE + page * PAGE, 64, 64, 1},
                               .ticket.stream = two,
                               .direction = SC_D2H,
                               .kind = SC_REGISTERED};
    SC_OPS(met);
    sc_track_met(&track, &touch, false, &met);
    return met.count;
}

/* Nobody knows which of the two nodes the host has heard of. */
START_TEST(of_an_event_that_two_nodes_record_the_first_one_counts)
{
    make_exec(FIRST, FIRST);
    launch(one, false);
    ck_assert(judged(0) && judged(1) && !judged(2) && judged(3));
    hear_of(FIRST);
    expect_in_flight(false, false, false, true); /* the third is no hazard's, and stays */
    struct sc_take_down free = {.address = BASE + 2 * PAGE,
                                .size_bytes = 64,
                                .hold = true,
                                .kind = SC_HOLD_FREE,
                                .max_held_bytes = PAGE};
    sc_track_take_down(&track, &free);
    ck_assert_uint_ne(free.held, 0);
    sc_take_down_end(&free);
}
END_TEST

START_TEST(an_event_of_its_own_is_given_back_to_the_node)
{
    make_exec(FIRST, FIRST);
    sc_track_graph_drop_node(&track, EXEC, SECOND_NODE);
    add_event(SECOND_NODE, OTHER, 2);
    sc_track_graph_make_runs(&track, EXEC);
    launch(one, false);
    ck_assert(judged(0) && judged(1) && judged(2) && judged(3));
    hear_of(OTHER);
    expect_in_flight(false, false, false, true);
}
END_TEST

/* It may be before the node or behind it. */
START_TEST(what_other_threads_issue_meanwhile_is_not_taken_for_done)
{
    for (int between = 0; between < 4; between++) {
        struct launching launching;
        make_exec(FIRST, SECOND);
        begin(&launching, one);
        end(&launching, false, between);
        hear_of(SECOND);
        ck_assert(in_flight(9));
        bool sure = between == 3; /* behind all that is told of */
        for (unsigned page = 0; page < 3; page++)
            ck_assert_uint_eq(judged(page), 0);
        ck_assert_uint_eq(judged(3), 1);
        ck_assert_int_eq(launching.told.broken, !sure);
        launch(one, true); /* alone again */
        ck_assert(judged(0) && judged(1) && judged(2) && judged(3));
        hear_of(SECOND);
        expect_in_flight(false, false, false, true);
        synchronise(one);
    }
}
END_TEST

START_TEST(the_same_bytes_before_and_behind_the_node_stay_in_flight)
{
    sc_track_graph_begin_exec(&track, EXEC, legacy);
    add_use(1, 0, 1);
    add_use(2, 0, 0);
    add_event(FIRST_NODE, FIRST, 1);
    sc_track_graph_end_exec(&track, EXEC, false);
    for (int turn = 0; turn < 3; turn++) {
        launch(one, turn > 0);
        hear_of(FIRST);
        ck_assert(in_flight(0));
    }
    synchronise(one);
    ck_assert(!in_flight(0));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("launches");
    TCase *group = tcase_create("launches");
    tcase_add_checked_fixture(group, set_up, tear_down);
    tcase_add_test(group, an_event_stands_for_what_is_before_its_node);
    tcase_add_test(group, a_later_event_stands_for_what_an_earlier_one_does);
    tcase_add_test(group, what_came_before_the_launch_is_done);
    tcase_add_test(group, an_event_means_the_latest_launch);
    tcase_add_test(group, a_point_that_was_taken_before_the_launch_tells_of_the_former);
    tcase_add_test(group, a_launch_on_another_stream_comes_behind);
    tcase_add_test(group, who_waits_for_the_event_is_behind_it);
    tcase_add_test(group, on_a_legacy_stream_it_is_alike);
    tcase_add_test(group, of_an_event_that_two_nodes_record_the_first_one_counts);
    tcase_add_test(group, an_event_of_its_own_is_given_back_to_the_node);
    tcase_add_test(group, what_other_threads_issue_meanwhile_is_not_taken_for_done);
    tcase_add_test(group, the_same_bytes_before_and_behind_the_node_stay_in_flight);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
