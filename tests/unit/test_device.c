/* Operations on device memory: what conflicts with what, and that forgetting those for which later
 * ones stand changes no answer. */
#include "tests/unit/destroy.h"
#include "track/conflicts_internal.h"
#include "track/device.h"

#include <check.h>
#include <stdlib.h>

#include "common/op_kinds.h"
#include "common/points.h"
#include "common/shape.h"
#include "common/unsure.h"
#include "tests/unit/rounds.h"
#include "track/conflicts.h"
#include "track/inflight.h"
#include "track/no_verdicts.h"
#include "track/op_info.h"
#include "track/ops.h"
#include "track/order.h"
#include "track/order_calls.h"

enum { BASE = 0x700000000000, STREAMS = 4, OPS_MAX = 400, PLACES = 24 };

static struct sc_order order;
static struct sc_inflight inflight;
static uint32_t legacy, streams[STREAMS];

static void set_up(void)
{
    sc_order_init(&order);
    ck_assert_int_eq(sc_inflight_init(&inflight, &order), 0);
    legacy = sc_order_add(&order, SC_STREAM_LEGACY, 0);
    streams[0] = legacy;
    streams[1] = sc_order_add(&order, SC_STREAM_BLOCKING, legacy);
    streams[2] = sc_order_add(&order, SC_STREAM_NONBLOCKING, legacy);
    streams[3] = sc_order_add(&order, SC_STREAM_NONBLOCKING, legacy);
}

static void tear_down(void)
{
    destroy_inflight(&inflight);
    destroy_order(&order);
}

static struct sc_op_info plain(unsigned stream, enum sc_direction direction, uintptr_t offset,
                               size_t size_bytes)
{
    return (struct sc_op_info){.api = "copy",
                               .shape = {BASE + offset, size_bytes, size_bytes, 1},
                               .ticket.stream = streams[stream],
                               .direction = direction,
                               .kind = SC_DEVICE};
}

static void find(const struct sc_op_info *info, struct sc_ops *found)
{
    sc_conflicts_find(&inflight, info, false, found);
}

static unsigned conflicts(struct sc_op_info info)
{
    SC_OPS(found);
    find(&info, &found);
    return found.count;
}

static struct sc_op_info add(struct sc_op_info info)
{
    info.ticket = sc_order_issue(&order, info.ticket.stream);
    sc_device_add(&inflight, &info);
    return info;
}

static void synchronise(unsigned stream)
{
    struct sc_point point = sc_order_point(&order, streams[stream]);
    sc_order_note_known(&order, &point);
    sc_order_release_point(&order, &point);
}

static void wait_for(unsigned waiting, unsigned recorded)
{
    struct sc_point point = sc_order_point(&order, streams[recorded]);
    sc_order_note_wait(&order, streams[waiting], &point);
    sc_order_release_point(&order, &point);
}

START_TEST(a_reader_conflicts_with_an_unordered_writer)
{
    add(plain(2, SC_H2D, 0, 100));
    ck_assert_uint_eq(conflicts(plain(3, SC_D2H, 50, 100)), 1);
    ck_assert_uint_eq(conflicts(plain(3, SC_D2H, 100, 100)), 0);
    ck_assert_uint_eq(conflicts(plain(2, SC_D2H, 50, 100)), 0);
}
END_TEST

START_TEST(readers_conflict_with_writers_only)
{
    struct sc_op_info within = plain(3, SC_D2D, 0, 100);
    add(plain(2, SC_D2H, 0, 100));
    ck_assert_uint_eq(conflicts(plain(3, SC_D2H, 0, 100)), 0);
    ck_assert_uint_eq(conflicts(within), 1);
    within.reads_device = true;
    ck_assert_uint_eq(conflicts(within), 0);
    ck_assert_uint_eq(conflicts(plain(3, SC_MEMSET, 0, 1)), 1);
    ck_assert_uint_eq(conflicts(plain(3, SC_FREE, 99, 10)), 1);
}
END_TEST

START_TEST(what_a_stream_waited_for_is_ordered)
{
    add(plain(2, SC_H2D, 0, 100));
    wait_for(3, 2);
    ck_assert_uint_eq(conflicts(plain(3, SC_D2H, 0, 100)), 0);
    ck_assert_uint_eq(conflicts(plain(0, SC_D2H, 0, 100)), 1);
    synchronise(3);
    ck_assert_uint_eq(conflicts(plain(0, SC_D2H, 0, 100)), 0);
}
END_TEST

START_TEST(rows_that_lie_between_each_other_have_no_byte_in_common)
{
    struct sc_op_info left = plain(2, SC_H2D, 0, 16);
    struct sc_op_info right = plain(3, SC_H2D, 16, 16);
    left.shape.pitch_bytes = right.shape.pitch_bytes = 32;
    left.shape.rows = right.shape.rows = 8;
    add(left);
    ck_assert_uint_eq(conflicts(right), 0);
    right.shape.width_bytes = 17;
    ck_assert_uint_eq(conflicts(right), 1);
}
END_TEST

START_TEST(unseen_operations_conflict_with_nothing)
{
    struct sc_op_info unseen = plain(2, SC_H2D, 0, 100);
    unseen.unsure = SC_UNSURE_WAITS;
    add(unseen);
    ck_assert_uint_eq(conflicts(plain(3, SC_D2H, 0, 100)), 0);
    add(plain(2, SC_H2D, 200, 100));
    unseen = plain(3, SC_D2H, 200, 100);
    unseen.unsure = SC_UNSURE_WAITS;
    ck_assert_uint_eq(conflicts(unseen), 0);
}
END_TEST

START_TEST(what_the_host_frees_conflicts_with_all_that_it_has_not_waited_for)
{
    struct sc_op_info freed = plain(0, SC_FREE, 0, 100);
    freed.ticket.stream = 0;
    add(plain(2, SC_ALLOCATION, 0, 100));
    ck_assert_uint_eq(conflicts(freed), 0);
    add(plain(3, SC_D2H, 50, 10));
    ck_assert_uint_eq(conflicts(freed), 1);
    synchronise(3);
    ck_assert_uint_eq(conflicts(freed), 0);
}
END_TEST

START_TEST(memory_that_is_handed_out_has_no_past)
{
    for (unsigned i = 0; i < 100; i++)
        add(plain(2, SC_H2D, i * 16, 16));
    ck_assert_uint_eq(inflight.ops.live, 100);
    sc_device_forget(&inflight, BASE, 80 * 16);
    ck_assert_uint_eq(inflight.ops.live, 20);
    ck_assert_uint_eq(conflicts(plain(3, SC_D2H, 0, 80 * 16)), 0);
    ck_assert_uint_eq(conflicts(plain(3, SC_D2H, 0, 81 * 16)), 1);
}
END_TEST

START_TEST(what_was_issued_in_a_context_that_is_serialized_has_no_past)
{
    uint32_t other = sc_order_add(&order, SC_STREAM_LEGACY, 0);
    uint32_t green = sc_order_add(&order, SC_STREAM_LEGACY, 0);
    sc_order_set_primary(&order, green, other);
    const uint32_t both[] = {0, legacy, other}, one[] = {other, 0}, by_green[] = {green};

    add(plain(2, SC_H2D, 0, 16));
    add(plain(0, SC_H2D, 16, 16));
    sc_device_forget_of_contexts(&inflight, one, 2);
    ck_assert_uint_eq(inflight.ops.live, 2);
    ck_assert_uint_eq(conflicts(plain(3, SC_D2H, 0, 16)), 1);
    streams[3] = sc_order_add(&order, SC_STREAM_NONBLOCKING, green);
    add(plain(3, SC_H2D, 32, 16));
    sc_device_forget_of_contexts(&inflight, one, 2);
    ck_assert_uint_eq(inflight.ops.live, 2);
    add(plain(3, SC_H2D, 32, 16));
    sc_device_forget_of_contexts(&inflight, by_green, 1);
    ck_assert_uint_eq(inflight.ops.live, 2);
    add(plain(3, SC_H2D, 32, 16));
    sc_device_forget_of_contexts(&inflight, both, 3);
    ck_assert_uint_eq(inflight.ops.live, 0);
    ck_assert_uint_eq(conflicts(plain(3, SC_D2H, 0, 64)), 0);
}
END_TEST

START_TEST(a_loop_that_nobody_waits_for_is_remembered_once)
{
    for (unsigned i = 0; i < 10000; i++) {
        add(plain(2, SC_H2D, 0, 4096));
        wait_for(3, 2);
        add(plain(3, SC_D2H, 0, 4096));
        wait_for(2, 3);
    }
    ck_assert_uint_le(inflight.ops.live, 2);
}
END_TEST

/* As a batch in three dimensions names bytes of the device. */
START_TEST(rows_without_gaps_stand_for_what_they_have)
{
    struct sc_op_info rows = plain(2, SC_H2D, 0, 100);
    rows.shape.rows = 4;
    add(plain(2, SC_H2D, 50, 100));
    add(rows);
    ck_assert_uint_eq(inflight.ops.live, 1);
    rows.shape.pitch_bytes = 128;
    add(plain(2, SC_H2D, 100, 28));
    add(rows);
    ck_assert_uint_eq(inflight.ops.live, 3);
}
END_TEST

/* The possible one is healed by other rules. */
START_TEST(what_may_not_take_place_stands_for_nothing_that_does)
{
    struct sc_op_info possible = plain(2, SC_H2D, 0, 100);
    possible.unsure = SC_UNSURE_LEFT_OUT;
    add(plain(2, SC_H2D, 0, 100));
    add(possible);
    add(possible);
    ck_assert_uint_eq(inflight.ops.live, 2);
    ck_assert_uint_eq(conflicts(plain(3, SC_D2H, 0, 100)), 2);
    add(plain(2, SC_H2D, 0, 100));
    ck_assert_uint_eq(inflight.ops.live, 1);
}
END_TEST

START_TEST(what_is_unseen_conflicts_with_nothing_until_it_is_seen)
{
    struct sc_op_info before = add(plain(2, SC_MEMSET, 0, 64));
    struct sc_op_info first = plain(2, SC_MEMSET, 64, 64), second = plain(2, SC_MEMSET, 128, 64);
    first.ticks = 5;
    second.ticks = 6;
    add(first);
    add(plain(3, SC_MEMSET, 256, 64));
    add(second);
    sc_device_mark_unseen(&inflight, streams[2], before.ticket.number);
    ck_assert_uint_eq(conflicts(plain(3, SC_MEMSET, 0, 64)), 1);
    ck_assert_uint_eq(conflicts(plain(3, SC_MEMSET, 64, 128)), 0);
    ck_assert_uint_eq(conflicts(plain(2, SC_MEMSET, 256, 64)), 1);
    sc_device_clear_unseen(&inflight, streams[2], before.ticket.number, 5);
    ck_assert_uint_eq(conflicts(plain(3, SC_MEMSET, 64, 64)), 1);
    ck_assert_uint_eq(conflicts(plain(3, SC_MEMSET, 128, 64)), 0);
}
END_TEST

START_TEST(what_is_known_done_is_forgotten)
{
    for (unsigned i = 0; i < 1000; i++) {
        add(plain(2, SC_H2D, i * 4096, 4096));
        if (i % 10 == 9)
            synchronise(2);
    }
    add(plain(2, SC_H2D, 0, 1));
    ck_assert_uint_lt(inflight.ops.live, 20);
}
END_TEST

START_TEST(no_more_are_kept_than_there_is_room_for)
{
    struct sc_no_verdicts counts = {0};
    inflight.no_verdicts = &counts;
    for (unsigned i = 0; i < SC_DEVICE_OPS_MAX + 1000; i++)
        add(plain(2, SC_H2D, (uintptr_t)i * 64, 64));
    ck_assert_uint_le(inflight.ops.live, SC_DEVICE_OPS_MAX);
    ck_assert_uint_eq(conflicts(plain(3, SC_D2H, (uintptr_t)SC_DEVICE_OPS_MAX * 64, 64)), 1);
    ck_assert_uint_ge(sc_no_verdicts_of(&counts, SC_NO_VERDICT_OPERATIONS, SC_NO_VERDICT_ROOM),
                      1000);
    inflight.no_verdicts = NULL;
}
END_TEST

/* All operations that there ever were, held against each other one by one. */
static struct sc_op_info every[OPS_MAX];

static bool reads(const struct sc_op_info *info)
{
    return info->direction == SC_D2H || info->reads_device;
}

/* `certain`: with one that does take place. */
static bool any_conflict(const struct sc_op_info *later, unsigned count, bool certain)
{
    for (unsigned i = 0; i < count; i++) {
        const struct sc_op_info *earlier = &every[i];
        if (!(certain && (earlier->unsure & SC_UNSURE_LEFT_OUT)) &&
            earlier->ticket.stream != later->ticket.stream && (!reads(earlier) || !reads(later)) &&
            sc_shapes_touch(&earlier->shape, &later->shape) &&
            !sc_order_known_done(&order, &earlier->ticket) &&
            !sc_order_covers(&order, later->ticket.stream, &earlier->ticket))
            return true;
    }
    return false;
}

static struct sc_op_info draw_op(void)
{
    static const enum sc_direction directions[] = {SC_H2D, SC_D2H, SC_MEMSET, SC_D2D};
    uintptr_t start = (uintptr_t)(rand() % PLACES);
    struct sc_op_info info = plain((unsigned)rand() % STREAMS, directions[rand() % 4], start * 16,
                                   (1 + (size_t)(rand() % 4)) * 16);
    info.reads_device = info.direction == SC_D2D && rand() % 2;
    info.unsure = rand() % 4 == 0 ? SC_UNSURE_LEFT_OUT : 0;
    if (rand() % 4 == 0) {
        info.shape.width_bytes = 8;
        info.shape.pitch_bytes = 16;
        info.shape.rows = 1 + (size_t)(rand() % 4);
    }
    return info;
}

static void do_something_else(void)
{
    unsigned stream = (unsigned)rand() % STREAMS;
    switch (rand() % 8) {
    case 0:
    case 1:
    case 2:
        wait_for(stream, (unsigned)rand() % STREAMS);
        break;
    case 3:
        synchronise(stream);
        break;
    default:
        break;
    }
}

static void compare_answers(const struct sc_op_info *info, unsigned count)
{
    SC_OPS(found);
    bool certain = false;
    find(info, &found);
    for (unsigned i = 0; i < sc_ops_count_kept(&found); i++)
        certain |= !(found.ops[i].unsure & SC_UNSURE_LEFT_OUT);
    ck_assert_int_eq(found.count != 0, any_conflict(info, count, false));
    if (found.count == sc_ops_count_kept(&found))
        ck_assert_int_eq(certain, any_conflict(info, count, true));
}

START_TEST(forgetting_changes_no_answer)
{
    srand((unsigned)_i);
    for (unsigned count = 0; count < OPS_MAX; count++) {
        struct sc_op_info info = draw_op();
        compare_answers(&info, count);
        every[count] = add(info);
        do_something_else();
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("device");
    TCase *tests = tcase_create("device");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_reader_conflicts_with_an_unordered_writer);
    tcase_add_test(tests, readers_conflict_with_writers_only);
    tcase_add_test(tests, what_a_stream_waited_for_is_ordered);
    tcase_add_test(tests, rows_that_lie_between_each_other_have_no_byte_in_common);
    tcase_add_test(tests, unseen_operations_conflict_with_nothing);
    tcase_add_test(tests, memory_that_is_handed_out_has_no_past);
    tcase_add_test(tests, what_the_host_frees_conflicts_with_all_that_it_has_not_waited_for);
    tcase_add_test(tests, what_was_issued_in_a_context_that_is_serialized_has_no_past);
    tcase_add_test(tests, a_loop_that_nobody_waits_for_is_remembered_once);
    tcase_add_test(tests, rows_without_gaps_stand_for_what_they_have);
    tcase_add_test(tests, what_may_not_take_place_stands_for_nothing_that_does);
    tcase_add_test(tests, what_is_unseen_conflicts_with_nothing_until_it_is_seen);
    tcase_add_test(tests, what_is_known_done_is_forgotten);
    tcase_add_test(tests, no_more_are_kept_than_there_is_room_for);
    tcase_add_loop_test(tests, forgetting_changes_no_answer, 0, (int)rounds(200));
    tcase_set_timeout(tests, 60);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
