/* Device memory in track/graphs.h: what nodes do there, what they allocate and free, addresses of
 * kernels, races, and who added a node. */
#include "common/handles.h"
#include "common/op_kinds.h"
#include "common/shape.h"
#include "common/unsure.h"
#include "tests/unit/destroy.h"
#include "track/graph_frees.h"
#include "track/graphs.h"
#include "track/graphs_internal.h"
#include "track/order.h"

#include <stdlib.h>

#include <check.h>

enum { MAX = SC_GRAPH_DEVICE_MAX, GRAPH = 0x6000, OTHER = 0x6010, EXEC = 0x7000 };

static struct sc_order order;
static struct sc_graphs graphs;

static void set_up(void)
{
    sc_order_init(&order);
    ck_assert_int_eq(sc_graphs_init(&graphs, &order), 0);
    ck_assert_uint_ne(sc_graphs_make_exec(&graphs, EXEC), 0);
}

static void take_down(void)
{
    sc_graphs_remove(&graphs, sc_graphs_detach(&graphs, EXEC));
    destroy_graphs(&graphs);
    destroy_order(&order);
}

static struct sc_graph *exec(void)
{
    return sc_graphs_at(&graphs, sc_graphs_find(&graphs, EXEC));
}

static struct sc_graph_use use_at(uintptr_t node, uintptr_t address)
{
    return (struct sc_graph_use){
        .node = node, .shape = {address, 8, 8, 1}, .direction = SC_MEMSET, .kind = SC_DEVICE};
}

static void add_use(uintptr_t handle, struct sc_graph_use use)
{
    ck_assert(sc_graphs_add(&graphs, handle, &use, NULL, NULL));
}

static void add(uintptr_t node, uintptr_t address)
{
    add_use(EXEC, use_at(node, address));
}

static void add_address(uintptr_t node, uintptr_t address)
{
    struct sc_graph_use use = use_at(node, address);
    use.shape.width_bytes = use.shape.pitch_bytes = 1;
    use.direction = SC_NO_DIRECTION;
    add_use(EXEC, use);
}

static void add_host(uintptr_t node, uintptr_t address)
{
    struct sc_graph_use use = use_at(node, address);
    use.kind = SC_REGISTERED;
    use.direction = SC_H2D;
    add_use(EXEC, use);
}

/* `freed_by`: 0: it is allocated. */
static bool own(uintptr_t address, size_t size_bytes, uintptr_t freed_by)
{
    return sc_graphs_note_own_memory(&graphs, EXEC,
                                     &(struct sc_graph_own){address, size_bytes, freed_by});
}

static const struct sc_graph_use *runs(void)
{
    sc_graphs_make_runs(&graphs, EXEC);
    return &exec()->exec.runs.list[exec()->exec.host_runs];
}

static uint32_t count(void)
{
    runs();
    return exec()->exec.device_runs;
}

static uintptr_t address_at(uint32_t at)
{
    ck_assert_uint_lt(at, count());
    return runs()[at].shape.address;
}

static uint32_t address_count(void)
{
    runs();
    return exec()->exec.runs.count - exec()->exec.host_runs - exec()->exec.device_runs;
}

/* How many there are, and the first one's address. */
static uint32_t count_which(int which, uintptr_t *first)
{
    const struct sc_graph_use *list = runs();
    uint32_t found = 0;
    for (uint32_t i = 0; i < exec()->exec.device_runs; i++)
        if (sc_graphs_run_is_selected(&list[i], which) && found++ == 0)
            *first = list[i].shape.address;
    return found;
}

/* ---- what nodes do ---- */

START_TEST(all_are_listed_as_they_came)
{
    ck_assert_uint_eq(count(), 0);
    add(1, 50);
    add(2, 30);
    add(2, 50);
    ck_assert_uint_eq(count(), 3);
    ck_assert_uint_eq(address_at(0), 50);
    ck_assert_uint_eq(address_at(1), 30);
    ck_assert_uint_eq(address_at(2), 50);
    ck_assert_int_eq(runs()[2].direction, SC_MEMSET);
}
END_TEST

START_TEST(host_memory_comes_first_and_addresses_last)
{
    add_address(1, 30);
    add(2, 20);
    add_host(3, 40);
    add_address(1, 10);
    add_host(3, 48);
    add(2, 28); /* neighbours stay apart */
    ck_assert_uint_eq(count(), 2);
    ck_assert_uint_eq(exec()->exec.host_runs, 1);
    ck_assert_uint_eq(exec()->exec.runs.count, 5);
    ck_assert_uint_eq(runs()[2].shape.address, 10);
    ck_assert_uint_eq(runs()[3].shape.address, 30);
    ck_assert(sc_graph_names_host(exec()));
    sc_graphs_drop_node(&graphs, EXEC, 3);
    ck_assert(!sc_graph_names_host(exec()));
}
END_TEST

START_TEST(nobody_is_asked_about_it)
{
    add(1, 50);
    ck_assert(!sc_graphs_name_memory(&graphs, 50, 8, /*unregistered=*/false));
}
END_TEST

START_TEST(a_node_that_is_disabled_does_nothing_until_it_is_enabled)
{
    add(1, 10);
    add(2, 20);
    sc_graphs_enable_node(&graphs, EXEC, 1, false);
    ck_assert_uint_eq(count(), 1);
    ck_assert_uint_eq(address_at(0), 20);
    sc_graphs_enable_node(&graphs, EXEC, 1, true);
    ck_assert_uint_eq(count(), 2);
}
END_TEST

START_TEST(a_node_that_changes_drops_its_own_and_comes_last)
{
    add(1, 10);
    add(2, 20);
    add(1, 30);
    sc_graphs_drop_node(&graphs, EXEC, 1);
    ck_assert_uint_eq(count(), 1);
    ck_assert_uint_eq(address_at(0), 20);
    sc_graphs_drop_node(&graphs, EXEC, 3);
    add(1, 40);
    ck_assert_uint_eq(count(), 2);
    ck_assert_uint_eq(address_at(1), 40);
    sc_graphs_drop_node(&graphs, EXEC, 0);
    ck_assert_uint_eq(count(), 0);
}
END_TEST

START_TEST(what_is_left_out_comes_back_with_the_next_exec)
{
    add(1, 10);
    add_address(4, 10);
    sc_graphs_leave_out_device(&graphs, EXEC);
    add(2, 20);
    ck_assert_uint_eq(count(), 0);
    ck_assert_uint_eq(address_count(), 1);
    sc_graphs_drop_node(&graphs, EXEC, 1);
    add(2, 20);
    ck_assert_uint_eq(count(), 0);
    sc_graphs_drop_node(&graphs, EXEC, 0);
    add(3, 30);
    ck_assert_uint_eq(count(), 1);
}
END_TEST

START_TEST(where_a_node_stands_says_what_is_asked_of_it)
{
    struct sc_handles doubts;
    uintptr_t first = 0;
    ck_assert_int_eq(sc_handles_init(&doubts), 0);
    for (uintptr_t node = 1; node <= 6; node++)
        add(node, 10 * node);
    ck_assert_uint_eq(count_which(SC_RUNS_FREE, &first), 6);
    ck_assert_uint_eq(count_which(SC_RUNS_IN_FLIGHT, &first), 6);
    ck_assert(sc_graphs_set_stage(&graphs, EXEC, 2, 1));
    ck_assert(sc_graphs_set_stage(&graphs, EXEC, 3, 2));
    ck_assert(!sc_graphs_set_stage(&graphs, EXEC, 7, 2));
    sc_handles_put(&doubts, 4, SC_UNSURE_UNJUDGED << SC_UNSURE_OF_DEVICE);
    sc_handles_put(&doubts, 5, SC_UNSURE_GATED << SC_UNSURE_OF_DEVICE);
    sc_handles_put(&doubts, 6, SC_UNSURE_ENDS << SC_UNSURE_OF_DEVICE);
    sc_graphs_add_unsure_of_nodes(&graphs, EXEC, &doubts);
    sc_graphs_add_unsure(&graphs, EXEC, 1, SC_UNSURE_UNJUDGED); /* of host memory */
    ck_assert_uint_eq(count_which(SC_RUNS_ALL, &first), 5);
    ck_assert_uint_eq(count_which(SC_RUNS_IN_FLIGHT, &first), 4);
    ck_assert_uint_eq(count_which(SC_RUNS_FREE, &first), 4);
    ck_assert_uint_eq(count_which(SC_RUNS_GATED, &first), 1);
    ck_assert_uint_eq(first, 50);
    ck_assert_uint_eq(count_which(0, &first), 2);
    ck_assert_uint_eq(count_which(1, &first), 1);
    ck_assert_uint_eq(first, 20);
    ck_assert_uint_eq(count_which(2, &first), 1);
    ck_assert_uint_eq(first, 30);
    ck_assert_uint_eq(exec()->exec.device_stages, 1 << 0 | 1 << 1 | 1 << 2);
    sc_handles_destroy(&doubts);
}
END_TEST

START_TEST(what_two_nodes_tell_of_by_one_event_is_not_asked_of)
{
    uintptr_t first = 0;
    const struct sc_graph_event early = {.node = 8, .event = 0x50, .tells = 1};
    const struct sc_graph_event late = {.node = 9, .event = 0x50, .tells = 2};
    add(2, 20);
    add(3, 30);
    ck_assert(sc_graphs_set_stage(&graphs, EXEC, 2, 1));
    ck_assert(sc_graphs_set_stage(&graphs, EXEC, 3, 2));
    sc_graphs_add_event(&graphs, EXEC, &early);
    sc_graphs_add_event(&graphs, EXEC, &late);
    ck_assert_uint_eq(count_which(2, &first), 0);
    ck_assert_uint_eq(count_which(1, &first), 1);
    ck_assert_uint_eq(count_which(SC_RUNS_ALL, &first), 1);
}
END_TEST

/* As it does in the hands of a call that gives the node other parameters. */
START_TEST(a_node_that_changes_stays_where_it_stands)
{
    uintptr_t first = 0;
    unsigned unsure = (SC_UNSURE_ENDS | SC_UNSURE_GATED) << SC_UNSURE_OF_DEVICE;
    add_host(1, 10);
    add(1, 10);
    sc_graphs_set_stage(&graphs, EXEC, 1, 3);
    sc_graphs_add_unsure(&graphs, EXEC, 1, unsure | SC_UNSURE_UNJUDGED);
    sc_graphs_add_unsure(&graphs, EXEC, 1, /* of a body inside */
                         SC_UNSURE_LEFT_OUT | SC_UNSURE_LEFT_OUT << SC_UNSURE_OF_DEVICE);
    const struct sc_graph_flags before = sc_graphs_get_flags(&graphs, EXEC, 1);
    ck_assert_uint_eq(before.unsure, unsure | SC_UNSURE_UNJUDGED);
    ck_assert_uint_eq(before.stage, 3);
    sc_graphs_drop_node(&graphs, EXEC, 1);
    add(1, 20);
    ck_assert_uint_eq(count_which(0, &first), 1);
    sc_graphs_set_stage(&graphs, EXEC, 1, before.stage);
    sc_graphs_add_unsure(&graphs, EXEC, 1, before.unsure);
    ck_assert_uint_eq(count_which(0, &first), 0);
    ck_assert_uint_eq(count_which(3, &first), 0);
    ck_assert_uint_eq(count_which(SC_RUNS_GATED, &first), 1);
    ck_assert_uint_eq(first, 20);
}
END_TEST

START_TEST(an_address_has_no_part_in_what_a_node_tells)
{
    add_host(1, 10);
    add_address(1, 50);
    add(1, 10);
    add(2, 10);
    add_address(2, 50);
    add_host(2, 10);
    for (uintptr_t node = 1; node <= 2; node++) {
        sc_graphs_set_stage(&graphs, EXEC, node, 3);
        ck_assert_uint_eq(sc_graphs_get_flags(&graphs, EXEC, node).stage, 3);
    }
}
END_TEST

START_TEST(an_inner_node_has_its_own)
{
    static const uintptr_t names[] = {1};
    const struct sc_graph_extra of_inner = {.inner = 11}, of_other = {.inner = 12};
    struct sc_graph_use use = use_at(1, 10), other = use_at(1, 30);
    ck_assert(sc_graphs_add(&graphs, EXEC, &use, &of_inner, NULL));
    ck_assert(sc_graphs_add(&graphs, EXEC, &other, &of_other, NULL));
    sc_graphs_note_inner(&graphs, EXEC, 11, 1);
    sc_graphs_note_inner(&graphs, EXEC, 12, 1);
    sc_graphs_set_names(&graphs, EXEC, names, 1);
    sc_graphs_enable_node(&graphs, EXEC, 11, false);
    ck_assert_uint_eq(count(), 1);
    ck_assert_uint_eq(address_at(0), 30);
    sc_graphs_enable_node(&graphs, EXEC, 11, true);
    ck_assert_uint_eq(count(), 2);
    struct sc_graph_flags flags = sc_graphs_drop_inner(&graphs, EXEC, 1, 12);
    ck_assert_uint_eq(flags.unsure, SC_UNSURE_UNJUDGED);
    ck_assert_uint_eq(address_at(0), 10);
    flags = sc_graphs_drop_inner(&graphs, EXEC, 1, 12); /* it uses no more now */
    ck_assert_uint_eq(flags.unsure, SC_UNSURE_UNJUDGED | SC_UNSURE_UNJUDGED << SC_UNSURE_OF_DEVICE);
    sc_graphs_disable_inner(&graphs, EXEC);
    ck_assert_uint_eq(count(), 0);
}
END_TEST

START_TEST(there_is_an_end)
{
    for (uintptr_t i = 0; i < MAX + 5; i++) {
        add(1, i);
        add_address(2, MAX + 5 - i);
    }
    ck_assert_uint_eq(count(), MAX);
    ck_assert_uint_eq(address_count(), MAX);
    for (uintptr_t i = 0; i < MAX; i++) {
        ck_assert_uint_eq(exec()->exec.runs.list[i].shape.address, i);
        ck_assert_uint_eq(exec()->exec.runs.list[MAX + i].shape.address, i + 6);
    }
}
END_TEST

/* ---- memory that nodes allocate or free ---- */

START_TEST(memory_that_nodes_allocate_is_left_out_and_nothing_else)
{
    add(1, 10);
    ck_assert(own(20, 30, 0));
    add(2, 12);
    add(3, 50);
    add(4, 30);
    add(4, 13); /* its last byte is the first one */
    sc_graphs_end_own_memory(&graphs, EXEC);
    ck_assert_uint_eq(count(), 3);
    ck_assert_uint_eq(address_at(2), 50);
    add(5, 40);
    ck_assert_uint_eq(count(), 3);
    sc_graphs_drop_node(&graphs, EXEC, 0);
    add(5, 40);
    ck_assert_uint_eq(count(), 1);
}
END_TEST

START_TEST(a_free_of_unknown_memory_leaves_all_else_out)
{
    add(1, 10);
    ck_assert(own(100, 0, 7));
    ck_assert(own(90, 20, 0)); /* another node allocates it */
    sc_graphs_end_own_memory(&graphs, EXEC);
    ck_assert_uint_eq(count(), 1);
    ck_assert(own(200, 0, 8));
    sc_graphs_end_own_memory(&graphs, EXEC);
    ck_assert_uint_eq(count(), 1);
    ck_assert_int_eq(runs()[0].direction, SC_FREE);
    ck_assert_uint_eq(address_at(0), 200);
    ck_assert_uint_eq(runs()[0].shape.width_bytes, 1);
    add(2, 300);
    ck_assert_uint_eq(count(), 1);
    sc_graphs_drop_node(&graphs, EXEC, 0);
    for (unsigned i = 0; i < SC_GRAPH_OWN_MAX; i++)
        ck_assert(own(i, 1, 0));
    ck_assert(!own(7, 1, 0));
}
END_TEST

START_TEST(the_free_of_what_others_allocate_is_a_use)
{
    add(1, 100);
    add(2, 400);
    ck_assert(own(100, 50, 3));
    ck_assert(own(200, 50, 0));
    ck_assert(own(200, 0, 4));
    sc_graphs_end_own_memory(&graphs, EXEC);
    ck_assert_uint_eq(count(), 2);
    ck_assert_uint_eq(address_at(0), 400);
    ck_assert_uint_eq(address_at(1), 100);
    ck_assert_uint_eq(runs()[1].shape.width_bytes, 1);
    ck_assert_int_eq(runs()[1].direction, SC_FREE);
    ck_assert_uint_eq(runs()[1].node, 3);
}
END_TEST

/* ---- addresses of kernels ---- */

START_TEST(an_address_is_there_once_and_in_order)
{
    add_address(1, 30);
    add_address(2, 10);
    add_address(1, 10);
    add_address(2, 11);
    ck_assert_uint_eq(address_count(), 3);
    ck_assert_uint_eq(runs()[0].shape.address, 10);
    ck_assert_uint_eq(runs()[1].shape.address, 11);
    ck_assert_uint_eq(runs()[2].shape.address, 30);
    sc_graphs_enable_node(&graphs, EXEC, 2, false);
    ck_assert_uint_eq(address_count(), 2);
    sc_graphs_enable_node(&graphs, EXEC, 1, false);
    ck_assert_uint_eq(address_count(), 0);
}
END_TEST

START_TEST(addresses_go_with_their_node_and_are_of_no_step)
{
    add_address(1, 30);
    add_address(2, 10);
    add(2, 10);
    add_address(3, 40);
    ck_assert(!sc_graphs_set_stage(&graphs, EXEC, 1, 1));
    sc_graphs_drop_addresses(&graphs, EXEC, 2);
    ck_assert_uint_eq(address_count(), 2);
    ck_assert_uint_eq(count(), 1);
    sc_graphs_drop_node(&graphs, EXEC, 3);
    ck_assert_uint_eq(address_count(), 1);
    sc_graphs_drop_addresses(&graphs, EXEC, 0);
    ck_assert_uint_eq(address_count(), 0);
    ck_assert_uint_eq(count(), 1);
}
END_TEST

/* ---- races ---- */

static bool add_race(uintptr_t first, uintptr_t second)
{
    const struct sc_graph_race race = {.of = {{.node = first}, {.node = second}}};
    return sc_graphs_add_race(&graphs, EXEC, &race);
}

/* 0: there is none. */
static uintptr_t next_race(void)
{
    struct sc_graph_race race;
    return sc_graphs_next_race(&graphs, sc_graphs_find(&graphs, EXEC), &race) ? race.of[0].node : 0;
}

START_TEST(a_race_is_told_once_and_not_of_disabled_nodes)
{
    ck_assert_uint_eq(next_race(), 0);
    ck_assert(add_race(1, 2));
    ck_assert(add_race(3, 4));
    sc_graphs_enable_node(&graphs, EXEC, 2, false);
    ck_assert_uint_eq(next_race(), 3);
    ck_assert_uint_eq(next_race(), 0);
    sc_graphs_enable_node(&graphs, EXEC, 2, true);
    sc_graphs_enable_node(&graphs, EXEC, 1, false);
    ck_assert_uint_eq(next_race(), 0);
    sc_graphs_enable_node(&graphs, EXEC, 1, true);
    ck_assert_uint_eq(next_race(), 1);
    ck_assert_uint_eq(next_race(), 0);
}
END_TEST

START_TEST(a_race_is_not_told_of_what_stands_behind_an_unseen_wait)
{
    add(1, 10);
    add(2, 10);
    ck_assert(add_race(1, 2));
    sc_graphs_add_unsure(&graphs, EXEC, 2, SC_UNSURE_UNJUDGED << SC_UNSURE_OF_DEVICE);
    ck_assert_uint_eq(next_race(), 0);
    ck_assert(add_race(3, 4));
    ck_assert_uint_eq(next_race(), 3);
}
END_TEST

START_TEST(a_race_goes_with_either_node)
{
    add_race(1, 2);
    add_race(2, 3);
    add_race(4, 5);
    sc_graphs_drop_node(&graphs, EXEC, 2);
    ck_assert_uint_eq(next_race(), 4);
    ck_assert_uint_eq(next_race(), 0);
    add_race(1, 2);
    sc_graphs_drop_node(&graphs, EXEC, 0);
    ck_assert_uint_eq(next_race(), 0);
}
END_TEST

START_TEST(a_race_goes_when_something_inside_of_its_node_changes)
{
    const struct sc_graph_extra of_inner = {.inner = 11};
    struct sc_graph_use use = use_at(1, 10);
    ck_assert(sc_graphs_add(&graphs, EXEC, &use, &of_inner, NULL));
    sc_graphs_note_inner(&graphs, EXEC, 11, 1);
    add_race(1, 2);
    sc_graphs_drop_inner(&graphs, EXEC, 1, 11);
    ck_assert_uint_eq(next_race(), 0);
    ck_assert(sc_graphs_add(&graphs, EXEC, &use, &of_inner, NULL));
    add_race(1, 2);
    sc_graphs_enable_node(&graphs, EXEC, 11, false);
    ck_assert_uint_eq(next_race(), 0);
    add_race(1, 2);
    sc_graphs_disable_inner(&graphs, EXEC);
    ck_assert_uint_eq(next_race(), 0);
}
END_TEST

START_TEST(there_is_room_for_some_races)
{
    for (unsigned i = 0; i < SC_GRAPH_RACES_MAX; i++)
        ck_assert(add_race(1, 2));
    ck_assert(!add_race(1, 2));
}
END_TEST

/* ---- who added a node ---- */

static void note(uintptr_t graph, uintptr_t node, uintptr_t address, uint32_t stack)
{
    struct sc_graph_use use = use_at(node, address);
    use.author = (struct sc_graph_author){.api = "memset", .stack = stack};
    add_use(graph, use);
}

/* 0: not known. */
static uint32_t find(uintptr_t graph, uintptr_t node, uintptr_t address)
{
    const struct sc_graph_use use = use_at(node, address);
    const struct sc_graph_author by = sc_graphs_find_author(&graphs, graph, node, &use);
    return by.api ? by.stack : 0;
}

START_TEST(a_captured_node_is_known_by_its_graph_and_its_bytes)
{
    ck_assert_uint_eq(find(GRAPH, 7, 64), 0);
    note(GRAPH, 0, 64, 1);
    note(OTHER, 0, 64, 2);
    note(GRAPH, 0, 128, 3);
    ck_assert_uint_eq(find(GRAPH, 7, 64), 1);
    ck_assert_uint_eq(find(OTHER, 7, 64), 2);
    ck_assert_uint_eq(find(GRAPH, 7, 128), 3);
    ck_assert_uint_eq(find(OTHER, 7, 128), 0);
    struct sc_graph_use read = use_at(7, 64);
    read.reads_device = true;
    ck_assert_ptr_null(sc_graphs_find_author(&graphs, GRAPH, 7, &read).api);
}
END_TEST

START_TEST(a_node_with_a_name_is_known_by_it)
{
    note(GRAPH, 7, 64, 1);
    note(GRAPH, 8, 64, 2);
    ck_assert_uint_eq(find(GRAPH, 7, 64), 1);
    ck_assert_uint_eq(find(GRAPH, 8, 64), 2);
    ck_assert_uint_eq(find(GRAPH, 9, 64), 0);
    sc_graphs_drop_node(&graphs, GRAPH, 7);
    note(GRAPH, 7, 64, 3);
    ck_assert_uint_eq(find(GRAPH, 7, 64), 3);
}
END_TEST

START_TEST(of_several_callers_none_is_named)
{
    note(GRAPH, 0, 64, 1);
    note(GRAPH, 0, 64, 1);
    ck_assert_uint_eq(find(GRAPH, 7, 64), 1);
    note(GRAPH, 0, 64, 2);
    ck_assert_uint_eq(find(GRAPH, 7, 64), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("graph_device");
    TCase *cases = tcase_create("cases");
    tcase_add_checked_fixture(cases, set_up, take_down);
    tcase_add_test(cases, all_are_listed_as_they_came);
    tcase_add_test(cases, host_memory_comes_first_and_addresses_last);
    tcase_add_test(cases, nobody_is_asked_about_it);
    tcase_add_test(cases, a_node_that_is_disabled_does_nothing_until_it_is_enabled);
    tcase_add_test(cases, a_node_that_changes_drops_its_own_and_comes_last);
    tcase_add_test(cases, what_is_left_out_comes_back_with_the_next_exec);
    tcase_add_test(cases, where_a_node_stands_says_what_is_asked_of_it);
    tcase_add_test(cases, what_two_nodes_tell_of_by_one_event_is_not_asked_of);
    tcase_add_test(cases, a_node_that_changes_stays_where_it_stands);
    tcase_add_test(cases, an_address_has_no_part_in_what_a_node_tells);
    tcase_add_test(cases, an_inner_node_has_its_own);
    tcase_add_test(cases, there_is_an_end);
    tcase_add_test(cases, memory_that_nodes_allocate_is_left_out_and_nothing_else);
    tcase_add_test(cases, a_free_of_unknown_memory_leaves_all_else_out);
    tcase_add_test(cases, the_free_of_what_others_allocate_is_a_use);
    tcase_add_test(cases, an_address_is_there_once_and_in_order);
    tcase_add_test(cases, addresses_go_with_their_node_and_are_of_no_step);
    tcase_add_test(cases, a_race_is_told_once_and_not_of_disabled_nodes);
    tcase_add_test(cases, a_race_is_not_told_of_what_stands_behind_an_unseen_wait);
    tcase_add_test(cases, a_race_goes_with_either_node);
    tcase_add_test(cases, a_race_goes_when_something_inside_of_its_node_changes);
    tcase_add_test(cases, there_is_room_for_some_races);
    tcase_add_test(cases, a_captured_node_is_known_by_its_graph_and_its_bytes);
    tcase_add_test(cases, a_node_with_a_name_is_known_by_it);
    tcase_add_test(cases, of_several_callers_none_is_named);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
