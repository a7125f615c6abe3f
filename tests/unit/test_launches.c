/* Launches of graphs whose nodes tell the host how far they are: what events stand for that nodes
 * record, what a host node tells that runs, and what is in flight until the host has heard of it. A
 * launch is issued here as interpose/calls/graph_launch.c does.
 */
#include "common/points.h"
#include "tests/unit/destroy.h"
#include "tests/unit/locked.h"
#include "track/graph_frees.h"
#include "track/graphs_internal.h"
#include "track/guarded.h"
#include "track/inflight_calls.h"
#include "track/op_info.h"
#include "track/order.h"
#include "track/order_calls.h"
#include "track/stages.h"
#include "track/track.h"
#include "track/track_device.h"
#include "track/track_graphs.h"
#include "track/track_holds.h"
#include "track/track_ops.h"
#include "track/track_order.h"
#include "track/track_ranges.h"
#include "track/tracker.h"
#include "track/watched_nodes.h"

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
    destroy_track(&track);
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
    ck_assert(LOCKED(&track, sc_graphs_set_stage(&track.graphs, EXEC, node, step)));
}

static void add_event(uintptr_t node, uintptr_t event, unsigned step)
{
    const struct sc_graph_event recorded = {.node = node, .event = event};
    LOCKED(&track, sc_graphs_add_event(&track.graphs, EXEC, &recorded));
    LOCKED(&track, sc_graphs_set_notifies(&track.graphs, EXEC, node, step));
}

/* Pages 0 and 1 are read before the first event, page 2 before the second one, page 3 behind it.
 * The nodes are told of in another order. */
static void make_exec(uintptr_t first, uintptr_t second)
{
    LOCKED(&track, sc_graphs_begin_exec(&track.graphs, EXEC, legacy));
    add_use(4, 3, 0);
    add_use(3, 2, 2);
    add_use(2, 1, 1);
    add_use(1, 0, 1);
    add_event(SECOND_NODE, second, 2);
    add_event(FIRST_NODE, first, 1);
    LOCKED(&track, sc_graphs_end_exec(&track.graphs, EXEC, false));
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
    struct sc_stages stages;
};

static void begin(struct launching *launching, uint32_t stream)
{
    *launching = (struct launching){.stream = stream};
    sc_track_begin_launch(&track, exec_id(), stream, &launching->call);
    launching->before = sc_track_call_point(&track, stream, &launching->call);
    launching->stages.last = launching->before.number;
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
                              .unsure = run->unsure};
    sc_track_issue(&track, &(struct sc_order_call){0}, &info, 1, &issued);
    sc_stages_note(&launching->stages, run->stage, info.ticket.number);
}

/* `again`: as a launch on the stream of the last one. `between`: another thread has issued there
 * before the first operation, or -1 before none, or before the one of that number. */
static void end(struct launching *launching, bool again, int between)
{
    const struct sc_graph_uses *runs = &sc_graphs_at(&track.graphs, exec_id())->exec.runs;
    struct sc_relaunch relaunch = {.exec = exec_id(),
                                   .stream = launching->stream,
                                   .api = "launch",
                                   .stages = &launching->stages};
    sc_track_end_call(&track, &launching->call, true);
    if (again)
        sc_track_relaunch(&track, &relaunch);
    for (uint32_t i = relaunch.done; i < runs->count; i++) {
        struct sc_graph_use other = use_of(9, 9);
        if (between == (int)i)
            issue(&(struct launching){.stream = launching->stream}, &other);
        issue(launching, &runs->list[i]);
    }
    sc_stages_close(&launching->stages);
    sc_track_note_launch_records(&track, exec_id(), &launching->before, &launching->stages);
    LOCKED(&track, sc_graphs_note_launched(&track.graphs, EXEC, launching->stream));
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
    LOCKED(&track, sc_inflight_find_in(&track.inflight, BASE + page * PAGE, 64, &ops));
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
    sc_track_note_known(&track, &point, NULL, NULL);
}

static void synchronise(uint32_t stream)
{
    struct sc_point point = sc_track_sync_point(&track, stream, SC_SCOPE_STREAM);
    sc_track_note_known(&track, &point, NULL, NULL);
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
    sc_track_note_known(&track, &former, NULL, NULL);
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
    sc_track_conflicts(&track, &touch, false, &met);
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
    struct sc_deallocation free = {.address = BASE + 2 * PAGE,
                                   .size_bytes = 64,
                                   .hold = true,
                                   .kind = SC_HOLD_FREE,
                                   .max_held_bytes = PAGE};
    sc_track_deallocate(&track, &free);
    ck_assert_uint_ne(free.held, 0);
    sc_deallocation_end(&free);
}
END_TEST

START_TEST(an_event_of_its_own_is_given_back_to_the_node)
{
    make_exec(FIRST, FIRST);
    LOCKED(&track, sc_graphs_drop_node(&track.graphs, EXEC, SECOND_NODE));
    add_event(SECOND_NODE, OTHER, 2);
    LOCKED(&track, sc_graphs_make_runs(&track.graphs, EXEC));
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
        ck_assert_int_eq(launching.stages.broken, !sure);
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
    LOCKED(&track, sc_graphs_begin_exec(&track.graphs, EXEC, legacy));
    add_use(1, 0, 1);
    add_use(2, 0, 0);
    add_event(FIRST_NODE, FIRST, 1);
    LOCKED(&track, sc_graphs_end_exec(&track.graphs, EXEC, false));
    for (int turn = 0; turn < 3; turn++) {
        launch(one, turn > 0);
        hear_of(FIRST);
        ck_assert(in_flight(0));
    }
    synchronise(one);
    ck_assert(!in_flight(0));
}
END_TEST

/* ---- host nodes ---- */

static void function_of(void *data)
{
    (void)data;
}

/* The nodes of make_exec, without events: host nodes tell of the two steps. */
static struct sc_watched_node *add_host(uintptr_t node, unsigned step)
{
    struct sc_watched_node *added =
        LOCKED(&track, sc_graphs_add_watched(&track.graphs, EXEC, node, function_of, (void *)node));
    ck_assert_ptr_nonnull(added);
    LOCKED(&track, sc_graphs_set_notifies(&track.graphs, EXEC, node, step));
    return added;
}

struct hosts {
    struct sc_watched_node *first, *second;
};

static struct hosts make_exec_of_hosts(void)
{
    LOCKED(&track, sc_graphs_begin_exec(&track.graphs, EXEC, legacy));
    add_use(4, 3, 0);
    add_use(3, 2, 2);
    add_use(2, 1, 1);
    add_use(1, 0, 1);
    struct hosts hosts = {add_host(FIRST_NODE, 1), add_host(SECOND_NODE, 2)};
    LOCKED(&track, sc_graphs_end_exec(&track.graphs, EXEC, false));
    return hosts;
}

struct hearing {
    struct launching launching;
    struct sc_watched_launch *heard;
    struct sc_watched_call call;
    unsigned given_up;
};

static void begin_hearing_of(struct hearing *hearing, uint32_t stream, unsigned open)
{
    begin(&hearing->launching, stream);
    hearing->call = (struct sc_watched_call){1000 + open, open};
    hearing->heard =
        LOCKED(&track, sc_graphs_begin_watched(&track.graphs, exec_id(), &hearing->launching.before,
                                               &hearing->call, &hearing->given_up));
}

static void begin_hearing(struct hearing *hearing, uint32_t stream)
{
    begin_hearing_of(hearing, stream, 0);
}

static void know(struct sc_point point)
{
    if (point.stream)
        sc_track_note_known(&track, &point, NULL, NULL);
}

static void end_hearing(struct hearing *hearing, bool again, int between)
{
    hearing->launching.stages.broken = !hearing->heard;
    end(&hearing->launching, again, between);
    if (hearing->heard)
        know(LOCKED(&track, sc_watched_nodes_end_launch(&track.order, hearing->heard,
                                                        &hearing->launching.stages)));
}

/* Returns the place of the launch that was given up for this one. */
static unsigned launch_hearing_of(uint32_t stream, bool again, unsigned open)
{
    struct hearing hearing;
    begin_hearing_of(&hearing, stream, open);
    end_hearing(&hearing, again, -1);
    return hearing.given_up;
}

static void launch_hearing(uint32_t stream, bool again)
{
    launch_hearing_of(stream, again, 0);
}

static struct sc_watched_run run(struct sc_watched_node *node)
{
    struct sc_watched_run ran = LOCKED(&track, sc_watched_nodes_note_run(&track.order, node));
    know(ran.point);
    return ran;
}

START_TEST(a_host_node_that_runs_tells_what_is_before_it)
{
    struct hosts hosts = make_exec_of_hosts();
    launch_hearing(one, false);
    expect_in_flight(true, true, true, true);
    run(hosts.first);
    expect_in_flight(false, false, true, true);
    run(hosts.second);
    expect_in_flight(false, false, false, true);
}
END_TEST

START_TEST(a_run_is_of_the_launch_of_its_number)
{
    struct hosts hosts = make_exec_of_hosts();
    launch_hearing(one, false);
    launch_hearing(one, true);
    launch_hearing(one, true);
    for (int turn = 0; turn < 2; turn++) {
        run(hosts.first);
        run(hosts.second);
        expect_in_flight(true, true, true, true); /* of the last launch */
    }
    run(hosts.first);
    expect_in_flight(false, false, true, true);
    run(hosts.second);
    expect_in_flight(false, false, false, true);
}
END_TEST

/* The driver is faster than the call that launches. */
START_TEST(a_node_may_run_before_its_operations_are_known)
{
    struct hearing hearing;
    struct hosts hosts = make_exec_of_hosts();
    begin_hearing(&hearing, one);
    run(hosts.first);
    end_hearing(&hearing, false, -1);
    expect_in_flight(false, false, true, true);
    begin_hearing(&hearing, one);
    run(hosts.second); /* of the former launch */
    run(hosts.first);
    run(hosts.second);
    end_hearing(&hearing, true, -1);
    expect_in_flight(false, false, false, true);
}
END_TEST

/* Its function may write their sources as soon as it runs. */
START_TEST(what_was_before_the_launch_is_known_when_the_first_node_runs)
{
    struct hearing hearing;
    struct launching earlier = {.stream = one};
    struct sc_graph_use source = use_of(9, 9);
    struct hosts hosts = make_exec_of_hosts();
    issue(&earlier, &source);
    begin_hearing(&hearing, one);
    ck_assert(in_flight(9));
    run(hosts.first);
    ck_assert(!in_flight(9));
    end_hearing(&hearing, false, -1);
    expect_in_flight(false, false, true, true);
}
END_TEST

START_TEST(it_goes_on_when_the_exec_is_gone)
{
    struct hosts hosts = make_exec_of_hosts();
    launch_hearing(one, false);
    LOCKED(&track, sc_graphs_remove(&track.graphs, sc_graphs_detach(&track.graphs, EXEC)));
    run(hosts.first);
    expect_in_flight(false, false, true, true);
    run(hosts.second); /* gives the last of it back */
    expect_in_flight(false, false, false, true);
}
END_TEST

START_TEST(a_changed_node_leaves_its_record_to_the_launches_before)
{
    struct hosts hosts = make_exec_of_hosts();
    launch_hearing(one, false);
    struct sc_watched_node *other =
        LOCKED(&track, sc_graphs_add_watched(&track.graphs, EXEC, FIRST_NODE, function_of, &track));
    LOCKED(&track, sc_watched_nodes_replace(&track.order, other));
    ck_assert_uint_eq(other->tells, 1);
    launch_hearing(one, true);
    run(hosts.first); /* of the launch before, and for the last time */
    run(hosts.second);
    expect_in_flight(true, true, true, true);
    run(other);
    expect_in_flight(false, false, true, true);
    run(hosts.second);
    expect_in_flight(false, false, false, true);
}
END_TEST

START_TEST(a_change_that_was_refused_is_none)
{
    struct hosts hosts = make_exec_of_hosts();
    LOCKED(&track, sc_watched_nodes_drop(&track.order,
                                         sc_graphs_add_watched(&track.graphs, EXEC, FIRST_NODE,
                                                               function_of, &track)));
    launch_hearing(one, false);
    run(hosts.first);
    run(hosts.second);
    expect_in_flight(false, false, false, true);
    ck_assert_ptr_null(sc_graphs_at(&track.graphs, exec_id())->exec.watched->oldest);
}
END_TEST

START_TEST(a_launch_that_was_refused_is_not_counted)
{
    struct hearing hearing;
    struct hosts hosts = make_exec_of_hosts();
    begin_hearing(&hearing, one);
    LOCKED(&track, sc_watched_nodes_fail_launch(&track.order, hearing.heard));
    sc_track_end_call(&track, &hearing.launching.call, false);
    sc_track_release_point(&track, &hearing.launching.before);
    launch_hearing(one, false);
    run(hosts.first);
    expect_in_flight(false, false, true, true);
}
END_TEST

/* A launch has passed by: nobody knows which one a run is of. */
START_TEST(with_more_runs_than_launches_nothing_is_judged)
{
    struct hosts hosts = make_exec_of_hosts();
    run(hosts.first);
    ck_assert(sc_graphs_at(&track.graphs, exec_id())->exec.watched->is_lost);
    launch_hearing(one, false);
    ck_assert(!judged(0) && !judged(1) && !judged(2) && judged(3));
    run(hosts.second);
    ck_assert(judged(3));
}
END_TEST

START_TEST(a_run_says_which_launch_it_is_of_and_the_last_node_ends_that)
{
    struct hosts hosts = make_exec_of_hosts();
    launch_hearing_of(one, false, 7);
    launch_hearing_of(two, false, 8);
    struct sc_watched_run ran = run(hosts.second);
    ck_assert_uint_eq(ran.stream, one);
    ck_assert_uint_eq(ran.call.ticks, 1007);
    ck_assert_uint_eq(ran.call.open, 0);
    ran = run(hosts.first);
    ck_assert_uint_eq(ran.call.open, 7);
    run(hosts.first);
    ran = run(hosts.second);
    ck_assert_uint_eq(ran.stream, two);
    ck_assert_uint_eq(ran.call.ticks, 1008);
    ck_assert_uint_eq(ran.call.open, 8);
}
END_TEST

/* Nodes may run before it is known what the launch has. */
START_TEST(a_launch_that_runs_in_its_own_call_ends_as_well)
{
    struct hearing hearing;
    struct hosts hosts = make_exec_of_hosts();
    begin_hearing_of(&hearing, one, 9);
    run(hosts.first);
    ck_assert_uint_eq(run(hosts.second).call.open, 9);
    end_hearing(&hearing, false, -1);
    ck_assert_uint_eq(run(hosts.first).stream, 0); /* of no launch */
}
END_TEST

START_TEST(of_too_many_launches_the_oldest_may_have_been_heard_of)
{
    struct hosts hosts = make_exec_of_hosts();
    for (unsigned i = 0; i <= SC_WATCHED_WAITING_MAX; i++)
        ck_assert_uint_eq(launch_hearing_of(one, i > 0, i + 1), i == SC_WATCHED_WAITING_MAX);
    const struct sc_watched_nodes *heard = sc_graphs_at(&track.graphs, exec_id())->exec.watched;
    ck_assert_uint_eq(heard->waiting, SC_WATCHED_WAITING_MAX);
    ck_assert_uint_eq(heard->oldest->number, 2);
    struct sc_ticket ticket = {.stream = one, .number = 3};
    ck_assert(sc_order_may_be_signalled(&track.order, &ticket));
    ticket.number = 4; /* no node tells of it */
    ck_assert(!sc_order_may_be_signalled(&track.order, &ticket));
    for (int i = 0; i <= SC_WATCHED_WAITING_MAX; i++) {
        run(hosts.first);
        run(hosts.second);
    }
    expect_in_flight(false, false, false, true);
    ck_assert_uint_eq(heard->waiting, 0);
}
END_TEST

/* Whatever becomes of them: nodes that change, launches that are refused, execs that go first. */
START_TEST(execs_that_come_and_go_take_no_more_memory)
{
    const void *chunks = NULL;
    for (int turn = 0; turn < 3000; turn++) {
        struct hearing refused;
        struct hosts hosts = make_exec_of_hosts();
        launch_hearing(one, false);
        begin_hearing(&refused, one);
        LOCKED(&track, sc_watched_nodes_fail_launch(&track.order, refused.heard));
        sc_track_end_call(&track, &refused.launching.call, false);
        sc_track_release_point(&track, &refused.launching.before);
        struct sc_watched_node *other = LOCKED(
            &track, sc_graphs_add_watched(&track.graphs, EXEC, FIRST_NODE, function_of, &track));
        LOCKED(&track, sc_watched_nodes_replace(&track.order, other));
        launch_hearing(one, true);
        if (turn % 2)
            LOCKED(&track, sc_graphs_remove(&track.graphs, sc_graphs_detach(&track.graphs, EXEC)));
        run(hosts.first);
        run(hosts.second);
        run(other);
        run(hosts.second);
        synchronise(one);
        if (turn == 100)
            chunks = track.order.arena.chunks;
    }
    ck_assert_ptr_eq(track.order.arena.chunks, chunks);
}
END_TEST

START_TEST(where_others_issue_meanwhile_a_run_tells_of_what_was_before)
{
    struct hearing hearing;
    struct hosts hosts = make_exec_of_hosts();
    begin_hearing(&hearing, one);
    end_hearing(&hearing, false, 1);
    run(hosts.second);
    ck_assert(in_flight(9) && !judged(0) && !judged(1) && !judged(2) && judged(3));
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
    tcase_add_test(group, a_host_node_that_runs_tells_what_is_before_it);
    tcase_add_test(group, a_run_is_of_the_launch_of_its_number);
    tcase_add_test(group, a_node_may_run_before_its_operations_are_known);
    tcase_add_test(group, what_was_before_the_launch_is_known_when_the_first_node_runs);
    tcase_add_test(group, it_goes_on_when_the_exec_is_gone);
    tcase_add_test(group, a_changed_node_leaves_its_record_to_the_launches_before);
    tcase_add_test(group, a_change_that_was_refused_is_none);
    tcase_add_test(group, a_launch_that_was_refused_is_not_counted);
    tcase_add_test(group, with_more_runs_than_launches_nothing_is_judged);
    tcase_add_test(group, a_run_says_which_launch_it_is_of_and_the_last_node_ends_that);
    tcase_add_test(group, a_launch_that_runs_in_its_own_call_ends_as_well);
    tcase_add_test(group, of_too_many_launches_the_oldest_may_have_been_heard_of);
    tcase_add_test(group, execs_that_come_and_go_take_no_more_memory);
    tcase_add_test(group, where_others_issue_meanwhile_a_run_tells_of_what_was_before);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
