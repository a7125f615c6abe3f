/* The parser of suppressions, which mistakes it names and where, and which stacks match. */
#include "report/suppressions.h"

#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES = 8, FRAMES_MAX = 8 };

static struct sc_suppression entries[ENTRIES];
static unsigned count;
static char said[2048];

static void listen(void *context, unsigned line, unsigned column, const char *what)
{
    ck_assert_ptr_eq(context, said);
    size_t used = strlen(said);
    snprintf(said + used, sizeof said - used, "%u:%u %s\n", line, column, what);
}

static void parse_at(const char *text, int64_t now_s)
{
    said[0] = '\0';
    count = sc_suppressions_parse(text, strlen(text), now_s, entries, ENTRIES, listen, said);
}

static void parse(const char *text)
{
    parse_at(text, 0);
}

static void ck_part(struct sc_part part, const char *text)
{
    ck_assert_uint_eq(part.length, strlen(text));
    ck_assert_int_eq(memcmp(part.bytes, text, part.length), 0);
}

START_TEST(an_entry_says_what_it_says)
{
    parse("# a comment\n\n{\n  name:   warp-graph\n\tcode: SC201,SC1*\r\n reason: known: #12, a b\n"
          "expires: 2027-01-31\n copy: ... fun:f*\n  obj:*x.so\n ...\n fun:main\n event:py:*:g\n}\n"
          "{\nname:b\ncode:*\nreason:r\n}");
    ck_assert_str_eq(said, "");
    ck_assert_uint_eq(count, 2);
    ck_part(entries[0].name, "warp-graph");
    ck_part(entries[0].code, "SC201,SC1*");
    ck_part(entries[0].reason, "known: #12, a b");
    ck_part(entries[0].copy, "... fun:f*\n  obj:*x.so\n ...\n fun:main");
    ck_part(entries[0].event, "py:*:g");
    ck_assert(!entries[0].is_expired);
    ck_assert(!entries[1].is_expired);
    ck_assert_uint_eq(entries[1].copy.length, 0);
}
END_TEST

#define HEAD "{\nname: a\ncode: SC101\n"
#define GOOD "\n" HEAD "reason: r\n}\n"

static const struct {
    const char *text, *says;
} bad[] = {
    {"name: a\nmore\n" GOOD, "1:1 'name: a' stands outside of an entry, which begins with '{'\n"},
    {"}" GOOD, "1:1 '}' stands outside of an entry, which begins with '{'\n"},
    {HEAD "}" GOOD, "4:1 the entry lacks 'reason:'\n"},
    {HEAD "  raeson: r\n}" GOOD, "4:3 an entry has no 'raeson'; did you mean 'reason:'?\n"},
    {HEAD "reason: " SC_SUPPRESSIONS_NO_REASON "\n}" GOOD,
     "4:9 the reason is the one that was suggested: say why\n"},
    {HEAD "reason:\n}" GOOD, "4:1 'reason:' wants a value behind it, on the same line\n"},
    {HEAD "reason\n}" GOOD, "4:1 'reason:' wants a value behind it, on the same line\n"},
    {HEAD "name: b\nfun:x\n}" GOOD, "4:1 the entry has 'name:' already\n"},
    {HEAD "copy: ... main\n}" GOOD,
     "4:11 'main' is no frame: one is ..., or fun:, obj:, src: or py: with a pattern\n"},
    {HEAD "copy: ...\n fun:x fun:\n}" GOOD,
     "5:8 'fun:' is no frame: one is ..., or fun:, obj:, src: or py: with a pattern\n"},
    {HEAD "fun:x\n}" GOOD, "4:1 an entry has no 'fun'; did you mean 'name:'?\n"},
    {HEAD "expires: 2027-02-29\n}" GOOD, "4:10 '2027-02-29' is no date; one is as 2027-01-31\n"},
    {HEAD "expires: 2027-2-1\n}" GOOD, "4:10 '2027-2-1' is no date; one is as 2027-01-31\n"},
    {"{\nname: a\ncode: SC101, SC999\n}" GOOD,
     "3:14 there is no hazard 'SC999'; a code is as SC201 or SC2*\n"},
    {"{\nname: a\x1b[2J: b\n}" GOOD, NULL},
    {HEAD GOOD, "5:1 the entry before has no '}'\n"},
    {GOOD HEAD "reason: r", "10:10 the last entry has no '}'\n"},
};

START_TEST(a_malformed_entry_is_named_and_the_others_stay)
{
    parse(bad[_i].text);
    if (bad[_i].says)
        ck_assert_str_eq(said, bad[_i].says);
    ck_assert_ptr_null(strchr(said, '\x1b'));
    ck_assert_uint_eq(count, 1);
}
END_TEST

START_TEST(a_name_has_no_byte_0)
{
    static const char text[] = "{\nname: a\0b\ncode: SC101\nreason: r\n}" GOOD;
    said[0] = '\0';
    count = sc_suppressions_parse(text, sizeof text - 1, 0, entries, ENTRIES, listen, said);
    ck_assert_str_eq(said, "2:8 a byte 0 is no text\n");
    ck_assert_uint_eq(count, 1);
}
END_TEST

START_TEST(there_is_an_end_of_entries)
{
    char text[1024] = "";
    for (unsigned i = 0; i < ENTRIES + 1; i++)
        strcat(text, HEAD "reason: r\n}\n");
    parse(text);
    ck_assert_uint_eq(count, ENTRIES);
    ck_assert_ptr_nonnull(strstr(said, "45:1 there are too many entries"));
}
END_TEST

static const struct {
    const char *pattern, *text;
    bool matches;
} globs[] = {
    {"", "", true},
    {"", "a", false},
    {"*", "", true},
    {"*", "abc", true},
    {"a*c", "abbc", true},
    {"a*c", "abcd", false},
    {"?b?", "abc", true},
    {"?b?", "ab", false},
    {"*a*b*", "xaxbx", true},
    {"*.so*", "/lib/x.so.1", true},
    {"a**b", "ab", true},
    {"*aab", "aaab", true},
    {"abc", "abd", false},
    {"*a?c", "abababc", true},
    {"*b", "aaa", false},
    {"a*?", "a", false},
    {"a*?", "ab", true},
    {"*?*a", "a", false},
    {"*ab*cd*", "abcabcd", true},
};

START_TEST(a_glob_matches_the_whole)
{
    struct sc_part pattern = {globs[_i].pattern, strlen(globs[_i].pattern)};
    ck_assert_int_eq(sc_suppressions_glob(pattern, globs[_i].text), globs[_i].matches);
}
END_TEST

/* A stack "f g h": functions; a word with ':' is a Python frame, one with '/' has no function. */
static char words[FRAMES_MAX][32];

static const char *word_of(void *context, unsigned frame, enum sc_frame_word word)
{
    (void)context;
    const char *said_of = words[frame];
    if (strchr(said_of, ':'))
        return word == SC_FRAME_PYTHON ? said_of : NULL;
    if (strchr(said_of, '/'))
        return word == SC_FRAME_OBJECT ? said_of : NULL;
    return word == SC_FRAME_FUNCTION ? said_of : NULL;
}

static struct sc_suppression_stack stack_of(const char *text)
{
    unsigned frames = 0;
    for (int used; sscanf(text, "%31s%n", words[frames], &used) == 1; text += used)
        frames++;
    return (struct sc_suppression_stack){frames, word_of, NULL};
}

START_TEST(an_entry_is_in_force_up_to_its_last_day)
{
    static const char text[] = "{\nname: a\nreason: r\ncode: *\nexpires: 2027-01-31\n}";
    const int64_t last_s = INT64_C(20849) * 24 * 60 * 60;
    struct sc_suppression_stack none = stack_of("");
    parse_at(text, last_s + 24 * 60 * 60 - 1);
    ck_assert(!entries[0].is_expired);
    ck_assert(sc_suppressions_covers(&entries[0], "SC101", &none, &none));
    parse_at(text, last_s + 24 * 60 * 60);
    ck_assert(entries[0].is_expired);
    ck_assert(!sc_suppressions_covers(&entries[0], "SC101", &none, &none));
}
END_TEST

static const struct {
    const char *patterns, *stack;
    bool matches;
} stacks[] = {
    {"fun:f", "f g h", true},
    {"fun:g", "f g h", false},
    {"... fun:h", "f g h", true},
    {"...", "", true},
    {"fun:f", "", false},
    {"fun:f fun:h", "f g h", false},
    {"fun:f ... fun:h", "f g h", true},
    {"fun:f ... fun:g fun:h", "f g x g h", true},
    {"... fun:a fun:b ... fun:c", "a x a b c", true},
    {"... fun:a fun:b fun:c", "a b a b c", true},
    {"... fun:x", "f g h", false},
    {"fun:f ...", "f", true},
    {"obj:*/libx* fun:g", "/a/libx.so g", true},
    {"py:*/s.py:step", "/a/s.py:step", true},
    {"fun:*", "/a/s.py:step", false},
    {"fun:f fun:g", "f", false},
};

START_TEST(patterns_match_from_the_innermost_frame_on)
{
    struct sc_suppression_stack stack = stack_of(stacks[_i].stack);
    struct sc_suppression entry = {
        .code = {"SC101", 5},
        .event = {stacks[_i].patterns, strlen(stacks[_i].patterns)},
    };
    ck_assert_int_eq(sc_suppressions_covers(&entry, "SC101", &stack, &stack), stacks[_i].matches);
    entry.copy = entry.event;
    entry.event.length = 0;
    ck_assert_int_eq(sc_suppressions_covers(&entry, "SC101", &stack, &stack), stacks[_i].matches);
    ck_assert(!sc_suppressions_covers(&entry, "SC102", &stack, &stack));
}
END_TEST

START_TEST(codes_are_a_list_of_globs)
{
    struct sc_suppression_stack none = {0};
    struct sc_suppression entry = {.code = {" , SC101,,SC2*  SC30?", 21}};
    static const char *const covered[] = {"SC101", "SC201", "SC301"};
    for (unsigned i = 0; i < 3; i++)
        ck_assert(sc_suppressions_covers(&entry, covered[i], &none, &none));
    ck_assert(!sc_suppressions_covers(&entry, "SC102", &none, &none));
}
END_TEST

#define LENGTH(array) ((int)(sizeof(array) / sizeof(array)[0]))

int main(void)
{
    Suite *suite = suite_create("suppressions");
    TCase *group = tcase_create("suppressions");
    tcase_add_test(group, an_entry_says_what_it_says);
    tcase_add_loop_test(group, a_malformed_entry_is_named_and_the_others_stay, 0, LENGTH(bad));
    tcase_add_test(group, a_name_has_no_byte_0);
    tcase_add_test(group, there_is_an_end_of_entries);
    tcase_add_loop_test(group, a_glob_matches_the_whole, 0, LENGTH(globs));
    tcase_add_loop_test(group, patterns_match_from_the_innermost_frame_on, 0, LENGTH(stacks));
    tcase_add_test(group, codes_are_a_list_of_globs);
    tcase_add_test(group, an_entry_is_in_force_up_to_its_last_day);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
