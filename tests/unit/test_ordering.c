/* How sure an order is: what each reason comes to on either side, and that all sets of reasons are
 * joined alike. */
#include "track/ordering.h"

#include <check.h>
#include <stdlib.h>

static const struct {
    unsigned reason;
    enum sc_ordering as[2]; /* by enum sc_order_side */
} table[] = {
    {0, {SC_ORDER_CERTAIN, SC_ORDER_CERTAIN}},
    {SC_UNSURE_LEFT_OUT, {SC_ORDER_POSSIBLE, SC_ORDER_POSSIBLE}},
    {SC_UNSURE_GATED, {SC_ORDER_POSSIBLE, SC_ORDER_CERTAIN}},
    {SC_UNSURE_WAITS, {SC_ORDER_UNKNOWN, SC_ORDER_UNKNOWN}},
    {SC_UNSURE_ENDS, {SC_ORDER_CERTAIN, SC_ORDER_UNKNOWN}},
    {SC_UNSURE_UNJUDGED, {SC_ORDER_UNKNOWN, SC_ORDER_UNKNOWN}},
};

enum { REASONS = sizeof table / sizeof *table };

START_TEST(the_table_has_every_reason)
{
    unsigned reasons = 0;
    for (unsigned i = 0; i < REASONS; i++)
        reasons |= table[i].reason;
    ck_assert_uint_eq(reasons, SC_UNSURE_ALL);
}
END_TEST

START_TEST(each_reason_comes_to_what_the_table_says)
{
    for (unsigned i = 0; i < REASONS; i++)
        for (int side = SC_AS_LATER; side <= SC_AS_EARLIER; side++)
            ck_assert_int_eq(sc_ordering_of(table[i].reason, (enum sc_order_side)side),
                             table[i].as[side]);
}
END_TEST

/* As the least sure of its reasons. */
static enum sc_ordering least_sure(unsigned unsure, enum sc_order_side side)
{
    enum sc_ordering least = SC_ORDER_CERTAIN;
    for (unsigned i = 0; i < REASONS; i++)
        if ((unsure & table[i].reason) && table[i].as[side] > least)
            least = table[i].as[side];
    return least;
}

START_TEST(a_set_is_as_unsure_as_its_least_sure_reason)
{
    for (unsigned unsure = 0; unsure <= SC_UNSURE_ALL; unsure++)
        for (int side = SC_AS_LATER; side <= SC_AS_EARLIER; side++)
            ck_assert_int_eq(sc_ordering_of(unsure, (enum sc_order_side)side),
                             least_sure(unsure, (enum sc_order_side)side));
}
END_TEST

START_TEST(two_operations_are_as_unsure_as_the_less_sure_one)
{
    for (unsigned earlier = 0; earlier <= SC_UNSURE_ALL; earlier++)
        for (unsigned later = 0; later <= SC_UNSURE_ALL; later++) {
            enum sc_ordering first = least_sure(earlier, SC_AS_EARLIER);
            enum sc_ordering second = least_sure(later, SC_AS_LATER);
            ck_assert_int_eq(sc_ordering_between(earlier, later), first > second ? first : second);
        }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ordering");
    TCase *tests = tcase_create("ordering");
    tcase_add_test(tests, the_table_has_every_reason);
    tcase_add_test(tests, each_reason_comes_to_what_the_table_says);
    tcase_add_test(tests, a_set_is_as_unsure_as_its_least_sure_reason);
    tcase_add_test(tests, two_operations_are_as_unsure_as_the_less_sure_one);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
