#include "report/command/suggest.h"

#include "report/command/fields.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES_MAX = 3 };

#define INDENT "\n           "

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Frames of these differ from run to run, or are those of every copy. */
static bool is_passed_over(const char *module)
{
    static const char *const prefixes[] = {"libsafecopy", "libcuda", "libcupti", "libc.so",
                                           "libc-"};
    const char *name = base_of(module);
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    }
    return false;
}

/* A byte that would end a pattern, mean something else in it, or steer a terminal becomes '?'. */
static void put_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++)
        fputc(isgraph((unsigned char)*text) && *text != '*' ? *text : '?', out);
}

static void put_native(FILE *out, const json_t *frame, struct sc_symbols *symbols)
{
    const char *module = sc_field_string(frame, "module", NULL);
    const char *symbol = sc_field_string(frame, "symbol", NULL);
    uint64_t offset = strtoull(sc_field_string(frame, "offset", "0"), NULL, 16);
    if (!symbol && module)
        symbol = sc_symbols_find(symbols, module, offset);
    fputs(symbol ? "fun:" : "obj:*", out);
    put_text(out, symbol ? symbol : base_of(module ? module : ""));
}

static void put_frame(FILE *out, const json_t *frame, struct sc_symbols *symbols)
{
    const char *file = sc_field_string(frame, "file", NULL);
    fputs(INDENT, out);
    if (!file) {
        put_native(out, frame, symbols);
        return;
    }
    fputs("py:*/", out);
    put_text(out, base_of(file));
    fputc(':', out);
    put_text(out, sc_field_string(frame, "function", "*"));
}

/* The innermost frames that tell something, if there are any. */
static void put_stack(FILE *out, const char *key, const json_t *side, struct sc_symbols *symbols)
{
    size_t index, told = 0;
    bool skips = true;
    json_t *frame;
    json_array_foreach(json_object_get(side, "stack"), index, frame)
    {
        if (told == FRAMES_MAX)
            break;
        if (is_passed_over(sc_field_string(frame, "module", ""))) {
            skips = true;
            continue;
        }
        fputs(told == 0 ? key : "", out);
        fputs(skips ? told == 0 ? "..." : INDENT "..." : "", out);
        put_frame(out, frame, symbols);
        skips = false;
        told++;
    }
    fputs(told > 0 ? "\n" : "", out);
}

static void put_entry(FILE *out, size_t number, const json_t *hazard, struct sc_symbols *symbols)
{
    const char *code = sc_field_string(hazard, "code", "");
    fputs("{\n  name:    ", out);
    put_text(out, code);
    fprintf(out, "-%zu\n  code:    ", number);
    put_text(out, code);
    fputs("\n  reason:  say here why this is left out\n", out);
    put_stack(out, "  copy:    ", json_object_get(hazard, "copy"), symbols);
    put_stack(out, "  event:   ", json_object_get(hazard, "event"), symbols);
    fputs("}\n", out);
}

void sc_suggest_suppressions(FILE *out, struct sc_model *model)
{
    for (size_t i = 0; i < model->count; i++)
        put_entry(out, i + 1, sc_model_hazard(model, i)->record, model->makers.symbols);
}
