/* Device memory that the driver has handed out, and frees that last while others are handed it. */
#include "common/op_kinds.h"
#include "common/points.h"
#include "tests/unit/destroy.h"
#include "tests/unit/locked.h"
#include "track/allocations.h"
#include "track/guarded.h"
#include "track/op_info.h"
#include "track/track.h"

#include <check.h>
#include <stdlib.h>

#include "track/track_device.h"
#include "track/track_graphs.h"
#include "track/track_holds.h"
#include "track/track_internal.h"
#include "track/track_ops.h"
#include "track/track_order.h"
#include "track/track_ranges.h"
#include "track/tracker.h"

enum { BASE = 0x700000000000, CONTEXT = 3, OTHER = 4, FIRST = 11, SECOND = 12 };

static struct sc_track track;
static struct sc_allocations *allocations;
static uint32_t legacy, freeing, using;

static void set_up(void)
{
    ck_assert_int_eq(sc_track_init(&track), 0);
    sc_track_guard(&track, NULL);
    track.front.watches_device = true;
    allocations = &track.allocations;
    legacy = sc_track_add_stream(&track, SC_STREAM_LEGACY, 0, 1, 0);
    freeing = sc_track_add_stream(&track, SC_STREAM_NONBLOCKING, legacy, 2, 0);
    using = sc_track_add_stream(&track, SC_STREAM_NONBLOCKING, legacy, 3, 0);
}

static void tear_down(void)
{
    destroy_track(&track);
}

START_TEST(a_block_is_found_by_each_of_its_bytes)
{
    sc_allocations_add(allocations, BASE, 4096, CONTEXT, FIRST);
    ck_assert_uint_eq(sc_allocations_find(allocations, BASE).origin, FIRST);
    ck_assert_uint_eq(sc_allocations_find(allocations, BASE + 4095).origin, FIRST);
    ck_assert_uint_eq(sc_allocations_find(allocations, BASE + 4095).address, BASE);
    ck_assert_uint_eq(sc_allocations_find(allocations, BASE + 4096).size_bytes, 0);
    ck_assert_uint_eq(sc_allocations_find(allocations, BASE - 1).size_bytes, 0);
}
END_TEST

START_TEST(what_a_new_block_overlaps_is_gone)
{
    for (unsigned i = 0; i < 100; i++)
        sc_allocations_add(allocations, BASE + i * 512, 512, CONTEXT, FIRST);
    sc_allocations_add(allocations, BASE + 100, 98 * 512, CONTEXT, SECOND);
    ck_assert_uint_eq(sc_allocations_find(allocations, BASE).size_bytes, 0);
    ck_assert_uint_eq(sc_allocations_find(allocations, BASE + 100).origin, SECOND);
    ck_assert_uint_eq(sc_allocations_find(allocations, BASE + 99 * 512).origin, FIRST);
    ck_assert_uint_eq(allocations->blocks.live, 2);
}
END_TEST

START_TEST(a_block_is_given_back_once_and_by_its_beginning)
{
    sc_allocations_add(allocations, BASE, 4096, CONTEXT, FIRST);
    ck_assert_uint_eq(sc_allocations_begin_free(allocations, BASE + 1).size_bytes, 0);
    struct sc_allocation block = sc_allocations_begin_free(allocations, BASE);
    ck_assert_uint_eq(block.size_bytes, 4096);
    ck_assert_uint_eq(block.origin, FIRST);
    ck_assert_uint_eq(sc_allocations_begin_free(allocations, BASE).size_bytes, 0);
    ck_assert(sc_allocations_end_free(allocations, &block, true));
    ck_assert_uint_eq(sc_allocations_begin_free(allocations, BASE).size_bytes, 0);
}
END_TEST

START_TEST(a_refused_free_leaves_the_block)
{
    sc_allocations_add(allocations, BASE, 4096, CONTEXT, FIRST);
    struct sc_allocation block = sc_allocations_begin_free(allocations, BASE);
    ck_assert(sc_allocations_end_free(allocations, &block, false));
    ck_assert_uint_eq(sc_allocations_begin_free(allocations, BASE).size_bytes, 4096);
}
END_TEST

START_TEST(a_context_takes_its_blocks_along)
{
    for (unsigned i = 0; i < 100; i++)
        sc_allocations_add(allocations, BASE + i * 512, 512, i % 2 ? CONTEXT : OTHER, FIRST);
    sc_allocations_remove_of_context(allocations, CONTEXT);
    ck_assert_uint_eq(allocations->blocks.live, 50);
    ck_assert_uint_eq(sc_allocations_find(allocations, BASE).origin, FIRST);
    ck_assert_uint_eq(sc_allocations_find(allocations, BASE + 512).size_bytes, 0);
}
END_TEST

static struct sc_op_info op_on(uint32_t stream, enum sc_direction direction)
{
    return (struct sc_op_info){.api = "call",
                               .shape = {BASE, 4096, 4096, 1},
                               .ticket.stream = stream,
                               .direction = direction,
                               .kind = SC_DEVICE};
}

static unsigned conflicts(uint32_t stream)
{
    SC_OPS(found);
    struct sc_op_info info = op_on(stream, SC_H2D);
    sc_track_conflicts(&track, &info, false, &found);
    return found.count;
}

START_TEST(a_free_conflicts_with_later_uses)
{
    sc_track_device_allocated(&track, BASE, 4096, legacy, FIRST);
    struct sc_allocation block =
        LOCKED(&track, sc_allocations_begin_free(&track.allocations, BASE));
    struct sc_op_info info = op_on(freeing, SC_FREE);
    sc_track_device_end_free(&track, &block, true, &info);
    ck_assert_uint_eq(conflicts(using), 1);
    ck_assert_uint_eq(conflicts(freeing), 0);
    sc_track_device_allocated(&track, BASE, 4096, legacy, SECOND);
    ck_assert_uint_eq(conflicts(using), 0);
}
END_TEST

/* The driver has taken the memory back, and hands it to another thread before the first one has
 * noted its free: a smaller block, at another address in it. */
START_TEST(a_free_of_what_is_handed_out_meanwhile_is_of_the_past)
{
    sc_track_device_allocated(&track, BASE, 4096, legacy, FIRST);
    struct sc_allocation block =
        LOCKED(&track, sc_allocations_begin_free(&track.allocations, BASE));
    sc_track_device_allocated(&track, BASE + 512, 512, legacy, SECOND);
    struct sc_op_info info = op_on(freeing, SC_FREE);
    sc_track_device_end_free(&track, &block, true, &info);
    ck_assert_uint_eq(conflicts(using), 0);
    ck_assert_uint_eq(LOCKED(&track, sc_allocations_origin(&track.allocations, BASE + 512)),
                      SECOND);
}
END_TEST

START_TEST(the_same_address_is_another_block)
{
    sc_track_device_allocated(&track, BASE, 4096, legacy, FIRST);
    struct sc_allocation block =
        LOCKED(&track, sc_allocations_begin_free(&track.allocations, BASE));
    sc_track_device_allocated(&track, BASE, 4096, legacy, SECOND);
    struct sc_op_info info = op_on(freeing, SC_FREE);
    sc_track_device_end_free(&track, &block, true, &info);
    ck_assert_uint_eq(conflicts(using), 0);
    ck_assert_uint_eq(LOCKED(&track, sc_allocations_origin(&track.allocations, BASE)), SECOND);
    ck_assert_uint_eq(
        LOCKED(&track, sc_allocations_begin_free(&track.allocations, BASE)).size_bytes, 4096);
}
END_TEST

START_TEST(addresses_of_known_memory_are_kept_once)
{
    enum { USED = BASE + (1 << 20) };
    uintptr_t addresses[] = {1, BASE + 8, USED + 4, BASE + 8, BASE + 4096, BASE};
    struct sc_op_info op = op_on(freeing, SC_H2D);
    op.shape.address = USED; /* of memory that is older than the library */
    sc_track_device_allocated(&track, BASE, 4096, legacy, FIRST);
    sc_track_issue_one(&track, &op, 1);
    ck_assert_uint_eq(sc_track_device_keep_known(&track, addresses, 6), 3);
    ck_assert_uint_eq(addresses[0], BASE + 8);
    ck_assert_uint_eq(addresses[1], USED + 4);
    ck_assert_uint_eq(addresses[2], BASE);
}
END_TEST

START_TEST(addresses_of_flags_are_not_kept)
{
    uintptr_t addresses[] = {BASE, BASE + 4096 + 60, BASE + 8192 + 60};
    struct sc_op_info op = op_on(freeing, SC_H2D);
    sc_track_device_allocated(&track, BASE, 4, legacy, FIRST);
    sc_track_device_allocated(&track, BASE + 4096, 64, legacy, FIRST);
    sc_track_device_allocated(&track, BASE + 8192, 65, legacy, FIRST);
    op.shape.address = BASE;
    sc_track_issue_one(&track, &op, 1); /* a bell is rung */
    ck_assert_uint_eq(sc_track_device_keep_known(&track, addresses, 3), 1);
    ck_assert_uint_eq(addresses[0], BASE + 8192 + 60);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("allocations");
    TCase *tests = tcase_create("allocations");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_block_is_found_by_each_of_its_bytes);
    tcase_add_test(tests, what_a_new_block_overlaps_is_gone);
    tcase_add_test(tests, a_block_is_given_back_once_and_by_its_beginning);
    tcase_add_test(tests, a_refused_free_leaves_the_block);
    tcase_add_test(tests, a_context_takes_its_blocks_along);
    tcase_add_test(tests, a_free_conflicts_with_later_uses);
    tcase_add_test(tests, a_free_of_what_is_handed_out_meanwhile_is_of_the_past);
    tcase_add_test(tests, the_same_address_is_another_block);
    tcase_add_test(tests, addresses_of_known_memory_are_kept_once);
    tcase_add_test(tests, addresses_of_flags_are_not_kept);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
