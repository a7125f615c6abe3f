#include "report/command/line_problem.h"

#include "report/command/fields.h"

#include <stddef.h>
#include <string.h>

/* ---- values ---- */

static bool is_count(json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) >= 0;
}

static bool is_positive(json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) > 0;
}

static bool is_integer(json_t *value)
{
    return json_is_integer(value);
}

static bool is_string(json_t *value)
{
    return json_is_string(value);
}

static bool is_object(json_t *value)
{
    return json_is_object(value);
}

static bool is_array(json_t *value)
{
    return json_is_array(value);
}

/* Is it an exit status, or null for one that is not known? */
static bool is_status(json_t *value)
{
    return json_is_integer(value) || json_is_null(value);
}

/* Is it "MAJOR.MINOR.PATCH", with whatever follows? A sign is no part of a version. */
static bool is_version(json_t *value)
{
    const char *at = json_string_value(value);
    for (int part = 0; at && part < 3; part++) {
        size_t digits = strspn(at, "0123456789");
        if (digits == 0 || digits > 3 || (part < 2 && at[digits] != '.'))
            return false;
        at += digits + (part < 2);
    }
    return at && *at != '.';
}

static bool is_boolean(json_t *value)
{
    return json_is_boolean(value);
}

/* Has the text the form of a hazard's code? One that is not known here is good, too: a later
 * version may have more. */
static bool are_code(const char *text)
{
    return strncmp(text, "SC", 2) == 0 && strspn(text + 2, "0123456789") == 3 && text[5] == '\0';
}

/* Is it the code of a hazard, as SC201? */
static bool is_code(json_t *value)
{
    return json_is_string(value) && json_string_length(value) == 5 &&
           are_code(json_string_value(value));
}

/* Is it one of these words? */
static bool is_one_of(json_t *value, const char *const *words)
{
    const char *word = json_string_value(value);
    while (word && *words && strcmp(word, *words) != 0)
        words++;
    return word && *words;
}

/* Is it a certainty that there is? Another word cannot be judged, whichever version has written
 * it. */
static bool is_certainty(json_t *value)
{
    static const char *const words[] = {"observed", "latent", NULL};
    return is_one_of(value, words);
}

static bool is_action(json_t *value)
{
    static const char *const words[] = {
#define SC_ACTION(action, word, outcome) word,
#include "common/hazard.def"
        NULL};
    return is_one_of(value, words);
}

/* Is it a call: an object with a function and a stack? */
static bool is_call(json_t *value)
{
    return json_is_string(json_object_get(value, "api")) &&
           json_is_array(json_object_get(value, "stack"));
}

/* Is it an object of codes and counts? */
static bool is_by_code(json_t *value)
{
    const char *code;
    json_t *count;
    if (!json_is_object(value))
        return false;
    json_object_foreach(value, code, count)
    {
        if (!are_code(code) || !is_positive(count))
            return false;
    }
    return true;
}

/* ---- members ---- */

struct member {
    const char *key;
    bool (*is_good)(json_t *value);
    const char *problem;
    bool may_be_missing;
    bool may_be_new; /* a later version may have another word */
};

enum { MEMBERS_MAX = 7 };

static const struct type {
    const char *name;
    struct member members[MEMBERS_MAX]; /* up to one without a key */
} types[] = {
    {"run",
     {{"schema", is_positive, "the schema of the run is missing or damaged", false, false},
      {"version", is_version, "the version of the run is damaged", true, false},
      {"unreached", is_boolean, "a member of the run, `unreached`, is damaged", true, false}}},
    {"modules", {{"modules", is_array, "the modules are missing or damaged", false, false}}},
    {"hazard",
     {{"code", is_code, "the code of a hazard is missing or damaged", false, false},
      {"name", is_string, "the name of a hazard is missing or damaged", false, false},
      {"certainty", is_certainty, "the certainty of a hazard is missing or damaged", false, false},
      {"action", is_action, "the action of a hazard is missing or damaged", false, true},
      {"copy", is_call, "the copy of a hazard is missing or damaged", false, false},
      {"event", is_call, "the event of a hazard is missing or damaged", false, false},
      {"count", is_positive, "the count of a hazard is missing or damaged", false, false}}},
    {"timing",
     {{"code", is_code, "the code of a timing is missing or damaged", false, false},
      {"remaining_ns", is_integer, "the time of a timing is missing or damaged", false, false}}},
    {"coverage",
     {{"api", is_string, "the call that passed by is missing or damaged", false, false},
      {"count", is_positive, "the count of a call is missing or damaged", false, false}}},
    {"cupti", {{"state", is_string, "the state of CUPTI is missing or damaged", false, false}}},
    {"postmortem",
     {{"error", is_object, "the error of a post-mortem is missing or damaged", false, false},
      {"call", is_object, "the call of a post-mortem is missing or damaged", false, false},
      {"hazards", is_count, "the hazards of a post-mortem are damaged", true, false},
      {"by_code", is_by_code, "the counts of a post-mortem by code are damaged", true, false}}},
    {"oom",
     {{"api", is_string, "the call that failed is missing or damaged", false, false},
      {"verdict", is_string, "the verdict of a failure is missing or damaged", false, false},
      {"count", is_positive, "the count of failures is missing or damaged", false, false}}},
    {"memory", {{"memory", is_object, "what is held is missing or damaged", false, false}}},
    {"summary",
     {{"hazards", is_count, "the hazards of a summary are missing or damaged", false, false},
      {"observed", is_count, "a count of a summary, `observed`, is missing or damaged", false,
       false},
      {"latent", is_count, "a count of a summary, `latent`, is missing or damaged", false, false},
      {"by_code", is_by_code, "the counts of a summary by code are missing or damaged", false,
       false},
      {"suppressed", is_count, "a count of a summary, `suppressed`, is damaged", true, false},
      {"advisories", is_count, "a count of a summary, `advisories`, is damaged", true, false},
      {"exit_status", is_status, "the exit status of a summary is damaged", true, false}}},
};

/* Returns what members a line of this type must have; NULL: there is no such type. */
static const struct type *find_type(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    return NULL;
}

bool sc_line_problem_knows_type(const char *type)
{
    return find_type(type);
}

/* Is the member as it must be? One that may have new words is also good in a report of a later
 * version. */
static bool is_good(const struct member *member, json_t *value, bool is_later)
{
    if (!value)
        return member->may_be_missing;
    return member->is_good(value) || (member->may_be_new && is_later && json_is_string(value));
}

/* Do the counts of a summary fit together? Each hazard is observed or latent, and has one code, as
 * each advisory has. */
static bool do_counts_agree(const json_t *summary)
{
    const char *code;
    json_t *count;
    json_int_t hazards = sc_field_number(summary, "hazards"), sum, coded = 0;
    bool overflows = __builtin_add_overflow(sc_field_number(summary, "observed"),
                                            sc_field_number(summary, "latent"), &sum);
    json_object_foreach(json_object_get(summary, "by_code"), code, count)
    {
        overflows = __builtin_add_overflow(coded, json_integer_value(count), &coded) || overflows;
    }
    overflows =
        overflows || __builtin_sub_overflow(coded, sc_field_number(summary, "advisories"), &coded);
    return !overflows && sum == hazards && coded == hazards;
}

/* Returns what is wrong with a line of a report, or NULL if nothing is. */
const char *sc_line_problem_find(const json_t *line, bool is_later)
{
    const struct type *type = find_type(sc_field_string(line, "type", ""));
    for (size_t i = 0; i < MEMBERS_MAX && type->members[i].key; i++) {
        const struct member *member = &type->members[i];
        if (!is_good(member, json_object_get(line, member->key), is_later))
            return member->problem;
    }
    bool is_summary = strcmp(type->name, "summary") == 0;
    return is_summary && !do_counts_agree(line) ? "the counts of a summary do not agree" : NULL;
}
