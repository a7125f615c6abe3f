#define _GNU_SOURCE 1
#include "report/command/findings.h"

#include "report/command/fields.h"
#include "report/command/hazard_digest.h"
#include "report/command/parse.h"
#include "report/command/tallies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- timings ---- */

/* Makes the digest that a hazard's line and the `timing` line about its copy have in common.
 * False: the line lacks a member. */
static bool digest_instants(const json_t *code, const json_t *stream, const json_t *seq,
                            const json_t *event_time, struct sc_digest *digest)
{
    struct sc_digester digester;
    if (!json_is_string(code) || !json_is_string(stream) || !json_is_integer(seq) ||
        !json_is_integer(event_time))
        return false;
    sc_digest_begin(&digester);
    sc_digest_word(&digester, json_string_value(code));
    sc_digest_word(&digester, json_string_value(stream));
    sc_digest_number(&digester, json_integer_value(seq));
    sc_digest_number(&digester, json_integer_value(event_time));
    *digest = sc_digest_end(&digester);
    return true;
}

/* The moments of one copy and one event, which the last lines of `users` findings are of. */
struct sc_instants {
    struct sc_node node;
    size_t users;
    json_int_t issued_ns;
    struct sc_timing timing;
};

/* Keeps the one of two timings whose copy still ran longer after the event; of equal ones the
 * first. The other's line is freed by who owns it. */
static void keep_longest(struct sc_timing *kept, struct sc_timing *other)
{
    if (!other->line || (kept->line && kept->remaining_ns >= other->remaining_ns))
        return;
    free(kept->line);
    *kept = *other;
    other->line = NULL;
}

/* Copies the other timing if its copy still ran longer after the event. */
static void copy_longest(struct sc_timing *kept, const struct sc_timing *other)
{
    struct sc_timing copy = *other;
    if (!other->line || (kept->line && kept->remaining_ns >= other->remaining_ns))
        return;
    copy.line = strdup(other->line);
    keep_longest(kept, &copy);
}

/* Removes the finding from the record (`instants`) by which a later `timing` line finds it. The
 * finding keeps a copy of the record's timing; the record is freed with its last finding. */
static void leave_instants(struct sc_findings *findings, struct sc_finding *finding)
{
    struct sc_instants *instants = finding->instants;
    finding->instants = NULL;
    if (!instants)
        return;
    copy_longest(&finding->run_timing, &instants->timing);
    if (--instants->users > 0)
        return;
    sc_table_remove(&findings->instants, &instants->node);
    free(instants->timing.line);
    free(instants);
}

/* Finds, or adds, the record by which a `timing` line, written later, finds the hazard that it
 * belongs to. NULL: no memory. */
static struct sc_instants *find_instants(struct sc_findings *findings,
                                         const struct sc_digest *digest)
{
    struct sc_node *node = sc_table_find(&findings->instants, digest);
    if (node)
        return (struct sc_instants *)(void *)node;
    struct sc_instants *instants = calloc(1, sizeof *instants);
    if (!instants)
        return NULL;
    instants->node.digest = *digest;
    if (sc_table_add(&findings->instants, &instants->node))
        return instants;
    free(instants);
    return NULL;
}

/* Makes the finding's latest line the one that a later `timing` line belongs to. */
static void enter_instants(struct sc_findings *findings, struct sc_finding *finding,
                           const json_t *hazard)
{
    const json_t *copy = json_object_get(hazard, "copy");
    struct sc_digest digest;
    leave_instants(findings, finding);
    if (!digest_instants(json_object_get(hazard, "code"), json_object_get(copy, "stream"),
                         json_object_get(copy, "seq"),
                         json_object_get(json_object_get(hazard, "event"), "time_ns"), &digest))
        return;
    finding->instants = find_instants(findings, &digest);
    if (!finding->instants)
        return;
    finding->instants->users++;
    finding->instants->issued_ns = sc_field_number(copy, "time_ns");
}

/* Takes a line about when a hazard's copy was on the device, which comes later than the hazard's.
 * If equal hazards have had a line since, it belongs to none any more. */
void sc_findings_take_timing(struct sc_findings *findings, const json_t *timing, const char *line,
                             size_t size)
{
    struct sc_digest digest;
    if (!digest_instants(json_object_get(timing, "code"), json_object_get(timing, "stream"),
                         json_object_get(timing, "seq"), json_object_get(timing, "event_time_ns"),
                         &digest))
        return;
    struct sc_node *node = sc_table_find(&findings->instants, &digest);
    if (!node)
        return;
    struct sc_instants *instants = (struct sc_instants *)(void *)node;
    struct sc_timing told = {.remaining_ns = sc_field_number(timing, "remaining_ns"),
                             .issued_ns = instants->issued_ns};
    told.line = strndup(line, size);
    keep_longest(&instants->timing, &told);
    free(told.line);
}

/* ---- hazards ---- */

/* Finds, or adds, a finding of the current run; `digest` is of the stacks. */
static struct sc_finding *find_or_add(struct sc_findings *findings, struct sc_digest digest,
                                      json_int_t device)
{
    struct sc_node *node;
    unsigned number = 0;
    for (; (node = sc_table_find(&findings->table_in_run, &digest)) != NULL; number++) {
        struct sc_finding *known = (struct sc_finding *)(void *)node;
        if (known->device == device)
            return known;
        digest.words[1]++;
    }
    struct sc_finding *finding = calloc(1, sizeof *finding);
    if (!finding)
        return NULL;
    finding->node.digest = digest;
    finding->device = device;
    finding->device_number = number;
    if (!sc_table_add(&findings->table_in_run, &finding->node)) {
        free(finding);
        return NULL;
    }
    *(findings->last_in_run ? &findings->last_in_run->next_in_run : &findings->first_in_run) =
        finding;
    findings->last_in_run = finding;
    return finding;
}

/* Returns the device that has too little room, of a hazard about that; 0 for all others. */
static json_int_t device_of(const json_t *hazard)
{
    bool has_room = json_object_get(json_object_get(hazard, "buffer"), "room");
    return has_room ? sc_field_number(json_object_get(hazard, "copy"), "device") : 0;
}

/* Raises the finding's certainty to this one, if it is stronger: observed beats latent. */
static void keep_strongest(struct sc_finding *finding, const char *certainty)
{
    if (strcmp(finding->certainty, "observed") != 0)
        snprintf(finding->certainty, sizeof finding->certainty, "%s", certainty);
}

/* Returns the number of a hazard's code ("SC201": 201), within the size of a table by code. */
unsigned sc_finding_code_number(const char *code)
{
    return strlen(code) > 2 ? (unsigned)atoi(code + 2) % SC_FINDING_CODES : 0;
}

/* Returns why the hazard is suppressed by its own line; NULL: it is not. A line that says so
 * without a reason does not suppress. */
const char *sc_finding_suppression(const json_t *hazard)
{
    const char *reason = sc_field_string(json_object_get(hazard, "suppressed"), "reason", "");
    return reason[0] != '\0' ? reason : NULL;
}

/* Takes the count from a hazard's line. A line is written each time the count of a hazard has
 * doubled, and stands for the occurrences since the line before. But one finding here may be
 * several hazards of the library (two calls in one line of a script, for example), each with its
 * own lines. So both the largest count and the sum of what the lines stand for are kept, and the
 * larger one is used. Lines may come in any order, since threads write them. */
static void add_count(struct sc_finding *finding, json_int_t count)
{
    bool has_doubled = count > 0 && (count & (count - 1)) == 0;
    json_int_t told;
    if (has_doubled && !__builtin_add_overflow(finding->run_told, count - count / 2, &told))
        finding->run_told = told;
    if (finding->run_count < count)
        finding->run_count = count;
    if (finding->run_count < finding->run_told)
        finding->run_count = finding->run_told;
}

/* Takes a hazard's line of the present run: a new finding, or counted with the equal one. Returns
 * false if a frame of its stacks is damaged. */
bool sc_findings_take_hazard(struct sc_findings *findings, const json_t *hazard, const char *line,
                             size_t size)
{
    struct sc_digest digest;
    if (!sc_hazard_digest_make(findings, hazard, &digest))
        return false;
    struct sc_finding *finding = find_or_add(findings, digest, device_of(hazard));
    if (!finding)
        return true;
    add_count(finding, sc_field_number(hazard, "count"));
    snprintf(finding->code, sizeof finding->code, "%s", sc_field_string(hazard, "code", ""));
    free(finding->line);
    finding->line = sc_pieces_pack(&findings->pieces, line, size, &finding->size);
    finding->is_suppressed = sc_finding_suppression(hazard);
    finding->is_advisory = json_is_true(json_object_get(hazard, "advisory"));
    keep_strongest(finding, sc_field_string(hazard, "certainty", "?"));
    enter_instants(findings, finding, hazard);
    return true;
}

/* ---- runs ---- */

static void free_finding(struct sc_finding *finding)
{
    free(finding->run_timing.line);
    free(finding->timing.line);
    free(finding->line);
    sc_run_set_free(&finding->runs);
    free(finding);
}

/* Returns the equal finding of earlier runs, or `of_run` itself if there is none. Returns NULL if
 * memory runs out. */
static struct sc_finding *find_of_all(struct sc_findings *findings, struct sc_finding *of_run)
{
    of_run->node.digest.words[0] ^= sc_builds_number(of_run->builds);
    struct sc_node *node = sc_table_find(&findings->table, &of_run->node.digest);
    if (node)
        return (struct sc_finding *)(void *)node;
    if (!sc_table_add(&findings->table, &of_run->node))
        return NULL;
    *(findings->last ? &findings->last->next : &findings->first) = of_run;
    findings->last = of_run;
    findings->count++;
    return of_run;
}

/* Takes the line of an equal finding of a later run in place of the one that was kept: the last
 * line counts. */
static void take_line(struct sc_finding *finding, struct sc_finding *of_run)
{
    char *before = finding->line;
    finding->line = of_run->line;
    finding->size = of_run->size;
    of_run->line = before;
    finding->is_suppressed = of_run->is_suppressed;
    finding->is_advisory = of_run->is_advisory;
    keep_strongest(finding, of_run->certainty);
}

/* Adds what one run has found to the finding of all runs. */
static void take_run(struct sc_finding *finding, struct sc_finding *of_run, size_t number)
{
    json_int_t all;
    /* Where two runs had as long, the later one's stays. */
    keep_longest(&of_run->run_timing, &finding->timing);
    free(finding->timing.line);
    finding->timing = of_run->run_timing;
    of_run->run_timing = (struct sc_timing){0};
    if (__builtin_add_overflow(finding->count, of_run->run_count, &all))
        all = of_run->run_count;
    finding->count = all;
    finding->is_least = finding->is_least || of_run->run_is_least;
    finding->is_unbounded = finding->is_unbounded || of_run->run_is_unbounded;
    finding->last_run = number;
    sc_run_set_add(&finding->runs, number);
}

/* Moves a finding of a run that has ended to those of all runs. */
static void add_to_all(struct sc_findings *findings, struct sc_finding *of_run)
{
    leave_instants(findings, of_run);
    of_run->builds = findings->run_builds;
    struct sc_finding *finding = find_of_all(findings, of_run);
    if (finding && finding != of_run)
        take_line(finding, of_run);
    if (finding)
        take_run(finding, of_run, findings->ended_runs - 1);
    if (finding != of_run)
        free_finding(of_run);
}

/* Adds the findings of the run that has ended to those of earlier runs. Returns false if there
 * were, or may have been, hazards without a line of their own. */
bool sc_findings_end_run(struct sc_findings *findings, json_t *by_code)
{
    bool are_told = sc_tallies_read_summary(findings, by_code);
    struct sc_finding *of_run = findings->first_in_run;
    findings->ended_runs++;
    findings->run_builds = sc_builds_end_run(&findings->builds);
    findings->first_in_run = findings->last_in_run = NULL;
    sc_table_free(&findings->table_in_run);
    while (of_run) {
        struct sc_finding *next = of_run->next_in_run;
        add_to_all(findings, of_run);
        of_run = next;
    }
    return are_told;
}

/* Frees all findings (hazards of all reports, equal ones together). */
void sc_findings_free(struct sc_findings *findings)
{
    sc_findings_end_run(findings, NULL);
    while (findings->first) {
        struct sc_finding *finding = findings->first;
        findings->first = finding->next;
        free_finding(finding);
    }
    sc_table_free(&findings->table);
    sc_table_free(&findings->instants);
    sc_pieces_free(&findings->pieces);
    sc_builds_free(&findings->builds);
    *findings = (struct sc_findings){0};
}

/* Parses a `timing` line that was kept, and adds when its copy was issued. */
static json_t *read_timing(const struct sc_timing *timing)
{
    json_t *line = sc_parse(timing->line, strlen(timing->line));
    json_object_set_new(line, "copy_time_ns", json_integer(timing->issued_ns));
    return line;
}

/* Returns the finding as the record of a hazard, with what all its runs together tell: the sum of
 * the counts, the strongest certainty, the longest timing. The caller releases it. */
json_t *sc_finding_read(const struct sc_finding *finding)
{
    json_t *hazard = finding->line ? sc_parse_packed(finding->line, finding->size) : NULL;
    if (strcmp(finding->certainty, "observed") == 0)
        json_object_set_new(hazard, "certainty", json_string("observed"));
    if (finding->timing.line)
        json_object_set_new(hazard, "timing", read_timing(&finding->timing));
    json_object_set_new(hazard, "count", json_integer(finding->count));
    if (finding->is_least)
        json_object_set_new(hazard, "count_is_least", json_true());
    json_object_set_new(hazard, "runs", json_integer((json_int_t)finding->runs.count));
    return hazard;
}

/* Compares two findings for qsort: observed ones come first, then those that came more often. */
static int by_weight(const void *a, const void *b)
{
    const struct sc_finding *left = *(struct sc_finding *const *)a;
    const struct sc_finding *right = *(struct sc_finding *const *)b;
    int certainty = strcmp(right->certainty, left->certainty);
    if (certainty != 0)
        return certainty;
    return left->count > right->count ? -1 : left->count < right->count;
}

/* Returns the findings sorted, the gravest first, ended by NULL; the caller frees the list. NULL:
 * no memory. */
struct sc_finding **sc_findings_sort(const struct sc_findings *findings)
{
    struct sc_finding **sorted = calloc(findings->count + 1, sizeof *sorted);
    size_t count = 0;
    if (!sorted)
        return NULL;
    for (struct sc_finding *finding = findings->first; finding; finding = finding->next)
        sorted[count++] = finding;
    qsort(sorted, count, sizeof *sorted, by_weight);
    return sorted;
}
