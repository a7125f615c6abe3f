/* Markdown for an issue, a comment or the summary of a job. What a report says stands in code
 * alone, where nothing of it is a link, a mention or HTML. GitHub takes 65,536 characters of an
 * issue.
 */
#define _GNU_SOURCE 1
#include "report/command/formats/escape.h"
#include "report/command/formats/formats.h"
#include "report/command/say.h"

#include <stdlib.h>

enum { SIZE_MAX_BYTES = 60000 };

#define PLAIN(text) sc_say_plain(text)

static void print_run(FILE *out, const struct sc_run *run)
{
    fprintf(out, "    %s: %s\n", PLAIN(run->file), PLAIN(run->title));
    for (size_t i = 0; i < run->note_count; i++)
        fprintf(out, "        %s\n", PLAIN(run->notes[i].words));
}

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

static void print_facts(FILE *out, const struct sc_shown *hazard)
{
    sc_escape_markdown(out, hazard->certainty);
    fprintf(out, ", %s; %s.", hazard->count, hazard->outcome);
    if (hazard->news)
        fprintf(out, " It is %s since the baseline.", hazard->news);
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

static void print_hazard(FILE *out, struct sc_model *model, const struct sc_shown *hazard)
{
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

/* False: it would be too long, and nothing is written. */
static bool print_if_it_fits(FILE *out, struct sc_model *model, size_t index, size_t *written)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (memory) {
        print_hazard(memory, model, sc_model_hazard(model, index));
        fclose(memory);
    }
    bool fits = text && *written + size <= SIZE_MAX_BYTES;
    if (fits)
        fwrite(text, 1, size, out);
    *written += fits ? size : 0;
    free(text);
    return fits;
}

void sc_as_markdown(FILE *out, struct sc_model *model)
{
    size_t shown = 0, written = 0;
    enum { RUNS_MAX = 20 };
    size_t runs = model->reader->run_count;
    fprintf(out, "## %zu place%s with hazards\n\n", model->count, model->count == 1 ? "" : "s");
    for (size_t i = 0; i < runs && i < RUNS_MAX; i++)
        print_run(out, sc_model_run(model, i));
    if (runs > RUNS_MAX)
        fprintf(out, "    ... and %zu more runs\n", runs - RUNS_MAX);
    fputs("\n", out);
    while (shown < model->count && print_if_it_fits(out, model, shown, &written))
        shown++;
    if (shown < model->count)
        fprintf(out, "%zu more places are left out here.\n", model->count - shown);
}
