/* links: interpose/memory/areas.c
 *
 * Allocations lie in areas of 2 MB, each in the next one, and in none together. */
#include "interpose/memory/areas.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "track/guarded.h"
#include "track/track.h"
#include "track/track_device.h"
#include "track/track_graphs.h"
#include "track/track_holds.h"
#include "track/track_ops.h"
#include "track/track_order.h"
#include "track/track_ranges.h"
#include "track/tracker.h"

enum { PAGE = 4096, MANY = 3000 };

static uintptr_t take(size_t size_bytes)
{
    uintptr_t start = sc_areas_map(size_bytes);
    ck_assert(start);
    ck_assert(sc_areas_have(start) && sc_areas_have(start + size_bytes - 1));
    ck_assert_uint_eq((start - sc_areas.start) / SC_AREAS_BYTES,
                      (start + size_bytes - 1 - sc_areas.start) / SC_AREAS_BYTES);
    return start;
}

static uintptr_t area_of(uintptr_t address)
{
    return (address - sc_areas.start) / SC_AREAS_BYTES;
}

START_TEST(memory_is_zero_and_may_be_written)
{
    unsigned char *bytes = (unsigned char *)take(3 * PAGE);
    for (unsigned i = 0; i < 3 * PAGE; i++)
        ck_assert_uint_eq(bytes[i], 0);
    memset(bytes, 7, 3 * PAGE);
    sc_areas_unmap((uintptr_t)bytes, 3 * PAGE);
}
END_TEST

START_TEST(allocations_go_to_the_areas_in_turn)
{
    uintptr_t first = take(PAGE), second = take(PAGE), third = take(SC_AREAS_MAX_BYTES);
    ck_assert_uint_ne(area_of(first), area_of(second));
    ck_assert_uint_ne(area_of(second), area_of(third));
    ck_assert_uint_ne(area_of(first), area_of(third));
}
END_TEST

START_TEST(stripes_are_told_of_the_areas)
{
    take(PAGE);
    ck_assert_uint_eq(sc_track.inflight.guards.striped_start, sc_areas.start);
    ck_assert_uint_eq(sc_track.inflight.guards.striped_bytes, sc_areas.size_bytes);
    ck_assert_uint_eq(sc_areas.start % SC_AREAS_BYTES, 0);
}
END_TEST

START_TEST(what_is_too_large_has_no_area)
{
    ck_assert_uint_eq(sc_areas_map(SC_AREAS_MAX_BYTES + PAGE), 0);
}
END_TEST

START_TEST(when_all_is_taken_there_is_no_more_until_some_is_given_back)
{
    uintptr_t start, last = 0;
    unsigned count = 0;
    while ((start = sc_areas_map(SC_AREAS_MAX_BYTES)) != 0) {
        last = start;
        count++;
    }
    ck_assert_uint_eq(count, SC_AREAS_SHARED * (SC_AREAS_BYTES / SC_AREAS_MAX_BYTES));
    ck_assert_uint_eq(sc_areas_map(PAGE), 0);
    sc_areas_unmap(last, SC_AREAS_MAX_BYTES);
    ck_assert_uint_eq(sc_areas_map(SC_AREAS_MAX_BYTES), last);
}
END_TEST

static int by_address(const void *a, const void *b)
{
    const uintptr_t *left = a, *right = b;
    return *left < *right ? -1 : *left > *right;
}

/* Of random sizes, taken and given back in any order; each page has the mark of its owner. */
START_TEST(no_two_allocations_share_a_page)
{
    static uintptr_t starts[MANY];
    srandom(1);
    for (unsigned i = 0; i < MANY; i++) {
        unsigned other = (unsigned)random() % (i + 1);
        if (i % 3 == 0 && starts[other]) {
            sc_areas_unmap(starts[other], 2 * PAGE);
            starts[other] = 0;
        }
        starts[i] = take(2 * PAGE);
    }
    qsort(starts, MANY, sizeof *starts, by_address);
    for (unsigned i = 1; i < MANY; i++)
        ck_assert(!starts[i - 1] || starts[i] - starts[i - 1] >= 2 * PAGE);
}
END_TEST

static bool are_mapped(uintptr_t start, size_t size_bytes)
{
    return mmap((void *)start, size_bytes, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == (void *)start;
}

START_TEST(a_block_has_whole_areas_of_stripe_0)
{
    size_t size_bytes = 3 * (size_t)SC_AREAS_BYTES + PAGE;
    uintptr_t first = sc_areas_take_block(size_bytes);
    uintptr_t second = sc_areas_take_block(size_bytes);
    ck_assert(first && second && first % SC_AREAS_BYTES == 0);
    ck_assert_uint_eq(second - first, 4 * (uintptr_t)SC_AREAS_BYTES);
    ck_assert_uint_ge(area_of(first), SC_AREAS_SHARED);
    ck_assert(sc_areas_have(first) && !sc_areas_have_stripe(first));
    ck_assert(sc_areas_have_stripe(take(PAGE)));
    ck_assert(are_mapped(first, size_bytes));
    sc_areas_unmap(first, size_bytes);
    ck_assert_uint_ne(sc_areas_take_block(size_bytes), first); /* while there are others */
}
END_TEST

START_TEST(blocks_are_given_again_when_all_areas_were)
{
    const size_t half = (size_t)(SC_AREAS_COUNT - SC_AREAS_SHARED) / 2 * SC_AREAS_BYTES;
    uintptr_t first = sc_areas_take_block(half), second = sc_areas_take_block(half);
    ck_assert(first && second);
    ck_assert_uint_eq(sc_areas_take_block(PAGE), 0);
    sc_areas_unmap(first, half);
    ck_assert_uint_eq(sc_areas_take_block(half), first);
    ck_assert_uint_eq(sc_areas_take_block(SIZE_MAX / 2), 0);
    ck_assert_uint_eq(sc_areas_take_block(4 * half), 0);
}
END_TEST

START_TEST(what_is_given_back_is_out_of_reach)
{
    uintptr_t start = take(PAGE);
    unsigned char resident;
    sc_areas_unmap(start, PAGE);
    ck_assert_int_eq(mincore((void *)start, PAGE, &resident), 0); /* it is reserved still */
    ck_assert(!(resident & 1));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("areas");
    TCase *cases = tcase_create("areas");
    tcase_add_test(cases, memory_is_zero_and_may_be_written);
    tcase_add_test(cases, allocations_go_to_the_areas_in_turn);
    tcase_add_test(cases, stripes_are_told_of_the_areas);
    tcase_add_test(cases, what_is_too_large_has_no_area);
    tcase_add_test(cases, when_all_is_taken_there_is_no_more_until_some_is_given_back);
    tcase_add_test(cases, no_two_allocations_share_a_page);
    tcase_add_test(cases, a_block_has_whole_areas_of_stripe_0);
    tcase_add_test(cases, blocks_are_given_again_when_all_areas_were);
    tcase_add_test(cases, what_is_given_back_is_out_of_reach);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
