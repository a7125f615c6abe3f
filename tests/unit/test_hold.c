/* Frees that wait: their order, what they wait for, and what they add up to. */
#include "common/points.h"
#include "tests/unit/destroy.h"
#include "track/graph_frees.h"
#include "track/graphs_internal.h"
#include "track/hold_internal.h"
#include "track/order.h"

#include <check.h>
#include <stdlib.h>

enum { BASE = 0x100000, GRAPH = 0x6000, OTHER = 0x6010 };

static struct sc_order order;
static struct sc_graphs graphs;
static struct sc_holds holds;
static uint32_t legacy, one, two;

static void set_up(void)
{
    sc_order_init(&order);
    ck_assert_int_eq(sc_graphs_init(&graphs, &order), 0);
    ck_assert_int_eq(sc_holds_init(&holds, &order, &graphs), 0);
    legacy = sc_order_add(&order, SC_STREAM_LEGACY, 0);
    one = sc_order_add(&order, SC_STREAM_NONBLOCKING, legacy);
    two = sc_order_add(&order, SC_STREAM_NONBLOCKING, legacy);
}

static void tear_down(void)
{
    destroy_holds(&holds);
    destroy_graphs(&graphs);
    destroy_order(&order);
}

static uint32_t add(uintptr_t address, size_t size_bytes)
{
    return sc_holds_add(&holds, SC_HOLD_FREE, address, size_bytes, 0, 1000);
}

static struct sc_ticket require_from(uint32_t hold, uint32_t stream)
{
    struct sc_ticket ticket = sc_order_issue(&order, stream);
    ck_assert(sc_holds_require(&holds, hold, &ticket));
    return ticket;
}

static void complete(uint32_t stream, uint64_t number)
{
    atomic_store(&sc_order_stream(&order, stream)->complete, number);
}

static uint32_t ready(void)
{
    return sc_holds_take_ready(&holds, 0);
}

static void remove_graph(uintptr_t graph)
{
    sc_graphs_remove(&graphs, sc_graphs_detach(&graphs, graph));
}

static void name(uintptr_t graph, uintptr_t address, size_t size_bytes)
{
    struct sc_graph_use use = {.node = 1,
                               .shape = {address, size_bytes, size_bytes, 1},
                               .direction = SC_H2D,
                               .kind = SC_REGISTERED};
    ck_assert(sc_graphs_add(&graphs, graph, &use, NULL, NULL));
}

static uint32_t add_by_graph(uintptr_t address, size_t size_bytes)
{
    uint32_t hold = add(address, size_bytes);
    sc_holds_at(&holds, hold)->by_graph = true;
    return hold;
}

static bool waits(uint32_t hold)
{
    return sc_holds_wait_for_program(&holds, sc_holds_at(&holds, hold));
}

START_TEST(a_hold_remembers_what_it_was_given)
{
    uint32_t id = sc_holds_add(&holds, SC_HOLD_UNMAP, BASE, 64, legacy, 77);
    const struct sc_hold *hold = sc_holds_at(&holds, id);
    ck_assert_uint_ne(id, 0);
    ck_assert_int_eq(hold->kind, SC_HOLD_UNMAP);
    ck_assert_uint_eq(hold->context, legacy);
    ck_assert_uint_eq(hold->since_ns, 77);
    ck_assert_uint_eq(sc_holds_find(&holds, BASE + 63, 1, SC_HOLDS_ALL), id);
    ck_assert_uint_eq(sc_holds_find(&holds, BASE - 1, 66, SC_HOLDS_ALL), id);
    ck_assert_uint_eq(sc_holds_find(&holds, BASE + 64, 1, SC_HOLDS_ALL), 0);
    ck_assert(sc_holds_may_overlap(&holds, BASE, 1));
}
END_TEST

START_TEST(a_hold_of_unknown_size_holds_its_address)
{
    uint32_t id = add(BASE, 0);
    ck_assert_uint_eq(sc_holds_find(&holds, BASE, 0, SC_HOLDS_ALL), id);
    ck_assert_uint_eq(sc_holds_find(&holds, BASE + 1, 1, SC_HOLDS_ALL), 0);
}
END_TEST

START_TEST(a_search_finds_what_its_mask_says)
{
    uint32_t freed = sc_holds_add(&holds, SC_HOLD_FREE, BASE, 64, 0, 0);
    uint32_t ended = sc_holds_add(&holds, SC_HOLD_UNREGISTER, BASE, 128, legacy, 0);
    ck_assert_uint_eq(sc_holds_find(&holds, BASE, 1, SC_HOLDS_FREED), freed);
    ck_assert_uint_eq(sc_holds_find(&holds, BASE, 1, SC_HOLDS_REAPERS), freed);
    ck_assert_uint_eq(sc_holds_find(&holds, BASE, 1, SC_HOLDS_DRIVERS), ended);
    ck_assert_uint_eq(sc_holds_find(&holds, BASE, 1, SC_HOLDS_UNREGISTERED), ended);
    ck_assert_uint_eq(sc_holds_find(&holds, BASE + 64, 1, SC_HOLDS_FREED), 0);
    ck_assert_uint_eq(sc_holds_find(&holds, BASE, 1, SC_HOLDS_FREED | SC_HOLDS_STARTING), freed);
    ck_assert_uint_eq(sc_holds_find(&holds, BASE + 1, 1, SC_HOLDS_FREED | SC_HOLDS_STARTING), 0);
    ck_assert_uint_eq(sc_holds_find(&holds, BASE, 1, SC_HOLDS_ALL | SC_HOLDS_BY_GRAPH), 0);
    sc_holds_at(&holds, ended)->by_graph = true;
    ck_assert_uint_eq(sc_holds_find(&holds, BASE, 1, SC_HOLDS_ALL | SC_HOLDS_BY_GRAPH), ended);
}
END_TEST

START_TEST(a_registration_is_taken_by_one_alone)
{
    uint32_t freed = sc_holds_add(&holds, SC_HOLD_FREE, BASE, 128, legacy, 0);
    uint32_t ended = sc_holds_add(&holds, SC_HOLD_UNREGISTER, BASE, 128, legacy, 0);
    sc_holds_at(&holds, ended)->by_graph = true;
    ck_assert_uint_eq(sc_holds_take_unregistered(&holds, BASE + 128, 64).hold, 0);
    ck_assert_uint_eq(sc_holds_take_unregistered(&holds, BASE + 127, 64).hold, ended);
    ck_assert_uint_eq(sc_holds_take_unregistered(&holds, BASE, 128).hold, 0);
    sc_holds_end(&holds, ended);
    ck_assert_uint_eq(sc_holds_take_unregistered(&holds, BASE, 128).hold, 0);
    ck_assert_uint_eq(sc_holds_find(&holds, BASE, 1, SC_HOLDS_ALL), freed);
}
END_TEST

START_TEST(a_hold_without_tickets_is_ready)
{
    uint32_t id = add(BASE, 64);
    ck_assert_uint_eq(ready(), id);
}
END_TEST

START_TEST(a_hold_that_is_being_given_back_is_not_taken_again)
{
    uint32_t id = add(BASE, 64);
    ck_assert_uint_eq(ready(), id);
    ck_assert_uint_eq(ready(), 0);
    ck_assert_uint_eq(sc_holds_find(&holds, BASE, 1, SC_HOLDS_ALL), id);
    sc_holds_remove(&holds, id, 2000);
    ck_assert_uint_eq(sc_holds_find(&holds, BASE, 1, SC_HOLDS_ALL), 0);
    ck_assert_uint_eq(holds.oldest, 0);
    ck_assert_uint_eq(holds.newest, 0);
}
END_TEST

START_TEST(a_hold_waits_for_the_last_of_every_stream)
{
    uint32_t id = add(BASE, 64);
    struct sc_ticket first = require_from(id, one);
    struct sc_ticket last = require_from(id, one);
    struct sc_ticket other = require_from(id, two);
    ck_assert_uint_eq(sc_holds_at(&holds, id)->ticket_count, 2);
    ck_assert_uint_eq(sc_order_stream(&order, one)->references, 1);
    ck_assert(sc_holds_require(&holds, id, &first)); /* an older one changes nothing */
    complete(one, first.number);
    complete(two, other.number);
    ck_assert_uint_eq(ready(), 0);
    complete(one, last.number);
    ck_assert_uint_eq(ready(), id);
    sc_holds_remove(&holds, id, 2000);
    ck_assert_uint_eq(sc_order_stream(&order, one)->references, 0);
    ck_assert_uint_eq(sc_order_stream(&order, two)->references, 0);
}
END_TEST

START_TEST(known_done_is_as_good_as_complete)
{
    uint32_t id = add(BASE, 64);
    require_from(id, one);
    struct sc_point point = sc_order_point(&order, one);
    ck_assert_uint_eq(ready(), 0);
    sc_order_note_known(&order, &point);
    ck_assert_uint_eq(ready(), id);
}
END_TEST

START_TEST(many_streams_fit_and_too_many_are_refused)
{
    uint32_t id = add(BASE, 64);
    for (int i = 0; i < SC_HOLD_TICKETS_MAX; i++) {
        require_from(id, sc_order_add(&order, SC_STREAM_NONBLOCKING, legacy));
        ck_assert_uint_eq(sc_holds_at(&holds, id)->ticket_count, i + 1);
    }
    struct sc_ticket ticket = sc_order_issue(&order, two);
    ck_assert(!sc_holds_require(&holds, id, &ticket));
    ck_assert_uint_eq(sc_order_stream(&order, two)->references, 0);
    for (int i = 0; i < SC_HOLD_TICKETS_MAX; i++)
        ck_assert_uint_eq(sc_holds_at(&holds, id)->tickets[i].number, 1);
    sc_holds_remove(&holds, id, 2000);
    ck_assert_uint_eq(sc_order_stream(&order, two + 1)->references, 0);
}
END_TEST

START_TEST(the_oldest_ready_hold_comes_first)
{
    uint32_t busy = add(BASE, 64);
    uint32_t second = add(BASE + 4096, 64);
    uint32_t third = add(BASE + 8192, 64);
    struct sc_ticket ticket = require_from(busy, one);
    ck_assert_uint_eq(ready(), second);
    complete(one, ticket.number);
    ck_assert_uint_eq(ready(), busy);
    ck_assert_uint_eq(ready(), third);
    ck_assert_uint_eq(ready(), 0);
}
END_TEST

START_TEST(overlapping_holds_end_in_the_order_of_their_making)
{
    uint32_t unregister = sc_holds_add(&holds, SC_HOLD_UNMAP, BASE, 4096, legacy, 1000);
    uint32_t freed = add(BASE + 4000, 96);
    uint32_t beside = add(BASE + 4096, 96);
    struct sc_ticket ticket = require_from(unregister, one);
    ck_assert_uint_eq(ready(), beside);
    ck_assert_uint_eq(ready(), 0);
    complete(one, ticket.number);
    ck_assert_uint_eq(ready(), unregister);
    ck_assert_uint_eq(ready(), 0); /* the older one has been taken, but has not ended */
    sc_holds_remove(&holds, unregister, 2000);
    ck_assert_uint_eq(ready(), freed);
}
END_TEST

START_TEST(age_tells_what_has_been_offered)
{
    uint32_t first = add(BASE, 64);
    uint32_t second = add(BASE + 4096, 64);
    uint64_t age = sc_holds_at(&holds, first)->age;
    ck_assert_uint_gt(age, 0);
    ck_assert_uint_gt(sc_holds_at(&holds, second)->age, age);
    ck_assert_uint_eq(sc_holds_take_ready(&holds, age), second);
    ck_assert_uint_eq(sc_holds_take_ready(&holds, age), 0);
    ck_assert_uint_eq(ready(), first);
    sc_holds_remove(&holds, first, 2000);
    ck_assert_uint_ne(sc_holds_at(&holds, first)->age, age);
}
END_TEST

START_TEST(a_wait_holds_no_bytes_and_its_place)
{
    uint32_t waiting = sc_holds_add(&holds, SC_HOLD_WAIT, BASE, 4096, 0, 1000);
    ck_assert_uint_eq(holds.held_bytes, 0);
    ck_assert_uint_eq(holds.held_peak_bytes, 0);
    struct sc_ticket ticket = require_from(waiting, one);
    uint32_t freed = add(BASE, 64);
    ck_assert_uint_eq(holds.held_bytes, 64);
    ck_assert_uint_eq(ready(), 0);
    complete(one, ticket.number);
    ck_assert_uint_eq(ready(), waiting);
    sc_holds_remove(&holds, waiting, 2000);
    ck_assert_uint_eq(holds.held_bytes, 64);
    ck_assert_uint_eq(ready(), freed);
}
END_TEST

START_TEST(peaks_are_kept)
{
    uint32_t first = add(BASE, 1000);
    uint32_t second = add(BASE + 4096, 500);
    ck_assert_uint_eq(holds.held_bytes, 1500);
    sc_holds_remove(&holds, first, 1700);
    ck_assert_uint_eq(holds.held_peak_ns, 700);
    sc_holds_remove(&holds, second, 1100);
    add(BASE, 200);
    ck_assert_uint_eq(holds.held_bytes, 200);
    ck_assert_uint_eq(holds.held_peak_bytes, 1500);
    ck_assert_uint_eq(holds.held_peak_ns, 700);
}
END_TEST

START_TEST(holds_end_in_any_order)
{
    uint32_t ids[5];
    for (int i = 0; i < 5; i++)
        ids[i] = add(BASE + (uintptr_t)i * 4096, 64);
    const int order_of_ends[] = {2, 0, 4, 1, 3};
    for (int i = 0; i < 5; i++) {
        sc_holds_remove(&holds, ids[order_of_ends[i]], 2000);
        unsigned left = 0;
        for (uint32_t id = holds.oldest; id; id = sc_holds_at(&holds, id)->next)
            left++;
        ck_assert_uint_eq(left, 4 - i);
    }
    ck_assert_uint_eq(holds.held_bytes, 0);
    ck_assert(!sc_holds_may_overlap(&holds, 0, SIZE_MAX));
}
END_TEST

START_TEST(a_hold_waits_until_no_graph_names_its_memory)
{
    name(GRAPH, BASE, 64);
    name(OTHER, BASE + 63, 64);
    uint32_t id = add_by_graph(BASE, 64);
    ck_assert(waits(id));
    ck_assert_uint_eq(ready(), 0);
    remove_graph(GRAPH);
    ck_assert(waits(id));
    ck_assert_uint_eq(ready(), 0);
    remove_graph(OTHER);
    ck_assert(!waits(id));
    ck_assert_uint_eq(ready(), id);
    ck_assert_uint_eq(ready(), 0);
}
END_TEST

START_TEST(a_hold_waits_for_graphs_and_for_operations)
{
    name(GRAPH, BASE, 64);
    uint32_t id = add_by_graph(BASE, 64);
    struct sc_ticket ticket = require_from(id, one);
    remove_graph(GRAPH);
    ck_assert(!waits(id));
    ck_assert_uint_eq(ready(), 0);
    complete(one, ticket.number);
    ck_assert_uint_eq(ready(), id);

    name(GRAPH, BASE + 4096, 64);
    id = add_by_graph(BASE + 4096, 64);
    ticket = require_from(id, two);
    complete(two, ticket.number);
    ck_assert_uint_eq(ready(), 0);
    remove_graph(GRAPH);
    ck_assert_uint_eq(ready(), id);
}
END_TEST

START_TEST(a_launch_makes_a_hold_wait_again)
{
    name(GRAPH, BASE, 64);
    uint32_t id = add_by_graph(BASE, 64);
    struct sc_ticket first = require_from(id, one);
    complete(one, first.number);
    struct sc_ticket launched = require_from(id, one);
    remove_graph(GRAPH);
    ck_assert_uint_eq(ready(), 0);
    complete(one, launched.number);
    ck_assert_uint_eq(ready(), id);
}
END_TEST

START_TEST(a_graph_beside_the_memory_holds_nothing)
{
    name(GRAPH, BASE - 64, 64);
    name(GRAPH, BASE + 64, 64);
    uint32_t id = add_by_graph(BASE, 64);
    ck_assert(!waits(id));
    ck_assert_uint_eq(ready(), id);
}
END_TEST

START_TEST(a_hold_that_is_not_for_graphs_does_not_look_at_them)
{
    name(GRAPH, BASE, 64);
    uint32_t id = add(BASE, 64);
    ck_assert(!waits(id));
    ck_assert_uint_eq(ready(), id);
}
END_TEST

/* What is to become something else is held for graphs no longer. */
START_TEST(a_hold_can_stop_to_wait_for_graphs)
{
    name(GRAPH, BASE, 64);
    uint32_t id = add_by_graph(BASE, 64);
    ck_assert_uint_eq(ready(), 0);
    sc_holds_at(&holds, id)->by_graph = false;
    ck_assert_uint_eq(ready(), id);
}
END_TEST

START_TEST(a_graph_that_is_changed_lets_go_of_what_it_named)
{
    name(GRAPH, BASE, 64);
    uint32_t id = add_by_graph(BASE, 64);
    sc_graphs_drop_node(&graphs, GRAPH, 1);
    ck_assert_uint_eq(ready(), id);
}
END_TEST

START_TEST(a_disabled_node_still_holds)
{
    name(GRAPH, BASE, 64);
    sc_graphs_make_exec(&graphs, GRAPH);
    sc_graphs_make_runs(&graphs, GRAPH);
    uint32_t id = add_by_graph(BASE, 64);
    sc_graphs_enable_node(&graphs, GRAPH, 1, false);
    ck_assert(waits(id));
    ck_assert_uint_eq(ready(), 0);
}
END_TEST

START_TEST(behind_a_hold_for_a_graph_later_ones_wait_and_others_do_not)
{
    name(GRAPH, BASE, 64);
    uint32_t first = add_by_graph(BASE, 4096);
    uint32_t second = add(BASE + 4000, 96);
    uint32_t beside = add(BASE + 4096, 96);
    ck_assert_uint_eq(ready(), beside);
    ck_assert_uint_eq(ready(), 0);
    remove_graph(GRAPH);
    ck_assert_uint_eq(ready(), first);
    ck_assert_uint_eq(ready(), 0);
    sc_holds_remove(&holds, first, 2000);
    ck_assert_uint_eq(ready(), second);
}
END_TEST

static uint32_t unregister(uintptr_t address, size_t size_bytes)
{
    uint32_t hold = sc_holds_add(&holds, SC_HOLD_UNREGISTER, address, size_bytes, legacy, 1000);
    sc_holds_at(&holds, hold)->by_graph = true;
    return hold;
}

static void check_registration_first(uint32_t freed, uint32_t registration)
{
    ck_assert_uint_eq(ready(), 0);
    remove_graph(GRAPH);
    ck_assert(waits(freed));
    ck_assert_uint_eq(ready(), registration);
    ck_assert_uint_eq(ready(), 0);
    sc_holds_remove(&holds, registration, 2000);
    ck_assert(!waits(freed));
    ck_assert_uint_eq(ready(), freed);
}

START_TEST(a_registration_ends_before_the_memory_that_was_freed_first)
{
    name(GRAPH, BASE + 4000, 64);
    uint32_t freed = add_by_graph(BASE, 4096);
    check_registration_first(freed, unregister(BASE + 4000, 4096));
}
END_TEST

START_TEST(a_registration_ends_before_the_memory_that_was_freed_last)
{
    name(GRAPH, BASE, 64);
    uint32_t registration = unregister(BASE, 4096);
    uint32_t unmapped = sc_holds_add(&holds, SC_HOLD_UNMAP, BASE, 64 * 1024, 0, 1000);
    check_registration_first(unmapped, registration);
}
END_TEST

/* Nothing ends registrations but the program's next wait. */
START_TEST(no_thread_waits_for_a_registration)
{
    uint32_t registration = unregister(BASE, 4096);
    uint32_t freed = add(BASE, 4096);
    uint32_t waiting = sc_holds_add(&holds, SC_HOLD_WAIT, BASE, 4096, 0, 1000);
    ck_assert(!waits(waiting));
    ck_assert_uint_eq(ready(), registration);
    ck_assert_uint_eq(ready(), waiting);
    ck_assert(waits(freed));
}
END_TEST

START_TEST(memory_that_is_settled_waits_for_no_registration)
{
    name(GRAPH, BASE, 64);
    uint32_t registration = unregister(BASE, 4096);
    uint32_t freed = add_by_graph(BASE, 4096);
    sc_holds_at(&holds, registration)->by_graph = sc_holds_at(&holds, freed)->by_graph = false;
    ck_assert(!waits(freed));
    ck_assert_uint_eq(ready(), registration);
    ck_assert_uint_eq(ready(), freed);
}
END_TEST

START_TEST(many_holds_end_with_their_graphs_in_any_order)
{
    enum { MANY = 200 };
    uint32_t ids[MANY];
    for (uintptr_t i = 0; i < MANY; i++) {
        name(GRAPH + i * 16, BASE + i * 64, 64);
        ids[i] = add_by_graph(BASE + i * 64, 64);
    }
    ck_assert_uint_eq(ready(), 0);
    for (uintptr_t i = 0; i < MANY; i++) {
        uintptr_t at = i * 77 % MANY;
        remove_graph(GRAPH + at * 16);
        ck_assert_uint_eq(ready(), ids[at]);
        ck_assert_uint_eq(ready(), 0);
        sc_holds_remove(&holds, ids[at], 2000);
    }
    ck_assert_uint_eq(holds.held_bytes, 0);
    ck_assert_uint_eq(holds.oldest, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hold");
    TCase *group = tcase_create("hold");
    tcase_add_checked_fixture(group, set_up, tear_down);
    tcase_add_test(group, a_hold_remembers_what_it_was_given);
    tcase_add_test(group, a_hold_of_unknown_size_holds_its_address);
    tcase_add_test(group, a_search_finds_what_its_mask_says);
    tcase_add_test(group, a_registration_is_taken_by_one_alone);
    tcase_add_test(group, a_hold_without_tickets_is_ready);
    tcase_add_test(group, a_hold_that_is_being_given_back_is_not_taken_again);
    tcase_add_test(group, a_hold_waits_for_the_last_of_every_stream);
    tcase_add_test(group, known_done_is_as_good_as_complete);
    tcase_add_test(group, many_streams_fit_and_too_many_are_refused);
    tcase_add_test(group, the_oldest_ready_hold_comes_first);
    tcase_add_test(group, overlapping_holds_end_in_the_order_of_their_making);
    tcase_add_test(group, age_tells_what_has_been_offered);
    tcase_add_test(group, a_wait_holds_no_bytes_and_its_place);
    tcase_add_test(group, peaks_are_kept);
    tcase_add_test(group, holds_end_in_any_order);
    tcase_add_test(group, a_hold_waits_until_no_graph_names_its_memory);
    tcase_add_test(group, a_hold_waits_for_graphs_and_for_operations);
    tcase_add_test(group, a_launch_makes_a_hold_wait_again);
    tcase_add_test(group, a_graph_beside_the_memory_holds_nothing);
    tcase_add_test(group, a_hold_that_is_not_for_graphs_does_not_look_at_them);
    tcase_add_test(group, a_hold_can_stop_to_wait_for_graphs);
    tcase_add_test(group, a_graph_that_is_changed_lets_go_of_what_it_named);
    tcase_add_test(group, a_disabled_node_still_holds);
    tcase_add_test(group, behind_a_hold_for_a_graph_later_ones_wait_and_others_do_not);
    tcase_add_test(group, a_registration_ends_before_the_memory_that_was_freed_first);
    tcase_add_test(group, a_registration_ends_before_the_memory_that_was_freed_last);
    tcase_add_test(group, no_thread_waits_for_a_registration);
    tcase_add_test(group, memory_that_is_settled_waits_for_no_registration);
    tcase_add_test(group, many_holds_end_with_their_graphs_in_any_order);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
