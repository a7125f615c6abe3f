#include "report/command/tallies.h"

#include "report/command/fields.h"
#include "report/hazard_counts.h"

#include <stdint.h>
#include <stdlib.h>

/* What the lines say of one code. */
struct tally {
    size_t findings;
    json_int_t occurrences;
    json_int_t least, most; /* that a summary may count: lines come when a count has doubled */
};

enum { CODES = 1000 };

/* A code is "SC" and three digits. */
static unsigned number_of(const char *code)
{
    return (unsigned)atoi(code + 2) % CODES;
}

static json_int_t add_up(json_int_t a, json_int_t b)
{
    json_int_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* The most that there may be before the next line is due. */
static json_int_t most_of(json_int_t count)
{
    json_int_t next = 1;
    while (next <= count && next <= INT64_MAX / 2)
        next *= 2;
    return next <= count ? INT64_MAX : next - 1;
}

/* What is suppressed no summary counts. */
static void tally_lines(const struct sc_findings *findings, struct tally tallies[CODES])
{
    const struct sc_finding *finding = findings->first_in_run;
    for (; finding; finding = finding->next_in_run) {
        struct tally *tally = &tallies[number_of(finding->code)];
        json_int_t least = finding->is_suppressed ? 0 : finding->run_count;
        tally->findings++;
        tally->occurrences = add_up(tally->occurrences, finding->run_count);
        tally->least = add_up(tally->least, least);
        tally->most = add_up(tally->most, most_of(finding->run_count));
    }
}

bool sc_tallies_exceed(const struct sc_findings *findings, const json_t *by_code)
{
    struct tally tallies[CODES] = {0};
    const struct sc_finding *finding = findings->first_in_run;
    tally_lines(findings, tallies);
    for (; finding; finding = finding->next_in_run)
        if (tallies[number_of(finding->code)].least > sc_field_number(by_code, finding->code))
            return true;
    return false;
}

static size_t count_in_run(const struct sc_findings *findings)
{
    size_t count = 0;
    const struct sc_finding *finding = findings->first_in_run;
    for (; finding; finding = finding->next_in_run)
        count++;
    return count;
}

/* Told what the summary says of the code. */
static void make_exact(struct sc_finding *finding, const struct tally *tally, json_int_t said)
{
    if (tally->findings == 1 && said > finding->run_count)
        finding->run_count = said;
    finding->run_is_least =
        tally->findings > 1 && said > tally->occurrences && finding->run_count > 1;
}

bool sc_tallies_read_summary(struct sc_findings *findings, json_t *by_code)
{
    struct tally tallies[CODES] = {0};
    bool are_told = true;
    const char *code;
    json_t *said;
    struct sc_finding *finding = findings->first_in_run;
    for (; finding; finding = finding->next_in_run)
        finding->run_is_least = finding->run_count > 1;
    /* Of more than these a report has no line, and what the summary says may be theirs. */
    if (count_in_run(findings) >= SC_HAZARD_COUNTS_MAX)
        return false;
    tally_lines(findings, tallies);
    json_object_foreach(by_code, code, said)
    {
        are_told = json_integer_value(said) <= tallies[number_of(code)].most && are_told;
    }
    for (finding = findings->first_in_run; finding; finding = finding->next_in_run)
        if (json_object_get(by_code, finding->code))
            make_exact(finding, &tallies[number_of(finding->code)],
                       sc_field_number(by_code, finding->code));
    return are_told;
}
