/* Text as a terminal may be shown it. */
#include "common/text.h"
#include "report/plain.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *text, *shown;
} texts[] = {
    {"", ""},
    {"/opt/app/train \\ \"x\"", "/opt/app/train \\ \"x\""},
    {"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xd7\xa9",
     "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xd7\xa9"},
    {"\033[2J\n\t\r\177", "\\u001b[2J\\u000a\\u0009\\u000d\\u007f"},
    {"\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0", "\\u0080\\u009b\\u009f\xc2\xa0"},
    {"\xd8\x9c\xe2\x80\x8d\xe2\x80\x8e\xe2\x80\x8f", "\\u061c\xe2\x80\x8d\\u200e\\u200f"},
    {"\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xa9", "\xe2\x80\xa7\\u2028\\u2029"},
    {"\xe2\x80\xaa\xe2\x80\xae\xe2\x80\xaf", "\\u202a\\u202e\xe2\x80\xaf"},
    {"\xe2\x81\xa5\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xaa", "\\u2065\\u2066\\u2069\\u206a"},
    {"\xe2\x81\xaf\xe2\x81\xb0\xe1\x85\x9f\xe1\x85\x9e", "\\u206f\xe2\x81\xb0\\u115f\xe1\x85\x9e"},
    {"\xf0\x9d\x85\xb3\xf0\x9d\x85\xba\xf0\x9d\x85\xbb",
     "\\ud834\\udd73\\ud834\\udd7a\xf0\x9d\x85\xbb"},
    {"\xe2\x80\x8b\xe2\x80\x8c\xe2\x81\x9f\xe2\x81\xa0\xe2\x81\xa4",
     "\\u200b\xe2\x80\x8c\xe2\x81\x9f\\u2060\\u2064"},
    {"\xef\xbb\xbe\xef\xbb\xbf\xef\xbf\xb9", "\xef\xbb\xbe\\ufeff\\ufff9"},
    {"\x9b\xff", "\\x9b\\xff"},
    {"\xc2\xe2\x80z", "\\xc2\\xe2\\x80z"},
    {"\xc0\x9b\xc1\xbf", "\\xc0\\x9b\\xc1\\xbf"},
    {"\xe0\x82\x9b", "\\xe0\\x82\\x9b"},
    {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
    {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
};

START_TEST(what_steers_a_terminal_is_escaped)
{
    char bytes[128];
    struct sc_text text = sc_text_in(bytes, sizeof bytes);
    sc_plain_put(&text, texts[_i].text, strlen(texts[_i].text));
    ck_assert_str_eq(bytes, texts[_i].shown);
}
END_TEST

START_TEST(nothing_is_cut_in_two)
{
    static const char full[] = "a\xe2\x82\xac\033\xff";
    char bytes[64];
    struct sc_text text;
    for (size_t size = 1; size <= 15; size++) {
        text = sc_text_in(bytes, size);
        sc_plain_put(&text, full, strlen(full));
        ck_assert_uint_eq(text.used, size <= 1    ? 0
                                     : size <= 4  ? 1
                                     : size <= 10 ? 4
                                     : size <= 14 ? 10
                                                  : 14);
        ck_assert(text.cut == (size < 15));
    }
}
END_TEST

START_TEST(no_text_grows_more_than_is_said)
{
    char bytes[2 * SC_PLAIN_GROWTH + 1];
    struct sc_text text;
    for (unsigned first = 0; first < 256; first++) {
        for (unsigned second = 0; second < 256; second++) {
            const char two[] = {(char)first, (char)second};
            text = sc_text_in(bytes, sizeof bytes);
            sc_plain_put(&text, two, 2);
            ck_assert(!text.cut);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plain");
    TCase *group = tcase_create("plain");
    tcase_add_loop_test(group, what_steers_a_terminal_is_escaped, 0,
                        (int)(sizeof texts / sizeof texts[0]));
    tcase_add_test(group, nothing_is_cut_in_two);
    tcase_add_test(group, no_text_grows_more_than_is_said);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
