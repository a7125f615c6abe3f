/* Commands of the GitHub runner: one annotation a place. The runner shows ten errors of a step; the
 * gravest come first.
 */
#include "report/command/baseline.h"
#include "report/command/formats/escape.h"
#include "report/command/formats/formats.h"
#include "report/command/formats/source_place.h"
#include "report/command/shown.h"
#include "report/command/table.h"

#include <stdlib.h>
#include <string.h>

#define IN_MESSAGE "\r\n"
#define IN_PROPERTY "\r\n:,"

/* Runs and modules in doubt, and hazards at more places than before, that are told of. */
enum { DOUBTS_MAX = 4 };

/* A place that has its annotation. */
struct seen {
    struct sc_node node;
    struct seen *next;
};

struct places {
    struct sc_table table;
    struct seen *first;
};

/* Records the hazard's code and line. Returns whether it is the first of its code at the line:
 * GitHub shows one note per line. */
static bool note_place(struct places *places, const char *code, const char *path, json_int_t line)
{
    struct sc_digester digester;
    sc_digest_begin(&digester);
    sc_digest_word(&digester, code);
    sc_digest_word(&digester, path);
    sc_digest_number(&digester, line);
    struct sc_digest digest = sc_digest_end(&digester);
    struct seen *seen = sc_table_find(&places->table, &digest) ? NULL : calloc(1, sizeof *seen);
    if (!seen)
        return false;
    seen->node.digest = digest;
    seen->next = places->first;
    places->first = seen;
    sc_table_add(&places->table, &seen->node);
    return true;
}

/* Frees the places that were annotated. */
static void forget(struct places *places)
{
    sc_table_free(&places->table);
    while (places->first) {
        struct seen *seen = places->first;
        places->first = seen->next;
        free(seen);
    }
}

/* Returns how GitHub is to show the hazard: an error, unless it is old, suppressed or may be
 * meant. */
static const char *level_of(const struct sc_shown *hazard)
{
    if (hazard->suppression)
        return "notice";
    bool is_old = hazard->news && strcmp(hazard->news, "unchanged") == 0;
    bool is_advisory = json_is_true(json_object_get(hazard->record, "advisory"));
    return is_old || is_advisory ? "warning" : "error";
}

/* Writes an annotation of GitHub Actions at the hazard's source line; one for each line and code,
 * since GitHub shows few. */
static void print_hazard(FILE *out, struct sc_model *model, const struct sc_shown *hazard,
                         struct places *places)
{
    const struct sc_frame *frame = sc_source_place_of(hazard);
    const char *path = frame ? sc_source_place_path(&model->scratch, frame) : hazard->title;
    if (!note_place(places, hazard->code, path, frame ? frame->line : 0))
        return;
    fprintf(out, "::%s ", level_of(hazard));
    if (frame) {
        fputs("file=", out);
        sc_escape_percent(out, path, IN_PROPERTY);
        fprintf(out, ",line=%" JSON_INTEGER_FORMAT ",", frame->line);
    }
    fputs("title=", out);
    sc_escape_percent(out, hazard->code, IN_PROPERTY);
    fputs(" ", out);
    sc_escape_percent(out, hazard->name, IN_PROPERTY);
    fputs("::", out);
    sc_escape_percent(out, hazard->title, IN_MESSAGE);
    fprintf(out, "%%0AWhat to do: %s.\n", hazard->advice);
}

/* Writes the first run that lost its context, as an error at the user's line. */
static void print_lost(FILE *out, struct sc_model *model)
{
    for (size_t i = 0; i < model->reader->run_count; i++) {
        const struct sc_run *run = sc_model_run(model, i);
        if (!run->lost)
            continue;
        const struct sc_frame *frame = run->lost->stack.user;
        fputs("::error ", out);
        if (frame && frame->file && frame->line > 0) {
            fputs("file=", out);
            sc_escape_percent(out, sc_source_place_path(&model->scratch, frame), IN_PROPERTY);
            fprintf(out, ",line=%" JSON_INTEGER_FORMAT ",", frame->line);
        }
        fputs("title=post-mortem::", out);
        sc_escape_percent(out, run->lost->words, IN_MESSAGE);
        fputs("\n", out);
        return;
    }
}

/* Prints the first runs in which hazards may be missing. */
static void print_doubts(FILE *out, struct sc_model *model)
{
    size_t count = 0;
    for (size_t i = 0; i < model->reader->run_count; i++) {
        const struct sc_run *run = sc_model_run(model, i);
        if (!run->doubt || ++count > DOUBTS_MAX)
            continue;
        fputs("::error title=hazards may be missing::", out);
        sc_escape_percent(out, run->file, IN_MESSAGE);
        fputs(": ", out);
        sc_escape_percent(out, run->doubt, IN_MESSAGE);
        fputs("\n", out);
    }
    if (count > DOUBTS_MAX)
        fprintf(out, "::error title=hazards may be missing::and in %zu more run%s\n",
                count - DOUBTS_MAX, count - DOUBTS_MAX == 1 ? "" : "s");
}

/* Warns of modules whose hazards cannot be compared with the baseline, as their frames have no
 * names on one side. */
static void print_open(FILE *out, struct sc_model *model)
{
    for (size_t i = 0; i < model->open_module_count && i < DOUBTS_MAX; i++) {
        fputs("::warning title=not compared with the baseline::", out);
        sc_escape_percent(out, sc_model_open_words(model, i), IN_MESSAGE);
        fputs("\n", out);
    }
}

struct grown {
    FILE *out;
    size_t count;
};

/* Notes that a known hazard is at more places than in the baseline (a callback); only the first
 * DOUBTS_MAX. */
static void print_grown(void *of, const char *title, size_t now, size_t before)
{
    struct grown *grown = of;
    if (++grown->count > DOUBTS_MAX)
        return;
    fprintf(grown->out,
            "::notice title=more places than in the baseline::unchanged, but at %zu places here "
            "and %zu in the baseline, so one may be new: ",
            now, before);
    sc_escape_percent(grown->out, title, IN_MESSAGE);
    fputs("\n", grown->out);
}

/* Notes all known hazards that are at more places now. Nothing if the baseline was not read
 * whole. */
static void print_all_grown(FILE *out, const struct sc_model *model)
{
    struct grown grown = {.out = out};
    if (model->knows_fixed)
        sc_baseline_each_grown(model->baseline, print_grown, &grown);
    if (grown.count > DOUBTS_MAX)
        fprintf(out, "::notice title=more places than in the baseline::and %zu more\n",
                grown.count - DOUBTS_MAX);
}

/* Writes the report as annotations of GitHub Actions: first what casts doubt on the result, then
 * the hazards. */
void sc_as_github(FILE *out, struct sc_model *model)
{
    struct places places = {0};
    print_doubts(out, model);
    print_open(out, model);
    print_lost(out, model);
    print_all_grown(out, model);
    for (size_t i = 0; i < model->count; i++)
        print_hazard(out, model, sc_model_hazard(model, i), &places);
    forget(&places);
}
