/* Which operations a budget lets be guarded, by a clock of the test's own: a tick is a nanosecond.
 */
#include "track/budget.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { US = 1000, MS = 1000 * US, SECOND = 1000 * MS, PERCENT = SC_BUDGET_WHOLE / 100 };
enum { COST = 20 * US, A = 11, B = 12, RARE = 13 };

static struct sc_budget budget;
static uint64_t now;

static void start(uint32_t share)
{
    memset(&budget, 0, sizeof budget);
    now = 5 * (uint64_t)SECOND;
    sc_budget_start(&budget, share, SECOND, now);
}

/* An operation, and the time that its guard takes if it is guarded. */
static bool operate(uint64_t site)
{
    bool allowed = sc_budget_allows(&budget, site, (uint32_t)site, now);
    if (allowed) {
        now += COST;
        sc_budget_charge(&budget, COST);
    }
    return allowed;
}

static struct sc_budget_site look_at(uint64_t key)
{
    struct sc_budget_site totals, sites[8];
    unsigned count = sc_budget_read(&budget, &totals, sites, 8);
    for (unsigned i = 0; i < count; i++)
        if (sites[i].key == key)
            return sites[i];
    return (struct sc_budget_site){0};
}

static struct sc_budget_site look_at_all(void)
{
    struct sc_budget_site totals;
    ck_assert_uint_eq(sc_budget_read(&budget, &totals, NULL, 0), 0);
    return totals;
}

/* ---- new sites ---- */

START_TEST(the_first_operations_of_each_site_are_guarded_whatever_it_takes)
{
    start(1);
    for (uint64_t site = 1; site <= 500; site++)
        for (unsigned i = 0; i < SC_BUDGET_FIRST; i++)
            ck_assert(operate(site));
    ck_assert(!operate(1));
    ck_assert(operate(501));
}
END_TEST

/* ---- the share ---- */

/* Guards take their share of ten seconds, and no more than the first ones beyond that. */
START_TEST(a_hot_site_takes_the_share)
{
    static const uint32_t shares[] = {1 * PERCENT / 10, 1 * PERCENT, 2 * PERCENT, 50 * PERCENT};
    uint64_t share = shares[_i];
    start(shares[_i]);
    uint64_t began = now, spent = 0;
    while (now - began < 10 * (uint64_t)SECOND) {
        spent += operate(A) ? COST : 0;
        now += 10 * US;
    }
    uint64_t earned = (now - began) * share / SC_BUDGET_WHOLE;
    ck_assert_uint_le(spent, earned + SC_BUDGET_FIRST * COST);
    ck_assert_uint_ge(spent + COST, earned - earned / 50);
    ck_assert_uint_eq(look_at(A).guarded * COST, spent);
}
END_TEST

START_TEST(what_costs_little_is_guarded_always)
{
    start(50 * PERCENT);
    for (unsigned i = 0; i < 100000; i++) {
        ck_assert(operate(A));
        now += 30 * US;
    }
}
END_TEST

START_TEST(an_hour_of_rest_is_worth_a_second)
{
    start(2 * PERCENT);
    while (operate(A))
        now += 1;
    now += 3600 * (uint64_t)SECOND;
    unsigned burst = 0;
    while (operate(A))
        burst++;
    ck_assert_uint_ge(burst, SECOND / 100 * 2 / COST);
    ck_assert_uint_le(burst, SECOND / 100 * 2 / COST * 103 / 100);
}
END_TEST

START_TEST(debts_end)
{
    start(1 * PERCENT);
    for (unsigned i = 0; i < SC_BUDGET_FIRST; i++)
        ck_assert(operate(A));
    sc_budget_charge(&budget, 3600 * (uint64_t)SECOND);
    ck_assert(!operate(A));
    now += 9 * (uint64_t)SECOND;
    ck_assert(!operate(A) || look_at(A).guarded == SC_BUDGET_FIRST + 1); /* on credit at the most */
    now += 2 * (uint64_t)SECOND;
    ck_assert(operate(A));
}
END_TEST

START_TEST(a_clock_that_goes_back_earns_nothing)
{
    start(1 * PERCENT);
    for (unsigned i = 0; i < SC_BUDGET_FIRST + 1; i++)
        operate(A);
    for (unsigned i = 0; i < 1000; i++) {
        now -= US;
        ck_assert(!operate(A));
        now += US;
        ck_assert(!operate(A));
    }
}
END_TEST

/* ---- turns ---- */

/* In each step the time for one guard is there when A asks, and gone when B does. */
START_TEST(sites_are_guarded_in_turn)
{
    start(2 * PERCENT);
    for (unsigned i = 0; i < 100000; i++) {
        operate(A);
        operate(B);
        now += COST * 50;
    }
    uint64_t a = look_at(A).guarded, b = look_at(B).guarded;
    ck_assert_uint_ge(a + b, 100000 * 95 / 100);
    ck_assert_uint_le(a > b ? a - b : b - a, (a + b) / 50);
}
END_TEST

/* A loop that copies two buffers in turn by one call. */
START_TEST(what_alternates_at_one_site_is_guarded_alike)
{
    unsigned guarded[2] = {0, 0};
    start(2 * PERCENT);
    for (unsigned i = 0; i < 200000; i++) {
        guarded[i % 2] += operate(A);
        now += i % 2 ? COST * 50 : 0;
    }
    unsigned both = guarded[0] + guarded[1];
    ck_assert_uint_ge(both, 100000 * 95 / 100);
    ck_assert_uint_ge(guarded[0], both / 4);
    ck_assert_uint_ge(guarded[1], both / 4);
}
END_TEST

START_TEST(many_hot_sites_are_guarded_alike)
{
    enum { SITES = 200 };
    start(2 * PERCENT);
    for (unsigned i = 0; i < 50000; i++)
        for (uint64_t site = 1; site <= SITES; site++) {
            operate(site);
            now += 5 * US;
        }
    uint64_t least = UINT64_MAX, most = 0;
    struct sc_budget_site totals, sites[SITES];
    ck_assert_uint_eq(sc_budget_read(&budget, &totals, sites, SITES), SITES);
    for (unsigned i = 0; i < SITES; i++) {
        least = sites[i].guarded < least ? sites[i].guarded : least;
        most = sites[i].guarded > most ? sites[i].guarded : most;
    }
    ck_assert_uint_gt(least, SC_BUDGET_FIRST);
    ck_assert_uint_le(most, 2 * least);
}
END_TEST

/* What comes once a second asks when there is no time, as a rule, and is guarded all the same. */
START_TEST(a_rare_site_is_not_forgotten_beside_a_hot_one)
{
    unsigned seen = 0, guarded = 0;
    start(1 * PERCENT);
    for (unsigned i = 0; i < SC_BUDGET_FIRST; i++)
        operate(RARE);
    for (unsigned second = 0; second < 120; second++) {
        for (unsigned i = 0; i < 20000; i++) {
            operate(A);
            now += 50 * US;
        }
        seen++;
        guarded += operate(RARE);
    }
    ck_assert_uint_ge(guarded, seen / 2);
}
END_TEST

/* After a million clean rounds, of which one in a hundred can be guarded, none is left unguarded
 * for a minute. */
START_TEST(no_hot_site_is_left_alone_for_long)
{
    enum { SITES = 16 };
    uint64_t last[SITES + 1];
    start(1 * PERCENT);
    for (unsigned i = 0; i <= SITES; i++)
        last[i] = now;
    for (unsigned round = 0; round < 1000000; round++) {
        uint64_t site = 1 + round % SITES;
        if (operate(site))
            last[site] = now;
        ck_assert_uint_le(now - last[site], (uint64_t)SECOND);
        now += 20 * US;
    }
}
END_TEST

/* ---- what is told ---- */

START_TEST(sites_are_told_by_what_was_left_out)
{
    struct sc_budget_site totals, sites[2];
    start(1);
    for (unsigned i = 0; i < SC_BUDGET_FIRST + 5; i++)
        operate(A);
    for (unsigned i = 0; i < SC_BUDGET_FIRST + 9; i++)
        operate(B);
    operate(RARE);
    ck_assert_uint_eq(sc_budget_read(&budget, &totals, sites, 2), 2);
    ck_assert_uint_eq(sites[0].key, B);
    ck_assert_uint_eq(sites[0].operations - sites[0].guarded, 9);
    ck_assert_uint_eq(sites[1].key, A);
    ck_assert_uint_eq(sites[1].operations - sites[1].guarded, 5);
    ck_assert_uint_eq(totals.operations, 2 * SC_BUDGET_FIRST + 15);
    ck_assert_uint_eq(totals.guarded, 2 * SC_BUDGET_FIRST + 1);
}
END_TEST

START_TEST(sites_beyond_the_table_are_counted_together)
{
    enum { MANY = 5000, EACH = 40 };
    start(1 * PERCENT);
    for (uint64_t site = 1; site <= MANY; site++)
        for (unsigned i = 0; i < EACH; i++)
            operate(site);
    ck_assert_uint_eq(look_at_all().operations, (uint64_t)MANY * EACH);
    ck_assert_uint_gt(look_at(0).operations, 0);
    ck_assert_uint_lt(look_at(0).guarded, look_at(0).operations);
}
END_TEST

enum { THREADS = 4, OPERATIONS = 20000 };

static void *work(void *argument)
{
    uintptr_t site = (uintptr_t)argument;
    uint64_t guarded = 0;
    for (unsigned i = 0; i < OPERATIONS; i++) {
        bool allowed = sc_budget_allows(&budget, site, 1, 1000 + i * (uint64_t)US);
        guarded += allowed;
        if (allowed)
            sc_budget_charge(&budget, 10 * US);
    }
    return (void *)(uintptr_t)guarded;
}

START_TEST(threads_are_counted_exactly)
{
    pthread_t threads[THREADS];
    uint64_t guarded = 0;
    start(5 * PERCENT);
    budget.now = budget.round_began = 1000;
    for (uintptr_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work, (void *)(1 + i % 2)), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        guarded += (uintptr_t)result;
    }
    ck_assert_uint_eq(look_at_all().operations, (uint64_t)THREADS * OPERATIONS);
    ck_assert_uint_eq(look_at_all().guarded, guarded);
    ck_assert_uint_le(budget.refused_sites, 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("budget");
    TCase *group = tcase_create("all");
    tcase_set_timeout(group, 60);
    tcase_add_test(group, the_first_operations_of_each_site_are_guarded_whatever_it_takes);
    tcase_add_loop_test(group, a_hot_site_takes_the_share, 0, 4);
    tcase_add_test(group, what_costs_little_is_guarded_always);
    tcase_add_test(group, an_hour_of_rest_is_worth_a_second);
    tcase_add_test(group, debts_end);
    tcase_add_test(group, a_clock_that_goes_back_earns_nothing);
    tcase_add_test(group, sites_are_guarded_in_turn);
    tcase_add_test(group, what_alternates_at_one_site_is_guarded_alike);
    tcase_add_test(group, many_hot_sites_are_guarded_alike);
    tcase_add_test(group, a_rare_site_is_not_forgotten_beside_a_hot_one);
    tcase_add_test(group, no_hot_site_is_left_alone_for_long);
    tcase_add_test(group, sites_are_told_by_what_was_left_out);
    tcase_add_test(group, sites_beyond_the_table_are_counted_together);
    tcase_add_test(group, threads_are_counted_exactly);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
