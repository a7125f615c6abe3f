/* Names of functions for people. */
#include "report/command/short_name.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define LONG_ARGUMENTS                                                                             \
    "std::string const&, std::map<int, std::vector<double, std::allocator<double> > > const&"

static const struct {
    const char *name, *shown;
} rows[] = {
    {"upload", "upload"},
    {"ns::upload(int, char const*)", "ns::upload(int, char const*)"},
    {"ns::task_execution_handler(" LONG_ARGUMENTS ", std::optional<std::string>)",
     "ns::task_execution_handler(...)"},
    {"std::_Function_handler<void (" LONG_ARGUMENTS
     "), ns::run()::{lambda()#1}>::_M_invoke(std::_Any_data const&)",
     "std::_Function_handler<...>::_M_invoke(std::_Any_data const&)"},
    {"(anonymous namespace)::Loader::operator()(" LONG_ARGUMENTS ", int) const [clone .cold]",
     "(anonymous namespace)::Loader::operator()(...) const [clone .cold]"},
    {"ns::operator<< <ns::Long>(" LONG_ARGUMENTS ", ns::Long const&)",
     "ns::operator<< <ns::Long>(...)"},
    {"ns::Pointer<" LONG_ARGUMENTS ">::operator->() const", "ns::Pointer<...>::operator->() const"},
    {"void ns::fill<((4)>(2)), " LONG_ARGUMENTS ">(decltype ((a->size)()) const&, int)",
     "void ns::fill<...>(...)"},
    {"ns::cut_off(" LONG_ARGUMENTS ", std::vector<int",
     "ns::cut_off(" LONG_ARGUMENTS ", std::vector<int"},
    {"<alloc::vec::Vec<T> as alloc::vec::spec_from_iter::SpecFromIter<T, "
     "core::iter::adapters::Map<I, F>>>::from_iter",
     "<...>::from_iter"},
};

START_TEST(long_arguments_are_left_out)
{
    struct sc_scratch scratch = {0};
    ck_assert_str_eq(sc_short_name(&scratch, rows[_i].name), rows[_i].shown);
    sc_scratch_free(&scratch);
}
END_TEST

START_TEST(deep_brackets_end)
{
    struct sc_scratch scratch = {0};
    char name[4097] = "";
    memset(name, '<', 4096);
    ck_assert_str_eq(sc_short_name(&scratch, name), name);
    memset(name + 2048, '>', 2048);
    ck_assert_uint_le(strlen(sc_short_name(&scratch, name)), 4096);
    sc_scratch_free(&scratch);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("short_name");
    TCase *tests = tcase_create("short_name");
    tcase_add_loop_test(tests, long_arguments_are_left_out, 0, sizeof rows / sizeof rows[0]);
    tcase_add_test(tests, deep_brackets_end);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
