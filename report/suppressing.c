#include "report/suppressing.h"

#include "common/hazard.h"
#include "common/hazard_words.h"
#include "common/own_pages.h"
#include "common/text.h"
#include "report/file.h"
#include "report/json_lines.h"
#include "report/suppressions.h"
#include "report/symtab.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "common/poison.h"

enum { COMPLAINTS_MAX = 8, CACHE_SIZE = 4096, SYMBOL_MAX_BYTES = 1024 };

static struct sc_suppression *entries;
static unsigned entry_count;

/* ---- the file ---- */

struct complaints {
    sc_options_complain *complain;
    void *context;
    const char *path;
    unsigned count;
};

static void pass_complaint(struct complaints *complaints, const struct sc_text *text)
{
    complaints->complain(complaints->context, text->bytes);
}

static void say_malformed(void *context, unsigned line, unsigned column, const char *what)
{
    struct complaints *complaints = context;
    if (++complaints->count > COMPLAINTS_MAX)
        return;
    SC_TEXT(text, SC_OPTIONS_PATH_SIZE + 512);
    sc_text_format(&text, "%s:%u:%u: %s%s", complaints->path, line, column, what,
                   complaints->count == COMPLAINTS_MAX
                       ? "; the entry is left out (there may be more)"
                       : "; the entry is left out");
    pass_complaint(complaints, &text);
}

static void say_unread(struct complaints *complaints, int error)
{
    complaints->count++;
    SC_TEXT(text, SC_OPTIONS_PATH_SIZE + 256);
    sc_text_format(&text, "no hazard is suppressed: %s: ", complaints->path);
    if (error == EFBIG)
        sc_text_put(&text, "larger than 1 MB");
    else if (error == EINVAL)
        sc_text_put(&text, "not a file");
    else
        sc_text_error(&text, error);
    pass_complaint(complaints, &text);
}

/* Reads the file into *text, memory that is never unmapped. Returns the number of bytes, or -errno.
 */
static long read_file(const char *path, char **text)
{
    struct stat status;
    int fd = sc_file_open_regular(path);
    long result = fd < 0 ? fd : sc_file_status_of(fd, &status);
    if (result == 0 && status.st_size > SC_SUPPRESSIONS_FILE_MAX_BYTES)
        result = -EFBIG;
    if (result == 0)
        *text = sc_pages_map((size_t)status.st_size + 1);
    if (result == 0)
        result = *text ? sc_file_read_at(fd, *text, (size_t)status.st_size, 0) : -ENOMEM;
    sc_file_close(fd);
    return result;
}

/* Returns how many entries the text can have: one for each '{'. */
static unsigned count_openings(const char *text, size_t size)
{
    unsigned count = 0;
    for (size_t i = 0; i < size && count < SC_SUPPRESSIONS_MAX; i++)
        count += text[i] == '{';
    return count;
}

/* Reads the file once, counts its entries to make room for them, and then parses it. */
bool sc_suppressing_load(const struct sc_options *options, sc_options_complain *complain,
                         void *context)
{
    struct complaints complaints = {complain, context, options->suppressions, 0};
    char *text = NULL;
    if (options->suppressions[0] == '\0')
        return true;
    long size = read_file(options->suppressions, &text);
    unsigned most = size > 0 ? count_openings(text, (size_t)size) : 0;
    if (size >= 0)
        entries = sc_pages_map((most + 1) * sizeof *entries);
    if (size < 0 || !entries) {
        say_unread(&complaints, size < 0 ? (int)-size : ENOMEM);
        return false;
    }
    entry_count = sc_suppressions_parse(text, (size_t)size, time(NULL), entries, most,
                                        say_malformed, &complaints);
    return complaints.count == 0;
}

bool sc_suppressing_is_on(void)
{
    return entry_count > 0;
}

const struct sc_suppression *sc_suppressing_entry(unsigned index)
{
    return index < entry_count ? &entries[index] : NULL;
}

void sc_suppressing_forget(void)
{
    for (unsigned i = 0; i < entry_count; i++)
        entries[i].used = 0;
}

/* ---- the hazard at hand ---- */

/* Answers for hazards that were asked of lately, by code and stacks. */
static struct answer {
    uint32_t copy, event; /* ids of stacks */
    uint16_t code;        /* the hazard's code + 1; 0: the slot is free */
    uint16_t entry;       /* the index of the entry that covers the hazard, + 1; 0: none does */
} cache[CACHE_SIZE];

static struct answer *answer_for(const struct sc_hazard *hazard)
{
    uint64_t hash = hazard->code;
    hash = (hash ^ hazard->copy.stack) * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ hazard->event.stack) * UINT64_C(0x9e3779b97f4a7c15);
    return &cache[(hash >> 32) % CACHE_SIZE];
}

bool sc_suppressing_recall(const struct sc_hazard *hazard, struct sc_suppression **entry)
{
    const struct answer *answer = answer_for(hazard);
    if (answer->code != hazard->code + 1 || answer->copy != hazard->copy.stack ||
        answer->event != hazard->event.stack)
        return false;
    *entry = answer->entry ? &entries[answer->entry - 1] : NULL;
    return true;
}

/* The names of a stack's functions, each looked up when it is first asked for. A Python frame has
 * no such name: its place in `functions` holds the word that was asked for last. */
struct names {
    const struct sc_json_lines_stack *stack;
    int memory; /* of sc_file_open_memory */
    bool asked[SC_STACK_DEPTH_MAX];
    char functions[SC_STACK_DEPTH_MAX][SYMBOL_MAX_BYTES]; /* "": unknown */
};

/* Returns the frame's function. Looked up once for each frame: several entries may ask. */
static const char *function_of(struct names *names, unsigned index)
{
    const struct sc_report_frame *frame = &names->stack->frames[index];
    char *function = names->functions[index];
    if (!names->asked[index]) {
        bool found = frame->symbol ? sc_file_read_string(names->memory, frame->symbol, function,
                                                         SYMBOL_MAX_BYTES)
                                   : sc_symtab_find(frame, function, SYMBOL_MAX_BYTES);
        if (!found)
            function[0] = '\0';
        names->asked[index] = true;
    }
    return function[0] != '\0' ? function : NULL;
}

/* Returns "FILE:FUNCTION" or "FILE:LINE", or NULL if it does not fit, or the line is not known. */
static const char *python_word(struct names *names, unsigned index, enum sc_frame_word word)
{
    const struct sc_python_frame *frame = &names->stack->frames[index].python;
    bool is_line = word == SC_FRAME_SOURCE;
    struct sc_text text = sc_text_in(names->functions[index], SYMBOL_MAX_BYTES);
    sc_text_bytes(&text, frame->file, frame->file_bytes);
    sc_text_char(&text, ':');
    if (is_line)
        sc_text_format(&text, "%d", frame->line);
    else
        sc_text_bytes(&text, frame->function, frame->function_bytes);
    return text.cut || (is_line && frame->line == 0) ? NULL : text.bytes;
}

/* Implements `word` of struct sc_suppression_stack: returns the word of frame `index` that a
 * pattern of this kind is compared with. */
static const char *word_of(void *context, unsigned index, enum sc_frame_word word)
{
    struct names *names = context;
    if (names->stack->frames[index].is_python)
        return word == SC_FRAME_SOURCE || word == SC_FRAME_PYTHON ? python_word(names, index, word)
                                                                  : NULL;
    switch (word) {
    case SC_FRAME_FUNCTION:
        return function_of(names, index);
    case SC_FRAME_OBJECT:
        return names->stack->frames[index].module;
    case SC_FRAME_SOURCE: /* only the command knows lines */
    case SC_FRAME_PYTHON:
        return NULL;
    }
    return NULL;
}

static struct sc_suppression_stack
stack_with_names(struct names *names, const struct sc_json_lines_stack *stack, int memory)
{
    names->stack = stack;
    names->memory = memory;
    memset(names->asked, 0, sizeof names->asked);
    return (struct sc_suppression_stack){stack->count, word_of, names};
}

struct sc_suppression *sc_suppressing_find(const struct sc_hazard *hazard,
                                           const struct sc_json_lines_stacks *stacks)
{
    static struct names copy_names, event_names;
    const char *code = sc_hazard_code_string(hazard->code);
    int memory = sc_file_open_memory();
    struct sc_suppression_stack copy = stack_with_names(&copy_names, &stacks->copy, memory);
    struct sc_suppression_stack event = stack_with_names(&event_names, &stacks->event, memory);
    unsigned i = 0;
    while (i < entry_count && !sc_suppressions_covers(&entries[i], code, &copy, &event))
        i++;
    sc_file_close(memory);
    bool found = i < entry_count;
    *answer_for(hazard) = (struct answer){.copy = hazard->copy.stack,
                                          .event = hazard->event.stack,
                                          .code = (uint16_t)(hazard->code + 1),
                                          .entry = (uint16_t)(found ? i + 1 : 0)};
    return found ? &entries[i] : NULL;
}
