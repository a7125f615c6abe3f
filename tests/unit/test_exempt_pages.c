/* Pages that are never guarded: the set of them, full ones, and threads that fill it together. */
#include "tests/unit/destroy.h"
#include "track/exempt_pages.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>

#include "track/inflight.h"
#include "track/order.h"

enum { PAGE = 4096, MASK = PAGE - 1, THREADS = 4, PAGES = 200 };

static const uintptr_t base = UINT64_C(0x7f0000000000);

static struct sc_exempt_pages kept;

static void set_up(void)
{
    sc_exempt_pages_init(&kept);
}

static uintptr_t page(size_t i)
{
    return base + i * PAGE;
}

static bool find(size_t first, size_t end, struct sc_exempt_run *found)
{
    return sc_exempt_pages_find(&kept, page(first), page(end), MASK, found);
}

START_TEST(an_empty_set_has_nothing)
{
    struct sc_exempt_run found;
    ck_assert(!sc_exempt_pages_have(&kept, base));
    ck_assert(!find(0, 100, &found));
    ck_assert(!find(0, 1 << 20, &found));
    ck_assert(!find(7, 7, &found));
    sc_exempt_pages_forget(&kept, base, page(100), MASK);
}
END_TEST

START_TEST(the_first_run_is_found)
{
    struct sc_exempt_run found;
    ck_assert(sc_exempt_pages_add(&kept, page(9)));
    ck_assert(sc_exempt_pages_add(&kept, page(4)));
    ck_assert(sc_exempt_pages_add(&kept, page(5)));
    ck_assert(sc_exempt_pages_add(&kept, page(5)));
    static const size_t ends[] = {10, 100, 1 << 20}; /* page by page, and place by place */
    for (size_t i = 0; i < 3; i++) {
        ck_assert(find(0, ends[i], &found));
        ck_assert_uint_eq(found.start, page(4));
        ck_assert_uint_eq(found.end, page(6));
        ck_assert(find(6, ends[i], &found));
        ck_assert_uint_eq(found.start, page(9));
        ck_assert_uint_eq(found.end, page(10));
    }
    ck_assert(find(0, 5, &found));
    ck_assert_uint_eq(found.end, page(5));
    ck_assert(!find(0, 4, &found));
    ck_assert(!find(6, 9, &found));
    ck_assert(!find(10, 1 << 20, &found));
}
END_TEST

START_TEST(only_what_lies_in_the_interval_is_forgotten)
{
    static const size_t ends[] = {20, 1 << 20};
    for (size_t i = 0; i < 2; i++) {
        ck_assert(sc_exempt_pages_add(&kept, page(9)));
        ck_assert(sc_exempt_pages_add(&kept, page(10)));
        ck_assert(sc_exempt_pages_add(&kept, page(19)));
        sc_exempt_pages_forget(&kept, page(10), page(ends[i]), MASK);
        ck_assert(sc_exempt_pages_have(&kept, page(9)));
        ck_assert(!sc_exempt_pages_have(&kept, page(10)));
        ck_assert(!sc_exempt_pages_have(&kept, page(19)));
    }
}
END_TEST

/* A page whose places are taken has none, until one of them is forgotten. */
START_TEST(a_full_set_refuses)
{
    size_t first_refused = 0;
    while (sc_exempt_pages_add(&kept, page(first_refused)))
        first_refused++;
    ck_assert_uint_ge(first_refused, SC_EXEMPT_PAGES_WAYS);
    ck_assert_uint_le(first_refused, SC_EXEMPT_PAGES_WAYS * SC_EXEMPT_PAGES_SETS);
    ck_assert(!sc_exempt_pages_have(&kept, page(first_refused)));
    ck_assert(sc_exempt_pages_add(&kept, base));
    sc_exempt_pages_forget(&kept, base, page(first_refused), MASK);
    ck_assert(sc_exempt_pages_add(&kept, page(first_refused)));
}
END_TEST

static void *add_and_forget(void *first)
{
    for (unsigned round = 0; round < 200; round++) {
        for (size_t i = (size_t)first; i < PAGES; i += THREADS)
            ck_assert(sc_exempt_pages_add(&kept, page(i)));
        for (size_t i = (size_t)first; i < PAGES; i += THREADS) {
            ck_assert(sc_exempt_pages_have(&kept, page(i)));
            if (i % 3 == 0)
                sc_exempt_pages_forget(&kept, page(i), page(i + 1), MASK);
        }
    }
    return NULL;
}

START_TEST(threads_do_not_lose_each_others_pages)
{
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, add_and_forget, (void *)i), 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < PAGES; i++)
        ck_assert_int_eq(sc_exempt_pages_have(&kept, page(i)), i % 3 != 0);
}
END_TEST

START_TEST(entries_go_with_their_range)
{
    static struct sc_order order;
    static struct sc_inflight inflight;
    sc_order_init(&order);
    ck_assert_int_eq(sc_inflight_init(&inflight, &order), 0);
    uintptr_t page_bytes = inflight.guards.page_mask + 1;
    uintptr_t start = base + 100; /* shares its first page, and its last */
    size_t size_bytes = 3 * page_bytes;
    uint32_t range = sc_inflight_add_range(&inflight, start, size_bytes, SC_REGISTERED, 0);
    for (size_t i = 0; i < 5; i++)
        ck_assert(sc_exempt_pages_add(&inflight.exempt_pages, base + i * page_bytes));
    sc_inflight_remove_range(&inflight, range);
    for (size_t i = 0; i < 4; i++)
        ck_assert(!sc_exempt_pages_have(&inflight.exempt_pages, base + i * page_bytes));
    ck_assert(sc_exempt_pages_have(&inflight.exempt_pages, base + 4 * page_bytes));
    destroy_inflight(&inflight);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exempt_pages");
    TCase *tests = tcase_create("exempt_pages");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, an_empty_set_has_nothing);
    tcase_add_test(tests, the_first_run_is_found);
    tcase_add_test(tests, only_what_lies_in_the_interval_is_forgotten);
    tcase_add_test(tests, a_full_set_refuses);
    tcase_add_test(tests, threads_do_not_lose_each_others_pages);
    tcase_add_test(tests, entries_go_with_their_range);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
