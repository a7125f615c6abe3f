/* {"runs":[...],"hazards":[...]}: hazards as in a report, with counts over all runs, the names of
 * functions and the fingerprint.
 */
#define _GNU_SOURCE 1
#include "report/command/baseline.h"
#include "report/command/fingerprint.h"
#include "report/command/formats/formats.h"
#include "report/command/formats/json_writer.h"
#include "report/command/memory_sites.h"
#include "report/command/shown.h"

/* Puts the names that the command has found into the frames' records, in place of the report's
 * offsets. */
static void name_frames(const struct sc_frames *stack)
{
    for (size_t i = 0; i < stack->count; i++)
        if (stack->frames[i].named)
            json_array_set(stack->records, stack->frames[i].index, stack->frames[i].named);
}

/* Writes an element of an array that is a member of the outermost object. */
static void print_element(FILE *out, const json_t *element, bool is_first)
{
    fputs(is_first ? "\n    " : ",\n    ", out);
    sc_json_writer_put(out, element, 2);
}

/* Writes the records of all runs, with names in their stacks. */
static void print_runs(FILE *out, struct sc_model *model)
{
    for (size_t i = 0; i < model->reader->run_count; i++) {
        const struct sc_run *run = sc_model_run(model, i);
        for (size_t at = 0; at < run->note_count; at++)
            name_frames(&run->notes[at].stack);
        print_element(out, run->record, i == 0);
    }
}

/* Writes why the hazard is suppressed into its record. A record that says so without a reason does
 * not suppress. */
static void put_suppression(const struct sc_shown *hazard)
{
    if (sc_finding_suppression(hazard->record))
        return;
    if (hazard->suppression)
        json_object_set_new(hazard->record, "suppressed", json_string(hazard->suppression));
    else
        json_object_del(hazard->record, "suppressed");
}

/* Writes all hazards, with their frames named and their fingerprints. */
static void print_hazards(FILE *out, struct sc_model *model)
{
    for (size_t i = 0; i < model->count; i++) {
        const struct sc_shown *hazard = sc_model_hazard(model, i);
        name_frames(&hazard->copy.stack);
        name_frames(&hazard->event.stack);
        name_frames(&hazard->freed.stack);
        for (size_t at = 0; at < hazard->origin_count; at++)
            name_frames(&hazard->origins[at].stack);
        json_object_set_new(hazard->record, "title", json_string(hazard->title));
        const char *fingerprint = sc_fingerprint_make(&model->scratch, hazard);
        json_object_set_new(hazard->record, "fingerprint", json_string(fingerprint));
        json_object_set_new(hazard->record, "fingerprint_version",
                            json_integer(SC_FINGERPRINT_VERSION));
        put_suppression(hazard);
        if (hazard->news)
            json_object_set_new(hazard->record, "baseline", json_string(hazard->news));
        print_element(out, hazard->record, i == 0);
    }
}

struct list {
    FILE *out;
    size_t count;
};

/* Writes the title of a hazard that is in the baseline only (a callback). */
static void print_fixed(void *whom, const char *title)
{
    struct list *list = whom;
    json_t *string = json_string(title);
    print_element(list->out, string, list->count++ == 0);
    json_decref(string);
}

/* Writes the titles of hazards that are in the baseline only. */
static void print_all_fixed(FILE *out, const struct sc_model *model)
{
    struct list list = {.out = out};
    fputs(",\n  \"fixed\": [", out);
    sc_baseline_each_fixed(model->baseline, print_fixed, &list);
    fputs(list.count > 0 ? "\n  ]" : "]", out);
}

/* Writes a hazard that is at more places than in the baseline (a callback). */
static void print_grown(void *whom, const char *title, size_t now, size_t before)
{
    struct list *list = whom;
    json_t *object = json_object();
    json_object_set_new(object, "title", json_string(title));
    json_object_set_new(object, "places", json_integer((json_int_t)now));
    json_object_set_new(object, "baseline_places", json_integer((json_int_t)before));
    print_element(list->out, object, list->count++ == 0);
    json_decref(object);
}

/* Writes which hazards are at more places than in the baseline. */
static void print_all_grown(FILE *out, const struct sc_model *model)
{
    struct list list = {.out = out};
    fputs(",\n  \"grown\": [", out);
    sc_baseline_each_grown(model->baseline, print_grown, &list);
    fputs(list.count > 0 ? "\n  ]" : "]", out);
}

/* Adds a build id: nothing if it is not known, null if the build has none. */
static void put_build_id(json_t *object, const char *key, const char *build_id)
{
    if (build_id)
        json_object_set_new(object, key, build_id[0] != '\0' ? json_string(build_id) : json_null());
}

/* Writes whether functions of this build of a module are known by name or by offset. A later
 * comparison with this output needs that. */
static void print_build(struct list *list, const struct sc_naming *naming)
{
    json_t *build = json_object();
    json_object_set_new(build, "module", json_string(naming->path));
    put_build_id(build, "build_id", naming->build_id);
    json_object_set_new(build, "names", json_boolean(naming->has_names || naming->has_guesses));
    json_object_set_new(build, "offsets", json_boolean(naming->has_offsets));
    print_element(list->out, build, list->count++ == 0);
    json_decref(build);
}

/* Writes the builds and whether their functions have names: a later comparison with this output has
 * to know it. */
static void print_builds(FILE *out, const struct sc_namings *namings)
{
    struct list list = {.out = out};
    const struct sc_module_naming *module = namings ? namings->first : NULL;
    fputs(",\n  \"builds\": [", out);
    for (; module; module = module->next)
        for (const struct sc_naming *naming = module->builds; naming; naming = naming->next)
            if (sc_naming_has_any(naming))
                print_build(&list, naming);
    fputs(list.count > 0 ? "\n  ]" : "]", out);
}

/* Writes where the runs asked for memory, also for a later comparison. */
static void print_memory(FILE *out, struct sc_model *model)
{
    struct list list = {.out = out};
    struct sc_memory_sites own = {0};
    struct sc_memory_sites *sites = model->baseline ? sc_baseline_memory(model->baseline) : &own;
    sc_memory_sites_add_all(sites, model);
    fputs(",\n  \"memory\": [", out);
    for (const struct sc_memory_site *site = sites->first; site; site = site->next) {
        json_t *written = sc_memory_site_write(sites, site);
        print_element(out, written, list.count++ == 0);
        json_decref(written);
    }
    fputs(list.count > 0 ? "\n  ]" : "]", out);
    sc_memory_sites_free(&own);
}

/* Writes a module whose hazards could not be compared with the baseline. */
static void print_open(struct list *list, struct sc_model *model, size_t index)
{
    const struct sc_open_module *open = &model->open[index];
    json_t *object = json_object();
    json_object_set_new(object, "module", json_string(open->new->path));
    put_build_id(object, "build_id", open->new->build_id);
    put_build_id(object, "baseline_build_id", open->old->build_id);
    json_object_set_new(object, "why", json_string(sc_model_open_words(model, index)));
    print_element(list->out, object, list->count++ == 0);
    json_decref(object);
}

/* Lists the modules whose hazards cannot be compared with the baseline. */
static void print_all_open(FILE *out, struct sc_model *model)
{
    struct list list = {.out = out};
    fputs(",\n  \"not_compared\": [", out);
    for (size_t i = 0; i < model->open_module_count; i++)
        print_open(&list, model, i);
    fputs("\n  ]", out);
}

/* Writes all as one JSON object: runs, hazards, builds, memory, and what a comparison with the
 * baseline gave. */
void sc_as_json(FILE *out, struct sc_model *model)
{
    fputs("{\n  \"runs\": [", out);
    print_runs(out, model);
    fputs(model->reader->run_count > 0 ? "\n  ],\n  \"hazards\": [" : "],\n  \"hazards\": [", out);
    print_hazards(out, model);
    fputs(model->count > 0 ? "\n  ]" : "]", out);
    print_builds(out, model->makers.namings);
    print_memory(out, model);
    if (model->open_module_count > 0)
        print_all_open(out, model);
    if (model->knows_fixed) {
        print_all_grown(out, model);
        print_all_fixed(out, model);
    }
    fputs("\n}\n", out);
}
