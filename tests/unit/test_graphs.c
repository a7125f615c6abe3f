/* What graphs name: sentence by sentence what track/graphs.h promises. */
#include "common/handles.h"
#include "common/op_kinds.h"
#include "common/shape.h"
#include "common/unsure.h"
#include "tests/unit/destroy.h"
#include "track/graph_frees.h"
#include "track/graphs_internal.h"
#include "track/grid.h"
#include "track/order.h"
#include "track/stages.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { BASE = 0x100000, PAGE = 4096, GRAPH = 0x6000, OTHER = 0x6010, EXEC = 0x7000 };

static struct sc_order order;
static struct sc_graphs graphs;

static void set_up(void)
{
    sc_order_init(&order);
    ck_assert_int_eq(sc_graphs_init(&graphs, &order), 0);
}

static void tear_down(void)
{
    destroy_graphs(&graphs);
    destroy_order(&order);
}

static struct sc_graph_use plain(uintptr_t node, enum sc_direction direction, uintptr_t address,
                                 size_t size_bytes)
{
    return (struct sc_graph_use){
        .node = node,
        .shape = {address, size_bytes, size_bytes, 1},
        .direction = direction,
        .kind = SC_REGISTERED,
    };
}

static struct sc_graph_use rows(uintptr_t address, size_t width, size_t pitch, size_t count)
{
    struct sc_graph_use use = plain(1, SC_H2D, address, width);
    use.shape.pitch_bytes = pitch;
    use.shape.rows = count;
    return use;
}

static void add(uintptr_t handle, struct sc_graph_use use)
{
    ck_assert(sc_graphs_add(&graphs, handle, &use, NULL, NULL));
}

static void add_plain(uintptr_t handle, uintptr_t node, uintptr_t address, size_t size_bytes)
{
    add(handle, plain(node, SC_H2D, address, size_bytes));
}

static struct sc_graph *graph_of(uintptr_t handle)
{
    uint32_t id = sc_graphs_find(&graphs, handle);
    ck_assert_uint_ne(id, 0);
    return sc_graphs_at(&graphs, id);
}

/* Without the holes. */
static uint32_t use_count(uintptr_t handle)
{
    return graph_of(handle)->uses.count - graph_of(handle)->hole_count;
}

static const struct sc_graph_use *use_at(uintptr_t handle, uint32_t at)
{
    const struct sc_graph_use *use = graph_of(handle)->uses.list;
    ck_assert_uint_lt(at, use_count(handle));
    for (;; use++)
        if (sc_shape_hull_bytes(&use->shape) && at-- == 0)
            return use;
}

static const struct sc_graph_use *merged_at(uintptr_t handle, uint32_t at)
{
    ck_assert_uint_lt(at, graph_of(handle)->exec.runs.count);
    return &graph_of(handle)->exec.runs.list[at];
}

static bool names(uintptr_t address, size_t size_bytes)
{
    bool found = sc_graphs_name_memory(&graphs, address, size_bytes, /*unregistered=*/false);
    ck_assert(!found || sc_graphs_may_name(&graphs, address, size_bytes ? size_bytes : 1));
    return found;
}

static void expect_names(uintptr_t start, uintptr_t end)
{
    ck_assert(names(start, 1));
    ck_assert(names(end - 1, 1));
    ck_assert(names(start - 1, end - start + 2));
    ck_assert(!names(start - 1, 1));
    ck_assert(!names(end, 1));
}

static void expect_merged(uintptr_t handle, uint32_t at, enum sc_direction direction,
                          uintptr_t address, size_t size_bytes)
{
    const struct sc_graph_use *use = merged_at(handle, at);
    ck_assert_int_eq(use->direction, direction);
    ck_assert_uint_eq(use->shape.address, address);
    ck_assert_uint_eq(use->shape.width_bytes, size_bytes);
    ck_assert_uint_eq(use->shape.pitch_bytes, size_bytes);
    ck_assert_uint_eq(use->shape.rows, 1);
}

static void merge(uintptr_t handle)
{
    ck_assert_uint_ne(sc_graphs_make_exec(&graphs, handle), 0);
    sc_graphs_make_runs(&graphs, handle);
}

static void remove_graph(uintptr_t handle)
{
    uint32_t id = sc_graphs_detach(&graphs, handle);
    ck_assert_uint_ne(id, 0);
    sc_graphs_remove(&graphs, id);
}

static const char *freed_by(uintptr_t handle, uint32_t at)
{
    return sc_graphs_extra(&graphs, use_at(handle, at))->freed_by.api;
}

static void note_freed(uintptr_t address, size_t size_bytes, const char *api)
{
    const struct sc_hazard_event by = {.api = api, .thread = 7};
    sc_graphs_note_freed(&graphs, address, size_bytes, &by);
}

static void expect_nothing_left(void)
{
    ck_assert(sc_grid_is_empty(&graphs.grid) && sc_grid_is_empty(&graphs.heap_grid));
    ck_assert(!sc_graphs_may_name(&graphs, 0, SIZE_MAX));
    ck_assert_uint_eq(graphs.pool.live, 0);
    ck_assert_uint_eq(graphs.intervals.live, 0);
    ck_assert_uint_eq(graphs.extras.live, 0);
    ck_assert_uint_eq(graphs.by_node.count, 0);
}

/* ---- graphs and what they name ---- */

START_TEST(a_graph_is_known_from_its_first_use_on)
{
    ck_assert_uint_eq(sc_graphs_find(&graphs, GRAPH), 0);
    add_plain(GRAPH, 1, BASE, 64);
    ck_assert_uint_eq(graph_of(GRAPH)->handle, GRAPH);
    ck_assert_uint_eq(use_count(GRAPH), 1);
    ck_assert(!graph_of(GRAPH)->freed_count && !graph_of(GRAPH)->stack_count);
    ck_assert_uint_eq(sc_graphs_find(&graphs, OTHER), 0);
}
END_TEST

START_TEST(a_graph_keeps_its_uses_as_they_were)
{
    const enum sc_direction directions[] = {SC_H2D, SC_D2H, SC_MEMSET};
    for (uintptr_t i = 0; i < 100; i++) {
        struct sc_graph_use use = plain(i + 1, directions[i % 3], BASE + i * 100, 50 + i);
        use.author = (struct sc_graph_author){.api = "copy", .stack = (uint32_t)i};
        add(GRAPH, use);
    }
    for (uint32_t i = 0; i < 100; i++) {
        const struct sc_graph_use *use = use_at(GRAPH, i);
        ck_assert_uint_eq(use->node, i + 1);
        ck_assert_int_eq(use->direction, directions[i % 3]);
        ck_assert_uint_eq(use->shape.address, BASE + i * 100);
        ck_assert_uint_eq(use->shape.width_bytes, 50 + i);
        ck_assert_uint_eq(use->author.stack, i);
    }
}
END_TEST

START_TEST(memory_is_named_to_its_first_and_last_byte)
{
    ck_assert(!names(BASE, 64));
    add_plain(GRAPH, 1, BASE + 100, 64);
    expect_names(BASE + 100, BASE + 164);
    ck_assert(names(BASE + 100, 0)); /* of unknown size: its first byte */
    ck_assert(!names(BASE + 164, 0));
    ck_assert(names(BASE, 1 << 20));
}
END_TEST

START_TEST(rows_name_their_hull)
{
    add(GRAPH, rows(BASE, 16, PAGE, 4));
    expect_names(BASE, BASE + 3 * PAGE + 16);
    ck_assert(names(BASE + 100, 1));
}
END_TEST

START_TEST(nobody_frees_a_stack)
{
    struct sc_graph_use use = plain(1, SC_H2D, BASE, 64);
    use.kind = SC_STACK;
    ck_assert(!sc_graphs_may_name(&graphs, BASE, 64));
    add(GRAPH, use);
    ck_assert(graph_of(GRAPH)->stack_count);
    ck_assert(!names(BASE, 64));
    note_freed(BASE, 64, "free");
    ck_assert(!graph_of(GRAPH)->freed_count);
    merge(GRAPH);
    ck_assert(!names(BASE, 64));
    ck_assert_uint_eq(graph_of(GRAPH)->exec.runs.count, 0);
    sc_graphs_drop_node(&graphs, GRAPH, 1);
    ck_assert(!graph_of(GRAPH)->stack_count);
}
END_TEST

START_TEST(what_only_the_driver_frees_does_not_concern_free)
{
    struct sc_graph_use use = plain(1, SC_H2D, BASE, 64);
    use.kind = SC_PINNED;
    add(GRAPH, use);
    expect_names(BASE, BASE + 64);
    ck_assert(sc_grid_is_empty(&graphs.heap_grid));
    add_plain(GRAPH, 2, BASE, 64);
    ck_assert(!sc_grid_is_empty(&graphs.heap_grid));
    note_freed(BASE, 64, "cuMemFreeHost");
    ck_assert_uint_eq(graph_of(GRAPH)->freed_count, 2);
    sc_graphs_drop_node(&graphs, GRAPH, 2);
    ck_assert(sc_grid_is_empty(&graphs.heap_grid));
    remove_graph(GRAPH);
    expect_nothing_left();
}
END_TEST

START_TEST(memory_is_named_until_the_last_graph_is_gone)
{
    add_plain(GRAPH, 1, BASE, 64);
    add_plain(OTHER, 2, BASE + 32, 64);
    remove_graph(GRAPH);
    expect_names(BASE + 32, BASE + 96);
    remove_graph(OTHER);
    ck_assert(!names(BASE, 128));
    expect_nothing_left();
}
END_TEST

START_TEST(removing_what_is_not_there_changes_nothing)
{
    struct sc_handles none;
    ck_assert_int_eq(sc_handles_init(&none), 0);
    add_plain(GRAPH, 1, BASE, 64);
    ck_assert_uint_eq(sc_graphs_detach(&graphs, OTHER), 0);
    sc_graphs_drop_node(&graphs, OTHER, 0);
    sc_graphs_drop_node(&graphs, GRAPH, 9);
    sc_graphs_enable_node(&graphs, OTHER, 1, false);
    sc_graphs_add_unsure(&graphs, OTHER, 1, SC_UNSURE_UNJUDGED);
    sc_graphs_add_unsure_of_nodes(&graphs, OTHER, &none);
    sc_graphs_add_unsure_of_nodes(&graphs, GRAPH, &none);
    sc_handles_destroy(&none);
    sc_graphs_add_all(&graphs, GRAPH, OTHER);
    sc_graphs_make_runs(&graphs, OTHER);
    ck_assert_uint_eq(sc_graphs_find(&graphs, OTHER), 0);
    ck_assert_uint_eq(use_count(GRAPH), 1);
    ck_assert(!use_at(GRAPH, 0)->disabled && !use_at(GRAPH, 0)->unsure);
    expect_names(BASE, BASE + 64);
}
END_TEST

/* ---- clones and children ---- */

START_TEST(a_clone_names_all_that_its_original_does)
{
    add_plain(GRAPH, 1, BASE, 64);
    add(GRAPH, rows(BASE + PAGE, 16, 64, 3));
    add_plain(OTHER, 5, BASE + 2 * PAGE, 64);
    sc_graphs_add_all(&graphs, OTHER, GRAPH);
    ck_assert_uint_eq(use_count(OTHER), 3);
    ck_assert_uint_eq(use_at(OTHER, 0)->node, 5);
    ck_assert_uint_eq(use_at(OTHER, 1)->node, 0); /* a node of its own, not yet known */
    ck_assert_uint_eq(use_at(OTHER, 2)->shape.rows, 3);
    ck_assert_uint_eq(use_at(GRAPH, 0)->node, 1);
    remove_graph(GRAPH);
    expect_names(BASE, BASE + 64);
    expect_names(BASE + PAGE, BASE + PAGE + 144);
}
END_TEST

START_TEST(a_clone_knows_what_was_freed_before)
{
    add_plain(GRAPH, 1, BASE, 64);
    note_freed(BASE, 64, "free");
    sc_graphs_add_all(&graphs, OTHER, GRAPH);
    ck_assert(graph_of(OTHER)->freed_count);
    ck_assert(use_at(OTHER, 0)->freed);
    ck_assert_str_eq(freed_by(OTHER, 0), "free");
}
END_TEST

START_TEST(a_graph_is_not_its_own_child)
{
    add_plain(GRAPH, 1, BASE, 64);
    sc_graphs_add_all(&graphs, GRAPH, GRAPH);
    ck_assert_uint_eq(use_count(GRAPH), 1);
    ck_assert_uint_eq(use_at(GRAPH, 0)->node, 1);
}
END_TEST

START_TEST(a_clone_of_a_graph_without_host_memory_is_not_known)
{
    sc_graphs_add_all(&graphs, OTHER, GRAPH);
    ck_assert_uint_eq(sc_graphs_find(&graphs, OTHER), 0);
    expect_nothing_left();
}
END_TEST

/* ---- nodes ---- */

START_TEST(a_dropped_node_takes_all_of_its_uses_and_no_others)
{
    add_plain(GRAPH, 1, BASE, 64);
    add_plain(GRAPH, 2, BASE + PAGE, 64);
    add(GRAPH, plain(1, SC_D2H, BASE + 2 * PAGE, 64));
    add_plain(GRAPH, 3, BASE + 32, 64);
    sc_graphs_drop_node(&graphs, GRAPH, 1);
    ck_assert_uint_eq(use_count(GRAPH), 2);
    ck_assert_uint_eq(use_at(GRAPH, 0)->node, 2);
    ck_assert_uint_eq(use_at(GRAPH, 1)->node, 3);
    expect_names(BASE + 32, BASE + 96);
    expect_names(BASE + PAGE, BASE + PAGE + 64);
    ck_assert(!names(BASE + 2 * PAGE, 64));
}
END_TEST

START_TEST(node_0_drops_all_and_the_graph_stays)
{
    add_plain(GRAPH, 1, BASE, 64);
    add_plain(GRAPH, 2, BASE + PAGE, 64);
    note_freed(BASE, 64, "free");
    merge(GRAPH);
    sc_graphs_drop_node(&graphs, GRAPH, 0);
    ck_assert_uint_eq(use_count(GRAPH), 0);
    ck_assert(graph_of(GRAPH)->exec.is_stale);
    merge(GRAPH);
    ck_assert_uint_eq(graph_of(GRAPH)->exec.runs.count, 0);
    ck_assert(!graph_of(GRAPH)->freed_count);
    ck_assert(!names(BASE, 2 * PAGE));
    ck_assert_uint_eq(graphs.intervals.live, 0);
    add_plain(GRAPH, 3, BASE, 64);
    merge(GRAPH);
    expect_merged(GRAPH, 0, SC_H2D, BASE, 64);
}
END_TEST

START_TEST(dropping_what_was_freed_forgets_that)
{
    add_plain(GRAPH, 1, BASE, 64);
    add_plain(GRAPH, 2, BASE + PAGE, 64);
    note_freed(BASE, 64, "free");
    sc_graphs_drop_node(&graphs, GRAPH, 2);
    ck_assert(graph_of(GRAPH)->freed_count);
    sc_graphs_drop_node(&graphs, GRAPH, 1);
    ck_assert(!graph_of(GRAPH)->freed_count);
}
END_TEST

START_TEST(a_node_that_is_dropped_is_launched_no_more)
{
    add_plain(EXEC, 1, BASE, 64);
    add_plain(EXEC, 2, BASE + PAGE, 64);
    merge(EXEC);
    sc_graphs_drop_node(&graphs, EXEC, 1);
    merge(EXEC);
    ck_assert_uint_eq(graph_of(EXEC)->exec.runs.count, 1);
    expect_merged(EXEC, 0, SC_H2D, BASE + PAGE, 64);
}
END_TEST

START_TEST(a_disabled_node_is_not_launched_and_still_named)
{
    add_plain(EXEC, 1, BASE, 64);
    add_plain(EXEC, 2, BASE + PAGE, 64);
    merge(EXEC);
    sc_graphs_enable_node(&graphs, EXEC, 1, false);
    merge(EXEC);
    ck_assert(use_at(EXEC, 0)->disabled && !use_at(EXEC, 1)->disabled);
    ck_assert_uint_eq(graph_of(EXEC)->exec.runs.count, 1);
    expect_merged(EXEC, 0, SC_H2D, BASE + PAGE, 64);
    expect_names(BASE, BASE + 64); /* it may be enabled again */
    sc_graphs_enable_node(&graphs, EXEC, 1, true);
    merge(EXEC);
    ck_assert(!use_at(EXEC, 0)->disabled);
    ck_assert_uint_eq(graph_of(EXEC)->exec.runs.count, 2);
    expect_merged(EXEC, 0, SC_H2D, BASE, 64);
}
END_TEST

START_TEST(the_only_node_can_be_disabled_and_enabled_again)
{
    add_plain(EXEC, 1, BASE, 64);
    merge(EXEC);
    sc_graphs_enable_node(&graphs, EXEC, 1, false);
    merge(EXEC);
    ck_assert_uint_eq(graph_of(EXEC)->exec.runs.count, 0);
    expect_names(BASE, BASE + 64);
    sc_graphs_enable_node(&graphs, EXEC, 1, true);
    merge(EXEC);
    ck_assert_uint_eq(graph_of(EXEC)->exec.runs.count, 1);
    expect_merged(EXEC, 0, SC_H2D, BASE, 64);
    expect_names(BASE, BASE + 64);
    ck_assert_uint_eq(graphs.intervals.live, 1);
}
END_TEST

START_TEST(a_disabled_node_stays_so_when_its_uses_are_noted_anew)
{
    add_plain(EXEC, 1, BASE, 64);
    add_plain(EXEC, 2, BASE + PAGE, 64);
    sc_graphs_enable_node(&graphs, EXEC, 1, false);
    sc_graphs_enable_node(&graphs, EXEC, 2, false);
    sc_graphs_enable_node(&graphs, EXEC, 2, true);
    sc_graphs_drop_node(&graphs, EXEC, 0);
    add_plain(EXEC, 1, BASE, 64);
    add_plain(EXEC, 2, BASE + PAGE, 64);
    merge(EXEC);
    ck_assert(use_at(EXEC, 0)->disabled && !use_at(EXEC, 1)->disabled);
    ck_assert_uint_eq(graph_of(EXEC)->exec.runs.count, 1);
}
END_TEST

START_TEST(a_disabled_node_learns_of_a_free)
{
    add_plain(EXEC, 1, BASE, 64);
    add_plain(EXEC, 2, BASE + PAGE, 64);
    merge(EXEC);
    sc_graphs_enable_node(&graphs, EXEC, 1, false);
    merge(EXEC);
    note_freed(BASE, 64, "free");
    ck_assert(use_at(EXEC, 0)->freed);
    ck_assert(graph_of(EXEC)->freed_count);
    sc_graphs_enable_node(&graphs, EXEC, 1, true);
    merge(EXEC);
    ck_assert(merged_at(EXEC, 0)->freed);
}
END_TEST

START_TEST(the_graph_of_a_node_is_found_among_many)
{
    for (uintptr_t i = 0; i < 50; i++)
        add_plain(GRAPH + i * 16, 1000 + i, BASE + i * PAGE, 64);
    ck_assert_uint_eq(sc_graphs_find_of_node(&graphs, 1031), GRAPH + 31 * 16);
    ck_assert_uint_eq(sc_graphs_find_of_node(&graphs, 999), 0);
    remove_graph(GRAPH + 31 * 16);
    ck_assert_uint_eq(sc_graphs_find_of_node(&graphs, 1031), 0);
    ck_assert_uint_eq(sc_graphs_find_of_node(&graphs, 1032), GRAPH + 32 * 16);
}
END_TEST

START_TEST(what_stands_before_a_signal_is_not_judged)
{
    add_plain(EXEC, 1, BASE, 64);
    add_plain(EXEC, 2, BASE + 64, 64);
    add(EXEC, plain(1, SC_D2H, BASE + PAGE, 64));
    sc_graphs_add_unsure(&graphs, EXEC, 1, SC_UNSURE_UNJUDGED);
    ck_assert(use_at(EXEC, 0)->unsure && use_at(EXEC, 2)->unsure);
    ck_assert(!use_at(EXEC, 1)->unsure);
    merge(EXEC); /* neighbours, but not alike */
    ck_assert_uint_eq(graph_of(EXEC)->exec.runs.count, 3);
    ck_assert(merged_at(EXEC, 0)->unsure);
    ck_assert(!merged_at(EXEC, 1)->unsure);
    expect_names(BASE, BASE + 128);
}
END_TEST

START_TEST(many_are_told_of_at_once)
{
    struct sc_handles nodes;
    ck_assert_int_eq(sc_handles_init(&nodes), 0);
    for (uintptr_t node = 1; node <= 500; node++) {
        add_plain(EXEC, node, BASE + node * PAGE, 64);
        if (node % 3 == 0)
            ck_assert_int_eq(sc_handles_put(&nodes, node, 1), 0);
    }
    sc_graphs_add_unsure_of_nodes(&graphs, EXEC, &nodes);
    for (uint32_t i = 0; i < 500; i++)
        ck_assert_int_eq(use_at(EXEC, i)->unsure != 0, (i + 1) % 3 == 0);
    sc_handles_destroy(&nodes);
}
END_TEST

/* ---- what nodes tell of ---- */

static void add_event(uintptr_t node, uintptr_t event, bool waits)
{
    const struct sc_graph_event added = {.node = node, .event = event, .waits = waits};
    sc_graphs_add_event(&graphs, EXEC, &added);
}

START_TEST(runs_come_step_by_step)
{
    for (uintptr_t node = 1; node <= 4; node++)
        add_plain(EXEC, node, BASE + node * 64, 64);
    ck_assert(sc_graphs_set_stage(&graphs, EXEC, 1, 2));
    ck_assert(sc_graphs_set_stage(&graphs, EXEC, 3, SC_STAGES_MAX));
    ck_assert(sc_graphs_set_stage(&graphs, EXEC, 4, 2));
    ck_assert(!sc_graphs_set_stage(&graphs, EXEC, 5, 1));
    merge(EXEC);
    ck_assert_uint_eq(graph_of(EXEC)->exec.runs.count, 4); /* neighbours, of other steps */
    expect_merged(EXEC, 0, SC_H2D, BASE + 64, 64);
    expect_merged(EXEC, 1, SC_H2D, BASE + 4 * 64, 64);
    expect_merged(EXEC, 2, SC_H2D, BASE + 3 * 64, 64);
    expect_merged(EXEC, 3, SC_H2D, BASE + 2 * 64, 64);
    ck_assert(sc_graphs_set_stage(&graphs, EXEC, 2, 2));
    ck_assert(sc_graphs_set_stage(&graphs, EXEC, 3, 2));
    merge(EXEC);
    ck_assert_uint_eq(graph_of(EXEC)->exec.runs.count, 1);
}
END_TEST

START_TEST(a_node_that_records_keeps_what_it_tells)
{
    add_plain(EXEC, 1, BASE, 64);
    add_event(2, 0xe000, false);
    add_event(3, 0xe010, true);
    sc_graphs_set_stage(&graphs, EXEC, 1, 3);
    sc_graphs_set_notifies(&graphs, EXEC, 2, 5);
    ck_assert_uint_eq(sc_graphs_get_flags(&graphs, EXEC, 1).stage, 3);
    ck_assert_uint_eq(sc_graphs_get_flags(&graphs, EXEC, 1).tells, 0);
    ck_assert_uint_eq(sc_graphs_get_flags(&graphs, EXEC, 2).tells, 5);
    ck_assert_uint_eq(sc_graphs_get_flags(&graphs, EXEC, 3).tells, 0);
    sc_graphs_drop_node(&graphs, EXEC, 2);
    ck_assert_uint_eq(sc_graphs_get_flags(&graphs, EXEC, 2).tells, 0);
    ck_assert(!graph_of(EXEC)->exec.events.records);
}
END_TEST

START_TEST(an_event_of_several_nodes_stands_for_the_least)
{
    for (uintptr_t node = 1; node <= 4; node++) {
        add_plain(EXEC, node, BASE + node * PAGE, 64);
        sc_graphs_set_stage(&graphs, EXEC, node, (unsigned)node);
        add_event(node + 10, node % 2 ? 0xe000 : 0xe000 + node * 16, false);
        sc_graphs_set_notifies(&graphs, EXEC, node + 10, (unsigned)node);
    }
    merge(EXEC);
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(graph_of(EXEC)->exec.events.list[i].stands, i % 2 ? i + 1 : 1);
        ck_assert_int_eq(merged_at(EXEC, i)->unsure != 0, i == 1 || i == 2);
        ck_assert(!use_at(EXEC, i)->unsure);
    }
}
END_TEST

/* ---- the launch's list ---- */

START_TEST(neighbours_become_one)
{
    add_plain(EXEC, 1, BASE, 100);
    add_plain(EXEC, 2, BASE + 100, 28);
    add_plain(EXEC, 3, BASE + 128, 1);
    add_plain(EXEC, 4, BASE + 130, 10);
    merge(EXEC);
    ck_assert_uint_eq(graph_of(EXEC)->exec.runs.count, 2);
    expect_merged(EXEC, 0, SC_H2D, BASE, 129);
    expect_merged(EXEC, 1, SC_H2D, BASE + 130, 10);
    ck_assert_uint_eq(use_count(EXEC), 4);
    expect_names(BASE, BASE + 129);
    expect_names(BASE + 130, BASE + 140);
}
END_TEST

START_TEST(overlaps_and_repetitions_become_one)
{
    add_plain(EXEC, 1, BASE, 100);
    add_plain(EXEC, 2, BASE + 10, 10); /* within */
    add_plain(EXEC, 3, BASE, 100);
    add_plain(EXEC, 4, BASE + 50, 100);
    add_plain(EXEC, 5, BASE + 60, 10);
    merge(EXEC);
    ck_assert_uint_eq(graph_of(EXEC)->exec.runs.count, 1);
    expect_merged(EXEC, 0, SC_H2D, BASE, 150);
}
END_TEST

START_TEST(directions_and_kinds_do_not_mix)
{
    add_plain(EXEC, 1, BASE, 64);
    add(EXEC, plain(2, SC_D2H, BASE + 64, 64));
    add(EXEC, plain(3, SC_MEMSET, BASE + 128, 64));
    struct sc_graph_use pinned = plain(4, SC_H2D, BASE + 64, 64);
    pinned.kind = SC_PINNED;
    add(EXEC, pinned);
    merge(EXEC);
    ck_assert_uint_eq(graph_of(EXEC)->exec.runs.count, 4);
    expect_names(BASE, BASE + 192);
}
END_TEST

/* Each has a guard of its own, and is given back by itself. */
START_TEST(neighbours_of_two_ranges_do_not_mix)
{
    for (uint32_t i = 0; i < 4; i++) {
        struct sc_graph_use use = plain(i + 1, SC_H2D, BASE + i * 64, 64);
        use.range = i / 2 + 1;
        add(EXEC, use);
    }
    merge(EXEC);
    ck_assert_uint_eq(graph_of(EXEC)->exec.runs.count, 2);
    expect_merged(EXEC, 0, SC_H2D, BASE, 128);
    expect_merged(EXEC, 1, SC_H2D, BASE + 128, 128);
}
END_TEST

START_TEST(a_launch_that_writes_pageable_memory_waits)
{
    struct sc_graph_use use = plain(1, SC_H2D, BASE, 64);
    use.kind = SC_PAGEABLE;
    add(EXEC, use);
    add(EXEC, plain(2, SC_D2H, BASE + PAGE, 64));
    ck_assert(!graph_of(EXEC)->waiting_count);
    use.node = 3;
    use.direction = SC_D2H;
    add(EXEC, use);
    ck_assert(graph_of(EXEC)->waiting_count);
    sc_graphs_enable_node(&graphs, EXEC, 3, false);
    ck_assert(!graph_of(EXEC)->waiting_count);
    sc_graphs_enable_node(&graphs, EXEC, 3, true);
    ck_assert(graph_of(EXEC)->waiting_count);
    sc_graphs_drop_node(&graphs, EXEC, 3);
    ck_assert(!graph_of(EXEC)->waiting_count);
}
END_TEST

/* As of copies between pinned memory. Where the target alone is known, it is taken for late. */
START_TEST(a_launch_waits_for_targets_that_say_so)
{
    struct sc_graph_use use = plain(1, SC_D2H, BASE, 64);
    add(EXEC, use);
    ck_assert(!graph_of(EXEC)->waiting_count);
    use.node = 2;
    use.waits = true;
    add(EXEC, use);
    ck_assert(graph_of(EXEC)->waiting_count);
    sc_graphs_drop_node(&graphs, EXEC, 2);
    ck_assert(!graph_of(EXEC)->waiting_count);
}
END_TEST

START_TEST(sources_that_a_launch_reads_at_once_are_runs_of_their_own)
{
    struct sc_graph_use use = plain(1, SC_H2D, BASE, 64);
    add(EXEC, use);
    use = plain(2, SC_H2D, BASE + 64, 64);
    use.in_call = true;
    add(EXEC, use);
    merge(EXEC);
    ck_assert_uint_eq(graph_of(EXEC)->exec.runs.count, 2);
}
END_TEST

START_TEST(rows_stay_as_they_are)
{
    add_plain(EXEC, 1, BASE, 64);
    add(EXEC, rows(BASE + 64, 16, 64, 4));
    add_plain(EXEC, 3, BASE + 64 + 208, 64);
    add_plain(EXEC, 4, BASE + 64 + 208 + 64, 64);
    merge(EXEC);
    ck_assert_uint_eq(graph_of(EXEC)->exec.runs.count, 3);
    expect_merged(EXEC, 0, SC_H2D, BASE, 64);
    ck_assert_uint_eq(merged_at(EXEC, 1)->shape.rows, 4);
    ck_assert_uint_eq(merged_at(EXEC, 1)->shape.pitch_bytes, 64);
    expect_merged(EXEC, 2, SC_H2D, BASE + 64 + 208, 128);
    expect_names(BASE, BASE + 64 + 208 + 128);
}
END_TEST

/* 257 runs of three neighbours each, with a gap between any two, in an order that is none. */
START_TEST(an_unsorted_graph_is_put_in_order)
{
    enum { RUNS = 257, PIECES = 3 * RUNS };
    for (uintptr_t i = 0; i < PIECES; i++) {
        uintptr_t piece = i * 100 % PIECES; /* 771 and 100 have no common divisor */
        enum sc_direction direction = piece / 3 % 2 ? SC_D2H : SC_H2D;
        add(EXEC, plain(i + 1, direction, BASE + piece / 3 * 1000 + piece % 3 * 100, 100));
    }
    merge(EXEC);
    ck_assert_uint_eq(graph_of(EXEC)->exec.runs.count, RUNS);
    for (uint32_t i = 0; i < RUNS; i++) {
        bool down = i > RUNS / 2;
        uintptr_t run = down ? 2 * (i - RUNS / 2 - 1) + 1 : 2 * i;
        expect_merged(EXEC, i, down ? SC_D2H : SC_H2D, BASE + run * 1000, 300);
    }
}
END_TEST

START_TEST(two_and_three_in_the_wrong_order)
{
    add_plain(EXEC, 1, BASE + 64, 64);
    add_plain(EXEC, 2, BASE, 64);
    merge(EXEC);
    ck_assert_uint_eq(graph_of(EXEC)->exec.runs.count, 1);
    expect_merged(EXEC, 0, SC_H2D, BASE, 128);
    sc_graphs_drop_node(&graphs, EXEC, 0);
    add_plain(EXEC, 1, BASE + 200, 8);
    add_plain(EXEC, 2, BASE + 400, 8);
    add_plain(EXEC, 3, BASE, 8);
    merge(EXEC);
    expect_merged(EXEC, 0, SC_H2D, BASE, 8);
    expect_merged(EXEC, 1, SC_H2D, BASE + 200, 8);
    expect_merged(EXEC, 2, SC_H2D, BASE + 400, 8);
}
END_TEST

START_TEST(merging_again_makes_the_list_anew)
{
    add_plain(EXEC, 1, BASE, 64);
    merge(EXEC);
    merge(EXEC);
    add_plain(EXEC, 2, BASE + 64, 64);
    ck_assert_uint_eq(graph_of(EXEC)->exec.runs.count, 1);
    expect_names(BASE, BASE + 128); /* named at once, launched from the merge on */
    merge(EXEC);
    ck_assert_uint_eq(graph_of(EXEC)->exec.runs.count, 1);
    expect_merged(EXEC, 0, SC_H2D, BASE, 128);
}
END_TEST

START_TEST(a_freed_use_and_a_live_one_do_not_mix)
{
    add_plain(EXEC, 1, BASE, 64);
    add_plain(EXEC, 2, BASE + 64, 64);
    note_freed(BASE + 64, 64, "free");
    merge(EXEC);
    ck_assert_uint_eq(graph_of(EXEC)->exec.runs.count, 2);
    ck_assert(!merged_at(EXEC, 0)->freed);
    ck_assert(merged_at(EXEC, 1)->freed);
}
END_TEST

/* ---- the same use ---- */

START_TEST(the_same_use_has_the_same_bytes_and_direction)
{
    add_plain(GRAPH, 1, BASE, 64);
    add_plain(GRAPH, 2, BASE + 64, 64);
    add(GRAPH, plain(3, SC_D2H, BASE, 64));
    add(GRAPH, rows(BASE + PAGE, 16, 64, 4));
    struct sc_graph_use asked = plain(77, SC_D2H, BASE, 64);
    ck_assert_ptr_eq(sc_graphs_same_use(&graphs, GRAPH, &asked), use_at(GRAPH, 2));
    asked.direction = SC_H2D;
    ck_assert_ptr_eq(sc_graphs_same_use(&graphs, GRAPH, &asked), use_at(GRAPH, 0));
    asked.shape.address = BASE + 64;
    ck_assert_ptr_eq(sc_graphs_same_use(&graphs, GRAPH, &asked), use_at(GRAPH, 1));
    asked = rows(BASE + PAGE, 16, 64, 4);
    ck_assert_ptr_eq(sc_graphs_same_use(&graphs, GRAPH, &asked), use_at(GRAPH, 3));
    asked = plain(1, SC_H2D, BASE, 65);
    ck_assert_ptr_null(sc_graphs_same_use(&graphs, GRAPH, &asked));
    asked = plain(1, SC_MEMSET, BASE, 64);
    ck_assert_ptr_null(sc_graphs_same_use(&graphs, GRAPH, &asked));
    asked = plain(1, SC_H2D, BASE, 64);
    ck_assert_ptr_null(sc_graphs_same_use(&graphs, OTHER, &asked));
    sc_graphs_drop_node(&graphs, GRAPH, 0);
    ck_assert_ptr_null(sc_graphs_same_use(&graphs, GRAPH, &asked));
}
END_TEST

START_TEST(of_equal_uses_each_has_its_turn)
{
    for (uintptr_t i = 0; i < 3; i++) {
        struct sc_graph_use use = plain(i + 1, SC_H2D, BASE, 64);
        use.author.stack = (uint32_t)(10 + i);
        add(GRAPH, use);
    }
    struct sc_graph_use asked = plain(0, SC_H2D, BASE, 64);
    bool seen[3] = {false};
    for (int i = 0; i < 3; i++)
        seen[sc_graphs_same_use(&graphs, GRAPH, &asked)->author.stack - 10] = true;
    ck_assert(seen[0] && seen[1] && seen[2]);
    sc_graphs_drop_node(&graphs, GRAPH, 3);
    for (int i = 0; i < 5; i++)
        ck_assert_uint_lt(sc_graphs_same_use(&graphs, GRAPH, &asked)->author.stack, 12);
}
END_TEST

START_TEST(a_use_is_found_wherever_the_search_begins)
{
    for (uint32_t count = 1; count <= 9; count++) {
        sc_graphs_drop_node(&graphs, GRAPH, 0);
        for (uintptr_t i = 0; i < count; i++)
            add_plain(GRAPH, i + 1, BASE + i * PAGE, 64);
        for (uint32_t pair = 0; pair < count * count; pair++) {
            struct sc_graph_use first = plain(0, SC_H2D, BASE + pair / count * PAGE, 64);
            struct sc_graph_use second = plain(0, SC_H2D, BASE + pair % count * PAGE, 64);
            ck_assert_ptr_eq(sc_graphs_same_use(&graphs, GRAPH, &first),
                             use_at(GRAPH, pair / count));
            ck_assert_ptr_eq(sc_graphs_same_use(&graphs, GRAPH, &second),
                             use_at(GRAPH, pair % count));
        }
        struct sc_graph_use absent = plain(0, SC_H2D, BASE - PAGE, 64);
        ck_assert_ptr_null(sc_graphs_same_use(&graphs, GRAPH, &absent));
    }
}
END_TEST

/* ---- frees ---- */

START_TEST(a_free_marks_all_that_lies_there_and_nothing_beside)
{
    add_plain(GRAPH, 1, BASE, 64);
    add_plain(GRAPH, 2, BASE + 64, 64);
    add(GRAPH, plain(3, SC_D2H, BASE + 100, 200));
    add_plain(OTHER, 4, BASE + 90, 1);
    add_plain(EXEC, 5, BASE + 128, 64);
    note_freed(BASE + 64, 64, "free");
    ck_assert(!use_at(GRAPH, 0)->freed);
    ck_assert(use_at(GRAPH, 1)->freed);
    ck_assert(use_at(GRAPH, 2)->freed);
    ck_assert(use_at(OTHER, 0)->freed);
    ck_assert(!use_at(EXEC, 0)->freed);
    ck_assert(graph_of(GRAPH)->freed_count && graph_of(OTHER)->freed_count);
    ck_assert(!graph_of(EXEC)->freed_count);
    ck_assert_str_eq(freed_by(OTHER, 0), "free");
    ck_assert_int_eq(sc_graphs_extra(&graphs, use_at(OTHER, 0))->freed_by.thread, 7);
}
END_TEST

START_TEST(the_first_free_is_the_one_that_counts)
{
    add_plain(GRAPH, 1, BASE, 64);
    note_freed(BASE + 10, 0, "free");
    note_freed(BASE, 64, "munmap");
    ck_assert_str_eq(freed_by(GRAPH, 0), "free");
}
END_TEST

START_TEST(a_use_that_comes_after_the_free_is_not_freed)
{
    add_plain(GRAPH, 1, BASE, 64);
    note_freed(BASE, 64, "free");
    add_plain(GRAPH, 2, BASE, 64);
    ck_assert(use_at(GRAPH, 0)->freed);
    ck_assert(!use_at(GRAPH, 1)->freed);
}
END_TEST

/* An exec lists what it launches apart from what its nodes name: both learn of a free. */
START_TEST(what_is_launched_learns_of_a_free)
{
    add_plain(EXEC, 1, BASE, 64);
    add_plain(EXEC, 2, BASE + PAGE, 64);
    merge(EXEC);
    note_freed(BASE + PAGE, 64, "free");
    ck_assert(use_at(EXEC, 1)->freed);
    ck_assert(graph_of(EXEC)->exec.is_stale);
    merge(EXEC);
    ck_assert(!merged_at(EXEC, 0)->freed);
    ck_assert(merged_at(EXEC, 1)->freed);
}
END_TEST

START_TEST(of_two_merged_uses_the_freed_one_is_marked)
{
    add_plain(EXEC, 1, BASE, 64);
    add_plain(EXEC, 2, BASE + 64, 64);
    merge(EXEC);
    note_freed(BASE + 64, 64, "free");
    ck_assert(!use_at(EXEC, 0)->freed);
    ck_assert(use_at(EXEC, 1)->freed);
    ck_assert_uint_eq(graph_of(EXEC)->freed_count, 1);
}
END_TEST

START_TEST(a_free_where_no_graph_is_marks_nothing)
{
    note_freed(BASE, 64, "free");
    add_plain(GRAPH, 1, BASE, 64);
    note_freed(BASE + 64, 64, "free");
    ck_assert(!graph_of(GRAPH)->freed_count);
}
END_TEST

/* ---- the index knows allocations ---- */

static void add_within(uintptr_t handle, uintptr_t address, size_t size_bytes, uintptr_t allocation,
                       size_t allocation_bytes)
{
    struct sc_graph_use use = plain(0, SC_H2D, address, size_bytes);
    struct sc_graph_bounds bounds = {allocation, allocation_bytes};
    ck_assert(sc_graphs_add(&graphs, handle, &use, NULL, &bounds));
}

START_TEST(many_nodes_of_one_allocation_lie_behind_one_interval)
{
    for (uintptr_t i = 0; i < 1000; i++)
        add_within(GRAPH, BASE + i * 128, 64, BASE, 128000);
    ck_assert_uint_eq(graphs.intervals.live, 1);
    expect_names(BASE + 500 * 128, BASE + 500 * 128 + 64);
    note_freed(BASE + 500 * 128, 64, "munmap");
    ck_assert_uint_eq(graph_of(GRAPH)->freed_count, 1);
    ck_assert(use_at(GRAPH, 500)->freed);
    note_freed(BASE, 128000, "cuMemFreeHost");
    ck_assert_uint_eq(graph_of(GRAPH)->freed_count, 1000);
    ck_assert_str_eq(freed_by(GRAPH, 500), "munmap");
    ck_assert_str_eq(freed_by(GRAPH, 501), "cuMemFreeHost");
    remove_graph(GRAPH);
    expect_nothing_left();
}
END_TEST

START_TEST(what_reaches_beyond_its_allocation_is_named_all_the_same)
{
    add_within(GRAPH, BASE, 64, BASE, 128);
    add_within(GRAPH, BASE + 100, 64, BASE, 128);
    ck_assert_uint_eq(graphs.intervals.live, 2);
    expect_names(BASE + 100, BASE + 164);
}
END_TEST

START_TEST(nodes_of_many_allocations_in_turn)
{
    for (uintptr_t i = 0; i < 300; i++)
        add_within(GRAPH, BASE + i % 30 * PAGE + i, 1, BASE + i % 30 * PAGE, PAGE);
    for (uintptr_t i = 0; i < 300; i++)
        expect_names(BASE + i % 30 * PAGE + i, BASE + i % 30 * PAGE + i + 1);
    remove_graph(GRAPH);
    expect_nothing_left();
}
END_TEST

START_TEST(an_allocation_stays_known_while_one_of_its_nodes_is_left)
{
    for (uintptr_t node = 1; node <= 3; node++) {
        struct sc_graph_use use = plain(node, SC_H2D, BASE + node * 100, 50);
        struct sc_graph_bounds bounds = {BASE, PAGE};
        ck_assert(sc_graphs_add(&graphs, GRAPH, &use, NULL, &bounds));
    }
    sc_graphs_drop_node(&graphs, GRAPH, 1);
    sc_graphs_drop_node(&graphs, GRAPH, 3);
    expect_names(BASE + 200, BASE + 250);
    ck_assert(!names(BASE + 100, 100) && !names(BASE + 300, 50));
    sc_graphs_drop_node(&graphs, GRAPH, 2);
    ck_assert(sc_grid_is_empty(&graphs.grid) && sc_grid_is_empty(&graphs.heap_grid));
}
END_TEST

/* ---- handles ---- */

static void drop_former(uintptr_t address, size_t size_bytes)
{
    struct sc_graph_use former = plain(0, SC_H2D, address, size_bytes);
    sc_graphs_drop_former(&graphs, &former);
}

START_TEST(a_former_use_is_dropped_by_its_bytes)
{
    add_plain(GRAPH, 0, BASE, 64);
    add_plain(GRAPH, 0, BASE, 32);
    add(GRAPH, plain(0, SC_D2H, BASE, 64));
    add_plain(GRAPH, 1, BASE, 64);
    add_plain(EXEC, 0, BASE, 64);
    merge(EXEC);
    drop_former(BASE + 1, 64);
    ck_assert_uint_eq(use_count(GRAPH), 4);
    drop_former(BASE, 64);
    ck_assert_uint_eq(use_count(GRAPH), 3);
    ck_assert_uint_eq(use_at(GRAPH, 0)->shape.width_bytes, 32);
    drop_former(BASE, 64);
    ck_assert_uint_eq(use_count(GRAPH), 3);
    ck_assert_uint_eq(use_count(EXEC), 1);
}
END_TEST

START_TEST(a_former_use_of_one_of_two_graphs_stays)
{
    add_plain(GRAPH, 0, BASE, 64);
    add_plain(OTHER, 0, BASE, 64);
    drop_former(BASE, 64);
    ck_assert_uint_eq(use_count(GRAPH), 1);
    ck_assert_uint_eq(use_count(OTHER), 1);
    remove_graph(OTHER);
    drop_former(BASE, 64);
    ck_assert_uint_eq(use_count(GRAPH), 0);
    ck_assert(!names(BASE, 64));
}
END_TEST

START_TEST(of_former_uses_a_freed_one_goes_first)
{
    add_plain(GRAPH, 0, BASE, 64);
    note_freed(BASE, 64, "free");
    add_plain(GRAPH, 0, BASE, 64);
    drop_former(BASE, 64);
    ck_assert_uint_eq(use_count(GRAPH), 1);
    ck_assert_uint_eq(graph_of(GRAPH)->freed_count, 0);
}
END_TEST

START_TEST(an_orphan_is_a_graph_of_its_own_and_counted)
{
    add_plain(sc_graphs_orphan(16), 16, BASE, 64);
    ck_assert_uint_eq(graphs.orphan_count, 1);
    ck_assert_uint_eq(sc_graphs_find_of_node(&graphs, 16), sc_graphs_orphan(16));
    add_plain(16, 0, BASE + PAGE, 64); /* a graph of the same number is another */
    remove_graph(sc_graphs_orphan(16));
    ck_assert_uint_eq(graphs.orphan_count, 0);
    ck_assert_uint_eq(sc_graphs_find_of_node(&graphs, 16), 0);
    remove_graph(16);
    expect_nothing_left();
}
END_TEST

START_TEST(a_detached_graph_names_its_memory_until_it_is_removed)
{
    add_plain(GRAPH, 1, BASE, 64);
    uint32_t id = sc_graphs_detach(&graphs, GRAPH);
    ck_assert_uint_ne(id, 0);
    ck_assert_uint_eq(sc_graphs_find(&graphs, GRAPH), 0);
    add_plain(GRAPH, 1, BASE + PAGE, 64); /* the driver has given the handle again */
    expect_names(BASE, BASE + 64);
    sc_graphs_remove(&graphs, id);
    ck_assert(!names(BASE, 64));
    expect_names(BASE + PAGE, BASE + PAGE + 64);
    ck_assert_uint_eq(use_count(GRAPH), 1);
    ck_assert_uint_eq(sc_graphs_find_of_node(&graphs, 1), GRAPH);
}
END_TEST

START_TEST(a_graph_that_was_not_destroyed_is_as_before)
{
    add_plain(GRAPH, 1, BASE, 64);
    uint32_t id = sc_graphs_detach(&graphs, GRAPH);
    ck_assert_uint_eq(sc_graphs_find_of_node(&graphs, 1), 0);
    sc_graphs_attach(&graphs, id);
    ck_assert_uint_eq(sc_graphs_find_of_node(&graphs, 1), GRAPH);
    ck_assert_uint_eq(use_count(GRAPH), 1);
    remove_graph(GRAPH);
    expect_nothing_left();
}
END_TEST

START_TEST(a_handle_that_is_used_again_starts_from_nothing)
{
    add_plain(EXEC, 1, BASE, 64);
    note_freed(BASE, 64, "free");
    merge(EXEC);
    remove_graph(EXEC);
    ck_assert_uint_eq(sc_graphs_find(&graphs, EXEC), 0);
    add_plain(EXEC, 2, BASE + PAGE, 32);
    ck_assert_uint_eq(use_count(EXEC), 1);
    ck_assert_uint_eq(graph_of(EXEC)->exec.runs.count, 0);
    ck_assert(!graph_of(EXEC)->is_exec);
    ck_assert(!graph_of(EXEC)->freed_count);
    ck_assert(!names(BASE, 64));
    expect_names(BASE + PAGE, BASE + PAGE + 32);
}
END_TEST

static bool is_taken_again(void *copy)
{
    void *next = sc_graphs_alloc_copy(&graphs, PAGE, true);
    ck_assert_ptr_nonnull(next);
    return next == copy;
}

START_TEST(a_copy_goes_with_the_last_use_that_has_it)
{
    struct sc_graph_extra extra = {.saved = sc_graphs_alloc_copy(&graphs, PAGE, false)};
    struct sc_graph_use use = plain(1, SC_H2D, BASE, PAGE);
    use.kind = SC_STACK;
    ck_assert(sc_graphs_add(&graphs, GRAPH, &use, &extra, NULL));
    sc_graphs_add_all(&graphs, OTHER, GRAPH);
    remove_graph(GRAPH);
    ck_assert(!is_taken_again(extra.saved));
    ck_assert_ptr_eq(sc_graphs_extra(&graphs, use_at(OTHER, 0))->saved, extra.saved);
    sc_graphs_drop_node(&graphs, OTHER, 0);
    ck_assert(is_taken_again(extra.saved));
}
END_TEST

START_TEST(a_copy_goes_with_the_last_use_that_is_of_it)
{
    void *copy = sc_graphs_alloc_copy(&graphs, PAGE, false);
    add_plain(GRAPH, 1, (uintptr_t)copy, PAGE);
    add_plain(EXEC, 1, (uintptr_t)copy, PAGE);
    remove_graph(GRAPH);
    ck_assert(!is_taken_again(copy));
    remove_graph(EXEC);
    ck_assert(is_taken_again(copy));
}
END_TEST

START_TEST(a_copy_for_ever_outlives_its_uses)
{
    void *copy = sc_graphs_alloc_copy(&graphs, PAGE, true);
    add_plain(GRAPH, 1, (uintptr_t)copy, PAGE);
    remove_graph(GRAPH);
    ck_assert(!is_taken_again(copy));
}
END_TEST

START_TEST(many_graphs_go_in_any_order)
{
    enum { MANY = 1000 };
    for (uintptr_t i = 0; i < MANY; i++) {
        add_plain(GRAPH + i * 16, i + 1, BASE + i * 64, 64);
        add_plain(GRAPH + i * 16, i + 1, BASE + (i + 1) * 64, 64); /* its neighbour's as well */
        if (i % 2)
            merge(GRAPH + i * 16);
    }
    expect_names(BASE, BASE + (MANY + 1) * 64);
    bool gone[MANY + 1] = {false};
    for (uintptr_t i = 0; i < MANY; i++) {
        uintptr_t at = i * 389 % MANY;
        remove_graph(GRAPH + at * 16);
        gone[at] = true;
        ck_assert_uint_eq(names(BASE + at * 64, 1), at > 0 && !gone[at - 1]);
        ck_assert_uint_eq(names(BASE + (at + 1) * 64, 1), at + 1 < MANY && !gone[at + 1]);
    }
    expect_nothing_left();
}
END_TEST

START_TEST(a_graph_that_changes_for_ever_does_not_grow)
{
    for (uintptr_t i = 0; i < 10000; i++) {
        sc_graphs_drop_node(&graphs, EXEC, 1);
        add_plain(EXEC, 1, BASE + i % 7 * PAGE, 64);
        merge(EXEC);
    }
    ck_assert_uint_eq(use_count(EXEC), 1);
    ck_assert_uint_le(graph_of(EXEC)->uses.capacity, 4);
    ck_assert_uint_eq(graphs.intervals.live, 1);
    remove_graph(EXEC);
    expect_nothing_left();
}
END_TEST

/* ---- graphs with many nodes that change ---- */

enum { NODES = 300, USES_MAX = 3, CHANGES = 20000 };

/* What a node of EXEC does: uses of the same kind and direction, each of memory of its own. */
struct known_node {
    uint32_t uses;
    enum sc_buffer_kind kind;
    enum sc_direction direction;
    bool disabled, unjudged, freed;
};

static struct known_node known[NODES];

static uintptr_t bytes_of(uint32_t node, uint32_t at)
{
    return BASE + (at * NODES + node) * 64;
}

static uint32_t chance(uint32_t below)
{
    static uint32_t state = 1;
    state = state * 1664525 + 1013904223;
    return (state >> 8) % below;
}

static void change(uint32_t node)
{
    static const enum sc_buffer_kind kinds[] = {SC_PINNED, SC_REGISTERED, SC_PAGEABLE, SC_STACK};
    struct known_node *changed = &known[node];
    sc_graphs_drop_node(&graphs, EXEC, node + 1);
    *changed = (struct known_node){.uses = chance(USES_MAX + 1),
                                   .kind = kinds[chance(4)],
                                   .direction = chance(2) ? SC_D2H : SC_H2D,
                                   .disabled = changed->disabled};
    for (uint32_t i = 0; i < changed->uses; i++) {
        struct sc_graph_use use = plain(node + 1, changed->direction, bytes_of(node, i), 64);
        struct sc_graph_bounds allocation = {BASE, USES_MAX * NODES * 64};
        use.kind = changed->kind;
        ck_assert(sc_graphs_add(&graphs, EXEC, &use, NULL, node % 2 ? &allocation : NULL));
    }
}

static void free_all_of(uint32_t node)
{
    for (uint32_t i = 0; i < USES_MAX; i++)
        note_freed(bytes_of(node, i), 64, "free");
    known[node].freed = known[node].uses && known[node].kind != SC_STACK;
}

static void change_somehow(uint32_t node)
{
    uint32_t way = chance(10);
    if (way == 0)
        sc_graphs_add_unsure(&graphs, EXEC, node + 1, SC_UNSURE_UNJUDGED);
    else if (way < 4)
        sc_graphs_enable_node(&graphs, EXEC, node + 1, way == 1);
    else if (way == 4)
        free_all_of(node);
    else
        change(node);
    known[node].unjudged |= way == 0 && known[node].uses;
    if (way > 0 && way < 4)
        known[node].disabled = way != 1;
}

static void expect_known_node(uint32_t node)
{
    const struct known_node *expected = &known[node];
    struct sc_graph_flags flags = sc_graphs_get_flags(&graphs, EXEC, node + 1);
    ck_assert_int_eq(flags.disabled, expected->disabled && expected->uses);
    ck_assert_int_eq(flags.unsure, expected->unjudged ? SC_UNSURE_UNJUDGED : 0);
    for (uint32_t i = 0; i < USES_MAX; i++)
        ck_assert_int_eq(names(bytes_of(node, i), 64),
                         i < expected->uses && expected->kind != SC_STACK);
}

static void expect_known_counts(void)
{
    uint32_t uses = 0, freed = 0, stacks = 0, waiting = 0;
    for (const struct known_node *node = known; node < known + NODES; node++) {
        bool waits = node->direction == SC_D2H && !node->disabled &&
                     (node->kind == SC_STACK || node->kind == SC_PAGEABLE);
        uses += node->uses;
        freed += node->freed ? node->uses : 0;
        stacks += node->kind == SC_STACK ? node->uses : 0;
        waiting += waits ? node->uses : 0;
    }
    ck_assert_uint_eq(use_count(EXEC), uses);
    ck_assert_uint_eq(graph_of(EXEC)->freed_count, freed);
    ck_assert_uint_eq(graph_of(EXEC)->stack_count, stacks);
    ck_assert_uint_eq(graph_of(EXEC)->waiting_count, waiting);
}

START_TEST(nodes_of_a_big_exec_are_known_after_any_changes)
{
    for (uint32_t node = 0; node < NODES; node++)
        change(node);
    merge(EXEC);
    for (uint32_t i = 0; i < CHANGES; i++) {
        uint32_t node = chance(NODES);
        change_somehow(node);
        expect_known_node(node);
        if (i % 100 == 0)
            expect_known_counts();
    }
    for (uint32_t node = 0; node < NODES; node++)
        expect_known_node(node);
    ck_assert_uint_le(graph_of(EXEC)->uses.capacity, 4 * USES_MAX * NODES);
    ck_assert_ptr_nonnull(graph_of(EXEC)->links);
    remove_graph(EXEC);
    expect_nothing_left();
}
END_TEST

static void add_many(uintptr_t handle)
{
    for (uint32_t node = 0; node < NODES; node++) {
        add_plain(handle, node + 1, bytes_of(node, 0), 64);
        add(handle, plain(node + 1, SC_D2H, bytes_of(node, 1), 64));
    }
}

START_TEST(a_changed_node_keeps_its_place_among_many)
{
    add_many(EXEC);
    for (uint32_t node = 0; node < NODES; node++) {
        sc_graphs_drop_node(&graphs, EXEC, node + 1);
        add_plain(EXEC, node + 1, bytes_of(node, 2), 64);
    }
    ck_assert_uint_eq(use_count(EXEC), NODES);
    for (uint32_t node = 0; node < NODES; node++)
        ck_assert_uint_eq(use_at(EXEC, node)->node, node + 1);
    merge(EXEC);
    ck_assert_uint_eq(graph_of(EXEC)->exec.runs.count, 1);
    expect_merged(EXEC, 0, SC_H2D, bytes_of(0, 2), NODES * 64);
}
END_TEST

START_TEST(a_big_graph_grows_while_it_changes)
{
    for (uint32_t node = 0; node < NODES; node++) {
        add_plain(GRAPH, node + 1, bytes_of(node, 0), 64);
        add_plain(GRAPH, 5, bytes_of(node, 1), 64);
        ck_assert(!sc_graphs_get_flags(&graphs, GRAPH, node + 1).disabled);
    }
    sc_graphs_drop_node(&graphs, GRAPH, 5);
    ck_assert_uint_eq(use_count(GRAPH), NODES - 1);
    ck_assert_uint_eq(sc_graphs_find_of_node(&graphs, 5), 0);
    ck_assert(!names(bytes_of(0, 1), NODES * 64) && !names(bytes_of(4, 0), 64));
    expect_names(bytes_of(5, 0), bytes_of(NODES, 0));
}
END_TEST

START_TEST(the_clone_of_a_changed_graph_has_what_is_left)
{
    add_many(GRAPH);
    for (uint32_t node = 0; node < NODES; node += 2)
        sc_graphs_drop_node(&graphs, GRAPH, node + 1);
    sc_graphs_add_all(&graphs, OTHER, GRAPH);
    ck_assert_uint_eq(graph_of(OTHER)->uses.count, NODES);
    for (uint32_t node = 1; node < NODES; node += 2)
        drop_former(bytes_of(node, 0), 64);
    ck_assert_uint_eq(use_count(OTHER), NODES / 2);
    remove_graph(GRAPH);
    ck_assert(!names(bytes_of(0, 0), NODES * 64));
    ck_assert(names(bytes_of(1, 1), 64) && !names(bytes_of(2, 1), 64));
    remove_graph(OTHER);
    expect_nothing_left();
}
END_TEST

START_TEST(a_node_among_many_has_its_copies)
{
    for (uintptr_t node = 1; node <= NODES; node++) {
        struct sc_graph_extra extra = {.saved = sc_graphs_alloc_copy(&graphs, 64, false)};
        struct sc_graph_use use = plain(node, SC_D2H, BASE, 64);
        use.kind = SC_STACK;
        add_plain(EXEC, node, BASE, 64);
        ck_assert(sc_graphs_add(&graphs, EXEC, &use, &extra, NULL));
        ck_assert_ptr_eq(sc_graphs_find_saved(&graphs, EXEC, node, SC_D2H), extra.saved);
        ck_assert_ptr_null(sc_graphs_find_saved(&graphs, EXEC, node, SC_H2D));
        if (node % 2)
            sc_graphs_redirect_node(&graphs, EXEC, node);
    }
    for (uint32_t i = 0; i < 2 * NODES; i++)
        ck_assert_int_eq(use_at(EXEC, i)->redirected, i % 4 == 1);
    ck_assert_ptr_null(sc_graphs_find_saved(&graphs, EXEC, NODES + 1, SC_D2H));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("graphs");
    TCase *group = tcase_create("graphs");
    tcase_add_checked_fixture(group, set_up, tear_down);
    tcase_add_test(group, a_graph_is_known_from_its_first_use_on);
    tcase_add_test(group, a_graph_keeps_its_uses_as_they_were);
    tcase_add_test(group, memory_is_named_to_its_first_and_last_byte);
    tcase_add_test(group, rows_name_their_hull);
    tcase_add_test(group, nobody_frees_a_stack);
    tcase_add_test(group, what_only_the_driver_frees_does_not_concern_free);
    tcase_add_test(group, memory_is_named_until_the_last_graph_is_gone);
    tcase_add_test(group, removing_what_is_not_there_changes_nothing);
    tcase_add_test(group, a_clone_names_all_that_its_original_does);
    tcase_add_test(group, a_clone_knows_what_was_freed_before);
    tcase_add_test(group, a_graph_is_not_its_own_child);
    tcase_add_test(group, a_clone_of_a_graph_without_host_memory_is_not_known);
    tcase_add_test(group, a_dropped_node_takes_all_of_its_uses_and_no_others);
    tcase_add_test(group, node_0_drops_all_and_the_graph_stays);
    tcase_add_test(group, dropping_what_was_freed_forgets_that);
    tcase_add_test(group, a_node_that_is_dropped_is_launched_no_more);
    tcase_add_test(group, a_disabled_node_is_not_launched_and_still_named);
    tcase_add_test(group, the_only_node_can_be_disabled_and_enabled_again);
    tcase_add_test(group, a_disabled_node_stays_so_when_its_uses_are_noted_anew);
    tcase_add_test(group, a_disabled_node_learns_of_a_free);
    tcase_add_test(group, the_graph_of_a_node_is_found_among_many);
    tcase_add_test(group, what_stands_before_a_signal_is_not_judged);
    tcase_add_test(group, many_are_told_of_at_once);
    tcase_add_test(group, runs_come_step_by_step);
    tcase_add_test(group, a_node_that_records_keeps_what_it_tells);
    tcase_add_test(group, an_event_of_several_nodes_stands_for_the_least);
    tcase_add_test(group, neighbours_become_one);
    tcase_add_test(group, overlaps_and_repetitions_become_one);
    tcase_add_test(group, directions_and_kinds_do_not_mix);
    tcase_add_test(group, neighbours_of_two_ranges_do_not_mix);
    tcase_add_test(group, a_launch_that_writes_pageable_memory_waits);
    tcase_add_test(group, a_launch_waits_for_targets_that_say_so);
    tcase_add_test(group, sources_that_a_launch_reads_at_once_are_runs_of_their_own);
    tcase_add_test(group, rows_stay_as_they_are);
    tcase_add_test(group, an_unsorted_graph_is_put_in_order);
    tcase_add_test(group, two_and_three_in_the_wrong_order);
    tcase_add_test(group, merging_again_makes_the_list_anew);
    tcase_add_test(group, a_freed_use_and_a_live_one_do_not_mix);
    tcase_add_test(group, the_same_use_has_the_same_bytes_and_direction);
    tcase_add_test(group, of_equal_uses_each_has_its_turn);
    tcase_add_test(group, a_use_is_found_wherever_the_search_begins);
    tcase_add_test(group, a_free_marks_all_that_lies_there_and_nothing_beside);
    tcase_add_test(group, the_first_free_is_the_one_that_counts);
    tcase_add_test(group, a_use_that_comes_after_the_free_is_not_freed);
    tcase_add_test(group, what_is_launched_learns_of_a_free);
    tcase_add_test(group, of_two_merged_uses_the_freed_one_is_marked);
    tcase_add_test(group, a_free_where_no_graph_is_marks_nothing);
    tcase_add_test(group, many_nodes_of_one_allocation_lie_behind_one_interval);
    tcase_add_test(group, what_reaches_beyond_its_allocation_is_named_all_the_same);
    tcase_add_test(group, nodes_of_many_allocations_in_turn);
    tcase_add_test(group, an_allocation_stays_known_while_one_of_its_nodes_is_left);
    tcase_add_test(group, a_former_use_is_dropped_by_its_bytes);
    tcase_add_test(group, a_former_use_of_one_of_two_graphs_stays);
    tcase_add_test(group, of_former_uses_a_freed_one_goes_first);
    tcase_add_test(group, an_orphan_is_a_graph_of_its_own_and_counted);
    tcase_add_test(group, a_detached_graph_names_its_memory_until_it_is_removed);
    tcase_add_test(group, a_graph_that_was_not_destroyed_is_as_before);
    tcase_add_test(group, a_handle_that_is_used_again_starts_from_nothing);
    tcase_add_test(group, a_copy_goes_with_the_last_use_that_has_it);
    tcase_add_test(group, a_copy_goes_with_the_last_use_that_is_of_it);
    tcase_add_test(group, a_copy_for_ever_outlives_its_uses);
    tcase_add_test(group, many_graphs_go_in_any_order);
    tcase_add_test(group, a_graph_that_changes_for_ever_does_not_grow);
    tcase_add_test(group, nodes_of_a_big_exec_are_known_after_any_changes);
    tcase_add_test(group, a_changed_node_keeps_its_place_among_many);
    tcase_add_test(group, a_big_graph_grows_while_it_changes);
    tcase_add_test(group, the_clone_of_a_changed_graph_has_what_is_left);
    tcase_add_test(group, a_node_among_many_has_its_copies);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
