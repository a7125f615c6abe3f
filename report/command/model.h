/* The model: the runs and hazards of reports in words and with frames, from which every format
 * takes what it shows.
 *
 * A run or a hazard is prepared when a format asks for it, and is invalid when the next one is
 * asked for, so memory does not grow with what is shown. A format has to escape each word before a
 * terminal or a page gets it; all words are UTF-8 without NUL. */
#ifndef SC_REPORT_COMMAND_MODEL_H
#define SC_REPORT_COMMAND_MODEL_H

#include "report/command/excerpts.h"
#include "report/command/frames_shown.h"
#include "report/command/hazard_places.h"
#include "report/command/rank_names.h"
#include "report/command/reader.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* A line of a report that could not be read. */
struct sc_bad_line {
    json_int_t number;
    const char *problem; /* "not JSON" */
};

/* A remark about a run, in one line of words, with the stack of the call that it is about. */
struct sc_note {
    const char *words;
    struct sc_frames stack;
};

struct sc_run {
    json_t *record;    /* as in sc_reader.runs */
    const char *file;  /* of the report */
    const char *title; /* "./train -n 4 (pid 7 on node)" */
    const char *name;  /* "./train -n 4", which other runs of the same program have as well */
    json_int_t pid;
    /* what was found ("2 hazards in 7 operations"), and what was not checked */
    struct sc_note *notes;
    size_t note_count;
    const char *counts;         /* the note that says how many hazards; NULL: there is none */
    const struct sc_note *lost; /* the note that says that the context was lost; NULL: it was not */
    json_int_t lost_ns;         /* when the context was lost */
    bool ended;                 /* normally */
    bool replaced; /* by another program in the same process (exec), which has the next run */
    bool reached;  /* false: the process used CUDA, and no call of it came through the library */

    /* why hazards of the run may be missing, besides not having `ended`; NULL: none are */
    const char *doubt;
    struct sc_bad_line *bad_lines; /* the first bad lines */
    size_t bad_line_count;
    json_int_t bad_lines_more; /* how many more bad lines there are */
};

struct sc_shown;
struct sc_filter;
struct sc_baseline;
struct sc_suppressed;

struct sc_model {
    const struct sc_reader *reader;
    struct sc_frame_makers makers; /* with the cache below */
    struct sc_frame_cache cache;
    struct sc_excerpts *excerpts;
    struct sc_hazard_place *chosen; /* the places that are shown, in the order of showing */
    size_t count, new_count;        /* with a baseline, the first `new_count` are new */
    size_t open_count;              /* those that are neither suppressed nor advisories */
    size_t left_out;                /* hazards that the filter does not select */
    /* modules in which hazards cannot be compared with those of the baseline (namings.h) */
    struct sc_open_module *open;
    size_t open_module_count;
    struct sc_baseline *baseline; /* NULL: none */
    /* what is fixed, or has grown since the baseline, is known: neither side may lack hazards, and
     * there are no open modules */
    bool knows_fixed;
    struct sc_rank_names ranks;       /* of the reader's runs */
    struct sc_suppressed *suppressed; /* the caller's; NULL: none */
    struct sc_scratch scratch;        /* of the run or hazard that was prepared last */
    json_t *record;
};

/* Prepares the model of what the reader has read, with a place for each finding. The reader,
 * symbols, rules and excerpts stay the caller's. The model must not be moved afterwards. Returns
 * false if there is no memory. */
bool sc_model_init(struct sc_model *model, const struct sc_reader *reader,
                   struct sc_frame_makers makers, struct sc_excerpts *excerpts);
void sc_model_free(struct sc_model *model);

/* Keeps the hazards that the filter selects (NULL selects all), merges those of one place, and puts
 * those first that are not in the baseline (NULL: there is none). The baseline stays the caller's.
 */
void sc_model_select(struct sc_model *model, const struct sc_filter *filter,
                     struct sc_baseline *baseline);

/* Returns the headline: "2 places with hazards", and whether there may be more that could not be
 * read. Valid until the next run or hazard is prepared. */
const char *sc_model_headline(struct sc_model *model);

/* Returns true if hazard `index` is suppressed, or was in the baseline, so that nobody has to act.
 */
bool sc_model_is_excused(const struct sc_model *model, size_t index);

/* Prepare run `index` of reader->run_count, or hazard `index` of model->count. The result is valid
 * until the next one is prepared. */
const struct sc_run *sc_model_run(struct sc_model *model, size_t index);
const struct sc_shown *sc_model_hazard(struct sc_model *model, size_t index);

/* Prepares the hazard without words and without the comparison with the baseline, which takes half
 * the time. */
const struct sc_shown *sc_model_bare_hazard(struct sc_model *model, size_t index);

/* Returns the words for open module `index` of model->open_module_count. Valid until the next run
 * or hazard is prepared. */
const char *sc_model_open_words(struct sc_model *model, size_t index);

/* Reads the source around a frame; valid as long as the hazard is. No lines: there is no source, or
 * it must not be shown. */
struct sc_excerpt sc_model_excerpt(struct sc_model *model, const struct sc_frame *frame);

#endif
