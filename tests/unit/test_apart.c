/* links: interpose/guard/apart.c
 * not-under: qemu (whose /proc/self/maps shows no advice)
 *
 * Pages that are let go as the same interval again and again become mappings of their own, and
 * those of others never do. What is counted are the kernel's mappings. */
#include "interpose/guard/apart.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "interpose/memory/pinned.h"

enum { PAGES = 16, OFTEN = 8, APART_MAX = 1024 };

static uintptr_t base;
static size_t page, region_bytes;
static bool is_ours;
static uint32_t epoch;

bool sc_pinned_has(uintptr_t address)
{
    return is_ours && address - base < region_bytes;
}

uint32_t sc_pinned_epoch(void)
{
    return epoch;
}

static void map(unsigned pages)
{
    region_bytes = pages * page;
    void *region = mmap((void *)base, region_bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | (base ? MAP_FIXED : 0), -1, 0);
    ck_assert_ptr_ne(region, MAP_FAILED);
    base = (uintptr_t)region;
}

static void set_up(void)
{
    page = (size_t)sysconf(_SC_PAGESIZE);
    is_ours = true;
    map(PAGES);
}

/* Counts the region's mappings, and says whether one begins at the address. */
static unsigned look(uintptr_t address, bool *begins)
{
    unsigned count = 0;
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    ck_assert_ptr_nonnull(maps);
    while (fgets(line, sizeof line, maps)) {
        uintptr_t start = 0;
        ck_assert_int_eq(sscanf(line, "%lx-", &start), 1);
        count += start - base < region_bytes;
        *begins |= start == address;
    }
    fclose(maps);
    return count;
}

static unsigned mappings(void)
{
    bool unused = false;
    return look(base, &unused);
}

static bool begins_a_mapping(unsigned first)
{
    bool begins = false;
    look(base + first * page, &begins);
    return begins;
}

/* Guards and lets go as the guard does, where the pages begin `first` pages behind the base. */
static void guard(unsigned first, unsigned pages, unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        void *start = (void *)(base + first * page);
        ck_assert_int_eq(mprotect(start, pages * page, PROT_NONE), 0);
        sc_apart_note((uintptr_t)start, pages * page);
        ck_assert_int_eq(mprotect(start, pages * page, PROT_READ | PROT_WRITE), 0);
    }
}

START_TEST(pages_that_are_seldom_let_go_stay_one_mapping)
{
    guard(3, 2, 1);
    ck_assert_uint_eq(mappings(), 1);
    ck_assert(!sc_apart_any());
}
END_TEST

START_TEST(pages_that_are_often_let_go_become_a_mapping)
{
    guard(3, 2, OFTEN);
    ck_assert_uint_eq(mappings(), 3);
    ck_assert(sc_apart_any());
}
END_TEST

START_TEST(slots_side_by_side_stay_apart)
{
    for (unsigned slot = 0; slot < PAGES / 2; slot++)
        guard(2 * slot, 2, OFTEN);
    ck_assert_uint_eq(mappings(), PAGES / 2);
}
END_TEST

START_TEST(ever_other_intervals_stay_one_mapping)
{
    for (unsigned i = 0; i < 5 * OFTEN; i++)
        guard(i % 5, 1 + i % 7, 1);
    ck_assert_uint_eq(mappings(), 1);
}
END_TEST

START_TEST(memory_of_the_programs_is_left_as_it_is)
{
    is_ours = false;
    guard(3, 2, OFTEN);
    ck_assert_uint_eq(mappings(), 1);
    ck_assert(!sc_apart_any());
}
END_TEST

START_TEST(an_interval_that_another_one_replaces_is_joined)
{
    guard(3, 2, OFTEN);
    ck_assert(begins_a_mapping(5));
    guard(3, 1, OFTEN * 16);
    ck_assert(!begins_a_mapping(5));
    ck_assert(begins_a_mapping(4));
}
END_TEST

START_TEST(memory_mapped_anew_is_parted_anew)
{
    guard(3, 2, OFTEN);
    map(PAGES);
    epoch++;
    ck_assert_uint_eq(mappings(), 1);
    guard(3, 2, 1);
    ck_assert_uint_eq(mappings(), 3);
}
END_TEST

START_TEST(without_mappings_left_all_are_joined_for_good)
{
    guard(3, 2, OFTEN);
    guard(8, 1, OFTEN);
    ck_assert_uint_eq(mappings(), 5);
    sc_apart_join_all();
    ck_assert_uint_eq(mappings(), 1);
    ck_assert(!sc_apart_any());
    guard(3, 2, OFTEN);
    ck_assert_uint_eq(mappings(), 1);
}
END_TEST

START_TEST(a_forked_child_keeps_none_apart)
{
    guard(3, 2, OFTEN);
    ck_assert(sc_apart_any());
    sc_apart_forget();
    ck_assert(!sc_apart_any());
}
END_TEST

START_TEST(so_many_mappings_and_no_more)
{
    base = 0;
    map(6 * APART_MAX);
    for (unsigned i = 0; i < 3 * APART_MAX; i++)
        guard(2 * i, 1, OFTEN);
    ck_assert_uint_le(mappings(), 2 * APART_MAX + 1);
    ck_assert_uint_gt(mappings(), APART_MAX);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("apart");
    TCase *tests = tcase_create("apart");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, pages_that_are_seldom_let_go_stay_one_mapping);
    tcase_add_test(tests, pages_that_are_often_let_go_become_a_mapping);
    tcase_add_test(tests, slots_side_by_side_stay_apart);
    tcase_add_test(tests, ever_other_intervals_stay_one_mapping);
    tcase_add_test(tests, memory_of_the_programs_is_left_as_it_is);
    tcase_add_test(tests, an_interval_that_another_one_replaces_is_joined);
    tcase_add_test(tests, memory_mapped_anew_is_parted_anew);
    tcase_add_test(tests, without_mappings_left_all_are_joined_for_good);
    tcase_add_test(tests, a_forked_child_keeps_none_apart);
    tcase_add_test(tests, so_many_mappings_and_no_more);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
