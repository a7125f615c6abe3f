#include "report/command/tallies.h"

#include "report/command/fields.h"
#include "report/hazard_counts.h"

#include <stdint.h>

/* What the lines say of one code. */
struct tally {
    size_t findings;
    json_int_t occurrences;
    json_int_t least, most; /* that a summary may count: lines come when a count has doubled */
};

/* Returns the sum, at most INT64_MAX: a report may have any numbers. */
static json_int_t add_up(json_int_t a, json_int_t b)
{
    json_int_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* Returns how often, at most, a hazard has happened whose last line says `count`: another line
 * would have been written when the count had reached the next power of two. */
static json_int_t most_of(json_int_t count)
{
    json_int_t next = 1;
    while (next <= count && next <= INT64_MAX / 2)
        next *= 2;
    return next <= count ? INT64_MAX : next - 1;
}

/* Adds up by code what the run's lines tell. What is suppressed no summary counts. */
static void tally_lines(const struct sc_findings *findings, struct tally tallies[SC_FINDING_CODES])
{
    const struct sc_finding *finding = findings->first_in_run;
    for (; finding; finding = finding->next_in_run) {
        struct tally *tally = &tallies[sc_finding_code_number(finding->code)];
        json_int_t least = finding->is_suppressed ? 0 : finding->run_count;
        tally->findings++;
        tally->occurrences = add_up(tally->occurrences, finding->run_count);
        tally->least = add_up(tally->least, least);
        tally->most = add_up(tally->most, most_of(finding->run_count));
    }
}

/* Do the lines of hazards tell more than the summary counts? Then the report is damaged. */
bool sc_tallies_exceed(const struct sc_findings *findings, const json_t *by_code)
{
    struct tally tallies[SC_FINDING_CODES] = {0};
    const struct sc_finding *finding = findings->first_in_run;
    tally_lines(findings, tallies);
    for (; finding; finding = finding->next_in_run)
        if (tallies[sc_finding_code_number(finding->code)].least >
            sc_field_number(by_code, finding->code))
            return true;
    return false;
}

/* Returns how many findings the present run has. */
static size_t count_in_run(const struct sc_findings *findings)
{
    size_t count = 0;
    const struct sc_finding *finding = findings->first_in_run;
    for (; finding; finding = finding->next_in_run)
        count++;
    return count;
}

/* Sets how often a hazard came exactly, if what the summary says of its code leaves only one
 * number. */
static void make_exact(struct sc_finding *finding, const struct tally *tally, json_int_t said)
{
    if (tally->findings == 1 && said > finding->run_count)
        finding->run_count = said;
    finding->run_is_least =
        tally->findings > 1 && said > tally->occurrences && finding->run_count > 1;
    finding->run_is_unbounded = false;
}

/* Notes how many more occurrences of the code the summary counts than the lines tell of, if the
 * code has several findings, since it is not known to which of them those belong. */
static void share(struct sc_findings *findings, const struct tally *tally, const char *code,
                  json_int_t said)
{
    json_int_t *shared = &findings->shared[sc_finding_code_number(code)];
    if (tally->findings > 1 && said > tally->occurrences)
        *shared = add_up(*shared, said - tally->occurrences);
}

/* Reads from the summary how often each hazard came, where the lines tell only the first times.
 * Returns false if the summary counts more than its lines can tell, or there are so many hazards
 * that further ones got no line. */
bool sc_tallies_read_summary(struct sc_findings *findings, json_t *by_code)
{
    struct tally tallies[SC_FINDING_CODES] = {0};
    bool are_told = true;
    const char *code;
    json_t *said;
    struct sc_finding *finding = findings->first_in_run;
    for (; finding; finding = finding->next_in_run)
        finding->run_is_least = finding->run_is_unbounded = finding->run_count > 1;
    /* A report has no lines for more than these, and what the summary says may be theirs. */
    if (count_in_run(findings) >= SC_HAZARD_COUNTS_MAX)
        return false;
    tally_lines(findings, tallies);
    json_object_foreach(by_code, code, said)
    {
        const struct tally *tally = &tallies[sc_finding_code_number(code)];
        are_told = json_integer_value(said) <= tally->most && are_told;
        share(findings, tally, code, json_integer_value(said));
    }
    for (finding = findings->first_in_run; finding; finding = finding->next_in_run)
        if (json_object_get(by_code, finding->code))
            make_exact(finding, &tallies[sc_finding_code_number(finding->code)],
                       sc_field_number(by_code, finding->code));
    return are_told;
}
