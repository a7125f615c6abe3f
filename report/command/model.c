#define _GNU_SOURCE 1
#include "report/command/model.h"

#include "report/command/baseline.h"
#include "report/command/filter.h"
#include "report/command/fingerprint.h"
#include "report/command/progress.h"
#include "report/command/say.h"
#include "report/command/shown.h"
#include "report/command/shown_hazards.h"
#include "report/command/shown_runs.h"
#include "report/command/suppressed.h"

#include <stdlib.h>
#include <string.h>

/* Makes a place of each finding. */
static struct sc_hazard_place *choose_all(const struct sc_findings *findings)
{
    struct sc_finding **sorted = sc_findings_sort(findings);
    struct sc_hazard_place *chosen = sorted ? calloc(findings->count + 1, sizeof *chosen) : NULL;
    for (size_t i = 0; chosen && i < findings->count; i++)
        chosen[i] = sc_hazard_place_of(sorted[i]);
    free(sorted);
    return chosen;
}

/* Makes the model of what is shown: all findings of the reader, before any are filtered. The
 * symbolizer is told which frames will be asked for. False: no memory. */
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
        sc_frames_shown_announce(&makers, &reader->findings.pieces, &reader->findings.builds);
    return sc_rank_names_make(&model->ranks, reader) && model->chosen;
}

/* Frees what sc_model_run or sc_model_hazard returned last. */
static void forget(struct sc_model *model)
{
    json_decref(model->record);
    model->record = NULL;
    sc_scratch_reset(&model->scratch);
    sc_frames_shown_trim(&model->cache);
    sc_say_forget();
}

/* Frees the model; what it has shown is gone. */
void sc_model_free(struct sc_model *model)
{
    forget(model);
    sc_scratch_free(&model->scratch);
    sc_frames_shown_free(&model->cache);
    for (size_t i = 0; model->chosen && i < model->count; i++)
        sc_hazard_place_free(&model->chosen[i]);
    free(model->chosen);
    free(model->open);
    sc_rank_names_free(&model->ranks);
}

/* Returns " (N stacks)" if there are more stacks than places, as where one line has several calls
 * or a library's frames below it differ; else "". */
static const char *stacks_in_words(struct sc_model *model)
{
    size_t stacks = 0;
    for (size_t i = 0; i < model->count; i++)
        stacks += model->chosen[i].stacks;
    return stacks > model->count ? sc_scratch_print(&model->scratch, " (%zu stacks)", stacks) : "";
}

/* Returns the headline: how many places with hazards, and what is left out. */
const char *sc_model_headline(struct sc_model *model)
{
    const char *words = sc_scratch_print(
        &model->scratch, "%zu place%s with hazards%s%s", model->count, model->count == 1 ? "" : "s",
        stacks_in_words(model), model->reader->unread ? " in what could be read" : "");
    return model->left_out > 0
               ? sc_scratch_print(&model->scratch, "%s; --filter leaves out %zu more", words,
                                  model->left_out)
               : words;
}

/* Returns the run, ready to be shown, until the next one is asked for. */
const struct sc_run *sc_model_run(struct sc_model *model, size_t index)
{
    forget(model);
    model->record = sc_reader_run(model->reader, index);
    model->makers.builds = model->reader->runs[index].builds;
    struct sc_run *run = sc_scratch_take(&model->scratch, sizeof *run);
    *run = sc_shown_runs_make(&model->scratch, &model->makers, model->record);
    return run;
}

/* Did this run have the hazard? (A callback.) */
static bool had_it(const void *runs, size_t run)
{
    return sc_run_set_has((const struct sc_run_set *)runs, run);
}

/* Returns which ranks have had the hazard, as "0-2, 5", of runs that were merged. */
static const char *merged_ranks(struct sc_model *model, const struct sc_run_set *runs)
{
    struct sc_run_set ranks = sc_rank_map_ranks(&model->reader->merged.ranks, runs);
    const char *words = sc_rank_map_words(&model->scratch, &ranks);
    sc_run_set_free(&ranks);
    return words;
}

/* Returns which ranks have had the hazard, of runs that were kept one by one. */
static const char *kept_ranks(struct sc_model *model, const struct sc_run_set *runs)
{
    const char *words = sc_rank_names_are_several(&model->ranks)
                            ? sc_rank_names_words(&model->ranks, &model->scratch, had_it, runs)
                            : NULL;
    return words ? words + strcspn(words, " ") + 1 : NULL;
}

/* Adds which ranks have had the hazard. */
static void name_ranks(struct sc_model *model, const struct sc_hazard_place *place)
{
    const struct sc_run_set *runs = sc_hazard_place_runs(place);
    const char *words = model->reader->merges ? merged_ranks(model, runs) : kept_ranks(model, runs);
    if (words)
        json_object_set_new(model->record, "ranks", json_string(words));
}

/* Reads a hazard's record and finds its frames, without the words for it. */
static struct sc_shown *make_hazard(struct sc_model *model, const struct sc_hazard_place *place)
{
    forget(model);
    model->record = sc_hazard_place_read(place);
    name_ranks(model, place);
    model->makers.builds = place->finding->builds;
    struct sc_shown *hazard = sc_scratch_take(&model->scratch, sizeof *hazard);
    *hazard = sc_shown_hazards_make(&model->scratch, &model->makers, model->record);
    hazard->run = model->reader->merges ? 0 : place->finding->last_run;
    if (!hazard->suppression)
        hazard->suppression = place->suppression;
    return hazard;
}

/* Returns the hazard, ready to be shown, until the next one is asked for. */
const struct sc_shown *sc_model_hazard(struct sc_model *model, size_t index)
{
    struct sc_shown *hazard = make_hazard(model, &model->chosen[index]);
    sc_shown_hazards_describe(&model->scratch, hazard);
    if (model->baseline && !hazard->suppression)
        hazard->news = index < model->new_count ? "new" : "unchanged";
    if (model->knows_fixed && model->chosen[index].known)
        hazard->grown = sc_baseline_grown_words(model->chosen[index].known, &model->scratch);
    sc_progress_show("hazards shown", index);
    return hazard;
}

/* Returns a hazard with its frames, but without words and without the comparison with the
 * baseline. */
const struct sc_shown *sc_model_bare_hazard(struct sc_model *model, size_t index)
{
    return make_hazard(model, &model->chosen[index]);
}

/* Does the hazard not make a run fail: is it suppressed, an advisory, or known from the
 * baseline? */
bool sc_model_is_excused(const struct sc_model *model, size_t index)
{
    const struct sc_hazard_place *place = &model->chosen[index];
    return place->suppression || place->finding->is_suppressed || place->finding->is_advisory ||
           (model->baseline && index >= model->new_count);
}

struct selecting {
    struct sc_model *model;
    const struct sc_filter *filter;
    struct sc_baseline *baseline;
};

/* Decides whether the filter selects the hazard. If so, fills in the place, and stores the digest
 * by which places are merged: hazards that are suppressed, and others, are never merged. Without a
 * baseline no place is new. Looks in the baseline also for hazards that are not selected, since
 * these are not fixed. */
static bool takes(const struct selecting *selecting, struct sc_hazard_place *place,
                  struct sc_digest *digest)
{
    struct sc_model *model = selecting->model;
    const struct sc_shown *hazard = make_hazard(model, place);
    sc_fingerprint_note_namings(hazard);
    struct sc_baseline *baseline = selecting->baseline;
    struct sc_baseline_hazard *known =
        baseline ? sc_baseline_find(baseline, sc_fingerprint_make(&model->scratch, hazard)) : NULL;
    if (!sc_filter_takes(selecting->filter, hazard)) {
        model->left_out++;
        return false;
    }
    if (model->suppressed && !hazard->suppression)
        place->suppression = sc_suppressed_reason(model->suppressed, &model->scratch, hazard);
    bool is_suppressed = hazard->suppression || place->suppression;
    place->is_new = baseline && !known && !is_suppressed;
    place->known = is_suppressed ? NULL : known;
    place->has_lines = known && sc_fingerprint_place_has_lines(hazard);
    *digest = sc_fingerprint_place(hazard);
    digest->words[0] ^= is_suppressed;
    digest->words[1] ^= place->finding->device_number;
    return true;
}

/* Merges findings at the same place into one place. The most important finding comes first
 * (sc_findings_sort), and represents the place. */
static void merge(const struct selecting *selecting, struct sc_hazard_places *places)
{
    struct sc_model *model = selecting->model;
    size_t count = model->count;
    model->count = 0;
    for (size_t i = 0; i < count; i++) {
        struct sc_hazard_place place = model->chosen[i], *known;
        struct sc_digest digest;
        sc_progress_show("hazards looked at", i);
        if (!takes(selecting, &place, &digest))
            continue;
        known = sc_hazard_places_find(places, &digest, &model->chosen[model->count]);
        if (known == &model->chosen[model->count]) {
            *known = place;
            model->count++;
            if (place.known)
                sc_baseline_note_place(place.known, place.has_lines);
        } else {
            sc_hazard_place_merge(known, &place);
        }
    }
}

/* Keeps the hazards that the filter selects, merges those of one place, and sorts them, new ones
 * first. Counts those that are new, and those that are neither suppressed nor advisories, and
 * finds the modules whose hazards cannot be compared with the baseline's. */
void sc_model_select(struct sc_model *model, const struct sc_filter *filter,
                     struct sc_baseline *baseline)
{
    const struct selecting selecting = {model, filter, baseline};
    struct sc_hazard_places places = {0};
    merge(&selecting, &places);
    sc_hazard_places_free(&places);
    sc_hazard_places_make_exact(model->chosen, model->count, &model->reader->findings);
    sc_hazard_places_sort(model->chosen, model->count);
    for (size_t i = 0; i < model->count; i++) {
        const struct sc_hazard_place *place = &model->chosen[i];
        model->new_count += place->is_new;
        model->open_count +=
            !place->suppression && !place->finding->is_suppressed && !place->finding->is_advisory;
    }
    model->baseline = baseline;
    if (baseline && model->makers.namings)
        model->open = sc_namings_compare(sc_baseline_namings(baseline), model->makers.namings,
                                         &model->open_module_count);
    model->knows_fixed = baseline && !sc_reader_is_partial(model->reader) &&
                         !sc_baseline_is_partial(baseline) && model->open_module_count == 0;
}

/* Returns in words which module's hazards cannot be compared with the baseline, and why. */
const char *sc_model_open_words(struct sc_model *model, size_t index)
{
    return sc_namings_open_words(&model->scratch, &model->open[index]);
}

/* Returns the source lines around the frame; none if it has no line. */
struct sc_excerpt sc_model_excerpt(struct sc_model *model, const struct sc_frame *frame)
{
    if (!frame || !frame->file || frame->line <= 0)
        return (struct sc_excerpt){0};
    return sc_excerpts_read(model->excerpts, &model->scratch,
                            sc_frames_shown_path(&model->scratch, frame), (size_t)frame->line);
}
