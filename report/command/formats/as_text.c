/* Text for people: the runs, then the hazards. Nothing that a report contains steers the terminal
 * or begins a line of its own.
 */
#define _GNU_SOURCE 1
#include "report/command/baseline.h"
#include "report/command/formats/formats.h"
#include "report/command/say.h"
#include "report/command/shown.h"
#include "report/command/shown_ranks.h"

#include <string.h>

/* Fewer frames of what every program runs on are shown as they are: those before main are three. */
enum { FOLDED_MIN = 4 };

#define PLAIN(text) sc_say_plain(text)

/* Returns how many frames from `first` on are inside of an interpreter, libc or the like. Code
 * made at run time is not known to be. */
static size_t count_runtimes(const struct sc_frames *stack, size_t first)
{
    size_t at = first;
    while (at < stack->count && stack->frames[at].module &&
           stack->frames[at].kind == SC_FRAME_RUNTIME)
        at++;
    return at - first;
}

/* Prints several frames as one line: "#9-#12 4 frames of libpython3.11.so.1.0, libc.so.6". */
static void print_folded(FILE *out, const struct sc_frames *stack, size_t first, size_t count)
{
    const char *before = NULL;
    fprintf(out, "      #%zu-#%zu %zu frames", first, first + count - 1, count);
    for (size_t i = first; i < first + count; i++) {
        const char *module = stack->frames[i].module;
        if (before && strcmp(module, before) == 0)
            continue;
        fprintf(out, "%s%s", before ? ", " : " of ", PLAIN(basename(module)));
        before = module;
    }
    fputc('\n', out);
}

/* Prints a stack. Many frames of the runtime in a row are folded into one line. */
static void print_frames(FILE *out, const struct sc_frames *stack)
{
    size_t count;
    for (size_t i = 0; i < stack->count; i += count) {
        count = count_runtimes(stack, i);
        if (count >= FOLDED_MIN) {
            print_folded(out, stack, i, count);
            continue;
        }
        count = 1;
        fprintf(out, "      #%zu %s\n", i, PLAIN(stack->frames[i].words));
    }
}

/* Prints a run with its notes. */
static void print_run(FILE *out, const struct sc_run *run)
{
    fprintf(out, "%s: %s\n", PLAIN(run->file), PLAIN(run->title));
    for (size_t i = 0; i < run->note_count; i++) {
        fprintf(out, "    %s\n", PLAIN(run->notes[i].words));
        print_frames(out, &run->notes[i].stack);
    }
}

/* Prints the user's own line of a call before its stack: it is what the reader looks for, and may
 * stand deep in the stack. */
static void print_lead(FILE *out, struct sc_model *model, const struct sc_call *call)
{
    const struct sc_frame *user = call->stack.user, *library = call->stack.library;
    if (!user)
        return;
    fprintf(out, "    %s", PLAIN(sc_frames_shown_place(&model->scratch, user)));
    if (library)
        fprintf(out, ", in %s", PLAIN(sc_frames_shown_place(&model->scratch, library)));
    fprintf(out, ": %s\n", PLAIN(call->api));
    struct sc_excerpt excerpt = sc_model_excerpt(model, user);
    for (size_t i = 0; i < excerpt.count; i++) {
        size_t number = excerpt.first + i;
        bool is_it = (json_int_t)number == user->line;
        fprintf(out, "      %c %5zu |%s%s\n", is_it ? '>' : ' ', number,
                excerpt.lines[i][0] ? " " : "", PLAIN(excerpt.lines[i]));
    }
}

/* Prints a call and its stack. */
static void print_call(FILE *out, const struct sc_call *call)
{
    fprintf(out, "    %s\n", PLAIN(call->words));
    print_frames(out, &call->stack);
}

/* Prints a hazard: what and where in short, then both stacks, and what to do. */
static void print_hazard(FILE *out, struct sc_model *model, const struct sc_shown *hazard)
{
    fprintf(out, "%s %s, %s, %s: %s\n", PLAIN(hazard->code), PLAIN(hazard->name),
            PLAIN(hazard->certainty), PLAIN(hazard->count), PLAIN(hazard->action));
    if (hazard->news)
        fprintf(out, "    %s since the baseline\n", hazard->news);
    if (hazard->label)
        fprintf(out, "    during %s\n", PLAIN(hazard->label));
    if (hazard->suppression)
        fprintf(out, "    suppressed: %s\n", PLAIN(hazard->suppression));
    print_lead(out, model, &hazard->event);
    print_lead(out, model, &hazard->copy);
    print_call(out, &hazard->event);
    print_call(out, &hazard->copy);
    if (hazard->timing)
        fprintf(out, "    %s\n", hazard->timing);
    if (hazard->freed.api)
        print_call(out, &hazard->freed);
    for (size_t i = 0; i < hazard->origin_count; i++)
        fprintf(out, "    %s\n", PLAIN(hazard->origins[i].words));
    fprintf(out, "    What to do: %s.\n\n", hazard->advice);
}

/* Prints a hazard that is in the baseline only (a callback). */
static void print_fixed(void *out, const char *title)
{
    fprintf(out, "fixed since the baseline: %s\n", PLAIN(title));
}

/* Prints a hazard that is at more places than in the baseline (a callback). */
static void print_grown(void *out, const char *title, size_t now, size_t before)
{
    fprintf(out, "unchanged, but at %zu places here and %zu in the baseline: %s\n", now, before,
            PLAIN(title));
}

/* Prints all for a person: the runs, the hazards, and how they differ from the baseline. */
void sc_as_text(FILE *out, struct sc_model *model)
{
    bool are_several = sc_rank_names_are_several(&model->ranks);
    for (size_t i = 0; i < model->reader->run_count; i++)
        if (!are_several || !model->ranks.names[i])
            print_run(out, sc_model_run(model, i));
    if (are_several)
        sc_shown_ranks_print(out, model);
    fprintf(out, "%s\n\n", sc_model_headline(model));
    for (size_t i = 0; i < model->count; i++)
        print_hazard(out, model, sc_model_hazard(model, i));
    for (size_t i = 0; i < model->open_module_count; i++)
        fprintf(out, "not compared with the baseline: %s\n", PLAIN(sc_model_open_words(model, i)));
    if (!model->knows_fixed)
        return;
    sc_baseline_each_grown(model->baseline, print_grown, out);
    sc_baseline_each_fixed(model->baseline, print_fixed, out);
}
