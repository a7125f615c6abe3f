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

/* Who is told of mistakes in the file of suppressions, and how many there were. */
struct complaints {
    sc_options_complain *complain;
    void *context;
    const char *path;
    unsigned count;
};

/* Gives one line about a mistake to whoever loads the file. */
static void pass_complaint(struct complaints *complaints, const struct sc_text *text)
{
    complaints->complain(complaints->context, text->bytes);
}

/* Complains about one entry of the file (a callback of the parser's). Only COMPLAINTS_MAX entries
 * are told of: a file of another kind would give hundreds. */
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

/* Complains that the file cannot be read, and says what follows: every hazard is reported. */
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

/* Reads the file into *text, pages that are never unmapped, since entries point into them. Returns
 * the number of bytes, or -errno. */
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

/* Returns how many entries the text can have, for the room to parse them into: one for each '{',
 * at most SC_SUPPRESSIONS_MAX. */
static unsigned count_openings(const char *text, size_t size)
{
    unsigned count = 0;
    for (size_t i = 0; i < size && count < SC_SUPPRESSIONS_MAX; i++)
        count += text[i] == '{';
    return count;
}

/* Reads the file of suppressions at the start. Returns false if anything was wrong with it; its
 * good entries apply all the same. Without the option there is nothing to do. */
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

/* Are there entries, so that hazards have to be compared with them? */
bool sc_suppressing_is_on(void)
{
    return entry_count > 0;
}

/* Returns the entry with this index, for who lists them with their counts; NULL past the last. */
const struct sc_suppression *sc_suppressing_entry(unsigned index)
{
    return index < entry_count ? &entries[index] : NULL;
}

/* Sets the counts of all entries to 0, in a forked child: they are its parent's. */
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

/* Returns the slot of the cache for hazards with this code and these stacks. Another hazard may
 * have it: the caller compares. */
static struct answer *answer_for(const struct sc_hazard *hazard)
{
    uint64_t hash = hazard->code;
    hash = (hash ^ hazard->copy.stack) * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ hazard->event.stack) * UINT64_C(0x9e3779b97f4a7c15);
    return &cache[(hash >> 32) % CACHE_SIZE];
}

/* Is it remembered from an equal hazard (same code, same stacks) which entry covers this one? Then
 * *entry is that entry, or NULL. Naming frames and comparing them is slow, and a hazard in a loop
 * is always the same. */
bool sc_suppressing_recall(const struct sc_hazard *hazard, struct sc_suppression **entry)
{
    const struct answer *answer = answer_for(hazard);
    if (answer->code != hazard->code + 1 || answer->copy != hazard->copy.stack ||
        answer->event != hazard->event.stack)
        return false;
    *entry = answer->entry ? &entries[answer->entry - 1] : NULL;
    return true;
}

/* The names of a stack's functions, each looked up when an entry first asks for it, as most
 * entries end at the first frame. A Python frame has no such name: its place in `functions` holds
 * the word that was asked for last. */
struct names {
    const struct sc_json_lines_stack *stack;
    int memory; /* of sc_file_open_memory */
    bool asked[SC_STACK_DEPTH_MAX];
    char functions[SC_STACK_DEPTH_MAX][SYMBOL_MAX_BYTES]; /* "": unknown */
};

/* Returns the name of the frame's function, or NULL. It is looked up once, since several entries
 * may ask: in the module's memory, or else in its file's symbol table. */
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

/* Returns "FILE:FUNCTION" of a Python frame, or "FILE:LINE" for a pattern of sources. NULL: it
 * does not fit, or CPython does not know the line. */
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

/* Returns what a pattern of this kind (fun:, obj:, src:, py:) is compared with in frame `index`;
 * NULL: the frame has no such thing. Called by the matcher, by struct sc_suppression_stack. */
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

/* Makes of a named stack what the matcher needs. `memory`: /proc/self/mem, to read names from. */
static struct sc_suppression_stack
stack_with_names(struct names *names, const struct sc_json_lines_stack *stack, int memory)
{
    names->stack = stack;
    names->memory = memory;
    memset(names->asked, 0, sizeof names->asked);
    return (struct sc_suppression_stack){stack->count, word_of, names};
}

/* Returns the first entry that covers the hazard, or NULL, and remembers that for equal hazards.
 * The static names are large; the caller's lock guards them. */
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
