#define _GNU_SOURCE 1
#include "report/command/formats/page_overview.h"

#include "report/command/baseline.h"
#include "report/command/fields.h"
#include "report/command/formats/page_json.h"
#include "report/options.h"

#include <string.h>
#include <sys/stat.h>

enum { RUNS_MAX = 200 };

/* Writes a member of the page's data, and frees the value. */
static void put(FILE *out, const char *name, json_t *value)
{
    fprintf(out, "\"%s\":", name);
    sc_page_json_put(out, value);
    fputs(",\n", out);
    json_decref(value);
}

/* ---- codes ---- */

struct total {
    char code[8];
    size_t places, observed;
    json_int_t times;
};

/* Returns the sums of a code; a new one is added. */
static struct total *total_of(struct total *totals, size_t *count, const char *code)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp(totals[i].code, code) == 0)
            return &totals[i];
    if (*count == SC_FINDING_CODES)
        return &totals[*count - 1];
    strcpy(totals[*count].code, code);
    return &totals[(*count)++];
}

/* Makes the sums of one hazard code. */
static json_t *write_total(const struct total *total)
{
    json_t *value = json_object();
    sc_page_json_add(value, "code", total->code);
    json_object_set_new(value, "places", json_integer((json_int_t)total->places));
    json_object_set_new(value, "observed", json_integer((json_int_t)total->observed));
    json_object_set_new(value, "times", json_integer(total->times));
    return value;
}

/* Sums the hazards by code, also those that have no room in the page. */
static json_t *write_codes(struct sc_model *model)
{
    struct total *totals = sc_scratch_take(&model->scratch, SC_FINDING_CODES * sizeof *totals);
    size_t count = 0;
    json_t *codes = json_array();
    for (size_t i = 0; i < model->count; i++) {
        const struct sc_hazard_place *place = &model->chosen[i];
        struct total *total = total_of(totals, &count, place->finding->code);
        total->places++;
        total->observed += strcmp(place->finding->certainty, "observed") == 0;
        total->times += place->count;
    }
    for (size_t i = 0; i < count; i++)
        json_array_append_new(codes, write_total(&totals[i]));
    return codes;
}

/* ---- runs ---- */

/* Adds when the report was written to last, which is when the run ended unless the file is a
 * copy. */
static void add_written(json_t *value, const char *path)
{
    struct stat status;
    if (stat(path, &status) == 0 && S_ISREG(status.st_mode))
        json_object_set_new(value, "written", json_integer(status.st_mtime));
}

/* Returns the options that are not as they would be without SAFECOPY_OPTIONS. The report's path is
 * left out: each run has its own. */
static json_t *write_options(const json_t *options)
{
    struct sc_options usual;
    char value[SC_OPTIONS_PATH_SIZE];
    json_t *others = json_array();
    sc_options_defaults(&usual);
    for (unsigned i = 0;; i++) {
        const char *key = sc_options_get(&usual, i, value, sizeof value);
        if (!key)
            return others;
        const char *in_force = sc_field_string(options, key, value);
        if (strcmp(in_force, value) != 0 && strcmp(key, "report_path") != 0) {
            json_t *entry = json_sprintf("%s=%s", key, in_force);
            json_array_append_new(others, entry ? entry : json_string("?"));
        }
    }
}

/* Adds the driver's version as people write it: 13000 is 13.0. */
static void add_driver(json_t *value, struct sc_scratch *scratch, const json_t *line)
{
    json_int_t version = sc_field_number(line, "driver_version");
    if (version > 0)
        sc_page_json_add(
            value, "driver",
            sc_scratch_print(scratch, "%d.%d", (int)(version / 1000), (int)(version % 1000 / 10)));
}

/* Adds the names of the devices. */
static void add_devices(json_t *value, const json_t *line)
{
    size_t index;
    json_t *device, *devices = json_array();
    json_array_foreach(json_object_get(line, "devices"), index, device) json_array_append_new(
        devices, json_string_nocheck(json_is_string(device) ? json_string_value(device) : "?"));
    json_object_set_new(value, "devices", devices);
}

/* Does the page's table show the note already: hazards, operations or the exit status? */
static bool is_in_columns(const struct sc_run *run, const char *words, const json_t *summary)
{
    return words == run->counts && sc_field_number(summary, "advisories") == 0 &&
           sc_field_number(summary, "suppressed") == 0;
}

/* Returns the notes of a run that the page's table does not show already. */
static json_t *write_notes(const struct sc_run *run, const json_t *summary)
{
    json_t *notes = json_array();
    for (size_t i = 0; i < run->note_count; i++)
        if (!is_in_columns(run, run->notes[i].words, summary))
            sc_page_json_append(notes, run->notes[i].words);
    return notes;
}

/* Makes what the page shows of one run. doubt: its result cannot be relied on. */
static json_t *write_run(struct sc_model *model, size_t index)
{
    const struct sc_run *run = sc_model_run(model, index);
    const json_t *line = json_object_get(run->record, "run");
    const json_t *summary = json_object_get(run->record, "summary");
    json_t *value = json_object();
    sc_page_json_add(value, "file", run->file);
    sc_page_json_add(value, "title", run->title);
    sc_page_json_add(value, "rank", sc_field_string(line, "rank", NULL));
    sc_page_json_add(value, "version", sc_field_string(line, "version", NULL));
    add_written(value, run->file);
    add_driver(value, &model->scratch, line);
    add_devices(value, line);
    if (json_object_get(line, "options"))
        json_object_set_new(value, "options", write_options(json_object_get(line, "options")));
    json_object_set_new(value, "notes", write_notes(run, summary));
    json_object_set_new(value, "ended", json_boolean(run->ended || run->replaced));
    if (json_is_object(summary)) {
        json_object_set_new(value, "hazards", json_integer(sc_field_number(summary, "hazards")));
        json_object_set_new(value, "operations",
                            json_integer(sc_field_number(summary, "operations")));
    }
    if (json_is_integer(json_object_get(summary, "exit_status")))
        json_object_set_new(value, "status", json_integer(sc_field_number(summary, "exit_status")));
    if (run->doubt || !run->reached)
        json_object_set_new(value, "doubt", json_true());
    return value;
}

/* Writes the first RUNS_MAX runs, and how many there are. */
static void put_runs(FILE *out, struct sc_model *model)
{
    size_t count = model->reader->run_count;
    fprintf(out, "\"run_count\":%zu,\n\"runs\":[", count);
    for (size_t i = 0; i < count && i < RUNS_MAX; i++) {
        json_t *value = write_run(model, i);
        fputs(i > 0 ? ",\n" : "\n", out);
        sc_page_json_put(out, value);
        json_decref(value);
    }
    fputs("],\n", out);
}

/* ---- since the baseline ---- */

/* Adds a hazard that is at more places than in the baseline (a callback). */
static void add_grown(void *list, const char *title, size_t now, size_t before)
{
    json_t *words = json_sprintf("unchanged, but at %zu places here and %zu in the baseline: %s",
                                 now, before, title);
    json_array_append_new(list, words);
}

/* Adds a hazard that is in the baseline only (a callback). */
static void add_fixed(void *list, const char *title)
{
    json_t *words = json_sprintf("fixed since the baseline: %s", title);
    json_array_append_new(list, words);
}

/* Makes what the comparison with the baseline gave besides new hazards. */
static json_t *write_baseline(struct sc_model *model)
{
    json_t *list = json_array();
    for (size_t i = 0; i < model->open_module_count; i++)
        json_array_append_new(list, json_sprintf("not compared with the baseline: %s",
                                                 sc_model_open_words(model, i)));
    if (model->knows_fixed) {
        sc_baseline_each_grown(model->baseline, add_grown, list);
        sc_baseline_each_fixed(model->baseline, add_fixed, list);
    }
    return list;
}

/* Writes what the page shows above its hazards, for its script. */
void sc_page_overview_write(FILE *out, struct sc_model *model, size_t shown)
{
    put(out, "headline", json_string_nocheck(sc_model_headline(model)));
    put(out, "place_count", json_integer((json_int_t)model->count));
    put(out, "open_count",
        json_integer((json_int_t)model->open_count)); /* that have to be mended */
    put(out, "shown", json_integer((json_int_t)shown));
    put(out, "codes", write_codes(model));
    put_runs(out, model);
    put(out, "baseline", write_baseline(model));
}
