/* Markdown for an issue, a comment or the summary of a job. What a report says stands in code
 * alone, where nothing of it is a link, a mention or HTML. GitHub takes 65,536 characters of an
 * issue.
 */
#define _GNU_SOURCE 1
#include "report/command/formats/escape.h"
#include "report/command/formats/formats.h"
#include "report/command/say.h"
#include "report/command/shown.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    SIZE_MAX_BYTES = 60000,
    RUNS_MAX_BYTES = 20000, /* with what stands before the runs */
    END_BYTES = 200,        /* kept for the lines that say what is left out */
    RUNS_MAX = 20,
    NOTES_MAX = 16, /* of a run */
    OPEN_MAX = 4,   /* modules that cannot be compared with the baseline */
};

#define PLAIN(text) sc_say_plain(text)

/* ---- the bound ---- */

struct page {
    FILE *out;
    size_t written; /* bytes */
};

/* Writes text on the page, as all that is written comes this way. Returns false if the page would
 * be longer than `most`, and nothing is written. */
static bool put(struct page *page, size_t most, const char *text, size_t size)
{
    if (size > most || page->written > most - size)
        return false;
    page->written += fwrite(text, 1, size, page->out);
    return true;
}

/* Writes one of the lines at the end of the page, for which room was reserved. */
__attribute__((format(printf, 2, 3))) static void put_end(struct page *page, const char *format,
                                                          ...)
{
    char line[END_BYTES / 2];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (size > 0 && (size_t)size < sizeof line)
        put(page, SIZE_MAX_BYTES, line, (size_t)size);
}

typedef void print_part(FILE *out, struct sc_model *model, size_t index);

/* Writes a whole part on the page, or nothing if it does not fit: then returns false. */
static bool put_part(struct page *page, size_t most, print_part *print, struct sc_model *model,
                     size_t index)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    bool is_made = memory;
    if (memory) {
        print(memory, model, index);
        is_made = fclose(memory) == 0;
    }
    is_made = is_made && put(page, most, text, size);
    free(text);
    return is_made;
}

/* ---- runs ---- */

/* Writes the headline: how many places with hazards. */
static void print_head(FILE *out, struct sc_model *model, size_t index)
{
    (void)index;
    fprintf(out, "## %s\n\n", sc_model_headline(model));
}

/* Writes text, of which too much is cut between two characters. */
static void print_words(FILE *out, const char *words)
{
    enum { LENGTH_MAX = 800 };
    size_t length = strlen(words), kept = length;
    if (length > LENGTH_MAX)
        for (kept = LENGTH_MAX; ((unsigned char)words[kept] & 0xc0) == 0x80; kept--)
            continue;
    fwrite(words, 1, kept, out);
    fputs(kept < length ? "..." : "", out);
}

/* Writes a run with its first notes. */
static void print_run(FILE *out, struct sc_model *model, size_t index)
{
    const struct sc_run *run = sc_model_run(model, index);
    fputs("    ", out);
    print_words(out, PLAIN(run->file));
    fputs(": ", out);
    print_words(out, PLAIN(run->title));
    for (size_t i = 0; i < run->note_count && i < NOTES_MAX; i++) {
        fputs("\n        ", out);
        print_words(out, PLAIN(run->notes[i].words));
    }
    fputs(run->note_count > NOTES_MAX ? "\n        ...\n" : "\n", out);
}

/* Writes the first `most` runs that are in doubt, or of those that are not. Returns how many are
 * shown. */
static size_t put_runs(struct page *page, struct sc_model *model, bool are_in_doubt, size_t most)
{
    size_t shown = 0, tried = 0;
    for (size_t i = 0; i < model->reader->run_count && tried < most; i++) {
        if ((sc_model_run(model, i)->doubt != NULL) != are_in_doubt)
            continue;
        tried++;
        shown += put_part(page, RUNS_MAX_BYTES, print_run, model, i);
    }
    return shown;
}

/* Writes the runs as far as there is room, those with something to be said first. */
static void put_all_runs(struct page *page, struct sc_model *model)
{
    bool has_doubts = sc_reader_is_partial(model->reader);
    size_t shown = has_doubts ? put_runs(page, model, true, RUNS_MAX) : 0;
    shown += put_runs(page, model, false, RUNS_MAX - shown);
    if (shown < model->reader->run_count)
        put_end(page, "    ... and %zu more run%s\n", model->reader->run_count - shown,
                model->reader->run_count - shown == 1 ? "" : "s");
    put_end(page, "\n");
}

/* Writes a module whose hazards cannot be compared with the baseline. */
static void print_open(FILE *out, struct sc_model *model, size_t index)
{
    fputs("    not compared with the baseline: ", out);
    print_words(out, PLAIN(sc_model_open_words(model, index)));
    fputs("\n\n", out);
}

/* Writes those modules, the first OPEN_MAX, while the page has room. */
static void put_all_open(struct page *page, struct sc_model *model)
{
    for (size_t i = 0; i < model->open_module_count && i < OPEN_MAX; i++)
        put_part(page, RUNS_MAX_BYTES, print_open, model, i);
}

/* ---- hazards ---- */

/* Writes the source lines around the frame, with a '>' at its own. */
static void print_excerpt(FILE *out, struct sc_model *model, const struct sc_frame *frame)
{
    struct sc_excerpt excerpt = sc_model_excerpt(model, frame);
    for (size_t i = 0; i < excerpt.count; i++) {
        size_t number = excerpt.first + i;
        fprintf(out, "    %c %4zu | %s\n", (json_int_t)number == frame->line ? '>' : ' ', number,
                PLAIN(excerpt.lines[i]));
    }
    fputs(excerpt.count > 0 ? "\n" : "", out);
}

/* Writes one of the two calls of a hazard, with the lines of source around it. */
static void print_side(FILE *out, struct sc_model *model, const struct sc_call *call,
                       const char *verb)
{
    const struct sc_frame *user = call->stack.user, *library = call->stack.library;
    sc_escape_markdown(out, call->api);
    fputs(verb, out);
    if (user) {
        fputs(" at ", out);
        sc_escape_markdown(out, sc_frames_shown_place(&model->scratch, user));
    }
    if (library) {
        fputs(", in ", out);
        sc_escape_markdown(out, sc_frames_shown_place(&model->scratch, library));
    }
    fputs("\n\n", out);
    print_excerpt(out, model, user);
}

static void print_stack(FILE *out, const struct sc_call *call)
{
    fprintf(out, "    %s\n", PLAIN(call->words));
    for (size_t i = 0; i < call->stack.count; i++)
        fprintf(out, "      #%zu %s\n", i, PLAIN(call->stack.frames[i].words));
}

/* Writes in a sentence or two what is known of the hazard, its outcome and whether it is new. */
static void print_facts(FILE *out, const struct sc_shown *hazard)
{
    sc_escape_markdown(out, hazard->certainty);
    fprintf(out, ", %s; %s.", hazard->count, hazard->outcome);
    if (hazard->news)
        fprintf(out, " It is %s since the baseline%s%s.", hazard->news,
                hazard->grown ? ", but " : "", hazard->grown ? hazard->grown : "");
    if (hazard->label) {
        fputs(" It was during ", out);
        sc_escape_markdown(out, hazard->label);
        fputs(".", out);
    }
    if (hazard->suppression) {
        fputs(" It is suppressed: ", out);
        sc_escape_markdown(out, hazard->suppression);
        fputs(".", out);
    }
    fputs("\n\n", out);
}

/* Writes one hazard: both sides with their source, what to do, and the stacks folded in. */
static void print_hazard(FILE *out, struct sc_model *model, size_t index)
{
    const struct sc_shown *hazard = sc_model_hazard(model, index);
    fputs("### ", out);
    sc_escape_markdown(out, sc_scratch_print(&model->scratch, "%s %s", hazard->code, hazard->name));
    fputs("\n\n", out);
    print_facts(out, hazard);
    print_side(out, model, &hazard->event, " came too early,");
    print_side(out, model, &hazard->copy, " was issued,");
    fprintf(out, "**What to do:** %s.\n\n<details><summary>Both stacks</summary>\n\n",
            hazard->advice);
    print_stack(out, &hazard->event);
    print_stack(out, &hazard->copy);
    if (hazard->timing)
        fprintf(out, "    %s\n", hazard->timing);
    if (hazard->freed.api)
        print_stack(out, &hazard->freed);
    for (size_t i = 0; i < hazard->origin_count; i++)
        fprintf(out, "    %s\n", PLAIN(hazard->origins[i].words));
    fputs("\n</details>\n\n", out);
}

/* Writes the report as Markdown for a comment on a pull request, whose size is limited: what does
 * not fit is counted. */
void sc_as_markdown(FILE *out, struct sc_model *model)
{
    struct page page = {.out = out};
    size_t shown = 0;
    put_part(&page, RUNS_MAX_BYTES, print_head, model, 0);
    put_all_open(&page, model);
    put_all_runs(&page, model);
    while (shown < model->count &&
           put_part(&page, SIZE_MAX_BYTES - END_BYTES, print_hazard, model, shown))
        shown++;
    if (shown < model->count)
        put_end(&page, "%zu more place%s left out here.\n", model->count - shown,
                model->count - shown == 1 ? " is" : "s are");
}
