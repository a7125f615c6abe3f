/* Operations on host memory: shapes, ranges, conflicts, and what is retired when. */
#include "common/frames.h"
#include "common/op_kinds.h"
#include "common/pages.h"
#include "common/points.h"
#include "common/shape.h"
#include "tests/unit/destroy.h"
#include "track/conflicts.h"
#include "track/conflicts_internal.h"
#include "track/grid.h"
#include "track/inflight.h"
#include "track/inflight_calls.h"
#include "track/no_verdicts.h"
#include "track/op_info.h"
#include "track/ops.h"
#include "track/order.h"
#include "track/order_calls.h"
#include "track/source_copies.h"
#include "track/staging.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/emulator.h"

enum { BASE = 0x100000, SEEN_MAX = 64 };

static struct sc_order order;
static struct sc_inflight inflight;
static uint32_t legacy, one, two;
static struct sc_op_info seen[SEEN_MAX];
static unsigned seen_count;
static uint32_t seen_id; /* of the last */

static void set_up(void)
{
    sc_order_init(&order);
    ck_assert_int_eq(sc_inflight_init(&inflight, &order), 0);
    legacy = sc_order_add(&order, SC_STREAM_LEGACY, 0);
    one = sc_order_add(&order, SC_STREAM_NONBLOCKING, legacy);
    two = sc_order_add(&order, SC_STREAM_NONBLOCKING, legacy);
}

static void tear_down(void)
{
    destroy_inflight(&inflight);
    destroy_order(&order);
}

static struct sc_op_info plain(uint32_t stream, enum sc_direction direction, uintptr_t address,
                               size_t size_bytes)
{
    return (struct sc_op_info){.api = "copy",
                               .shape = {address, size_bytes, size_bytes, 1},
                               .ticket.stream = stream,
                               .direction = direction,
                               .kind = SC_PINNED,
                               .range = sc_inflight_range_of(&inflight, address)};
}

static struct sc_op_info add(struct sc_op_info info)
{
    info.ticket = sc_order_issue(&order, info.ticket.stream);
    struct sc_ops overwritten = {0};
    if (!sc_inflight_add(&inflight, &info, &overwritten) || overwritten.count > 0)
        ck_abort_msg("not added, or over others");
    return info;
}

static bool note(void *context, uint32_t op)
{
    ck_assert_ptr_eq(context, seen);
    ck_assert_uint_lt(seen_count, SEEN_MAX);
    seen_id = op;
    seen[seen_count++] = sc_inflight_op(&inflight, op)->info;
    return true;
}

static unsigned overlaps(uintptr_t address, size_t size_bytes)
{
    seen_count = 0;
    SC_INFLIGHT_EACH (walk, &inflight, address, size_bytes)
        note(seen, walk.at.id);
    return seen_count;
}

static unsigned conflicts(struct sc_op_info info)
{
    SC_OPS(found);
    sc_conflicts_find(&inflight, &info, false, &found);
    ck_assert_int_eq(sc_conflicts_any(&inflight, &info), found.count > 0);
    seen_count = 0;
    for (unsigned i = 0; i < sc_ops_count_kept(&found); i++)
        note(seen, sc_inflight_find(&inflight, &found.ops[i]));
    return found.count;
}

static void synchronise(uint32_t stream)
{
    struct sc_point point = sc_order_point(&order, stream);
    sc_order_note_known(&order, &point);
    sc_order_release_point(&order, &point);
}

static unsigned live(void)
{
    return inflight.ops.live;
}

START_TEST(only_d2h_and_memset_write_host_memory)
{
    ck_assert(sc_direction_writes_host(SC_D2H));
    ck_assert(sc_direction_writes_host(SC_MEMSET));
    ck_assert(!sc_direction_writes_host(SC_H2D));
    ck_assert(!sc_direction_writes_host(SC_PREFETCH));
}
END_TEST

START_TEST(a_hull_reaches_from_the_first_byte_to_the_last)
{
    struct sc_shape shape = {BASE, 16, 64, 4};
    ck_assert_uint_eq(sc_shape_hull_bytes(&shape), 3 * 64 + 16);
    shape.rows = 1;
    ck_assert_uint_eq(sc_shape_hull_bytes(&shape), 16);
    shape.rows = 0;
    ck_assert_uint_eq(sc_shape_hull_bytes(&shape), 0);
    shape = (struct sc_shape){BASE, 0, 64, 4};
    ck_assert_uint_eq(sc_shape_hull_bytes(&shape), 0);
}
END_TEST

static bool share_a_byte(const struct sc_shape *a, const struct sc_shape *b)
{
    char bytes[512] = {0};
    for (size_t row = 0; row < a->rows; row++)
        memset(bytes + a->address + row * a->pitch_bytes, 1, a->width_bytes);
    for (size_t row = 0; row < b->rows; row++)
        if (memchr(bytes + b->address + row * b->pitch_bytes, 1, b->width_bytes))
            return true;
    return false;
}

static struct sc_shape random_shape(void)
{
    struct sc_shape shape;
    shape.rows = 1 + (size_t)random() % 8;
    shape.pitch_bytes = 1 + (size_t)random() % 24;
    if (random() % 2)
        shape.pitch_bytes = 16; /* so that equal pitches are common */
    shape.width_bytes = 1 + (size_t)random() % shape.pitch_bytes;
    shape.address = (uintptr_t)random() % 128;
    return shape;
}

START_TEST(shapes_touch_where_they_share_a_byte)
{
    unsigned touching = 0;
    srandom(3);
    for (int i = 0; i < 200000; i++) {
        struct sc_shape a = random_shape();
        struct sc_shape b = random_shape();
        bool expected = share_a_byte(&a, &b);
        touching += expected;
        if (sc_shapes_touch(&a, &b) != expected || sc_shapes_touch(&b, &a) != expected)
            ck_abort_msg("%zu+%zux%zu/%zu and %zu+%zux%zu/%zu touch: %d", (size_t)a.address,
                         a.width_bytes, a.rows, a.pitch_bytes, (size_t)b.address, b.width_bytes,
                         b.rows, b.pitch_bytes, expected);
    }
    ck_assert_uint_gt(touching, 20000);
    ck_assert_uint_lt(touching, 180000);
}
END_TEST

/* A shape whose rows have gaps, or not, and what of each row that leaves. */
struct folded {
    struct sc_shape shape;
    struct sc_fold fold;
};

static struct folded random_folded(void)
{
    struct folded folded = {random_shape(), {0, 0}};
    size_t rows = 1 + (size_t)random() % 4;
    size_t pitch = random() % 2 ? 8 : 1 + (size_t)random() % 8;
    if (random() % 4) {
        folded.fold = (struct sc_fold){1 + (size_t)random() % pitch, pitch};
        folded.shape.width_bytes = (rows - 1) * pitch + folded.fold.width_bytes;
        folded.shape.pitch_bytes = rows * pitch + (random() % 2 ? 0 : (size_t)random() % 16);
    }
    return folded;
}

static void mark_bytes(const struct folded *folded, char *bytes)
{
    const struct sc_shape *shape = &folded->shape;
    size_t pitch = folded->fold.pitch_bytes ? folded->fold.pitch_bytes : shape->width_bytes;
    size_t width = folded->fold.pitch_bytes ? folded->fold.width_bytes : shape->width_bytes;
    for (size_t row = 0; row < shape->rows; row++)
        for (size_t at = 0; at < shape->width_bytes; at += pitch)
            memset(bytes + shape->address + row * shape->pitch_bytes + at, 1, width);
}

START_TEST(shapes_with_gaps_in_their_rows_touch_where_they_share_a_byte)
{
    unsigned touching = 0;
    srandom(5);
    for (int i = 0; i < 200000; i++) {
        struct folded a = random_folded(), b = random_folded();
        char of_a[1024] = {0}, of_b[1024] = {0};
        bool expected = false;
        mark_bytes(&a, of_a);
        mark_bytes(&b, of_b);
        for (size_t at = 0; at < sizeof of_a; at++)
            expected |= of_a[at] && of_b[at];
        touching += expected;
        if (sc_shapes_folded_touch(&a.shape, &a.fold, &b.shape, &b.fold) != expected ||
            sc_shapes_folded_touch(&b.shape, &b.fold, &a.shape, &a.fold) != expected)
            ck_abort_msg("pair %d touches: %d", i, expected);
    }
    ck_assert_uint_gt(touching, 20000);
    ck_assert_uint_lt(touching, 180000);
}
END_TEST

START_TEST(the_columns_of_one_image_do_not_touch)
{
    struct sc_shape left = {BASE, 32, 64, 1000};
    struct sc_shape right = {BASE + 32, 32, 64, 1000};
    struct sc_shape wider = {BASE + 31, 32, 64, 1000};
    ck_assert(!sc_shapes_touch(&left, &right));
    ck_assert(sc_shapes_touch(&left, &wider));
}
END_TEST

/* The driver refuses it, but it refuses after we have looked. */
START_TEST(a_pitch_of_zero_is_survived)
{
    struct sc_shape zero = {BASE + 10, 4, 0, 5};
    struct sc_shape other = {BASE, 32, 32, 3};
    struct sc_shape later = {BASE + 12, 4, 0, 5};
    struct sc_shape row = {BASE + 12, 1, 0, 1};
    ck_assert(sc_shapes_touch(&zero, &other));
    ck_assert(sc_shapes_touch(&other, &zero));
    ck_assert(sc_shapes_touch(&zero, &later));
    ck_assert(sc_shapes_touch(&zero, &row));
}
END_TEST

START_TEST(a_range_is_found_by_any_address_in_it)
{
    uint32_t range = sc_inflight_add_range(&inflight, BASE, 100, SC_REGISTERED, legacy);
    ck_assert_uint_ne(range, 0);
    ck_assert_uint_eq(sc_inflight_range_of(&inflight, BASE), range);
    ck_assert_uint_eq(sc_inflight_range_of(&inflight, BASE + 99), range);
    ck_assert_uint_eq(sc_inflight_range_of(&inflight, BASE + 100), 0);
    ck_assert_uint_eq(sc_inflight_range_of(&inflight, BASE - 1), 0);
    ck_assert_uint_eq(atomic_load(&sc_inflight_range(&inflight, range)->kind), SC_REGISTERED);
    ck_assert_uint_eq(atomic_load(&sc_inflight_range(&inflight, range)->context), legacy);
    sc_inflight_remove_range(&inflight, range);
    ck_assert_uint_eq(sc_inflight_range_of(&inflight, BASE), 0);
    ck_assert_uint_eq(sc_inflight_add_range(&inflight, BASE, 0, SC_PINNED, legacy), 0);
}
END_TEST

START_TEST(a_new_range_replaces_what_it_overlaps)
{
    sc_inflight_add_range(&inflight, BASE, 100, SC_PINNED, legacy);
    sc_inflight_add_range(&inflight, BASE + 100, 100, SC_PINNED, legacy);
    uint32_t beside = sc_inflight_add_range(&inflight, BASE + 200, 100, SC_PINNED, legacy);
    uint32_t fresh = sc_inflight_add_range(&inflight, BASE + 50, 150, SC_REGISTERED, legacy);
    ck_assert_uint_eq(sc_inflight_range_of(&inflight, BASE), 0);
    ck_assert_uint_eq(sc_inflight_range_of(&inflight, BASE + 199), fresh);
    ck_assert_uint_eq(sc_inflight_range_of(&inflight, BASE + 200), beside);
    ck_assert_uint_eq(inflight.ranges.live, 4); /* two others are no ranges */
}
END_TEST

START_TEST(operations_stay_when_their_range_goes)
{
    uint32_t range = sc_inflight_add_range(&inflight, BASE, 4096, SC_PINNED, legacy);
    add(plain(one, SC_D2H, BASE, 64));
    ck_assert_uint_eq(atomic_load(&sc_inflight_range(&inflight, range)->op_count), 1);
    sc_inflight_remove_range(&inflight, range);
    ck_assert_uint_eq(overlaps(BASE, 64), 1);
    ck_assert_uint_eq(seen[0].range, 0);
    sc_inflight_add_range(&inflight, BASE, 4096, SC_REGISTERED, legacy);
    struct sc_op_info later = plain(two, SC_H2D, BASE, 64);
    later.kind = SC_REGISTERED;
    ck_assert_uint_eq(conflicts(later), 1);
}
END_TEST

START_TEST(an_operation_is_found_by_its_hull_until_it_is_known_done)
{
    struct sc_op_info info = plain(one, SC_H2D, BASE, 16);
    info.shape = (struct sc_shape){BASE, 16, 64, 4};
    add(info);
    ck_assert_uint_eq(overlaps(BASE + 20, 1), 1); /* between two rows */
    ck_assert_uint_eq(overlaps(BASE + 3 * 64 + 15, 1), 1);
    ck_assert_uint_eq(overlaps(BASE + 3 * 64 + 16, 1), 0);
    ck_assert_uint_eq(overlaps(BASE - 1, 1), 0);
    synchronise(one);
    ck_assert_uint_eq(overlaps(BASE, 16), 0);
    ck_assert_uint_eq(live(), 1); /* until it is retired */
}
END_TEST

START_TEST(an_operation_on_nothing_is_not_kept)
{
    add(plain(one, SC_H2D, BASE, 0));
    ck_assert_uint_eq(live(), 0);
}
END_TEST

START_TEST(an_equal_operation_replaces_the_earlier_one)
{
    add(plain(one, SC_H2D, BASE, 64));
    struct sc_op_info later = add(plain(one, SC_H2D, BASE, 64));
    ck_assert_uint_eq(live(), 1);
    ck_assert_uint_eq(overlaps(BASE, 1), 1);
    ck_assert_uint_eq(seen[0].ticket.number, later.ticket.number);
    ck_assert_uint_eq(sc_order_stream(&order, one)->references, 1);
}
END_TEST

/* Whether the device reads a copy is noted as a slot or, for a launch, as a flag. */
START_TEST(one_that_reads_the_source_itself_outlives_one_that_reads_a_copy)
{
    struct sc_op_info copied = plain(one, SC_H2D, BASE, 64);
    copied.copied = true;
    struct sc_op_info first = add(plain(one, SC_H2D, BASE, 64));
    struct sc_op_info second = add(copied);
    ck_assert_uint_eq(overlaps(BASE, 64), 2);
    ck_assert_uint_ne(sc_inflight_find(&inflight, &first), 0);
    add(copied);
    ck_assert_uint_eq(overlaps(BASE, 64), 2);
    ck_assert_uint_eq(sc_inflight_find(&inflight, &second), 0);
    synchronise(one);
    add(copied);
    ck_assert_uint_eq(overlaps(BASE, 64), 1);
}
END_TEST

START_TEST(a_difference_makes_another_operation)
{
    struct sc_op_info rows = plain(one, SC_H2D, BASE, 64);
    struct sc_op_info heap = plain(one, SC_H2D, BASE, 64);
    rows.shape = (struct sc_shape){BASE, 64, 64, 2};
    heap.kind = SC_PAGEABLE;
    add(plain(one, SC_H2D, BASE, 64));
    add(plain(one, SC_D2H, BASE, 64));
    add(plain(two, SC_H2D, BASE, 64));
    add(plain(one, SC_H2D, BASE + 1, 64));
    add(plain(one, SC_H2D, BASE, 63));
    add(rows);
    add(heap);
    ck_assert_uint_eq(live(), 7);
    ck_assert_uint_eq(overlaps(BASE, 64), 7);
    synchronise(one);
    synchronise(two);
    ck_assert(!sc_inflight_retire(&inflight, 0, 100, NULL));
    ck_assert_uint_eq(live(), 0);
    ck_assert(sc_grid_is_empty(&inflight.op_grid));
    ck_assert(sc_grid_is_empty(&inflight.heap_grid));
}
END_TEST

START_TEST(heap_memory_has_a_grid_of_its_own)
{
    const enum sc_buffer_kind kinds[] = {SC_REGISTERED, SC_PAGEABLE, SC_STACK};
    add(plain(one, SC_H2D, BASE, 64));
    ck_assert(sc_grid_is_empty(&inflight.heap_grid));
    for (int i = 0; i < 3; i++) {
        struct sc_op_info info = plain(one, SC_H2D, BASE + 4096, 64);
        info.kind = kinds[i];
        add(info);
        ck_assert(!sc_grid_is_empty(&inflight.heap_grid));
        ck_assert_uint_eq(overlaps(BASE + 4096, 1), 1);
        sc_inflight_drop(&inflight, seen_id);
        ck_assert(sc_grid_is_empty(&inflight.heap_grid));
    }
    ck_assert_uint_eq(live(), 1);
}
END_TEST

START_TEST(conflicts_are_found_in_both_grids)
{
    for (uintptr_t i = 0; i < 6; i++) {
        struct sc_op_info info = plain(one, SC_D2H, BASE + i, 64);
        info.kind = i < 3 ? SC_PINNED : SC_REGISTERED;
        add(info);
    }
    struct sc_op_info later = plain(two, SC_H2D, BASE, 64);
    ck_assert_uint_eq(conflicts(later), 6);
    ck_assert_uint_eq(conflicts(plain(two, SC_H2D, BASE - 64, 64)), 0);
}
END_TEST

START_TEST(two_reads_do_not_conflict_and_all_else_does)
{
    const enum sc_direction directions[] = {SC_H2D, SC_D2H, SC_MEMSET};
    for (int i = 0; i < 9; i++) {
        uintptr_t address = BASE + (uintptr_t)i * 4096;
        add(plain(one, directions[i / 3], address, 64));
        ck_assert_uint_eq(conflicts(plain(two, directions[i % 3], address + 63, 1)), i != 0);
        ck_assert_uint_eq(conflicts(plain(two, directions[i % 3], address + 64, 1)), 0);
        ck_assert_uint_eq(conflicts(plain(one, directions[i % 3], address, 64)), 0);
    }
}
END_TEST

START_TEST(a_conflict_needs_rows_that_touch)
{
    struct sc_op_info left = plain(one, SC_D2H, BASE, 0);
    struct sc_op_info right = plain(two, SC_D2H, BASE, 0);
    left.shape = (struct sc_shape){BASE, 32, 64, 100};
    right.shape = (struct sc_shape){BASE + 32, 32, 64, 100};
    add(left);
    ck_assert_uint_eq(conflicts(right), 0);
    right.shape.address--;
    ck_assert_uint_eq(conflicts(right), 1);
}
END_TEST

START_TEST(what_is_ordered_does_not_conflict)
{
    add(plain(one, SC_D2H, BASE, 64));
    struct sc_op_info later = plain(two, SC_H2D, BASE, 64);
    ck_assert_uint_eq(conflicts(later), 1);
    struct sc_point event = sc_order_point(&order, one);
    ck_assert(sc_order_note_wait(&order, two, &event));
    ck_assert_uint_eq(conflicts(later), 0);
    sc_order_release_point(&order, &event);
    uint32_t three = sc_order_add(&order, SC_STREAM_NONBLOCKING, legacy);
    later = plain(three, SC_H2D, BASE, 64);
    ck_assert_uint_eq(conflicts(later), 1);
    synchronise(one);
    ck_assert_uint_eq(conflicts(later), 0);
}
END_TEST

/* A short list is walked, a long one is looked up: both say the same. */
START_TEST(conflicts_are_the_same_by_list_and_by_grid)
{
    sc_inflight_add_range(&inflight, BASE, 0x800000, SC_PINNED, legacy);
    for (uintptr_t i = 0; i < 1000; i++) {
        add(plain(one, SC_D2H, BASE + i * 8192, 64));
        ck_assert_uint_eq(conflicts(plain(two, SC_H2D, BASE, 64)), 1);
        ck_assert_uint_eq(conflicts(plain(two, SC_H2D, BASE + i * 8192 - (i > 0), 2)), 1);
        ck_assert_uint_eq(conflicts(plain(two, SC_H2D, BASE + i * 8192 + 64, 8000)), 0);
    }
}
END_TEST

START_TEST(retiring_stops_at_its_limit_and_at_what_is_not_done)
{
    for (uintptr_t i = 0; i < 10; i++)
        add(plain(one, SC_H2D, BASE + i, 64));
    synchronise(one);
    for (uintptr_t i = 10; i < 13; i++)
        add(plain(one, SC_H2D, BASE + i, 64));
    add(plain(two, SC_H2D, BASE, 64));
    ck_assert(sc_inflight_retire(&inflight, 0, 4, NULL));
    ck_assert_uint_eq(live(), 10);
    ck_assert(!sc_inflight_retire(&inflight, 0, 100, NULL));
    ck_assert_uint_eq(live(), 4);
    synchronise(two);
    sc_inflight_retire(&inflight, 0, 100, NULL);
    ck_assert_uint_eq(live(), 3);
    ck_assert_uint_eq(sc_order_stream(&order, two)->references, 0);
    synchronise(one);
    sc_inflight_retire(&inflight, 0, 100, NULL);
    ck_assert_uint_eq(live(), 0);
    ck_assert_uint_eq(inflight.busy, 0);
}
END_TEST

START_TEST(a_stream_lives_as_long_as_its_operations)
{
    add(plain(one, SC_H2D, BASE, 64));
    struct sc_point point = sc_order_point(&order, one);
    sc_order_remove(&order, one);
    ck_assert_uint_ne(sc_order_add(&order, SC_STREAM_NONBLOCKING, legacy), one);
    sc_order_note_known(&order, &point);
    ck_assert(!sc_inflight_retire(&inflight, 0, 1, NULL));
    ck_assert_uint_eq(sc_order_add(&order, SC_STREAM_NONBLOCKING, legacy), one);
}
END_TEST

static void complete_up_to(uint32_t stream, uint64_t number)
{
    atomic_store(&sc_order_stream(&order, stream)->complete, number);
    sc_inflight_note_complete(&inflight, stream);
}

START_TEST(a_prefetch_conflicts_with_nothing)
{
    add(plain(one, SC_PREFETCH, BASE, 64));
    ck_assert_uint_eq(conflicts(plain(two, SC_D2H, BASE, 64)), 0);
    add(plain(two, SC_D2H, BASE, 64));
    ck_assert_uint_eq(conflicts(plain(one, SC_PREFETCH, BASE, 64)), 0);
    ck_assert_uint_eq(conflicts(plain(one, SC_H2D, BASE, 64)), 1);
}
END_TEST

START_TEST(operations_with_gaps_in_their_rows_conflict_byte_by_byte)
{
    struct sc_op_info left = plain(one, SC_D2H, BASE, 200);
    struct sc_op_info right = plain(two, SC_H2D, BASE + 16, 200);
    left.shape.pitch_bytes = right.shape.pitch_bytes = 256;
    left.shape.rows = right.shape.rows = 2;
    left.fold = right.fold = (struct sc_fold){8, 32};
    add(left);
    ck_assert_uint_eq(conflicts(right), 0);
    right.shape.address = BASE + 7;
    ck_assert_uint_eq(conflicts(right), 1);
}
END_TEST

START_TEST(what_is_complete_is_still_in_flight_for_the_host)
{
    add(plain(one, SC_D2H, BASE, 64));
    struct sc_op_info second = add(plain(one, SC_D2H, BASE + 64, 64));
    complete_up_to(one, second.ticket.number - 1);
    ck_assert_uint_eq(inflight.retained, 1);
    ck_assert_uint_eq(overlaps(BASE, 128), 2);
    ck_assert_uint_eq(conflicts(plain(two, SC_H2D, BASE, 64)), 1);
    add(plain(one, SC_D2H, BASE, 64)); /* again: no longer complete */
    ck_assert_uint_eq(inflight.retained, 0);
    complete_up_to(one, second.ticket.number);
    ck_assert_uint_eq(inflight.retained, 1);
    synchronise(one);
    sc_inflight_retire(&inflight, 0, 100, NULL);
    ck_assert_uint_eq(inflight.retained, 0);
}
END_TEST

START_TEST(of_the_complete_only_the_latest_are_remembered)
{
    const uintptr_t count = SC_RETAINED_MAX + 1000;
    struct sc_no_verdicts counts = {0};
    inflight.no_verdicts = &counts;
    for (uintptr_t i = 0; i < count; i++) {
        struct sc_op_info info = add(plain(one, SC_D2H, BASE + i * 64, 64));
        complete_up_to(one, info.ticket.number);
        if (live() > SC_RETAINED_MAX + 1)
            ck_abort_msg("%u operations", live());
    }
    ck_assert_uint_eq(inflight.retained, SC_RETAINED_MAX);
    ck_assert_uint_eq(live(), SC_RETAINED_MAX);
    ck_assert_uint_eq(overlaps(BASE + 999 * 64, 64), 0);
    ck_assert_uint_eq(overlaps(BASE + 1000 * 64, 64), 1);
    add(plain(one, SC_D2H, BASE, 64)); /* one that is not complete stays in any case */
    ck_assert_uint_eq(live(), SC_RETAINED_MAX + 1);
    ck_assert_uint_eq(sc_no_verdicts_of(&counts, SC_NO_VERDICT_OPERATIONS, SC_NO_VERDICT_ROOM),
                      1000);
    inflight.no_verdicts = NULL;
}
END_TEST

/* How many were found changed, or gone, when the stream was known done. */
static unsigned found_when_done(void)
{
    SC_OPS(found);
    synchronise(one);
    sc_inflight_retire(&inflight, 0, 100, &found);
    ck_assert_uint_eq(live(), 0);
    for (unsigned i = 0; i < sc_ops_count_kept(&found); i++)
        ck_assert(found.ops[i].returned);
    return found.count;
}

static struct sc_op_info local_of(const uintptr_t *place, uintptr_t caller)
{
    struct sc_op_info info = plain(one, SC_H2D, BASE, 64);
    info.kind = SC_STACK;
    info.local.frame = (struct sc_frame){(uintptr_t)place, caller};
    return info;
}

START_TEST(a_local_is_gone_when_its_return_address_is)
{
    uintptr_t place = 0x1234;
    add(local_of(&place, 0x1234));
    ck_assert_uint_eq(found_when_done(), 0);
    add(local_of(&place, 0x1234));
    place = 0x5678;
    ck_assert_uint_eq(found_when_done(), 1);
}
END_TEST

START_TEST(of_a_local_whose_frame_is_unknown_or_unmapped_nothing_is_said)
{
    add(local_of(NULL, 0));
    ck_assert_uint_eq(found_when_done(), 0);
    add(local_of((const uintptr_t *)16, 0x1234));
    ck_assert_uint_eq(found_when_done(), 0);
}
END_TEST

/* A source on one page behind its first bytes, which is let go for a byte beside it. */
static uint32_t add_compared(uint32_t stream, uintptr_t page_bytes, char *page)
{
    struct sc_unwatched unwatched = {0};
    inflight.guards.page_mask = page_bytes - 1;
    struct sc_op_info info = plain(stream, SC_H2D, (uintptr_t)page + 64, page_bytes - 64);
    info.kind = (enum sc_buffer_kind)sc_inflight_range(&inflight, info.range)->kind;
    info.access = SC_ACCESS_READ;
    info.stable = true;
    info.guard_address = (uintptr_t)page;
    info.guard_bytes = page_bytes;
    add(info);
    uint32_t op = sc_inflight_find_equal(&inflight, &info);
    sc_inflight_unprotect(&inflight, (uintptr_t)page, 8, SC_TOUCH_WRITE, true, &unwatched);
    ck_assert_uint_eq(unwatched.operations, 0);
    return op;
}

/* Such a source is overwritten at the offset. False: that is not seen. */
static bool overwrite_is_seen(uintptr_t page_bytes, char *page, size_t offset)
{
    uint32_t op = add_compared(one, page_bytes, page);
    ck_assert(!sc_source_copies_differ(&inflight, sc_inflight_op(&inflight, op)));
    page[offset]++;
    bool noticed = sc_source_copies_differ(&inflight, sc_inflight_op(&inflight, op));
    sc_inflight_drop(&inflight, op);
    return noticed;
}

START_TEST(of_pages_of_any_size_all_is_compared_once_they_are_let_go)
{
    enum { LARGEST = 64 << 10 };
    char *page = aligned_alloc(LARGEST, LARGEST); /* not every loader heeds such an alignment */
    ck_assert_ptr_nonnull(page);
    memset(page, 0, LARGEST);
    for (uintptr_t bytes = 4 << 10; bytes <= LARGEST; bytes *= 4) {
        sc_inflight_add_range(&inflight, (uintptr_t)page, bytes, SC_PINNED, legacy);
        for (size_t offset = 64; offset < bytes; offset += 1111)
            if (!overwrite_is_seen(bytes, page, offset))
                ck_abort_msg("byte %zu of a page of %zu", offset, (size_t)bytes);
        ck_assert(overwrite_is_seen(bytes, page, bytes - 1));
        ck_assert(!overwrite_is_seen(bytes, page, 8));
    }
    free(page);
}
END_TEST

/* Of the bytes one in so many, each time others: under valgrind each comparison takes long. */
enum { ONE_OF = 13 };

/* Of a source of any shape that was let go, or that a snapshot was taken of, each byte is compared,
 * and no byte of a gap. The kind of memory says how it is read. */
static void check_each_byte(char *memory, size_t size_bytes, const struct sc_op_info *info)
{
    static unsigned first_byte;
    add(*info);
    const struct sc_op *op = sc_inflight_op(&inflight, sc_inflight_find_equal(&inflight, info));
    struct sc_unwatched unwatched = {0};
    for (uintptr_t page = (uintptr_t)memory; !info->slot && page < (uintptr_t)memory + size_bytes;
         page += 4096)
        sc_inflight_unprotect(&inflight, page + 4095, 1, SC_TOUCH_WRITE, true, &unwatched);
    ck_assert_uint_eq(unwatched.operations, 0);
    ck_assert(!sc_source_copies_differ(&inflight, op));
    for (size_t at = first_byte++ % ONE_OF; at < size_bytes; at += ONE_OF) {
        const struct sc_shape byte = {(uintptr_t)memory + at, 1, 1, 1};
        bool is_used = sc_shape_row_touches_folded(&byte, &info->shape, &info->fold);
        memory[at]++;
        if (sc_source_copies_differ(&inflight, op) != is_used)
            ck_abort_msg("byte %zu of a shape of %zu rows", at, info->shape.rows);
        memory[at]--;
    }
    sc_inflight_drop(&inflight, sc_inflight_find_equal(&inflight, info));
}

START_TEST(of_sources_of_any_shape_each_byte_is_compared_and_no_gap)
{
    enum { BYTES = 4 * 4096 };
    static const struct {
        struct sc_shape shape; /* from the memory's beginning */
        struct sc_fold fold;
    } shapes[] = {
        {{16, 100, 128, 60}, {0, 0}},      {{0, 1, 3, 5000}, {0, 0}},
        {{5, 5000, 5500, 2}, {0, 0}},      {{1000, 64, 64, 100}, {0, 0}},
        {{40, 1900, 4096, 4}, {100, 200}}, {{8, 5 * 700 + 33, 4000, 3}, {33, 700}},
        {{4090, 10, 8000, 2}, {0, 0}},
    };
    static char packed[BYTES];
    char *memory = aligned_alloc(4096, BYTES);
    ck_assert_ptr_nonnull(memory);
    for (int i = 0; i < BYTES; i++)
        memory[i] = (char)(i * 7);
    inflight.guards.page_mask = 4095;
    for (unsigned kind = 0; kind < 4 * sizeof shapes / sizeof *shapes; kind++) {
        enum sc_buffer_kind memory_kind = kind & 1 ? SC_PINNED : SC_REGISTERED;
        sc_inflight_add_range(&inflight, (uintptr_t)memory, BYTES, memory_kind, legacy);
        struct sc_op_info info = plain(one, SC_H2D, (uintptr_t)memory, BYTES);
        struct sc_slot slot = {.bytes = packed};
        struct sc_staging staging = {.order = inflight.order, .taken = 1};
        struct sc_run run;
        info.kind = memory_kind;
        info.shape = shapes[kind / 4].shape;
        info.shape.address += (uintptr_t)memory;
        info.fold = shapes[kind / 4].fold;
        info.stable = true;
        if (kind & 2) {
            struct sc_runs runs = sc_shape_runs(&info.shape, &info.fold);
            while (sc_shape_next_run(&runs, &run))
                memcpy(packed + run.before_bytes, (char *)run.address, run.size_bytes);
            slot.staging = &staging;
            info.slot = &slot;
        } else {
            info.access = SC_ACCESS_READ;
            info.guard_address = (uintptr_t)memory;
            info.guard_bytes = BYTES;
        }
        check_each_byte(memory, BYTES, &info);
    }
    free(memory);
}
END_TEST

static unsigned found_for_kernel(const char *address, const struct sc_op_info *later)
{
    SC_OPS(overwritten);
    uint32_t range = sc_inflight_range_of(&inflight, (uintptr_t)address);
    sc_inflight_seal_for_kernel(&inflight, range, (uintptr_t)address, later, &overwritten);
    return overwritten.count;
}

/* One that the launch does not come after is left alone. */
START_TEST(before_a_kernel_may_write_a_source_that_is_compared_for_the_last_time)
{
    enum { PAGE = 4 << 10 };
    static char page[2 * PAGE] __attribute__((aligned(2 * PAGE)));
    SC_OPS(found);
    struct sc_op_info unordered = {.ticket.stream = two}, behind = {.ticket.stream = one};
    sc_inflight_add_range(&inflight, (uintptr_t)page, sizeof page, SC_PINNED, legacy);
    add_compared(one, PAGE, page);
    page[100]++;
    ck_assert_uint_eq(found_for_kernel(page + PAGE, &behind), 0);
    ck_assert_uint_eq(found_for_kernel(page + PAGE - 1, &unordered), 0);
    ck_assert_uint_eq(found_for_kernel(page + PAGE - 1, &behind), 1);
    page[100]++;
    ck_assert_uint_eq(found_for_kernel(page, NULL), 0);
    ck_assert_uint_eq(found_when_done(), 0);

    uint32_t elsewhere = add_compared(two, PAGE, page);
    page[100]++;
    ck_assert_uint_eq(found_for_kernel(page, NULL), 1);
    sc_inflight_drop(&inflight, elsewhere);

    add_compared(one, PAGE, page);
    page[100]++;
    ck_assert_uint_eq(found_for_kernel(page, &unordered), 0);
    synchronise(one);
    sc_inflight_retire(&inflight, 0, 1, &found);
    ck_assert_uint_eq(found.count, 1);
}
END_TEST

static unsigned found_for_work(const struct sc_op_info *later)
{
    SC_OPS(overwritten);
    sc_inflight_seal_managed(&inflight, later, &overwritten);
    return overwritten.count;
}

/* Sources in other memory, and those that the work does not come after, are left alone. */
START_TEST(before_work_sources_in_managed_memory_are_compared_for_the_last_time)
{
    enum { PAGE = 4 << 10 };
    static char managed[PAGE] __attribute__((aligned(PAGE)));
    static char pinned[PAGE] __attribute__((aligned(PAGE)));
    struct sc_op_info unordered = {.ticket.stream = two}, behind = {.ticket.stream = one};
    SC_OPS(found);
    ck_assert_uint_eq(inflight.managed_count, 0);
    uint32_t range = sc_inflight_add_range(&inflight, (uintptr_t)managed, PAGE, SC_MANAGED, legacy);
    sc_inflight_add_range(&inflight, (uintptr_t)pinned, PAGE, SC_PINNED, legacy);
    ck_assert_uint_eq(inflight.managed_count, 1);
    add_compared(one, PAGE, pinned);
    ck_assert_uint_eq(inflight.managed_source_count, 0);
    uint32_t source = add_compared(one, PAGE, managed);
    ck_assert_uint_eq(inflight.managed_source_count, 1);
    ck_assert_uint_eq(add_compared(one, PAGE, managed), source); /* renewed */
    ck_assert_uint_eq(inflight.managed_source_count, 1);
    managed[100]++;
    pinned[100]++;
    ck_assert_uint_eq(found_for_work(&unordered), 0);
    ck_assert_uint_eq(found_for_work(&behind), 1);
    managed[100]++;
    ck_assert_uint_eq(found_for_work(NULL), 0);
    sc_inflight_remove_range(&inflight, range);
    ck_assert_uint_eq(inflight.managed_count, 0);
    synchronise(one);
    while (sc_inflight_retire(&inflight, 0, 1, &found))
        continue;
    ck_assert_uint_eq(found.count, 1); /* the pinned one */
    ck_assert_uint_eq(inflight.managed_source_count, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("inflight");
    TCase *group = tcase_create("inflight");
    tcase_add_checked_fixture(group, set_up, tear_down);
    tcase_set_timeout(group, 60);
    tcase_add_test(group, only_d2h_and_memset_write_host_memory);
    tcase_add_test(group, a_hull_reaches_from_the_first_byte_to_the_last);
    tcase_add_test(group, shapes_touch_where_they_share_a_byte);
    tcase_add_test(group, shapes_with_gaps_in_their_rows_touch_where_they_share_a_byte);
    tcase_add_test(group, the_columns_of_one_image_do_not_touch);
    tcase_add_test(group, a_pitch_of_zero_is_survived);
    tcase_add_test(group, a_range_is_found_by_any_address_in_it);
    tcase_add_test(group, a_new_range_replaces_what_it_overlaps);
    tcase_add_test(group, operations_stay_when_their_range_goes);
    tcase_add_test(group, an_operation_is_found_by_its_hull_until_it_is_known_done);
    tcase_add_test(group, an_operation_on_nothing_is_not_kept);
    tcase_add_test(group, an_equal_operation_replaces_the_earlier_one);
    tcase_add_test(group, one_that_reads_the_source_itself_outlives_one_that_reads_a_copy);
    tcase_add_test(group, a_difference_makes_another_operation);
    tcase_add_test(group, heap_memory_has_a_grid_of_its_own);
    tcase_add_test(group, conflicts_are_found_in_both_grids);
    tcase_add_test(group, two_reads_do_not_conflict_and_all_else_does);
    tcase_add_test(group, a_conflict_needs_rows_that_touch);
    tcase_add_test(group, what_is_ordered_does_not_conflict);
    tcase_add_test(group, conflicts_are_the_same_by_list_and_by_grid);
    tcase_add_test(group, retiring_stops_at_its_limit_and_at_what_is_not_done);
    tcase_add_test(group, a_stream_lives_as_long_as_its_operations);
    tcase_add_test(group, a_prefetch_conflicts_with_nothing);
    tcase_add_test(group, operations_with_gaps_in_their_rows_conflict_byte_by_byte);
    tcase_add_test(group, what_is_complete_is_still_in_flight_for_the_host);
    tcase_add_test(group, of_the_complete_only_the_latest_are_remembered);
    if (kernel_peeks())
        tcase_add_test(group, a_local_is_gone_when_its_return_address_is);
    tcase_add_test(group, of_a_local_whose_frame_is_unknown_or_unmapped_nothing_is_said);
    tcase_add_test(group, of_pages_of_any_size_all_is_compared_once_they_are_let_go);
    if (kernel_peeks())
        tcase_add_test(group, of_sources_of_any_shape_each_byte_is_compared_and_no_gap);
    tcase_add_test(group, before_a_kernel_may_write_a_source_that_is_compared_for_the_last_time);
    tcase_add_test(group, before_work_sources_in_managed_memory_are_compared_for_the_last_time);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
