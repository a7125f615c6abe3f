#define _GNU_SOURCE 1
#include "report/command/reader.h"

#include "report/command/fields.h"
#include "report/command/input.h"
#include "report/command/kept_memory.h"
#include "report/command/line_problem.h"
#include "report/command/parse.h"
#include "report/command/progress.h"
#include "report/command/run_record.h"
#include "report/command/say.h"
#include "report/command/tallies.h"
#include "report/version.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TOLD_MAX = 100 };

/* Frees all runs and findings. */
void sc_reader_free(struct sc_reader *reader)
{
    for (size_t i = 0; i < reader->run_count; i++)
        free(reader->runs[i].text);
    free(reader->runs);
    sc_merged_runs_free(&reader->merged);
    sc_findings_free(&reader->findings);
}

/* Returns the record of a run, parsed anew: parsed, all runs would take too much memory. */
json_t *sc_reader_run(const struct sc_reader *reader, size_t index)
{
    return sc_parse(reader->runs[index].text, strlen(reader->runs[index].text));
}

/* The state of reading one file, which may hold several runs: the first five are of one run. */
struct reading {
    json_t *run; /* as in sc_reader.runs */
    size_t good_lines, bad_lines;
    bool is_later; /* a version after this one wrote it */
    struct sc_kept_memory kept_memory;
    struct sc_reader *reader;
    const char *name;
    size_t line_number;
    size_t told, untold; /* bad lines, by being named on stderr or not */
    bool is_report;
    bool is_unread;               /* lines of the file are */
    bool is_foreign, had_foreign; /* lines are, or some were, of a run of a later schema */
};

static json_t *summary_of(const struct reading *reading)
{
    return json_object_get(reading->run, "summary");
}

/* Counts a line that could not be read; the first ones are named with their problem. */
static void complain(struct reading *reading, struct sc_input *input, const char *problem)
{
    if (reading->bad_lines++ < SC_READER_NAMED_LINES_MAX)
        sc_run_record_add_bad_line(reading->run, reading->line_number, problem);
    sc_input_refuse(input);
}

/* Prints which lines could not be read, at the end of a run: only then it is known whether the file
 * is a report at all. */
static void tell_bad_lines(struct reading *reading)
{
    size_t index, told = reading->told;
    json_t *line;
    json_array_foreach(json_object_get(reading->run, "unread"), index, line)
    {
        if (reading->reader->quiet || reading->told == TOLD_MAX)
            break;
        sc_say("%s:%lld: %s; passed over", reading->name, (long long)sc_field_number(line, "line"),
               sc_field_string(line, "problem", "?"));
        reading->told++;
    }
    reading->untold += reading->bad_lines - (reading->told - told);
}

/* Says how many more lines of the report could not be read. */
static void tell_further_bad_lines(const struct reading *reading)
{
    if (reading->untold > 0 && reading->is_report && !reading->reader->quiet)
        sc_say("%s: %zu more line%s passed over", reading->name, reading->untold,
               reading->untold == 1 ? " is" : "s are");
}

/* Tells the symbols which process ran, as a just-in-time compiler's names are found by it. */
static void expect_process(struct sc_symbols *symbols, const json_t *run)
{
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    if (symbols && strcmp(sc_field_string(run, "host", ""), host) == 0)
        sc_symbols_expect_process(symbols, sc_field_number(run, "pid"));
}

/* Records the builds of the modules that the run had loaded. */
static void note_builds(struct sc_reader *reader, const json_t *run)
{
    size_t index;
    json_t *module;
    json_array_foreach(json_object_get(run, "modules"), index, module)
    {
        const char *path = sc_field_string(module, "path", NULL);
        if (path)
            sc_builds_note(&reader->findings.builds, path, sc_field_string(module, "build_id", ""));
    }
}

/* Keeps the record of a run as text, which this takes over; NULL: no memory. */
static void add_run(struct sc_reader *reader, char *text)
{
    size_t count = reader->run_count;
    struct sc_reader_run *runs = reader->runs;
    if ((count & (count - 1)) == 0) /* there is room for a power of two */
        runs = realloc(runs, (count > 0 ? 2 * count : 1) * sizeof *runs);
    if (!runs || !text) {
        reader->unread = true;
        free(text);
        return;
    }
    reader->runs = runs;
    runs[reader->run_count++] = (struct sc_reader_run){text, reader->findings.run_builds};
}

/* Keeps the record of a run that has ended, or adds it to those that are merged. */
static void keep_run(struct sc_reader *reader, json_t *run)
{
    json_t *line = json_object_get(run, "run");
    if (reader->merges) {
        sc_merged_runs_add(&reader->merged, reader->findings.ended_runs - 1, run);
        return;
    }
    expect_process(reader->symbols, line);
    if (reader->brief)
        json_object_del(line, "modules");
    add_run(reader, json_dumps(run, JSON_COMPACT));
}

/* Begins the record of the next run in the file. */
static void begin_run(struct reading *reading)
{
    reading->good_lines = reading->bad_lines = 0;
    reading->is_later = false;
    reading->kept_memory = (struct sc_kept_memory){0};
    reading->run = sc_run_record_make(reading->name);
}

/* Is the next run the same process, which has become another program? */
static bool is_same_process(const json_t *run, const json_t *next)
{
    static const char *const names[] = {"pid", "started", "host"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!json_equal(json_object_get(run, names[i]), json_object_get(next, names[i])))
            return false;
    return sc_field_number(run, "started") != 0;
}

/* Records how a run without a summary ended: it went on as another program, or its report is
 * incomplete. `next`: the line of the next run in the file, or NULL. */
static void judge_end(struct reading *reading, const json_t *next)
{
    bool is_replaced = is_same_process(json_object_get(reading->run, "run"), next);
    if (json_is_object(summary_of(reading)))
        return;
    if (is_replaced)
        json_object_set_new(reading->run, "replaced", json_true());
    reading->reader->incomplete = reading->reader->incomplete || !is_replaced;
}

/* Notes why hazards of the run may be missing: it did not end, its first line is missing (so it is
 * not known what the library looked for), or no call came through the library. `next`: the first
 * line of the next run in the file, or NULL. */
static void judge_run(struct reading *reading, const json_t *next)
{
    const json_t *run = json_object_get(reading->run, "run");
    judge_end(reading, next);
    if (!json_is_object(run))
        reading->reader->unread = true;
    if (json_is_true(json_object_get(run, "unreached")))
        reading->reader->unreached = true;
}

/* Returns the run's counts by hazard code: the summary's, or without one those of the lines. */
json_t *sc_reader_run_counts(const json_t *run)
{
    json_t *by_code = json_object_get(json_object_get(run, "summary"), "by_code");
    return by_code ? by_code : json_object_get(run, "told");
}

/* Records in a run without an end how many hazards its lines have reported, since it may go on. */
static void note_told(const struct sc_findings *findings, json_t *run)
{
    json_t *told = json_object();
    for (const struct sc_finding *one = findings->first_in_run; one; one = one->next_in_run) {
        json_int_t sum = sc_field_number(told, one->code), more = one->run_count;
        if (!one->is_suppressed && !one->is_advisory && !__builtin_add_overflow(sum, more, &sum))
            json_object_set_new(told, one->code, json_integer(sum));
    }
    if (json_object_size(told) > 0)
        json_object_set(run, "told", told);
    json_decref(told);
}

/* Ends the run in the findings, and notes whether hazards of it may be missing. Called for each
 * run, even for one without hazards, so that runs are numbered alike there. */
static void end_findings(struct sc_reader *reader, json_t *run)
{
    json_t *by_code = json_object_get(json_object_get(run, "summary"), "by_code");
    if (!by_code)
        note_told(&reader->findings, run);
    if (sc_findings_end_run(&reader->findings, by_code))
        return;
    reader->untold = true;
    json_object_set_new(run, "lines_missing", json_true());
}

/* Ends the record of a run. `next`: the first line of the next one, or NULL. */
static void end_run(struct reading *reading, const json_t *next)
{
    if (reading->good_lines > 0) {
        judge_run(reading, next);
        reading->is_report = true;
    }
    if (reading->is_report)
        tell_bad_lines(reading);
    note_builds(reading->reader, json_object_get(reading->run, "run"));
    end_findings(reading->reader, reading->run);
    json_object_set_new(reading->run, "bad_lines", json_integer((json_int_t)reading->bad_lines));
    keep_run(reading->reader, reading->run);
    json_decref(reading->run);
}

/* Ends the record of the run before and begins the next one, unless nothing of a run was read so
 * far: lines that belong to no report count for the run that follows. */
static void go_on_to_run(struct reading *reading, const json_t *next)
{
    if (reading->good_lines == 0 && !json_object_get(reading->run, "unreadable"))
        return;
    end_run(reading, next);
    begin_run(reading);
}

/* Was the report written by a later version, whose lines may say what is not known here? */
static bool is_later_version(const json_t *run)
{
    unsigned major, minor, patch;
    const char *version = sc_field_string(run, "version", "");
    return sscanf(version, "%3u.%3u.%3u", &major, &minor, &patch) == 3 &&
           10000 * major + 100 * minor + patch > SAFECOPY_VERSION;
}

/* Takes the first line of a run, which ends the run before: after exec a process goes on in its
 * file, and reports may be concatenated. */
static void take_run(struct reading *reading, json_t *run)
{
    go_on_to_run(reading, run);
    reading->is_later = is_later_version(run);
    json_object_set(reading->run, "run", run);
}

/* Refuses a run whose lines mean what is not known here, as it is of another format. */
static void refuse_run(struct reading *reading, const json_t *run)
{
    char *why = NULL;
    go_on_to_run(reading, run);
    reading->had_foreign = reading->reader->unread = true;
    if (asprintf(&why, "schema %lld, of libsafecopy %s; safecopy %s reads up to %d",
                 (long long)sc_field_number(run, "schema"),
                 sc_say_plain(sc_field_string(run, "version", "?")), SC_VERSION,
                 SC_REPORT_SCHEMA) < 0)
        why = NULL;
    sc_run_record_set_unreadable(reading->run, why ? why : "a later schema");
    if (!reading->reader->quiet)
        sc_say("%s:%zu: %s: take the safecopy of that version", reading->name, reading->line_number,
               why ? why : "a later schema");
    free(why);
}

/* Does the line belong to a run of a later format? Such a run is refused with its first line. */
static bool is_foreign(struct reading *reading, const json_t *line)
{
    if (strcmp(sc_field_string(line, "type", ""), "run") != 0)
        return reading->is_foreign;
    reading->is_foreign = sc_field_number(line, "schema") > SC_REPORT_SCHEMA;
    if (reading->is_foreign)
        refuse_run(reading, line);
    return reading->is_foreign;
}

/* Adds the modules that a run has loaded later to those that its first line lists. */
static void take_modules(struct reading *reading, json_t *line)
{
    json_t *run = json_object_get(reading->run, "run");
    json_t *known = json_object_get(run, "modules");
    if (json_is_array(known))
        json_array_extend(known, json_object_get(line, "modules"));
    else
        note_builds(reading->reader, line);
}

static bool is_less(const json_t *a, const json_t *b, const char *key)
{
    return sc_field_number(a, key) < sc_field_number(b, key);
}

/* Processes a summary. A process that wrote one on demand and went on writes another one later,
 * which includes the earlier counts. Returns what is wrong with it, or NULL. */
static const char *take_summary(struct reading *reading, json_t *summary)
{
    const json_t *before = summary_of(reading), *by_code = json_object_get(summary, "by_code");
    if (sc_tallies_exceed(&reading->reader->findings, by_code) ||
        is_less(summary, before, "observed") || is_less(summary, before, "latent") ||
        is_less(summary, json_object_get(reading->run, "postmortem"), "hazards"))
        return "a summary counts fewer hazards than there were before it";
    json_object_set(reading->run, "summary", summary);
    if (sc_field_number(summary, "hazards") > 0)
        reading->reader->hazardous = true;
    return NULL;
}

/* Takes a hazard's line into the findings. Returns what is wrong with it, or NULL. */
static const char *take_hazard(struct sc_reader *reader, const json_t *hazard, const char *text,
                               size_t size)
{
    if (!sc_findings_take_hazard(&reader->findings, hazard, text, size))
        return "a frame of a hazard's stacks is damaged";
    reader->hazardous = reader->hazardous || !json_is_true(json_object_get(hazard, "advisory"));
    return NULL;
}

/* Processes the line about a lost context. It counts the hazards up to then, of which a line may
 * still come. Returns what is wrong with it, or NULL. */
static const char *take_postmortem(struct reading *reading, json_t *postmortem)
{
    const json_t *summary = summary_of(reading);
    if (json_is_object(summary) && is_less(summary, postmortem, "hazards"))
        return "a post-mortem counts more hazards than the summary before it";
    json_object_set(reading->run, "postmortem", postmortem);
    if (sc_field_number(postmortem, "hazards") > 0)
        reading->reader->hazardous = true;
    return NULL;
}

/* Takes a line about a failed allocation if it counts more than the last one: threads write their
 * lines in any order, and not each failure has one. */
static void take_oom(struct reading *reading, json_t *line)
{
    if (!is_less(line, json_object_get(reading->run, "oom"), "count"))
        json_object_set(reading->run, "oom", line);
}

/* Takes how many allocations have failed from a memory line that knows of more. */
static void take_failures(struct reading *reading, const json_t *line)
{
    json_t *oom = json_object_get(reading->run, "oom");
    json_t *failures = json_object_get(json_object_get(line, "memory"), "failures");
    if (oom && json_is_integer(failures) &&
        json_integer_value(failures) > sc_field_number(oom, "count"))
        json_object_set(oom, "count", failures);
}

/* Takes a line whose members are as they must be, by its type. Returns what is wrong with it all
 * the same (counts that do not fit, say), or NULL. */
static const char *take_good_line(struct reading *reading, json_t *line, const char *text,
                                  size_t size)
{
    const char *type = sc_field_string(line, "type", "");
    if (strcmp(type, "hazard") == 0)
        return take_hazard(reading->reader, line, text, size);
    if (strcmp(type, "summary") == 0)
        return take_summary(reading, line);
    if (strcmp(type, "postmortem") == 0)
        return take_postmortem(reading, line);
    if (strcmp(type, "timing") == 0)
        sc_findings_take_timing(&reading->reader->findings, line, text, size);
    else if (strcmp(type, "run") == 0)
        take_run(reading, line);
    else if (strcmp(type, "modules") == 0)
        take_modules(reading, line);
    else if (strcmp(type, "memory") == 0)
        sc_kept_memory_take(&reading->kept_memory, &reading->reader->between, reading->run, line);
    else if (strcmp(type, "coverage") == 0)
        sc_run_record_take_miss(reading->run, line);
    else if (strcmp(type, "oom") == 0)
        take_oom(reading, line);
    else
        json_object_set(reading->run, type, line);
    return NULL;
}

/* Takes a line of a report, or passes over it with a complaint. A line of an unknown type is fine
 * in a report of a later version, and none of a report else. */
static void take_line(struct reading *reading, json_t *line, struct sc_input *input)
{
    const char *type = sc_field_string(line, "type", NULL), *problem;
    if (type && sc_line_problem_knows_type(type))
        problem = sc_line_problem_find(line, reading->is_later);
    else if (type && reading->is_later)
        return;
    else
        problem = "not a line of a report";
    if (!problem)
        problem = take_good_line(reading, line, input->line, input->length);
    if (!problem) {
        take_failures(reading, line);
        reading->good_lines++;
        return;
    }
    reading->is_unread = true;
    complain(reading, input, problem);
}

/* Is the line cut off because the process was killed while it wrote? Then its run did not end, and
 * nothing else is wrong. */
static bool is_end_of_killed(const struct reading *reading, const struct sc_input *input)
{
    return !input->is_whole && input->length > 0 && input->line[0] == '{' &&
           !memchr(input->line, '\0', input->length) && !json_is_object(summary_of(reading));
}

/* Counts a line that is no JSON. Only the last one of a killed process is no loss. */
static void pass_over(struct reading *reading, struct sc_input *input)
{
    reading->is_unread = reading->is_unread || !is_end_of_killed(reading, input);
    if (input->is_cut)
        complain(reading, input, "longer than a line of a report");
    else
        complain(reading, input, input->is_whole ? "not JSON" : "the last line is cut");
}

/* Returns whether the line has objects that hardly any other run has: addresses of modules, or
 * amounts of memory. They are not worth sharing. */
static bool is_of_one_run(const struct sc_input *input)
{
    static const char *const types[] = {"\"run\"", "\"modules\"", "\"memory\"", "\"summary\"",
                                        "\"oom\""};
    static const char key[] = "{\"type\":";
    size_t at = sizeof key - 1;
    if (input->length < at + 16 || memcmp(input->line, key, at) != 0)
        return false;
    at += input->line[at] == ' ';
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strncmp(input->line + at, types[i], strlen(types[i])) == 0)
            return true;
    return false;
}

/* Parses a line. Of merged runs, lines that belong to one run only share no parts with others. */
static json_t *parse(struct reading *reading, const struct sc_input *input)
{
    if (input->is_cut)
        return NULL;
    return reading->reader->merges && is_of_one_run(input)
               ? sc_parse(input->line, input->length)
               : sc_parse_line(input->line, input->length, &reading->reader->findings.pieces);
}

/* Reads one line of a report: takes it, or passes over one that is none or of another process. */
static void read_line(struct reading *reading, struct sc_input *input)
{
    reading->line_number++;
    sc_progress_show("lines read", reading->line_number);
    if (input->length == 0 && input->is_whole)
        return;
    json_t *line = parse(reading, input);
    if (!json_is_object(line))
        pass_over(reading, input);
    else if (!is_foreign(reading, line))
        take_line(reading, line, input);
    json_decref(line);
}

/* Records what is wrong with the file as a whole. A process that is killed before its first line is
 * whole has left no report. */
static void judge_file(struct reading *reading, int error)
{
    bool is_started = reading->is_report || reading->had_foreign || reading->good_lines > 0;
    if (error < 0)
        sc_run_record_set_unreadable(reading->run, strerror(-error));
    else if (!is_started)
        sc_run_record_refuse_file(reading->run);
    if (error < 0 || reading->is_unread)
        reading->reader->unread = true;
    if (!is_started)
        reading->reader->incomplete = true;
}

/* Reads a report. Returns 0 if the file is none. Returns a negative value if it cannot be read. */
int sc_reader_add(struct sc_reader *reader, const char *name, FILE *stream)
{
    struct reading reading = {.reader = reader, .name = name};
    struct sc_input input;
    int result = sc_input_init(&input, stream) ? 1 : -ENOMEM;
    begin_run(&reading);
    while (result > 0 && (result = sc_input_next(&input)) > 0)
        read_line(&reading, &input);
    judge_file(&reading, result);
    end_run(&reading, NULL);
    tell_further_bad_lines(&reading);
    sc_input_free(&input);
    if (result >= 0 && reading.had_foreign)
        return -ENOTSUP;
    return result < 0 ? result : reading.is_report;
}

/* Ends reading: adds the record of merged runs, if runs were merged. */
void sc_reader_end(struct sc_reader *reader)
{
    json_t *all = sc_merged_runs_record(&reader->merged);
    if (all)
        add_run(reader, json_dumps(all, JSON_COMPACT));
    json_decref(all);
}

/* Adds a run of which nothing can be read. */
void sc_reader_add_unreadable(struct sc_reader *reader, const char *name, const char *why)
{
    json_t *run = sc_run_record_make(name);
    sc_run_record_set_unreadable(run, why);
    json_object_set_new(run, "bad_lines", json_integer(0));
    reader->unread = true;
    end_findings(reader, run);
    keep_run(reader, run);
    json_decref(run);
}
