#include "report/command/suggest.h"

#include "report/command/fields.h"
#include "report/command/shown.h"
#include "report/suppressions.h"

#include <ctype.h>
#include <string.h>

enum { FRAMES_MAX = 3 };

#define INDENT "\n           "

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Writes text as a part of a pattern. A byte that would end the pattern, mean something in it, or
 * steer a terminal becomes '?', which matches it. */
static void put_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++)
        fputc(isgraph((unsigned char)*text) && *text != '*' ? *text : '?', out);
}

/* Writes a pattern for the file, in whichever folder it is. */
static void put_file(FILE *out, const char *key, const char *path)
{
    fputs(key, out);
    fputs(strchr(path, '/') ? "*/" : "", out);
    put_text(out, base_of(path));
}

/* Returns the name that the process goes by. */
static const char *symbol_of(const struct sc_frames *stack, const struct sc_frame *frame)
{
    return sc_field_string(json_array_get(stack->records, frame->index), "symbol", frame->symbol);
}

/* Writes a pattern that fits the frame. */
static void put_frame(FILE *out, const struct sc_frames *stack, const struct sc_frame *frame)
{
    const char *symbol = symbol_of(stack, frame);
    fputs(INDENT, out);
    if (frame->is_python) {
        put_file(out, "py:", frame->file);
        fputc(':', out);
        put_text(out, frame->function ? frame->function : "*");
    } else if (symbol && symbol[0] != '\0') {
        fputs("fun:", out);
        put_text(out, symbol);
    } else {
        put_file(out, "obj:", frame->module);
    }
}

/* Returns whether the frame, or one that is inlined in it, is of this kind. */
static bool has_kind(const struct sc_frames *stack, size_t index, enum sc_frame_kind kind)
{
    for (size_t i = 0; i < stack->count; i++)
        if (stack->frames[i].index == index && stack->frames[i].kind == kind)
            return true;
    return false;
}

/* Is the frame, which is no inlined one, of that kind, and can a pattern name it? */
static bool is_telling(const struct sc_frames *stack, const struct sc_frame *frame,
                       enum sc_frame_kind kind)
{
    const char *name = frame->is_python ? frame->file : frame->module;
    return !frame->is_inlined && name && name[0] != '\0' && has_kind(stack, frame->index, kind);
}

/* Writes the patterns of a stack: those of the user's innermost frames. Libraries issue the copies
 * of many callers, so an entry for their frames alone would cover all of them. */
static void put_stack(FILE *out, const char *key, const struct sc_frames *stack)
{
    enum sc_frame_kind kind = stack->user ? SC_FRAME_USER : SC_FRAME_LIBRARY;
    size_t told = 0, next = 0; /* `next`: the one that "..." need not stand before */
    for (size_t i = 0; i < stack->count && told < FRAMES_MAX; i++) {
        const struct sc_frame *frame = &stack->frames[i];
        if (!is_telling(stack, frame, kind))
            continue;
        if (told == 0)
            fprintf(out, "%s...", key);
        else if (frame->index != next)
            fputs(INDENT "...", out);
        put_frame(out, stack, frame);
        next = frame->index + 1;
        told++;
    }
    fputs(told > 0 ? "\n" : "", out);
}

/* Writes a suppression that would fit the hazard, for the user to edit. */
static void put_entry(FILE *out, size_t number, const struct sc_shown *hazard)
{
    fputs("{\n  name:    ", out);
    put_text(out, hazard->code);
    fprintf(out, "-%zu\n  code:    ", number);
    put_text(out, hazard->code);
    fputs("\n  reason:  " SC_SUPPRESSIONS_NO_REASON "\n", out);
    put_stack(out, "  copy:    ", &hazard->copy.stack);
    put_stack(out, "  event:   ", &hazard->event.stack);
    fputs("}\n", out);
}

/* Writes an entry for a file of suppressions for each hazard that is shown. */
void sc_suggest_suppressions(FILE *out, struct sc_model *model)
{
    for (size_t i = 0; i < model->count; i++)
        put_entry(out, i + 1, sc_model_bare_hazard(model, i));
}
