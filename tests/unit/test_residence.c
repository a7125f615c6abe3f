/* Where managed memory is to lie: parts of blocks, advice that takes the place of advice, and what
 * each device is to hold. */
#include "common/own_pages.h"
#include "ledger/residence.h"

#include <check.h>
#include <stdlib.h>

enum { KB = 1 << 10, MB = 1 << 20, CONTEXT = 3, OTHER = 4, MADE = 11, ASKED = 21, NO_DEVICE = -1 };

static const uint64_t AT = 0x100000, ELSEWHERE = 0x900000;

static struct sc_residence *residence;
static struct sc_residence_sum sums[3];

static void set_up(void)
{
    residence = sc_pages_map(sizeof *residence);
    ck_assert_ptr_nonnull(residence);
}

static void tear_down(void)
{
    sc_pages_unmap(residence, sizeof *residence);
}

static void give(uint64_t address, uint64_t bytes, uint32_t context)
{
    sc_residence_given(residence,
                       &(const struct sc_residence_part){.address = address,
                                                         .size_bytes = bytes,
                                                         .made_by = MADE,
                                                         .context = context,
                                                         .place = SC_RESIDENCE_ANYWHERE});
}

static uint64_t held(int device, int only_device)
{
    sc_residence_sum(residence, device, only_device, &sums[device]);
    return sums[device].bytes;
}

START_TEST(what_nobody_says_anything_of_is_the_only_devices)
{
    give(AT, 8 * KB, CONTEXT);
    ck_assert_uint_eq(held(0, NO_DEVICE), 0);
    ck_assert_uint_eq(held(0, 0), 8 * KB);
    ck_assert_uint_eq(sums[0].asked_bytes, 0);
    ck_assert_uint_eq(sums[0].latest.made_by, MADE);
    sc_residence_taken(residence, AT + KB); /* it begins no block */
    ck_assert_uint_eq(sc_residence_bytes(residence), 8 * KB);
    sc_residence_taken(residence, AT);
    ck_assert_uint_eq(sc_residence_bytes(residence), 0);
    ck_assert_uint_eq(held(0, 0), 0);
}
END_TEST

START_TEST(the_latest_advice_counts_and_parts_are_joined_again)
{
    give(AT, 8 * KB, CONTEXT);
    sc_residence_note_advice(residence, AT + 2 * KB, 2 * KB, 1, ASKED);
    ck_assert_uint_eq(held(1, 0), 2 * KB);
    ck_assert_uint_eq(held(0, 0), 6 * KB);
    ck_assert_uint_eq(sums[0].blocks, 1);
    sc_residence_note_advice(residence, AT + 3 * KB, 5 * KB, 2, ASKED + 1);
    ck_assert_uint_eq(held(1, NO_DEVICE), KB);
    ck_assert_uint_eq(held(2, NO_DEVICE), 5 * KB);
    ck_assert_uint_eq(sums[2].latest.asked_by, ASKED + 1);
    sc_residence_note_advice(residence, AT, 8 * KB, SC_RESIDENCE_HOST, ASKED);
    ck_assert_uint_eq(held(0, 0) + held(1, 0) + held(2, 0), 0);
    ck_assert_uint_eq(residence->count, 1);
    sc_residence_note_advice(residence, AT, 8 * KB, SC_RESIDENCE_ANYWHERE, ASKED);
    ck_assert_uint_eq(held(0, 0), 8 * KB);
    ck_assert_uint_eq(sc_residence_bytes(residence), 8 * KB);
}
END_TEST

static void hear(enum sc_residence_news news, uint64_t address, uint64_t bytes, unsigned device)
{
    sc_residence_note_news(residence, news, address, bytes, device);
}

START_TEST(what_devices_touch_is_theirs_until_somebody_says_where_it_is_to_lie)
{
    give(AT, 8 * KB, CONTEXT);
    give(ELSEWHERE, 4 * KB, CONTEXT);
    hear(SC_RESIDENCE_COME, AT, 8 * KB, 1);
    hear(SC_RESIDENCE_COME, AT + 8 * KB, KB, 2); /* behind it */
    hear(SC_RESIDENCE_COME, AT, KB, SC_LEDGER_DEVICES);
    ck_assert_uint_eq(held(1, NO_DEVICE), 8 * KB);
    ck_assert_uint_eq(held(0, 0), 4 * KB);
    ck_assert_uint_eq(held(2, NO_DEVICE), 0);
    sc_residence_note_advice(residence, AT, 2 * KB, 0, ASKED);
    ck_assert_uint_eq(held(1, NO_DEVICE), 6 * KB);
    ck_assert_uint_eq(held(0, NO_DEVICE), 2 * KB);
    sc_residence_note_advice(residence, AT, 2 * KB, SC_RESIDENCE_ANYWHERE, ASKED);
    ck_assert_uint_eq(held(1, NO_DEVICE), 8 * KB);
    ck_assert_uint_eq(residence->count, 2);
    sc_residence_taken(residence, AT);
    give(AT, 8 * KB, CONTEXT); /* nobody has touched the next one there */
    ck_assert_uint_eq(held(1, NO_DEVICE), 0);
}
END_TEST

START_TEST(only_the_pages_that_a_device_has_had_last_count)
{
    give(AT, 8 * KB, CONTEXT);
    hear(SC_RESIDENCE_COME, AT + KB, KB, 1);
    ck_assert_uint_eq(held(1, NO_DEVICE), KB);
    hear(SC_RESIDENCE_COME, AT + 2 * KB, KB, 1);
    ck_assert_uint_eq(held(1, NO_DEVICE), 2 * KB);
    ck_assert_uint_eq(residence->count, 3);
    hear(SC_RESIDENCE_COME, AT + KB, KB, 2);
    ck_assert_uint_eq(held(1, NO_DEVICE), KB);
    ck_assert_uint_eq(held(2, NO_DEVICE), KB);
    hear(SC_RESIDENCE_LEAVE, AT, 8 * KB, 2);
    ck_assert_uint_eq(held(1, NO_DEVICE) + held(2, NO_DEVICE), 0);
    ck_assert_uint_eq(residence->count, 1);
}
END_TEST

START_TEST(a_record_of_a_fault_stands_for_some_pages_that_nobody_has_touched)
{
    give(AT, 64 * MB, CONTEXT);
    give(AT + 64 * MB, 64 * MB, CONTEXT);
    hear(SC_RESIDENCE_FAULT, AT + 60 * MB, KB, 1); /* none of the block behind it */
    ck_assert_uint_eq(held(1, NO_DEVICE), 4 * MB);
    hear(SC_RESIDENCE_FAULT, AT + 60 * MB, KB, 1);
    ck_assert_uint_eq(held(1, NO_DEVICE), 12 * MB);
    hear(SC_RESIDENCE_FAULT, AT + 4 * MB, KB, 2); /* another one has had the page last */
    ck_assert_uint_eq(held(1, NO_DEVICE), 12 * MB - KB);
    ck_assert_uint_eq(held(2, NO_DEVICE), KB);
    for (int i = 0; i < 10; i++)
        hear(SC_RESIDENCE_FAULT, AT + 63 * MB, KB, 1);
    ck_assert_uint_eq(held(1, NO_DEVICE), 64 * MB - KB);
    hear(SC_RESIDENCE_COME, AT + 2 * MB, 8 * MB, 2); /* which says more */
    ck_assert_uint_eq(held(2, NO_DEVICE), 8 * MB);
    ck_assert_uint_eq(held(1, NO_DEVICE), 56 * MB);
}
END_TEST

START_TEST(what_was_evicted_counts_until_a_block_of_the_device_goes)
{
    give(AT, 8 * KB, CONTEXT);
    give(ELSEWHERE, 8 * KB, CONTEXT);
    give(ELSEWHERE + MB, 8 * KB, CONTEXT);
    hear(SC_RESIDENCE_COME, AT, 8 * KB, 1);
    hear(SC_RESIDENCE_EVICTED, AT, 4 * KB, 1);
    hear(SC_RESIDENCE_COME, ELSEWHERE, 4 * KB, 1);
    hear(SC_RESIDENCE_COME, ELSEWHERE + MB, KB, 2);
    ck_assert_uint_eq(held(1, NO_DEVICE), 12 * KB);
    ck_assert_uint_eq(sums[1].evicted_bytes, 4 * KB);
    sc_residence_taken(residence, ELSEWHERE + MB); /* which is another device's */
    ck_assert_uint_eq(held(1, NO_DEVICE), 12 * KB);
    sc_residence_taken(residence, ELSEWHERE);
    ck_assert_uint_eq(held(1, NO_DEVICE), 4 * KB);
    ck_assert_uint_eq(sums[1].evicted_bytes, 0);
    hear(SC_RESIDENCE_EVICTED, AT + 4 * KB, KB, 1);
    ck_assert_uint_eq(sums[1].evicted_bytes + held(1, NO_DEVICE), 4 * KB);
    hear(SC_RESIDENCE_COME, AT + 4 * KB, KB, 1); /* it is back */
    ck_assert_uint_eq(held(1, NO_DEVICE), 4 * KB);
    ck_assert_uint_eq(sums[1].evicted_bytes, 0);
}
END_TEST

START_TEST(what_lies_nowhere_is_nobodys_until_a_device_touches_it)
{
    give(AT, 8 * KB, CONTEXT);
    hear(SC_RESIDENCE_COME, AT, 8 * KB, 1);
    sc_residence_note_advice(residence, AT, 4 * KB, SC_RESIDENCE_NOWHERE, 0);
    ck_assert_uint_eq(held(0, 0), 0);
    ck_assert_uint_eq(held(1, NO_DEVICE), 4 * KB);
    hear(SC_RESIDENCE_COME, AT, KB, 1);
    ck_assert_uint_eq(held(1, NO_DEVICE), 5 * KB);
}
END_TEST

START_TEST(who_asked_last_is_known_whatever_the_order_of_addresses)
{
    give(AT, 4 * KB, CONTEXT);
    give(ELSEWHERE, 8 * KB, CONTEXT);
    sc_residence_note_advice(residence, ELSEWHERE, 8 * KB, 1, ASKED);
    sc_residence_note_advice(residence, AT, 4 * KB, 1, ASKED + 1);
    ck_assert_uint_eq(held(1, NO_DEVICE), 12 * KB);
    ck_assert_uint_eq(sums[1].blocks, 2);
    ck_assert_uint_eq(sums[1].asked_bytes, 12 * KB);
    ck_assert_uint_eq(sums[1].latest.asked_by, ASKED + 1);
    ck_assert_uint_eq(sums[1].largest.address, ELSEWHERE);
}
END_TEST

START_TEST(advice_of_several_blocks_leaves_the_space_between_them_alone)
{
    give(AT, 4 * KB, CONTEXT);
    give(AT + 8 * KB, 4 * KB, CONTEXT);
    sc_residence_note_advice(residence, AT + 2 * KB, 8 * KB, 1, ASKED);
    ck_assert_uint_eq(held(1, NO_DEVICE), 4 * KB);
    ck_assert_uint_eq(sums[1].blocks, 2);
    sc_residence_note_advice(residence, AT - 64 * KB, KB, 1, ASKED);
    sc_residence_note_advice(residence, AT + 64 * KB, KB, 1, ASKED);
    ck_assert_uint_eq(held(1, NO_DEVICE), 4 * KB);
}
END_TEST

START_TEST(a_context_takes_its_blocks_along_and_no_other)
{
    give(AT, 8 * KB, CONTEXT);
    give(ELSEWHERE, KB, OTHER);
    sc_residence_note_advice(residence, AT + KB, KB, 0, ASKED);
    sc_residence_end_context(residence, CONTEXT);
    ck_assert_uint_eq(sc_residence_bytes(residence), KB);
    ck_assert_uint_eq(held(0, 0), KB);
}
END_TEST

START_TEST(a_block_whose_free_was_not_heard_of_makes_room_for_the_next)
{
    give(AT, 4 * KB, CONTEXT);
    give(AT + 4 * KB, 4 * KB, CONTEXT);
    give(AT + 2 * KB, 4 * KB, CONTEXT);
    ck_assert_uint_eq(sc_residence_bytes(residence), 4 * KB);
    ck_assert_uint_eq(held(0, 0), 4 * KB);
}
END_TEST

START_TEST(where_there_is_no_room_to_cut_nothing_is_said)
{
    for (uint64_t i = 0; i < SC_RESIDENCE_PARTS; i++)
        give(AT + i * 2 * KB, 2 * KB, CONTEXT);
    uint64_t all = sc_residence_bytes(residence);
    give(AT - 4 * KB, KB, CONTEXT); /* is not known */
    ck_assert_uint_eq(sc_residence_bytes(residence), all);
    sc_residence_note_advice(residence, AT + KB, 2 * KB, 1, ASKED);
    ck_assert_uint_eq(held(1, NO_DEVICE), 0);
    ck_assert_uint_eq(held(0, 0), all - 4 * KB);
    sc_residence_note_advice(residence, AT, 2 * KB, 1, ASKED);
    ck_assert_uint_eq(held(1, NO_DEVICE), 2 * KB);
}
END_TEST

START_TEST(devices_and_the_host_add_up_as_asked)
{
    uint64_t bytes[SC_LEDGER_PLACES];
    give(AT, 8 * KB, CONTEXT);
    sc_residence_note_advice(residence, AT, KB, 0, ASKED);
    sc_residence_note_advice(residence, AT + 4 * KB, 3 * KB, SC_RESIDENCE_HOST, ASKED);
    sc_residence_advised_bytes(residence, bytes);
    ck_assert_uint_eq(bytes[0], KB);
    ck_assert_uint_eq(bytes[1], 0);
    ck_assert_uint_eq(bytes[SC_LEDGER_HOST], 3 * KB);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("residence");
    TCase *test = tcase_create("residence");
    tcase_add_checked_fixture(test, set_up, tear_down);
    tcase_add_test(test, what_nobody_says_anything_of_is_the_only_devices);
    tcase_add_test(test, the_latest_advice_counts_and_parts_are_joined_again);
    tcase_add_test(test, what_devices_touch_is_theirs_until_somebody_says_where_it_is_to_lie);
    tcase_add_test(test, only_the_pages_that_a_device_has_had_last_count);
    tcase_add_test(test, a_record_of_a_fault_stands_for_some_pages_that_nobody_has_touched);
    tcase_add_test(test, what_was_evicted_counts_until_a_block_of_the_device_goes);
    tcase_add_test(test, what_lies_nowhere_is_nobodys_until_a_device_touches_it);
    tcase_add_test(test, who_asked_last_is_known_whatever_the_order_of_addresses);
    tcase_add_test(test, advice_of_several_blocks_leaves_the_space_between_them_alone);
    tcase_add_test(test, a_context_takes_its_blocks_along_and_no_other);
    tcase_add_test(test, a_block_whose_free_was_not_heard_of_makes_room_for_the_next);
    tcase_add_test(test, where_there_is_no_room_to_cut_nothing_is_said);
    tcase_add_test(test, devices_and_the_host_add_up_as_asked);
    suite_add_tcase(suite, test);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
