#define _GNU_SOURCE 1
#include "report/command/model.h"

#include "report/command/baseline.h"
#include "report/command/filter.h"
#include "report/command/fingerprint.h"
#include "report/command/progress.h"
#include "report/command/say.h"
#include "report/command/shown_hazards.h"
#include "report/command/shown_runs.h"
#include "report/command/suppressed.h"

#include <stdlib.h>
#include <string.h>

static struct sc_choice *choose_all(const struct sc_findings *findings)
{
    struct sc_finding **sorted = sc_findings_sort(findings);
    struct sc_choice *chosen = sorted ? calloc(findings->count + 1, sizeof *chosen) : NULL;
    for (size_t i = 0; chosen && i < findings->count; i++)
        chosen[i].finding = sorted[i];
    free(sorted);
    return chosen;
}

bool sc_model_init(struct sc_model *model, const struct sc_reader *reader,
                   struct sc_frame_makers makers, struct sc_excerpts *excerpts)
{
    *model = (struct sc_model){
        .reader = reader,
        .makers = makers,
        .excerpts = excerpts,
        .chosen = choose_all(&reader->findings),
        .count = reader->findings.count,
    };
    model->makers.cache = &model->cache;
    if (makers.symbols)
        sc_frames_shown_announce(&makers, &reader->findings.pieces);
    return model->chosen != NULL;
}

/* Gives back what was asked for last. */
static void forget(struct sc_model *model)
{
    json_decref(model->record);
    model->record = NULL;
    sc_scratch_reset(&model->scratch);
    sc_frames_shown_trim(&model->cache);
    sc_say_forget();
}

void sc_model_free(struct sc_model *model)
{
    forget(model);
    sc_scratch_free(&model->scratch);
    sc_frames_shown_free(&model->cache);
    free(model->chosen);
}

const char *sc_model_headline(struct sc_model *model)
{
    const char *words = sc_scratch_print(&model->scratch, "%zu place%s with hazards%s",
                                         model->count, model->count == 1 ? "" : "s",
                                         model->reader->unread ? " in what could be read" : "");
    return model->left_out > 0
               ? sc_scratch_print(&model->scratch, "%s; --filter leaves out %zu more", words,
                                  model->left_out)
               : words;
}

const struct sc_run *sc_model_run(struct sc_model *model, size_t index)
{
    forget(model);
    model->record = sc_reader_run(model->reader, index);
    struct sc_run *run = sc_scratch_take(&model->scratch, sizeof *run);
    *run = sc_shown_runs_make(&model->scratch, &model->makers, model->record);
    return run;
}

/* Without its words. */
static struct sc_shown *make_hazard(struct sc_model *model, const struct sc_choice *choice)
{
    forget(model);
    model->record = sc_finding_read(choice->finding);
    struct sc_shown *hazard = sc_scratch_take(&model->scratch, sizeof *hazard);
    *hazard = sc_shown_hazards_make(&model->scratch, &model->makers, model->record);
    hazard->run = choice->finding->last_run;
    if (!hazard->suppression)
        hazard->suppression = choice->suppression;
    return hazard;
}

const struct sc_shown *sc_model_hazard(struct sc_model *model, size_t index)
{
    struct sc_shown *hazard = make_hazard(model, &model->chosen[index]);
    sc_shown_hazards_describe(&model->scratch, hazard);
    if (model->baseline && !hazard->suppression)
        hazard->news = index < model->new_count ? "new" : "unchanged";
    sc_progress_show("hazards shown", index);
    return hazard;
}

const struct sc_shown *sc_model_bare_hazard(struct sc_model *model, size_t index)
{
    return make_hazard(model, &model->chosen[index]);
}

bool sc_model_is_excused(const struct sc_model *model, size_t index)
{
    const struct sc_choice *choice = &model->chosen[index];
    return choice->suppression || choice->finding->is_suppressed ||
           (model->baseline && index >= model->new_count);
}

struct selecting {
    struct sc_model *model;
    const struct sc_filter *filter;
    struct sc_baseline *baseline;
};

/* Whether the hazard is shown, and then whether it counts as new: without a baseline none does. The
 * baseline is told of all. */
static bool takes(const struct selecting *selecting, struct sc_choice *choice, bool *is_new)
{
    struct sc_model *model = selecting->model;
    const struct sc_shown *hazard = make_hazard(model, choice);
    bool is_known =
        !selecting->baseline ||
        sc_baseline_knows(selecting->baseline, sc_fingerprint_make(&model->scratch, hazard));
    if (!sc_filter_takes(selecting->filter, hazard)) {
        model->left_out++;
        return false;
    }
    if (model->suppressed && !hazard->suppression)
        choice->suppression = sc_suppressed_reason(model->suppressed, &model->scratch, hazard);
    bool is_suppressed = hazard->suppression || choice->suppression;
    model->open_count += !is_suppressed;
    *is_new = !is_known && !is_suppressed;
    return true;
}

void sc_model_select(struct sc_model *model, const struct sc_filter *filter,
                     struct sc_baseline *baseline)
{
    const struct selecting selecting = {model, filter, baseline};
    struct sc_choice *known = calloc(model->count + 1, sizeof *known);
    size_t known_count = 0, count = model->count;
    bool is_new;
    if (!known || (!filter && !baseline && !model->suppressed)) {
        free(known);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        struct sc_choice choice = model->chosen[i];
        sc_progress_show("hazards looked at", i);
        if (!takes(&selecting, &choice, &is_new))
            continue;
        *(is_new ? &model->chosen[model->new_count++] : &known[known_count++]) = choice;
    }
    memcpy(model->chosen + model->new_count, known, known_count * sizeof *known);
    model->count = model->new_count + known_count;
    model->baseline = baseline;
    model->knows_fixed =
        baseline && !sc_reader_is_partial(model->reader) && !sc_baseline_is_partial(baseline);
    free(known);
}

struct sc_excerpt sc_model_excerpt(struct sc_model *model, const struct sc_frame *frame)
{
    if (!frame || !frame->file || frame->line <= 0)
        return (struct sc_excerpt){0};
    return sc_excerpts_read(model->excerpts, &model->scratch,
                            sc_frames_shown_path(&model->scratch, frame), (size_t)frame->line);
}
