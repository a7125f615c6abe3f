/* track/left_out.c: which work beside a capture belongs to what was captured. */
#include "common/hazard.h"
#include "common/shape.h"
#include "track/device_use.h"
#include "track/graph_writes.h"
#include "track/left_out.h"

#include <stdlib.h>

#include <check.h>

enum { A = 0x10000, B = 0x20000, C = 0x30000, SIZE = 0x1000 };

static struct sc_left_out *tested;

static void set_up(void)
{
    tested = sc_left_out_new();
    ck_assert_ptr_nonnull(tested);
}

static void take_down(void)
{
    sc_left_out_free(tested);
}

static struct sc_device_use use_of(uintptr_t address, enum sc_device_access access,
                                   enum sc_direction direction)
{
    return (struct sc_device_use){
        .shape = {address, SIZE, SIZE, 1}, .access = access, .direction = direction};
}

/* The operation whose sequence number is its name. */
static void captured(uint64_t name, const struct sc_left_out_op *op)
{
    sc_left_out_note_captured(tested, &(struct sc_hazard_copy){.api = "captured", .seq = name}, op);
}

static void beside_at(uint32_t stack, const struct sc_left_out_op *op)
{
    sc_left_out_note_beside(tested, &(struct sc_hazard){.event = {.api = "beside", .stack = stack}},
                            op);
}

static void captured_copy(uint64_t name, uintptr_t to, uintptr_t from)
{
    const struct sc_device_use uses[] = {use_of(from, SC_DEVICE_READS, SC_D2D),
                                         use_of(to, SC_DEVICE_WRITES, SC_D2D)};
    captured(name, &(struct sc_left_out_op){.use_count = 2, .uses = uses});
}

static void captured_upload(uint64_t name, uintptr_t to)
{
    const struct sc_device_use use = use_of(to, SC_DEVICE_WRITES, SC_H2D);
    captured(name, &(struct sc_left_out_op){.use_count = 1, .uses = &use});
}

static void captured_download(uint64_t name, uintptr_t from)
{
    const struct sc_device_use use = use_of(from, SC_DEVICE_READS, SC_D2H);
    captured(name, &(struct sc_left_out_op){.use_count = 1, .uses = &use});
}

static void captured_kernel(uint64_t name, uintptr_t address)
{
    captured(name, &(struct sc_left_out_op){.name_count = 1, .names = &address});
}

static void captured_unknown(uint64_t name)
{
    captured(name, &(struct sc_left_out_op){.is_partly_known = true});
}

static void beside_upload(uint32_t stack, uintptr_t to)
{
    const struct sc_device_use use = use_of(to, SC_DEVICE_WRITES, SC_H2D);
    beside_at(stack, &(struct sc_left_out_op){.use_count = 1, .uses = &use});
}

static void beside_download(uint32_t stack, uintptr_t from)
{
    const struct sc_device_use use = use_of(from, SC_DEVICE_READS, SC_D2H);
    beside_at(stack, &(struct sc_left_out_op){.use_count = 1, .uses = &use});
}

static void beside_kernel(uint32_t stack, uintptr_t address)
{
    beside_at(stack, &(struct sc_left_out_op){.name_count = 1, .names = &address});
}

/* ---- what is found ---- */

struct found {
    unsigned count, undecided_count;   /* undecided: the first ones of their stacks that write */
    unsigned last_count, last_kernels; /* undecided, and not met again; those that are kernels */
    uint32_t stacks[8];
    uint64_t names[8];
};

static void take(void *context, const struct sc_left_out_finding *finding)
{
    struct found *found = context;
    if (!finding->captured) {
        bool is_kernel = finding->use->access == SC_DEVICE_NAMES;
        found->undecided_count += !finding->is_further && !is_kernel;
        found->last_count += !finding->is_met;
        found->last_kernels += !finding->is_met && is_kernel;
        return;
    }
    ck_assert_uint_lt(found->count, 8);
    found->stacks[found->count] = finding->beside->event.stack;
    found->names[found->count++] = finding->captured->seq;
    ck_assert(sc_shapes_touch(&finding->use->shape, &finding->captured_use->shape));
}

/* A and what lies up to B is one allocation, and so on. */
static uintptr_t base_of(uintptr_t address)
{
    return address / A * A;
}

static struct found find(void)
{
    struct found found = {0};
    sc_left_out_visit_findings(tested, base_of, take, &found);
    return found;
}

static void check_one(uint32_t stack, uint64_t name)
{
    struct found found = find();
    ck_assert_uint_eq(found.count, 1);
    ck_assert_uint_eq(found.stacks[0], stack);
    ck_assert_uint_eq(found.names[0], name);
}

static void check_none(void)
{
    ck_assert_uint_eq(find().count, 0);
}

static void check_undecided(unsigned count)
{
    struct found found = find();
    ck_assert_uint_eq(found.count, 0);
    ck_assert_uint_eq(found.undecided_count, count);
}

START_TEST(nothing_beside_a_capture_is_nothing_left_out)
{
    captured_upload(1, A);
    captured_copy(2, B, A);
    captured_kernel(3, A);
    check_none();
}
END_TEST

START_TEST(a_write_belongs_to_a_captured_read_before_or_behind_it)
{
    beside_upload(7, A);
    captured_copy(1, B, A);
    check_one(7, 1);
    beside_upload(8, C);
    ck_assert_uint_eq(find().count, 1);
    captured_copy(2, B, C);
    beside_upload(8, C); /* the same stack: told once */
    ck_assert_uint_eq(find().count, 2);
}
END_TEST

START_TEST(a_write_behind_the_captured_read_is_found)
{
    captured_copy(1, B, A);
    beside_upload(7, A);
    check_one(7, 1);
}
END_TEST

START_TEST(a_write_belongs_to_a_kernel_with_an_address_there)
{
    beside_upload(7, A);
    captured_kernel(1, A + SIZE);
    captured_kernel(2, A - 1);
    check_none();
    captured_kernel(3, A + SIZE - 1);
    check_one(7, 3);
}
END_TEST

START_TEST(writes_of_both_do_not_belong_together)
{
    beside_upload(7, A);
    captured_upload(1, A);
    captured_copy(2, A, B);
    beside_upload(7, A);
    check_none();
}
END_TEST

START_TEST(two_readers_do_not_belong_together)
{
    beside_download(7, A);
    captured_copy(1, B, A);
    captured_kernel(2, A);
    beside_download(7, A);
    check_none();
}
END_TEST

START_TEST(what_the_graph_writes_before_is_not_frozen)
{
    beside_upload(7, A);
    captured_upload(1, A);
    captured_copy(2, B, A);
    captured_kernel(3, A);
    beside_upload(7, A);
    check_none();
}
END_TEST

START_TEST(a_copy_on_itself_is_no_write_before)
{
    beside_upload(7, A);
    captured_copy(1, A, A);
    check_one(7, 1);
}
END_TEST

START_TEST(a_kernel_that_is_not_known_may_write_anything)
{
    beside_upload(7, A);
    captured_unknown(1);
    captured_copy(2, B, A);
    captured_kernel(3, A);
    check_none();
}
END_TEST

START_TEST(an_unknown_kernel_behind_changes_nothing)
{
    beside_upload(7, A);
    captured_copy(1, B, A);
    captured_unknown(2);
    check_one(7, 1);
}
END_TEST

START_TEST(a_read_belongs_to_a_captured_write_before_it)
{
    beside_download(6, A);
    captured_upload(1, A);
    check_none();
    beside_download(7, A);
    check_one(7, 1);
}
END_TEST

START_TEST(a_read_of_what_was_written_beside_is_none_of_the_capture)
{
    captured_upload(1, A);
    beside_upload(6, A);
    beside_download(7, A);
    check_none();
}
END_TEST

START_TEST(what_was_written_beside_earlier_is_no_excuse)
{
    beside_upload(6, A);
    captured_upload(1, A);
    beside_download(7, A);
    check_one(7, 1);
}
END_TEST

START_TEST(a_kernel_belongs_to_a_captured_write_before_it)
{
    beside_kernel(6, A);
    captured_upload(1, A);
    check_none();
    beside_kernel(7, A + 1);
    check_one(7, 1);
}
END_TEST

START_TEST(a_kernel_belongs_to_a_captured_download_behind_it)
{
    captured_download(1, A);
    beside_kernel(7, A);
    check_none();
    captured_copy(2, B, A); /* may read what both read */
    check_none();
    captured_download(3, A);
    check_one(7, 3);
}
END_TEST

START_TEST(a_product_of_the_graph_is_none_of_the_kernel_beside)
{
    beside_kernel(7, A);
    captured_kernel(1, A);
    captured_download(2, A);
    check_none();
}
END_TEST

START_TEST(a_kernel_may_write_from_its_address_on)
{
    beside_upload(7, A + SIZE);
    captured_kernel(1, A);
    captured_copy(2, B, A + SIZE);
    check_none();
    beside_upload(8, B + SIZE); /* not behind an address that lies behind it, or elsewhere */
    captured_kernel(3, B + 2 * SIZE);
    captured_kernel(4, A + SIZE);
    captured_copy(5, C, B + SIZE);
    ck_assert_uint_eq(find().names[find().count - 1], 5);
}
END_TEST

START_TEST(a_kernel_beside_may_have_written_from_its_address_on)
{
    captured_upload(1, A + SIZE);
    beside_kernel(6, A);
    beside_download(7, A + SIZE);
    check_none();
}
END_TEST

START_TEST(kernels_are_not_held_against_kernels)
{
    beside_kernel(7, A);
    captured_kernel(1, A);
    beside_kernel(7, A);
    check_none();
}
END_TEST

START_TEST(what_the_graph_does_as_well_is_not_left_out)
{
    beside_upload(7, A); /* for the first launch */
    captured_copy(1, B, A);
    captured_upload(2, A);
    check_none();
    beside_download(8, A); /* run once to warm up */
    captured_download(3, A);
    check_none();
}
END_TEST

START_TEST(what_the_graph_does_with_other_bytes_is_left_out)
{
    beside_upload(7, A);
    captured_copy(1, B, A);
    captured_upload(2, A + SIZE);
    check_one(7, 1);
}
END_TEST

START_TEST(only_the_same_kernel_with_the_same_address_is_alike)
{
    const uintptr_t address = A, other = A + 8;
    struct sc_left_out_op kernel = {.name_count = 1, .names = &address, .function = 5};
    captured_upload(1, A);
    beside_at(7, &kernel);
    check_one(7, 1);
    kernel.function = 6;
    captured(2, &kernel);
    check_one(7, 1);
    kernel = (struct sc_left_out_op){.name_count = 1, .names = &other, .function = 5};
    captured(3, &kernel);
    check_one(7, 1);
    kernel.names = &address;
    captured(4, &kernel);
    check_none();
}
END_TEST

START_TEST(a_kernel_that_is_tried_in_anothers_place_is_none)
{
    const uintptr_t addresses[] = {B, A, C};
    struct sc_left_out_op kernel = {.name_count = 2, .names = addresses, .function = 5};
    captured_upload(1, A);
    beside_at(7, &kernel);
    kernel.function = 6;
    kernel.name_count = 1;
    kernel.names = &addresses[1];
    captured(2, &kernel); /* has one of the two */
    kernel.names = addresses;
    captured(3, &(struct sc_left_out_op){.name_count = 1, .names = addresses, .function = 6});
    check_one(7, 1);
    kernel.name_count = 3;
    captured(4, &kernel);
    check_none();
}
END_TEST

START_TEST(a_kernel_with_one_address_is_no_trial_of_another)
{
    const uintptr_t address = A;
    captured_upload(1, A);
    beside_at(7, &(struct sc_left_out_op){.name_count = 1, .names = &address, .function = 5});
    captured(2, &(struct sc_left_out_op){.name_count = 1, .names = &address, .function = 6});
    check_one(7, 1);
}
END_TEST

START_TEST(a_state_that_the_graph_hands_on_is_not_frozen)
{
    beside_upload(7, A);
    captured_copy(1, B, A);
    captured_kernel(2, A + 1);
    check_one(7, 1); /* a kernel that has an address may only read there */
    captured_copy(3, A + SIZE - 1, C);
    check_none();
}
END_TEST

START_TEST(a_product_that_the_graph_writes_later_is_none_of_the_kernel_beside)
{
    beside_kernel(7, A);
    captured_download(1, A);
    check_one(7, 1);
    captured_copy(2, A, B);
    check_none();
}
END_TEST

START_TEST(what_an_outer_capture_sets_up_counts_in_an_inner_one)
{
    struct sc_left_out *outer = sc_left_out_new();
    ck_assert_ptr_nonnull(outer);
    sc_left_out_note_allocated(outer, A, SIZE);
    sc_left_out_share_allocations(tested, outer);
    sc_left_out_free(outer);
    beside_upload(7, A);
    captured_copy(1, B, A);
    check_none();
    beside_upload(8, C);
    captured_copy(2, B, C);
    check_one(8, 2);
}
END_TEST

START_TEST(memory_that_was_allocated_meanwhile_is_set_up)
{
    sc_left_out_note_allocated(tested, A, SIZE);
    beside_upload(7, A);
    captured_copy(1, B, A);
    check_none();
    beside_upload(8, A + SIZE); /* beside it */
    captured_copy(2, B, A + SIZE);
    check_one(8, 2);
}
END_TEST

START_TEST(memory_that_was_allocated_afterwards_is_another)
{
    beside_upload(7, A);
    beside_upload(8, A + SIZE);
    sc_left_out_note_allocated(tested, A, SIZE);
    captured_copy(1, B, A);
    check_none();
    captured_copy(2, B, A + SIZE);
    check_one(8, 2);
}
END_TEST

START_TEST(columns_do_not_touch)
{
    struct sc_device_use left = {.shape = {A, 16, 64, 32}, .access = SC_DEVICE_WRITES};
    struct sc_device_use right = {.shape = {A + 16, 16, 64, 32}, .access = SC_DEVICE_READS};
    beside_at(7, &(struct sc_left_out_op){.use_count = 1, .uses = &left});
    captured(1, &(struct sc_left_out_op){.use_count = 1, .uses = &right});
    check_none();
    right.shape.address--;
    captured(2, &(struct sc_left_out_op){.use_count = 1, .uses = &right});
    check_one(7, 2);
}
END_TEST

START_TEST(each_stack_and_each_reason_is_told_once)
{
    const struct sc_device_use use = use_of(A, SC_DEVICE_WRITES, SC_MEMSET);
    const struct sc_left_out_op op = {.use_count = 1, .uses = &use};
    struct sc_hazard what = {.event = {.api = "beside", .stack = 3}};
    for (what.ignored = 0; what.ignored < 2; what.ignored++)
        for (unsigned i = 0; i < 3; i++)
            sc_left_out_note_beside(tested, &what, &op);
    captured_copy(1, B, A);
    ck_assert_uint_eq(find().count, 2);
}
END_TEST

START_TEST(a_write_that_the_graph_has_nothing_to_do_with_is_undecided_once_for_each_stack)
{
    captured_upload(1, A);
    beside_upload(7, B);
    beside_upload(7, B);
    beside_upload(8, C);
    beside_download(9, B);
    beside_kernel(10, B);
    check_undecided(2);
}
END_TEST

/* What a later kernel beside the capture does, and with which memory, is not known. */
START_TEST(what_was_left_for_nobody_is_told_of_each_operation)
{
    captured_upload(1, A);
    beside_upload(7, B);
    beside_upload(7, C);
    ck_assert_uint_eq(find().last_count, 2);
    beside_download(9, B);
    ck_assert_uint_eq(find().last_count, 1);
    const uintptr_t address = B;
    beside_at(10, &(struct sc_left_out_op){.name_count = 1, .names = &address, .function = 1});
    ck_assert_uint_eq(find().last_count, 1);
    ck_assert_uint_eq(find().last_kernels, 1);
    beside_at(11, &(struct sc_left_out_op){.function = 1});
    ck_assert_uint_eq(find().last_count, 0);
    check_undecided(1);
}
END_TEST

START_TEST(a_write_into_an_allocation_that_a_captured_kernel_has_is_none_that_is_undecided)
{
    captured_kernel(1, A);
    beside_upload(7, A + SIZE);
    check_undecided(0);
}
END_TEST

START_TEST(captured_work_that_may_use_anything_leaves_nothing_undecided)
{
    captured_unknown(1);
    beside_upload(7, B);
    check_undecided(0);
}
END_TEST

START_TEST(where_something_did_not_fit_nothing_more_is_undecided)
{
    beside_upload(7, B);
    for (unsigned i = 0; i <= SC_LEFT_OUT_CAPTURED_MAX; i++)
        captured_upload(i, C);
    check_undecided(0);
}
END_TEST

START_TEST(what_does_not_fit_is_counted_and_so_is_what_follows)
{
    beside_upload(7, A);
    for (unsigned i = 0; i < SC_LEFT_OUT_CAPTURED_MAX; i++)
        captured_upload(i, C);
    ck_assert_uint_eq(sc_left_out_count_dropped(tested), 0);
    captured_upload(0, C);
    captured_copy(1, B, A);
    beside_download(8, C);
    ck_assert_uint_eq(sc_left_out_count_dropped(tested), 3);
    check_none();
}
END_TEST

START_TEST(further_stacks_do_not_fit)
{
    for (uint32_t stack = 1; stack <= SC_LEFT_OUT_SITES_MAX; stack++)
        beside_upload(stack, B);
    beside_upload(1, C);
    ck_assert_uint_eq(sc_left_out_count_dropped(tested), 0);
    beside_upload(SC_LEFT_OUT_SITES_MAX + 1, B);
    ck_assert_uint_eq(sc_left_out_count_dropped(tested), 1);
}
END_TEST

START_TEST(uses_and_allocations_are_bounded)
{
    uintptr_t names[256];
    for (unsigned i = 0; i < 256; i++)
        names[i] = B;
    for (unsigned i = 0; i < SC_LEFT_OUT_USES_MAX / 256; i++)
        beside_at(1, &(struct sc_left_out_op){.name_count = 256, .names = names});
    for (unsigned i = 0; i < SC_LEFT_OUT_NODE_USES_MAX / 256; i++)
        captured(1, &(struct sc_left_out_op){.name_count = 256, .names = names});
    for (unsigned i = 0; i < SC_LEFT_OUT_ALLOCATIONS_MAX; i++)
        sc_left_out_note_allocated(tested, A, SIZE);
    ck_assert_uint_eq(sc_left_out_count_dropped(tested), 0);
    sc_left_out_note_allocated(tested, B, SIZE);
    ck_assert_uint_eq(sc_left_out_count_dropped(tested), 1);
}
END_TEST

static void expect_interval(const struct sc_graph_write_intervals *intervals, unsigned i,
                            uintptr_t first, uintptr_t last)
{
    ck_assert_uint_lt(i, intervals->count);
    ck_assert_uint_eq(intervals->of[i].first, first);
    ck_assert_uint_eq(intervals->of[i].last, last);
}

START_TEST(what_launches_may_write_is_told)
{
    struct sc_graph_write write;
    captured_copy(1, B, A);
    captured_download(2, C);
    captured_kernel(3, C + 8);
    captured(4, &(struct sc_left_out_op){0});
    beside_upload(1, C);
    ck_assert(sc_left_out_get_writes(tested, 4, &write));
    ck_assert_uint_eq(write.written.count, 1);
    expect_interval(&write.written, 0, B, B + SIZE - 1);
    ck_assert_uint_eq(write.named.count, 1);
    expect_interval(&write.named, 0, C + 8, C + 8);
}
END_TEST

/* Another thread has captured, or a kernel is not known, or there was no room. */
START_TEST(what_launches_may_write_may_not_be_known)
{
    static uintptr_t names[256];
    struct sc_graph_write write;
    captured_copy(1, B, A);
    ck_assert(!sc_left_out_get_writes(tested, 2, &write));
    captured_unknown(2);
    ck_assert(!sc_left_out_get_writes(tested, 2, &write));
    sc_left_out_clear(tested);
    captured_copy(1, B, A);
    ck_assert(sc_left_out_get_writes(tested, 1, &write));
    for (unsigned i = 0; i <= SC_LEFT_OUT_NODE_USES_MAX / 256; i++)
        captured(1, &(struct sc_left_out_op){.name_count = 256, .names = names});
    ck_assert(!sc_left_out_get_writes(tested, 2 + SC_LEFT_OUT_NODE_USES_MAX / 256, &write));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("left_out");
    TCase *cases = tcase_create("cases");
    tcase_add_checked_fixture(cases, set_up, take_down);
    tcase_add_test(cases, nothing_beside_a_capture_is_nothing_left_out);
    tcase_add_test(cases, a_write_belongs_to_a_captured_read_before_or_behind_it);
    tcase_add_test(cases, a_write_behind_the_captured_read_is_found);
    tcase_add_test(cases, a_write_belongs_to_a_kernel_with_an_address_there);
    tcase_add_test(cases, writes_of_both_do_not_belong_together);
    tcase_add_test(cases, two_readers_do_not_belong_together);
    tcase_add_test(cases, what_the_graph_writes_before_is_not_frozen);
    tcase_add_test(cases, a_copy_on_itself_is_no_write_before);
    tcase_add_test(cases, a_kernel_that_is_not_known_may_write_anything);
    tcase_add_test(cases, an_unknown_kernel_behind_changes_nothing);
    tcase_add_test(cases, a_read_belongs_to_a_captured_write_before_it);
    tcase_add_test(cases, a_read_of_what_was_written_beside_is_none_of_the_capture);
    tcase_add_test(cases, what_was_written_beside_earlier_is_no_excuse);
    tcase_add_test(cases, a_kernel_belongs_to_a_captured_write_before_it);
    tcase_add_test(cases, a_kernel_belongs_to_a_captured_download_behind_it);
    tcase_add_test(cases, a_product_of_the_graph_is_none_of_the_kernel_beside);
    tcase_add_test(cases, a_kernel_may_write_from_its_address_on);
    tcase_add_test(cases, a_kernel_beside_may_have_written_from_its_address_on);
    tcase_add_test(cases, kernels_are_not_held_against_kernels);
    tcase_add_test(cases, what_the_graph_does_as_well_is_not_left_out);
    tcase_add_test(cases, what_the_graph_does_with_other_bytes_is_left_out);
    tcase_add_test(cases, only_the_same_kernel_with_the_same_address_is_alike);
    tcase_add_test(cases, a_kernel_that_is_tried_in_anothers_place_is_none);
    tcase_add_test(cases, a_kernel_with_one_address_is_no_trial_of_another);
    tcase_add_test(cases, a_state_that_the_graph_hands_on_is_not_frozen);
    tcase_add_test(cases, a_product_that_the_graph_writes_later_is_none_of_the_kernel_beside);
    tcase_add_test(cases, what_an_outer_capture_sets_up_counts_in_an_inner_one);
    tcase_add_test(cases, memory_that_was_allocated_meanwhile_is_set_up);
    tcase_add_test(cases, memory_that_was_allocated_afterwards_is_another);
    tcase_add_test(cases, columns_do_not_touch);
    tcase_add_test(cases, each_stack_and_each_reason_is_told_once);
    tcase_add_test(cases,
                   a_write_that_the_graph_has_nothing_to_do_with_is_undecided_once_for_each_stack);
    tcase_add_test(cases,
                   a_write_into_an_allocation_that_a_captured_kernel_has_is_none_that_is_undecided);
    tcase_add_test(cases, what_was_left_for_nobody_is_told_of_each_operation);
    tcase_add_test(cases, captured_work_that_may_use_anything_leaves_nothing_undecided);
    tcase_add_test(cases, where_something_did_not_fit_nothing_more_is_undecided);
    tcase_add_test(cases, what_does_not_fit_is_counted_and_so_is_what_follows);
    tcase_add_test(cases, further_stacks_do_not_fit);
    tcase_add_test(cases, uses_and_allocations_are_bounded);
    tcase_add_test(cases, what_launches_may_write_is_told);
    tcase_add_test(cases, what_launches_may_write_may_not_be_known);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
