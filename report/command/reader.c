#define _GNU_SOURCE 1
#include "report/command/reader.h"

#include "report/command/fields.h"
#include "report/command/input.h"
#include "report/command/parse.h"
#include "report/command/progress.h"
#include "report/command/say.h"
#include "report/version.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MISSES_MAX = 256, /* as many as a report tells apart */
    COMPLAINTS_MAX = 100,
};

void sc_reader_free(struct sc_reader *reader)
{
    for (size_t i = 0; i < reader->run_count; i++)
        free(reader->runs[i]);
    free(reader->runs);
    sc_findings_free(&reader->findings);
}

json_t *sc_reader_run(const struct sc_reader *reader, size_t index)
{
    return sc_parse(reader->runs[index], strlen(reader->runs[index]));
}

/* The state of reading one file, which may hold several runs: the first three are of one run. */
struct reading {
    json_t *run; /* as in sc_reader.runs */
    size_t good_lines, bad_lines;
    struct sc_reader *reader;
    const char *name;
    size_t line_number;
    size_t complaints;
    bool is_report;
    bool is_foreign, had_foreign; /* lines are, or some were, of a run of a later schema */
};

static void complain(struct reading *reading, struct sc_input *input, const char *what)
{
    reading->bad_lines++;
    reading->reader->partial = true;
    sc_input_refuse(input);
    if (!reading->reader->quiet && reading->complaints++ < COMPLAINTS_MAX)
        sc_say("%s:%zu: %s; passed over", reading->name, reading->line_number, what);
}

static void tell_further_complaints(const struct reading *reading)
{
    if (reading->complaints > COMPLAINTS_MAX)
        sc_say("%s: %zu more lines are passed over", reading->name,
               reading->complaints - COMPLAINTS_MAX);
}

static bool is_miss(const json_t *line)
{
    return json_is_string(json_object_get(line, "api")) && sc_field_number(line, "count") > 0;
}

static bool is_postmortem(const json_t *line)
{
    return json_is_object(json_object_get(line, "error")) &&
           json_is_object(json_object_get(line, "call"));
}

static bool are_equal_misses(const json_t *a, const json_t *b)
{
    return json_equal(json_object_get(a, "api"), json_object_get(b, "api")) &&
           json_equal(json_object_get(a, "stack"), json_object_get(b, "stack"));
}

/* Of equal ones the last is kept, which counts them all. */
static void take_miss(struct reading *reading, json_t *miss)
{
    size_t index;
    json_t *known, *misses = json_object_get(reading->run, "missed");
    if (!misses) {
        json_object_set_new(reading->run, "missed", json_array());
        misses = json_object_get(reading->run, "missed");
    }
    json_array_foreach(misses, index, known)
    {
        if (are_equal_misses(known, miss)) {
            json_array_set(misses, index, miss);
            return;
        }
    }
    if (json_array_size(misses) < MISSES_MAX)
        json_array_append(misses, miss);
}

/* Tells the symbols what ran. */
static void expect_process(struct sc_symbols *symbols, const json_t *run)
{
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    if (symbols && strcmp(sc_field_string(run, "host", ""), host) == 0)
        sc_symbols_expect_process(symbols, sc_field_number(run, "pid"));
}

static void expect_modules(struct sc_symbols *symbols, const json_t *run)
{
    size_t index;
    json_t *module;
    json_array_foreach(json_object_get(run, "modules"), index, module)
    {
        const char *path = sc_field_string(module, "path", NULL);
        if (symbols && path)
            sc_symbols_expect(symbols, path, sc_field_string(module, "build_id", ""));
    }
}

static void add_run(struct sc_reader *reader, char *text)
{
    size_t count = reader->run_count;
    char **runs = reader->runs;
    if ((count & (count - 1)) == 0) /* there is room for a power of two */
        runs = realloc(runs, (count > 0 ? 2 * count : 1) * sizeof *runs);
    if (!runs || !text) {
        free(text);
        return;
    }
    reader->runs = runs;
    runs[reader->run_count++] = text;
}

static void keep_run(struct sc_reader *reader, json_t *run)
{
    static const char *const not_shown[] = {"modules", "options", "devices", "protections_off"};
    json_t *line = json_object_get(run, "run");
    expect_process(reader->symbols, line);
    expect_modules(reader->symbols, line);
    for (size_t i = 0; reader->brief && i < sizeof not_shown / sizeof not_shown[0]; i++)
        json_object_del(line, not_shown[i]);
    add_run(reader, json_dumps(run, JSON_COMPACT));
}

static void begin_run(struct reading *reading)
{
    reading->good_lines = reading->bad_lines = 0;
    reading->run = json_pack("{s:s,s:n,s:n}", "file", reading->name, "run", "summary");
    if (!reading->run) /* a name that is not UTF-8 */
        reading->run =
            json_pack("{s:s,s:n,s:n}", "file", sc_say_plain(reading->name), "run", "summary");
}

static bool is_same_process(const json_t *run, const json_t *next)
{
    static const char *const names[] = {"pid", "started", "host"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!json_equal(json_object_get(run, names[i]), json_object_get(next, names[i])))
            return false;
    return sc_field_number(run, "started") != 0;
}

/* `next`: the line of the next run in the file, or NULL. */
static void judge_end(struct reading *reading, const json_t *next)
{
    bool is_replaced = is_same_process(json_object_get(reading->run, "run"), next);
    if (json_is_object(json_object_get(reading->run, "summary")))
        return;
    if (is_replaced)
        json_object_set_new(reading->run, "replaced", json_true());
    reading->reader->incomplete = reading->reader->incomplete || !is_replaced;
}

/* Whether all is known that the run has found. */
static bool has_all(struct reading *reading, bool are_told)
{
    const json_t *run = json_object_get(reading->run, "run");
    return are_told && json_is_object(run) && !json_is_true(json_object_get(run, "unreached"));
}

static void end_run(struct reading *reading, const json_t *next)
{
    if (reading->good_lines > 0) {
        struct sc_reader *reader = reading->reader;
        const json_t *summary = json_object_get(reading->run, "summary");
        json_t *by_code = json_object_get(summary, "by_code");
        judge_end(reading, next);
        bool has_found_all = has_all(reading, sc_findings_end_run(&reader->findings, by_code));
        reader->partial = reader->partial || reader->incomplete || !has_found_all;
        json_object_set_new(reading->run, "bad_lines",
                            json_integer((json_int_t)reading->bad_lines));
        keep_run(reading->reader, reading->run);
        reading->is_report = true;
    }
    json_decref(reading->run);
}

/* A process goes on in its file when exec has replaced it, and reports may be strung together. */
static void take_run(struct reading *reading, json_t *run)
{
    if (reading->good_lines > 0) {
        end_run(reading, run);
        begin_run(reading);
    }
    json_object_set(reading->run, "run", run);
}

/* What its lines mean is not known here. */
static void refuse_run(struct reading *reading, const json_t *run)
{
    if (reading->good_lines > 0) {
        end_run(reading, run);
        begin_run(reading);
    }
    reading->had_foreign = true;
    if (reading->reader->quiet)
        return;
    sc_say(
        "%s:%zu: schema %lld, of libsafecopy %s; safecopy %s reads up to %d: take the safecopy of "
        "that version",
        reading->name, reading->line_number, (long long)sc_field_number(run, "schema"),
        sc_say_plain(sc_field_string(run, "version", "?")), SC_VERSION, SC_REPORT_SCHEMA);
}

/* Does the line begin a run, or belong to one, that is not read? */
static bool is_foreign(struct reading *reading, const json_t *line)
{
    if (strcmp(sc_field_string(line, "type", ""), "run") != 0)
        return reading->is_foreign;
    reading->is_foreign = sc_field_number(line, "schema") > SC_REPORT_SCHEMA;
    if (reading->is_foreign)
        refuse_run(reading, line);
    return reading->is_foreign;
}

/* Later modules of the run are as good as those that its line lists. */
static void take_modules(struct reading *reading, json_t *line)
{
    json_t *run = json_object_get(reading->run, "run");
    json_t *known = json_object_get(run, "modules");
    if (json_is_array(known))
        json_array_extend(known, json_object_get(line, "modules"));
    else
        expect_modules(reading->reader->symbols, line);
}

static bool take_line(struct reading *reading, json_t *line, const char *text, size_t size)
{
    const char *type = sc_field_string(line, "type", "");
    struct sc_reader *reader = reading->reader;
    if (strcmp(type, "timing") == 0)
        return sc_findings_take_timing(&reader->findings, line, text, size);
    if (strcmp(type, "hazard") == 0) {
        bool is_hazard = sc_findings_take_hazard(&reader->findings, line, text, size);
        reader->hazardous = reader->hazardous || is_hazard;
        return is_hazard;
    }
    if (strcmp(type, "run") == 0) {
        take_run(reading, line);
    } else if (strcmp(type, "summary") == 0) {
        json_object_set(reading->run, type, line);
        if (sc_field_number(line, "hazards") > 0)
            reader->hazardous = true;
    } else if (strcmp(type, "modules") == 0) {
        take_modules(reading, line);
    } else if (strcmp(type, "coverage") == 0 && is_miss(line)) {
        take_miss(reading, line);
    } else if (strcmp(type, "cupti") == 0 ||
               (strcmp(type, "postmortem") == 0 && is_postmortem(line))) {
        json_object_set(reading->run, type, line);
    } else {
        return false;
    }
    return true;
}

static void count_line(struct reading *reading, struct sc_input *input, bool is_good)
{
    if (is_good)
        reading->good_lines++;
    else
        complain(reading, input, "not a line of a report");
}

static void read_line(struct reading *reading, struct sc_input *input)
{
    reading->line_number++;
    sc_progress_show("lines read", reading->line_number);
    if (input->length == 0 && input->is_whole)
        return;
    if (input->is_cut) {
        complain(reading, input, "longer than a line of a report");
        return;
    }
    json_t *line = sc_parse_line(input->line, input->length, &reading->reader->findings.pieces);
    if (!json_is_object(line))
        complain(reading, input, input->is_whole ? "not JSON" : "the last line is cut");
    else if (!is_foreign(reading, line))
        count_line(reading, input, take_line(reading, line, input->line, input->length));
    json_decref(line);
}

int sc_reader_add(struct sc_reader *reader, const char *name, FILE *stream)
{
    struct reading reading = {.reader = reader, .name = name};
    struct sc_input input;
    int result = sc_input_init(&input, stream) ? 1 : -ENOMEM;
    begin_run(&reading);
    while (result > 0 && (result = sc_input_next(&input)) > 0)
        read_line(&reading, &input);
    end_run(&reading, NULL);
    tell_further_complaints(&reading);
    sc_input_free(&input);
    if (result >= 0 && reading.had_foreign)
        return -ENOTSUP;
    return result < 0 ? result : reading.is_report;
}
