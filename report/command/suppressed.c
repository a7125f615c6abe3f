#include "report/command/suppressed.h"

#include "report/command/regular_file.h"
#include "report/command/say.h"
#include "report/suppressions.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct sc_suppressed {
    char *text;
    unsigned count, mistakes;
    const char *path;
    struct sc_suppression entries[SC_SUPPRESSIONS_MAX];
};

static void complain(void *context, unsigned line, unsigned column, const char *what)
{
    struct sc_suppressed *suppressed = context;
    sc_say("%s:%u:%u: %s", suppressed->path, line, column, what);
    suppressed->mistakes++;
}

static bool read_entries(struct sc_suppressed *suppressed)
{
    size_t size = 0;
    int result = sc_regular_file_read(suppressed->path, SC_SUPPRESSIONS_FILE_MAX_BYTES,
                                      &suppressed->text, &size);
    if (result < 0) {
        sc_say("cannot read %s: %s", suppressed->path, strerror(-result));
        return false;
    }
    suppressed->count = sc_suppressions_parse(suppressed->text, size, suppressed->entries,
                                              SC_SUPPRESSIONS_MAX, complain, suppressed);
    return suppressed->mistakes == 0;
}

struct sc_suppressed *sc_suppressed_read(const char *path)
{
    struct sc_suppressed *suppressed = calloc(1, sizeof *suppressed);
    if (!suppressed)
        return NULL;
    suppressed->path = path;
    if (read_entries(suppressed))
        return suppressed;
    sc_suppressed_free(suppressed);
    return NULL;
}

void sc_suppressed_free(struct sc_suppressed *suppressed)
{
    if (suppressed)
        free(suppressed->text);
    free(suppressed);
}

/* A stack without what was inlined, which the library does not see either. */
struct matched {
    struct sc_scratch *scratch;
    const struct sc_frame **frames;
};

static const char *word_of(void *context, unsigned index, enum sc_frame_word word)
{
    const struct matched *matched = context;
    const struct sc_frame *frame = matched->frames[index];
    switch (word) {
    case SC_FRAME_FUNCTION:
        return frame->symbol;
    case SC_FRAME_OBJECT:
        return frame->module;
    case SC_FRAME_SOURCE:
        return frame->file && frame->line > 0
                   ? sc_scratch_print(matched->scratch, "%s:%" JSON_INTEGER_FORMAT, frame->file,
                                      frame->line)
                   : NULL;
    case SC_FRAME_PYTHON:
        return frame->is_python ? sc_scratch_print(matched->scratch, "%s:%s", frame->file,
                                                   frame->function ? frame->function : "?")
                                : NULL;
    }
    return NULL;
}

static struct sc_suppression_stack stack_of(struct matched *matched, const struct sc_frames *stack)
{
    unsigned count = 0;
    matched->frames = sc_scratch_take(matched->scratch, stack->count * sizeof *matched->frames);
    for (size_t i = 0; i < stack->count; i++)
        if (!stack->frames[i].is_inlined)
            matched->frames[count++] = &stack->frames[i];
    return (struct sc_suppression_stack){count, word_of, matched};
}

const char *sc_suppressed_reason(const struct sc_suppressed *suppressed, struct sc_scratch *scratch,
                                 const struct sc_shown *hazard)
{
    struct matched copy_frames = {scratch, NULL}, event_frames = copy_frames;
    struct sc_suppression_stack copy = stack_of(&copy_frames, &hazard->copy.stack);
    struct sc_suppression_stack event = stack_of(&event_frames, &hazard->event.stack);
    int64_t now_s = time(NULL);
    for (unsigned i = 0; i < suppressed->count; i++) {
        const struct sc_suppression *entry = &suppressed->entries[i];
        if (!sc_suppressions_is_expired(entry, now_s) &&
            sc_suppressions_covers(entry, hazard->code, &copy, &event))
            return sc_scratch_print(scratch, "%.*s", (int)entry->reason.length,
                                    entry->reason.bytes);
    }
    return NULL;
}
