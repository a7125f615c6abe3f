#define _GNU_SOURCE 1
#include "report/command/baseline.h"

#include "report/command/elements.h"
#include "report/command/fields.h"
#include "report/command/fingerprint.h"
#include "report/command/progress.h"
#include "report/command/reader.h"
#include "report/command/say.h"
#include "report/command/shown_hazards.h"
#include "report/command/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct known {
    struct sc_node node;
    struct known *next;
    bool is_there_still;
    char title[];
};

struct sc_baseline {
    struct sc_table table;
    struct known *first, **last; /* in the order of the files */
    bool is_partial;
};

struct sc_baseline *sc_baseline_new(void)
{
    struct sc_baseline *baseline = calloc(1, sizeof *baseline);
    if (baseline)
        baseline->last = &baseline->first;
    return baseline;
}

void sc_baseline_free(struct sc_baseline *baseline)
{
    while (baseline && baseline->first) {
        struct known *known = baseline->first;
        baseline->first = known->next;
        free(known);
    }
    if (baseline)
        sc_table_free(&baseline->table);
    free(baseline);
}

static struct sc_digest digest_of(const char *fingerprint)
{
    struct sc_digester digester;
    sc_digest_begin(&digester);
    sc_digest_word(&digester, fingerprint);
    return sc_digest_end(&digester);
}

static void keep(struct sc_baseline *baseline, const char *fingerprint, const char *title)
{
    struct sc_digest digest = digest_of(fingerprint);
    if (sc_table_find(&baseline->table, &digest))
        return;
    struct known *known = calloc(1, sizeof *known + strlen(title) + 1);
    if (!known)
        return;
    known->node.digest = digest;
    strcpy(known->title, title);
    if (!sc_table_add(&baseline->table, &known->node)) {
        free(known);
        return;
    }
    *baseline->last = known;
    baseline->last = &known->next;
}

/* ---- what json wrote ---- */

static bool take_run(struct sc_baseline *baseline, const json_t *run)
{
    bool is_over = json_is_object(json_object_get(run, "summary")) ||
                   json_is_true(json_object_get(run, "replaced"));
    const json_t *bad_lines = json_object_get(run, "bad_lines");
    bool is_whole = json_is_integer(bad_lines) && json_integer_value(bad_lines) == 0 &&
                    !json_object_get(run, "unreadable") && !json_object_get(run, "lines_missing");
    baseline->is_partial = baseline->is_partial || !is_over || !is_whole;
    return true;
}

static bool take_hazard(struct sc_baseline *baseline, const json_t *hazard)
{
    const char *fingerprint = sc_field_string(hazard, "fingerprint", NULL);
    sc_progress_show("hazards of the baseline read", baseline->table.count);
    if (fingerprint)
        keep(baseline, fingerprint, sc_field_string(hazard, "title", fingerprint));
    return fingerprint != NULL;
}

static const char hazards_key[] = "hazards", runs_key[] = "runs";

static bool take_element(void *baseline, const char *key, const json_t *element)
{
    return (key == hazards_key ? take_hazard : take_run)(baseline, element);
}

/* ---- reports ---- */

static bool keep_report(struct sc_baseline *baseline, const char *path, FILE *stream,
                        const struct sc_frame_makers *makers)
{
    struct sc_reader reader = {.symbols = makers->symbols, .brief = true};
    struct sc_model model;
    bool is_report = sc_reader_add(&reader, path, stream) > 0;
    is_report = sc_model_init(&model, &reader, *makers, NULL) && is_report;
    for (size_t i = 0; is_report && i < model.count; i++) {
        const struct sc_shown *hazard = sc_model_bare_hazard(&model, i);
        keep(baseline, sc_fingerprint_make(&model.scratch, hazard),
             sc_shown_hazards_title(&model.scratch, hazard));
    }
    baseline->is_partial = baseline->is_partial || sc_reader_is_partial(&reader);
    sc_model_free(&model);
    sc_reader_free(&reader);
    return is_report;
}

static bool add_stream(struct sc_baseline *baseline, const char *path, FILE *stream,
                       const struct sc_frame_makers *makers)
{
    static const char *const keys[] = {hazards_key, runs_key, NULL};
    bool was_partial = baseline->is_partial;
    if (sc_elements_each(stream, keys, take_element, baseline))
        return true;
    baseline->is_partial = was_partial;
    rewind(stream);
    return keep_report(baseline, path, stream, makers);
}

bool sc_baseline_add(struct sc_baseline *baseline, const char *path,
                     const struct sc_frame_makers *makers)
{
    FILE *stream = fopen(path, "rbe");
    if (!stream) {
        sc_say("cannot read %s: %s", path, strerror(errno));
        return false;
    }
    bool is_taken = add_stream(baseline, path, stream, makers);
    if (!is_taken)
        sc_say("%s is neither a report nor what --format json wrote of one", path);
    fclose(stream);
    return is_taken;
}

/* ---- asking ---- */

bool sc_baseline_knows(struct sc_baseline *baseline, const char *fingerprint)
{
    struct sc_digest digest = digest_of(fingerprint);
    struct sc_node *node = sc_table_find(&baseline->table, &digest);
    if (node)
        ((struct known *)(void *)node)->is_there_still = true;
    return node;
}

bool sc_baseline_is_partial(const struct sc_baseline *baseline)
{
    return baseline->is_partial;
}

void sc_baseline_each_fixed(const struct sc_baseline *baseline,
                            void take(void *whom, const char *title), void *whom)
{
    for (const struct known *known = baseline->first; known; known = known->next)
        if (!known->is_there_still)
            take(whom, known->title);
}
