#define _GNU_SOURCE 1
#include "report/command/shown_ranks.h"

#include "report/command/fields.h"
#include "report/command/say.h"

#include <stdlib.h>
#include <string.h>

#define NUMBER "%" JSON_INTEGER_FORMAT
#define PLAIN(text) sc_say_plain(text)

enum { COLUMNS = 7 };

static const char *const heads[COLUMNS] = {"rank",    "host",  "pid",   "operations",
                                           "hazards", "ended", "report"};

struct row {
    const char *cells[COLUMNS];
};

/* What is said of runs, and of which: in the order of its first run. */
struct remark {
    const char *words;
    bool *of; /* by run */
};

struct ranks {
    struct sc_scratch scratch; /* what lasts longer than a run that is asked for */
    struct row *rows;
    struct remark *remarks;
    size_t remark_count, remark_room, run_count;
    const char *program; /* that all are runs of; NULL: of several */
};

/* ---- making ---- */

/* Returns a copy that lives as long as the table, made safe for a terminal. */
static const char *keep(struct ranks *ranks, const char *text)
{
    return sc_scratch_print(&ranks->scratch, "%s", PLAIN(text));
}

/* Returns how the run has ended. */
static const char *end_of(struct ranks *ranks, const struct sc_run *run, const json_t *summary)
{
    const json_t *status = json_object_get(summary, "exit_status");
    if (!run->ended)
        return run->replaced ? "as another program" : "no";
    return json_is_integer(status)
               ? sc_scratch_print(&ranks->scratch, "status " NUMBER, json_integer_value(status))
               : "yes";
}

/* Makes the row of a run in the table. */
static void make_row(struct ranks *ranks, struct row *row, const struct sc_run *run,
                     const char *rank)
{
    const json_t *begin = json_object_get(run->record, "run");
    const json_t *summary = json_object_get(run->record, "summary");
    *row = (struct row){{
        keep(ranks, rank),
        keep(ranks, sc_field_string(begin, "host", "?")),
        sc_scratch_print(&ranks->scratch, NUMBER, run->pid),
        run->ended
            ? sc_scratch_print(&ranks->scratch, NUMBER, sc_field_number(summary, "operations"))
            : "?",
        run->ended ? sc_scratch_print(&ranks->scratch, NUMBER, sc_field_number(summary, "hazards"))
                   : "?",
        end_of(ranks, run, summary),
        keep(ranks, run->file),
    }};
}

/* Records that the words are said of this run: those that many runs share are printed once. */
static void remark(struct ranks *ranks, const char *words, size_t index)
{
    size_t at = 0;
    while (at < ranks->remark_count && strcmp(ranks->remarks[at].words, words) != 0)
        at++;
    if (at == ranks->remark_room) {
        size_t room = 2 * at + 8;
        struct remark *more = sc_scratch_take(&ranks->scratch, room * sizeof *more);
        if (at > 0)
            memcpy(more, ranks->remarks, at * sizeof *more);
        ranks->remarks = more;
        ranks->remark_room = room;
    }
    if (at == ranks->remark_count) {
        bool *of = sc_scratch_take(&ranks->scratch, ranks->run_count * sizeof *of);
        ranks->remarks[ranks->remark_count++] = (struct remark){words, of};
    }
    ranks->remarks[at].of[index] = true;
}

/* Returns the note's words, with the user's own place where a call is meant. */
static const char *with_place(struct ranks *ranks, struct sc_model *model,
                              const struct sc_note *note)
{
    const char *words = keep(ranks, note->words);
    if (!note->stack.user)
        return words;
    return sc_scratch_print(&ranks->scratch, "%s: %s", words,
                            PLAIN(sc_frames_shown_place(&model->scratch, note->stack.user)));
}

/* Makes a run's row and its notes. */
static void take_run(struct ranks *ranks, struct sc_model *model, size_t at)
{
    size_t index = model->ranks.in_order[at];
    const struct sc_run *run = sc_model_run(model, index);
    make_row(ranks, &ranks->rows[at], run, model->ranks.names[index]);
    const char *program = keep(ranks, run->name + strcspn(run->name, ":") + 2);
    if (at == 0)
        ranks->program = program;
    else if (ranks->program && strcmp(ranks->program, program) != 0)
        ranks->program = NULL;
    for (size_t i = 0; i < run->note_count; i++)
        if (run->notes[i].words != run->counts)
            remark(ranks, with_place(ranks, model, &run->notes[i]), index);
}

/* ---- printing ---- */

/* Prints the table with columns as wide as their widest cell. */
static void print_table(FILE *out, const struct row *rows, size_t count)
{
    size_t widths[COLUMNS];
    for (size_t column = 0; column < COLUMNS; column++) {
        widths[column] = strlen(heads[column]);
        for (size_t i = 0; i < count; i++) {
            size_t width = strlen(rows[i].cells[column]);
            widths[column] = width > widths[column] ? width : widths[column];
        }
    }
    for (size_t i = 0; i <= count; i++) {
        const char *const *cells = i == 0 ? heads : rows[i - 1].cells;
        fputs("   ", out);
        for (size_t column = 0; column + 1 < COLUMNS; column++)
            fprintf(out, " %-*s ", (int)widths[column], cells[column]);
        fprintf(out, " %s\n", cells[COLUMNS - 1]);
    }
}

/* Does the remark hold for this run? (A callback; `of` has a flag for each run.) */
static bool is_of_remark(const void *of, size_t run)
{
    return ((const bool *)of)[run];
}

/* Prints each note with the ranks that have it. */
static void print_remarks(FILE *out, struct ranks *ranks, struct sc_model *model)
{
    const char *missing = sc_rank_names_missing(&model->ranks, &ranks->scratch);
    for (size_t i = 0; i < ranks->remark_count; i++) {
        const struct remark *one = &ranks->remarks[i];
        const char *of = sc_rank_names_words(&model->ranks, &ranks->scratch, is_of_remark, one->of);
        fprintf(out, "    %s: %s\n", of ? PLAIN(of) : "?", one->words);
    }
    if (missing)
        fprintf(out, "    no report here of %s\n", missing);
}

/* Prints a table with a row for each rank, and remarks on what ranks differ in. */
void sc_shown_ranks_print(FILE *out, struct sc_model *model)
{
    struct ranks ranks = {.run_count = model->reader->run_count};
    size_t count = model->ranks.count;
    ranks.rows = sc_scratch_take(&ranks.scratch, (count + 1) * sizeof *ranks.rows);
    for (size_t i = 0; i < count; i++)
        take_run(&ranks, model, i);
    fprintf(out, "%zu runs of several ranks%s%s\n", count, ranks.program ? ", of " : "",
            ranks.program ? ranks.program : "");
    print_table(out, ranks.rows, count);
    print_remarks(out, &ranks, model);
    sc_scratch_free(&ranks.scratch);
}
