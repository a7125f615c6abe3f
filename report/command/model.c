#define _GNU_SOURCE 1
#include "report/command/model.h"

#include "report/command/baseline.h"
#include "report/command/filter.h"
#include "report/command/progress.h"
#include "report/command/say.h"
#include "report/command/shown_hazards.h"
#include "report/command/shown_runs.h"
#include "report/command/suppressed.h"

#include <stdlib.h>
#include <string.h>

bool sc_model_init(struct sc_model *model, const struct sc_reader *reader,
                   struct sc_frame_makers makers, struct sc_excerpts *excerpts)
{
    *model = (struct sc_model){
        .reader = reader,
        .makers = makers,
        .excerpts = excerpts,
        .findings = sc_findings_sort(&reader->findings),
        .count = reader->findings.count,
    };
    model->makers.cache = &model->cache;
    return model->findings != NULL;
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
    free(model->findings);
}

const struct sc_run *sc_model_run(struct sc_model *model, size_t index)
{
    forget(model);
    model->record = sc_reader_run(model->reader, index);
    struct sc_run *run = sc_scratch_take(&model->scratch, sizeof *run);
    *run = sc_shown_runs_make(&model->scratch, &model->makers, model->record);
    return run;
}

const struct sc_shown *sc_model_hazard(struct sc_model *model, size_t index)
{
    forget(model);
    model->record = sc_finding_read(model->findings[index]);
    struct sc_shown *hazard = sc_scratch_take(&model->scratch, sizeof *hazard);
    *hazard = sc_shown_hazards_make(&model->scratch, &model->makers, model->record);
    hazard->run = model->findings[index]->last_run;
    if (model->suppressed && !hazard->suppression)
        hazard->suppression = sc_suppressed_reason(model->suppressed, &model->scratch, hazard);
    if (model->baseline && !hazard->suppression)
        hazard->news = index < model->new_count ? "new" : "unchanged";
    sc_progress_show("hazards shown", index);
    return hazard;
}

void sc_model_select(struct sc_model *model, const struct sc_filter *filter,
                     struct sc_baseline *baseline)
{
    struct sc_finding **known = calloc(model->count + 1, sizeof *known);
    size_t known_count = 0, count = model->count;
    if (!known || (!filter && !baseline && !model->suppressed)) {
        free(known);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const struct sc_shown *hazard = sc_model_hazard(model, i);
        bool is_known = !baseline || sc_baseline_knows(baseline, hazard->fingerprint);
        if (!sc_filter_takes(filter, hazard))
            continue;
        model->open_count += !hazard->suppression;
        if (is_known || hazard->suppression)
            known[known_count++] = model->findings[i];
        else
            model->findings[model->new_count++] = model->findings[i];
    }
    memcpy(model->findings + model->new_count, known, known_count * sizeof *known);
    model->count = model->new_count + known_count;
    /* Nothing is known to be fixed where lines of hazards are lost. */
    model->baseline = sc_reader_has_lost_hazards(model->reader) ? NULL : baseline;
    free(known);
}

struct sc_excerpt sc_model_excerpt(struct sc_model *model, const struct sc_frame *frame)
{
    if (!frame || !frame->file || frame->line <= 0)
        return (struct sc_excerpt){0};
    return sc_excerpts_read(model->excerpts, &model->scratch,
                            sc_frames_shown_path(&model->scratch, frame), (size_t)frame->line);
}
