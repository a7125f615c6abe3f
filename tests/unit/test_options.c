/* The parser of SAFECOPY_OPTIONS: defaults, every kind of value, complaints, what is remembered. */
#include "common/hazard_words.h"
#include "report/options.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct sc_options options;
static char said[4096];
static unsigned said_count;

static void listen(void *context, const char *line)
{
    ck_assert_ptr_eq(context, said);
    ck_assert_ptr_null(strchr(line, '\n'));
    strncat(said, line, sizeof said - strlen(said) - 2);
    strcat(said, "\n");
    said_count++;
}

static void set_up(void)
{
    said[0] = '\0';
    said_count = 0;
    sc_options_defaults(&options);
}

static unsigned parse(const char *text)
{
    return sc_options_parse(&options, text, listen, said);
}

START_TEST(defaults_are_those_of_the_contract)
{
    ck_assert_int_eq(options.mode, SC_MODE_FIX);
    ck_assert(!options.strict);
    ck_assert_int_eq(options.exitcode, 66);
    ck_assert_int_eq(options.certainty, SC_LATENT);
    ck_assert(!options.halt_on_error);
    ck_assert_str_eq(options.report_path, "safecopy.%e.%p.jsonl");
    ck_assert_str_eq(options.suppressions, "");
    ck_assert(options.guard);
    ck_assert_uint_eq(options.snapshot_max_bytes, 32 << 10);
    ck_assert_uint_eq(options.max_held_bytes, 1 << 30);
    ck_assert_uint_eq(options.stall_limit_ns, UINT64_C(10000000000));
    ck_assert_int_eq(options.capture, SC_CAPTURE_REPAIR);
    ck_assert_int_eq(options.stacks, SC_STACKS_FULL);
    ck_assert(options.python);
    ck_assert_int_eq(options.device, SC_DEVICE_AUTO);
    ck_assert_int_eq(options.kernels, SC_KERNELS_OFF);
    ck_assert_int_eq(options.cupti, SC_CUPTI_AUTO);
    ck_assert(!options.timeline && !options.um);
    ck_assert_int_eq(options.nvtx, SC_NVTX_AUTO);
    ck_assert(options.postmortem && options.memory);
    ck_assert_int_eq(options.pinned, SC_PINNED_HUGE);
    ck_assert_uint_eq(options.device_heap_bytes, 0);
    ck_assert_int_eq(options.verbosity, 1);
    ck_assert(!options.help);
    ck_assert_uint_eq(options.given, 0);
}
END_TEST

START_TEST(nothing_to_parse_is_no_error)
{
    ck_assert_uint_eq(parse(NULL), 0);
    ck_assert_uint_eq(parse(""), 0);
    ck_assert_uint_eq(parse(":::"), 0);
    ck_assert_uint_eq(said_count, 0);
}
END_TEST

START_TEST(every_key_takes_another_value)
{
    ck_assert_uint_eq(
        parse("mode=report:strict=1:exitcode=3:certainty=observed:halt_on_error=1:report_path=/r:"
              "suppressions=/"
              "s:guard=off:guard_budget=2%:snapshot_max=0:max_held=2M:stall_limit=250ms:"
              "capture=report:stacks=site:python=0:device=1:kernels=order:cupti=require:timeline=1:"
              "nvtx=off:um=1:"
              "postmortem=0:memory=off:memory_signal=12:leaks=1:memory_every=2s:pinned=driver:"
              "device_heap=64M:stack_limit=2K:printf_fifo=1M:"
              "verbosity=2:"
              "help=1"),
        0);
    ck_assert_int_eq(options.mode, SC_MODE_REPORT);
    ck_assert(options.strict && options.halt_on_error && options.timeline && options.um &&
              options.help);
    ck_assert(!options.guard && !options.python);
    ck_assert_int_eq(options.device, SC_DEVICE_ON);
    ck_assert_int_eq(options.kernels, SC_KERNELS_ORDER);
    ck_assert_int_eq(options.exitcode, 3);
    ck_assert_int_eq(options.certainty, SC_OBSERVED);
    ck_assert_str_eq(options.report_path, "/r");
    ck_assert_str_eq(options.suppressions, "/s");
    ck_assert_uint_eq(options.guard_budget, 200);
    ck_assert_uint_eq(options.snapshot_max_bytes, 0);
    ck_assert_uint_eq(options.max_held_bytes, 2 << 20);
    ck_assert_uint_eq(options.stall_limit_ns, 250000000);
    ck_assert_int_eq(options.capture, SC_CAPTURE_REPORT);
    ck_assert_int_eq(options.stacks, SC_STACKS_SITE);
    ck_assert_int_eq(options.cupti, SC_CUPTI_REQUIRE);
    ck_assert_int_eq(options.nvtx, SC_NVTX_OFF);
    ck_assert(!options.postmortem && !options.memory && options.leaks);
    ck_assert_uint_eq(options.memory_every_ns, 2000000000);
    ck_assert_int_eq(options.memory_signal, 12);
    ck_assert_int_eq(options.pinned, SC_PINNED_DRIVER);
    ck_assert_uint_eq(options.device_heap_bytes, 64 << 20);
    ck_assert_int_eq(options.verbosity, 2);
    ck_assert_uint_eq(options.given, UINT32_MAX);
}
END_TEST

START_TEST(the_later_entry_wins)
{
    ck_assert_uint_eq(parse("mode=off:mode=report"), 0);
    ck_assert_uint_eq(parse("mode=fix"), 0);
    ck_assert_int_eq(options.mode, SC_MODE_FIX);
}
END_TEST

START_TEST(a_choice_is_found_as_it_is_parsed)
{
    static const char *const texts[] = {"",
                                        "mode=off",
                                        "mode=off:mode=report",
                                        "strict=1:mode=off:mode=",
                                        "mode",
                                        "verbosity=2:",
                                        ":::mode=off:verbosity=0:",
                                        "mode=off:mode=of",
                                        "xmode=off",
                                        "verbosity=4:verbosity=0"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        sc_options_defaults(&options);
        sc_options_parse(&options, texts[i], NULL, NULL);
        ck_assert_int_eq(sc_options_find_choice(texts[i], "mode"), options.mode);
        ck_assert_int_eq(sc_options_find_choice(texts[i], "verbosity"), options.verbosity);
    }
    ck_assert_int_eq(sc_options_find_choice(NULL, "verbosity"), 1);
}
END_TEST

START_TEST(the_largest_snapshot_is_accepted)
{
    ck_assert_uint_eq(parse("snapshot_max=1M"), 0);
    ck_assert_uint_eq(options.snapshot_max_bytes, 1 << 20);
    ck_assert_uint_eq(parse("snapshot_max=1048575"), 0);
    ck_assert_uint_eq(options.snapshot_max_bytes, (1 << 20) - 1);
}
END_TEST

static const struct {
    const char *text, *shown;
    unsigned hundredths;
} shares[] = {
    {"2%", "2%", 200},         {"100%", "100%", 10000},    {"0.25%", "0.25%", 25},
    {"0.05%", "0.05%", 5},     {"0.01%", "0.01%", 1},      {"1.5%", "1.5%", 150},
    {"12.50%", "12.5%", 1250}, {"99.99%", "99.99%", 9999}, {"off", "off", 0},
};

START_TEST(shares_are_read_and_shown)
{
    char text[64] = "guard_budget=", value[16];
    const char *key;
    ck_assert_uint_eq(parse(strcat(text, shares[_i].text)), 0);
    ck_assert_uint_eq(options.guard_budget, shares[_i].hundredths);
    for (unsigned i = 0; (key = sc_options_get(&options, i, value, sizeof value)); i++)
        if (strcmp(key, "guard_budget") == 0)
            ck_assert_str_eq(value, shares[_i].shown);
}
END_TEST

START_TEST(every_mechanism_is_read)
{
    static const char *const words[] = {"guard=off", "guard=on", "guard=uffd", "guard=mprotect"};
    for (int i = SC_GUARD_OFF; i <= SC_GUARD_MPROTECT; i++) {
        ck_assert_uint_eq(parse(words[i]), 0);
        ck_assert_int_eq(options.guard, i);
    }
}
END_TEST

START_TEST(a_value_may_contain_an_equals_sign)
{
    ck_assert_uint_eq(parse("report_path=/tmp/a=b"), 0);
    ck_assert_str_eq(options.report_path, "/tmp/a=b");
}
END_TEST

static const struct {
    const char *entry, *words; /* the words must be in the complaint */
} bad[] = {
    {"stirct=1", "'stirct' is ignored; did you mean 'strict'?"},
    {"exit_code=1", "did you mean 'exitcode'?"},
    {"path=/x", "did you mean 'report_path'?"},
    {" mode=fix", "did you mean 'mode'?"},
    {"=1", "unknown option ''"},
    {"/x.jsonl", "unknown option '/x.jsonl' is ignored; a path cannot contain ':'"},
    {"y.jsonl", "a path cannot contain ':'"},
    {"b/c=1", "a path cannot contain ':'"},
    {"mode=heal", "'mode' cannot be 'heal', which is ignored; it takes fix, report or off"},
    {"mode=FIX", "it takes fix, report or off"},
    {"strict", "'strict' has no value and is ignored; it takes 0 or 1"},
    {"strict=yes", "it takes 0 or 1"},
    {"strict=", "it takes 0 or 1"},
    {"exitcode=0", "it takes a number from 1 to 255"},
    {"exitcode=256", "it takes a number from 1 to 255"},
    {"exitcode=18446744073709551682", "it takes a number from 1 to 255"},
    {"exitcode=-1", "it takes a number from 1 to 255"},
    {"exitcode=6x", "it takes a number from 1 to 255"},
    {"memory_signal=9", "'9', which is ignored; it takes 0, 10, 12 or a number from 34 to 64"},
    {"memory_signal=33", "it takes 0, 10, 12 or a number from 34 to 64"},
    {"memory_signal=65", "it takes 0, 10, 12 or a number from 34 to 64"},
    {"memory_signal=", "it takes 0, 10, 12 or a number from 34 to 64"},
    {"guard=yes", "it takes off, on, uffd or mprotect"},
    {"guard_budget=2", "it takes off or a share such as 2% or 0.25%, at most 100%"},
    {"guard_budget=0%", "it takes off or a share"},
    {"guard_budget=0.001%", "it takes off or a share"},
    {"guard_budget=.5%", "it takes off or a share"},
    {"guard_budget=1.%", "it takes off or a share"},
    {"guard_budget=100.01%", "at most 100%"},
    {"guard_budget=184467440737095517%", "at most 100%"},
    {"guard_budget=-1%", "it takes off or a share"},
    {"guard_budget=2 %", "it takes off or a share"},
    {"max_held=1T", "it takes a size such as 4096, 32K, 8M or 1G"},
    {"max_held=K", "it takes a size"},
    {"max_held=1KK", "it takes a size"},
    {"max_held=17179869184G", "it takes a size"},
    {"max_held=99999999999999999999", "it takes a size"},
    {"snapshot_max=2M", "it takes a size such as 4096 or 32K, at most 1M"},
    {"snapshot_max=1048577", "at most 1M"},
    {"snapshot_max=17179869184G", "at most 1M"},
    {"stall_limit=10", "it takes a time such as 500ms or 10s"},
    {"stall_limit=1m", "it takes a time"},
    {"stall_limit=9999999999s", "it takes a time"},
    {"device_heap=x", "it takes driver or a size"},
    {"report_path=", "it takes a path"},
    {"verbosity=4", "it takes 0, 1, 2 or 3"},
    {"x\n=1", "unknown option 'x\\u000a'"},
};

START_TEST(a_bad_entry_is_named_and_changes_nothing)
{
    struct sc_options before = options;
    ck_assert_uint_eq(parse(bad[_i].entry), 1);
    ck_assert_uint_eq(said_count, 1);
    ck_assert_msg(strstr(said, bad[_i].words) != NULL, "%s: %s", bad[_i].entry, said);
    ck_assert_uint_eq(options.ignored_count, 1);
    ck_assert_str_eq(options.ignored, bad[_i].entry);
    options.ignored_count = 0;
    options.misspells_strict = false;
    memset(options.ignored, 0, sizeof options.ignored);
    ck_assert_mem_eq(&options, &before, sizeof options);
}
END_TEST

/* Who refuses to go on ignores nothing. */
START_TEST(what_is_checked_is_not_said_to_be_ignored)
{
    ck_assert_uint_eq(parse("stirct=1:mode=x:verbosity"), 3);
    ck_assert_ptr_nonnull(strstr(said,
                                 "unknown option 'stirct' is ignored; did you mean 'strict'? "
                                 "(the run fails when it ends, since strict may be meant)\n"));
    ck_assert_ptr_nonnull(strstr(said, "'mode' cannot be 'x', which is ignored; it takes fix"));
    ck_assert_ptr_nonnull(strstr(said, "'verbosity' has no value and is ignored; it takes 0"));
    set_up();
    ck_assert_uint_eq(sc_options_check(&options, "stirct=1:mode=x:verbosity", listen, said), 3);
    ck_assert_str_eq(said, "unknown option 'stirct'; did you mean 'strict'?\n"
                           "option 'mode' cannot be 'x'; it takes fix, report or off\n"
                           "option 'verbosity' has no value; it takes 0, 1, 2 or 3\n");
    ck_assert(options.misspells_strict);
}
END_TEST

START_TEST(bad_entries_do_not_hide_good_ones)
{
    ck_assert_uint_eq(parse("nope=1:strict=1:mode=x"), 2);
    ck_assert(options.strict);
    ck_assert_str_eq(options.ignored, "nope=1:mode=x");
    ck_assert_uint_eq(sc_options_parse(&options, "again", NULL, NULL), 1);
    ck_assert_uint_eq(options.ignored_count, 3);
    ck_assert_str_eq(options.ignored, "nope=1:mode=x:again");
}
END_TEST

START_TEST(many_bad_entries_are_all_counted)
{
    char text[8 * 1000 + 1];
    for (int i = 0; i < 1000; i++)
        memcpy(text + 8 * i, "bad=val:", 9);
    ck_assert_uint_eq(sc_options_parse(&options, text, NULL, NULL), 1000);
    ck_assert_uint_eq(options.ignored_count, 1000);
    ck_assert_uint_lt(strlen(options.ignored), sizeof options.ignored);
}
END_TEST

START_TEST(a_path_that_is_too_long_is_refused)
{
    static char text[5000];
    strcpy(text, "report_path=");
    memset(text + strlen(text), 'a', SC_OPTIONS_PATH_SIZE - 1);
    ck_assert_uint_eq(parse(text), 0);
    ck_assert_uint_eq(strlen(options.report_path), SC_OPTIONS_PATH_SIZE - 1);
    strcat(text, "b");
    ck_assert_uint_eq(parse(text), 1);
    ck_assert_uint_lt(strlen(said), 300);
    ck_assert_uint_eq(strlen(options.report_path), SC_OPTIONS_PATH_SIZE - 1);
}
END_TEST

static const struct {
    const char *text;
    bool misspells;
} gates[] = {
    {"stric=1", true},
    {"strict=yes", true},
    {"strict", true},
    {"STRICT=1", true},
    {"be_strict", true},
    {"stric=0", false},
    {"strict=1", false},
    {"mode=strict", true},
    {"exitcod=1", false},
    {"/strict=1", false},
    {"stric=1:strict=0", true},
    {"mode=fix,strict=1", true},
    {"mode=fix;STRICT=1", true},
    {"mode=fix strict", true},
    {"mode=fix, strict=1", true},
    {"mode=x,strict=0", false},
    {"mode=x,strict=01", true},
    {"mode=stricter", false},
    {"mode=x,unstrict=1", false},
    {"guard=strict=0", false},
    {"report_path=r.jsonl,strict=1", true},
    {"report_path=r.jsonl;strict", true},
    {"suppressions=a b strict=1", true},
    {"report_path=/a,strict=1/r.jsonl", false},
    {"report_path=strict", false},
    {"report_path=/strict=1", false},
    {"report_path=r,strict=0", false},
    {"exitcode=3,strict=1", true},
    {"fail,strict=1", true},
};

START_TEST(a_misspelt_strict_does_not_leave_the_gate_open)
{
    parse(gates[_i].text);
    ck_assert_int_eq(options.misspells_strict, gates[_i].misspells);
    ck_assert_int_eq(strstr(said, "(the run fails when it ends, since strict may be meant)") !=
                         NULL,
                     gates[_i].misspells);
}
END_TEST

START_TEST(what_goes_with_fewer_features_is_silent)
{
    parse("guard=off:snapshot_max=0:capture=report:python=0:cupti=off:timeline=1:pinned=driver:"
          "device_heap=driver:suppressions=:stall_limit=10s:mode=fix:strict=1");
    ck_assert_uint_eq(said_count, 0);
}
END_TEST

START_TEST(limits_of_new_contexts)
{
    ck_assert_uint_eq(options.stack_limit_bytes, 0);
    ck_assert_uint_eq(options.printf_fifo_bytes, 0);
    parse("device_heap=256M:stack_limit=4K:printf_fifo=16M");
    ck_assert_uint_eq(options.device_heap_bytes, 256 << 20);
    ck_assert_uint_eq(options.stack_limit_bytes, 4096);
    ck_assert_uint_eq(options.printf_fifo_bytes, 16 << 20);
    ck_assert_uint_eq(said_count, 0);
    parse("stack_limit=driver:printf_fifo=much");
    ck_assert_uint_eq(options.stack_limit_bytes, 0);
    ck_assert_uint_eq(options.printf_fifo_bytes, 16 << 20);
    ck_assert_ptr_nonnull(strstr(said, "it takes driver or a size"));
}
END_TEST

/* What sc_options_get gives is itself a valid text of options that means the same. */
START_TEST(values_read_back)
{
    static struct sc_options again;
    char text[8192] = "", value[SC_OPTIONS_PATH_SIZE];
    const char *key;
    parse("max_held=1536M:guard_budget=0.3%:snapshot_max=1000:stall_limit=1500ms:device_heap=0:"
          "mode=off:exitcode=7");
    for (unsigned i = 0; (key = sc_options_get(&options, i, value, sizeof value)); i++) {
        strcat(strcat(strcat(text, key), "="), value);
        strcat(text, ":");
    }
    ck_assert_ptr_nonnull(strstr(text, "max_held=1536M:"));
    ck_assert_ptr_nonnull(strstr(text, "snapshot_max=1000:"));
    ck_assert_ptr_nonnull(strstr(text, "stall_limit=1500ms:"));
    ck_assert_ptr_nonnull(strstr(text, "device_heap=driver:"));
    sc_options_defaults(&again);
    ck_assert_uint_eq(sc_options_parse(&again, text, listen, said), 0);
    again.given = options.given;
    ck_assert_mem_eq(&again, &options, sizeof options);
}
END_TEST

START_TEST(the_table_names_every_key)
{
    char table[8192], value[64];
    const char *key;
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    sc_options_print_table(ends[1]);
    close(ends[1]);
    ssize_t size = 0, count;
    while ((count = read(ends[0], table + size, sizeof table - 1 - (size_t)size)) > 0)
        size += count;
    close(ends[0]);
    table[size] = '\0';
    for (unsigned i = 0; (key = sc_options_get(&options, i, value, sizeof value)); i++)
        ck_assert_msg(strstr(table, key) != NULL, "%s is missing", key);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("options");
    TCase *group = tcase_create("options");
    tcase_add_checked_fixture(group, set_up, NULL);
    tcase_add_test(group, defaults_are_those_of_the_contract);
    tcase_add_test(group, nothing_to_parse_is_no_error);
    tcase_add_test(group, every_key_takes_another_value);
    tcase_add_test(group, the_later_entry_wins);
    tcase_add_test(group, a_choice_is_found_as_it_is_parsed);
    tcase_add_test(group, the_largest_snapshot_is_accepted);
    tcase_add_loop_test(group, shares_are_read_and_shown, 0,
                        (int)(sizeof shares / sizeof shares[0]));
    tcase_add_test(group, every_mechanism_is_read);
    tcase_add_test(group, a_value_may_contain_an_equals_sign);
    tcase_add_loop_test(group, a_bad_entry_is_named_and_changes_nothing, 0,
                        (int)(sizeof bad / sizeof bad[0]));
    tcase_add_test(group, what_is_checked_is_not_said_to_be_ignored);
    tcase_add_test(group, bad_entries_do_not_hide_good_ones);
    tcase_add_test(group, many_bad_entries_are_all_counted);
    tcase_add_test(group, a_path_that_is_too_long_is_refused);
    tcase_add_loop_test(group, a_misspelt_strict_does_not_leave_the_gate_open, 0,
                        (int)(sizeof gates / sizeof gates[0]));
    tcase_add_test(group, what_goes_with_fewer_features_is_silent);
    tcase_add_test(group, limits_of_new_contexts);
    tcase_add_test(group, values_read_back);
    tcase_add_test(group, the_table_names_every_key);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
