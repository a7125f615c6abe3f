#include "report/command/suppressed.h"

#include "report/command/regular_file.h"
#include "report/command/say.h"
#include "report/command/shown.h"
#include "report/command/table.h"
#include "report/suppressions.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WORDS = SC_SUPPRESSIONS_MAX / 64, SEEN_MAX = 32 * 1024 };

/* Some of the entries. */
struct entries {
    uint64_t bits[WORDS];
};

/* A frame that was seen, and the entries that begin with it. */
struct seen {
    struct sc_node node; /* by all that a pattern may ask for */
    struct entries entries;
};

/* The same by the frame's id, which is found without a look at its words. */
struct known {
    struct sc_node node;
    const struct entries *entries;
};

struct sc_suppressed {
    struct sc_table seen;  /* of struct seen */
    struct sc_table known; /* of struct known */
    struct sc_scratch kept;
    struct sc_scratch reasons;
    struct entries of_all; /* that name no frame */
    struct sc_part first_patterns[SC_SUPPRESSIONS_MAX];
    char *text;
    unsigned count, mistakes;
    const char *path;
    struct sc_suppression entries[SC_SUPPRESSIONS_MAX];
    const char *reason_texts[SC_SUPPRESSIONS_MAX]; /* NULL: not asked for yet */
};

/* Complains about a mistake in the file of suppressions (a callback of the parser's). */
static void complain(void *context, unsigned line, unsigned column, const char *what)
{
    struct sc_suppressed *suppressed = context;
    sc_say("%s:%u:%u: %s", suppressed->path, line, column, what);
    suppressed->mistakes++;
}

/* Reads the file. Prints a message and returns false if it is wrong. */
static bool read_entries(struct sc_suppressed *suppressed)
{
    size_t size = 0;
    int result = sc_regular_file_read(suppressed->path, SC_SUPPRESSIONS_FILE_MAX_BYTES,
                                      &suppressed->text, &size);
    if (result < 0) {
        sc_say("cannot read %s: %s", suppressed->path, sc_regular_file_error(result));
        return false;
    }
    suppressed->count =
        sc_suppressions_parse(suppressed->text, size, time(NULL), suppressed->entries,
                              SC_SUPPRESSIONS_MAX, complain, suppressed);
    return suppressed->mistakes == 0;
}

static void mark(struct entries *entries, unsigned index)
{
    entries->bits[index / 64] |= (uint64_t)1 << index % 64;
}

static bool has(const struct entries *entries, unsigned index)
{
    return entries->bits[index / 64] >> index % 64 & 1;
}

/* Stores for each entry its first pattern, by which the entries that may cover a hazard are found
 * quickly. Entries without any pattern may cover every hazard, and are marked. */
static void sort_entries(struct sc_suppressed *suppressed)
{
    for (unsigned i = 0; i < suppressed->count; i++) {
        suppressed->first_patterns[i] = sc_suppressions_first_pattern(&suppressed->entries[i]);
        if (suppressed->first_patterns[i].length == 0)
            mark(&suppressed->of_all, i);
    }
}

/* Reads a file of suppressions. Returns NULL if it is wrong, after a message, or if there is no
 * memory. */
struct sc_suppressed *sc_suppressed_read(const char *path)
{
    struct sc_suppressed *suppressed = calloc(1, sizeof *suppressed);
    if (!suppressed)
        return NULL;
    suppressed->path = path;
    if (read_entries(suppressed)) {
        sort_entries(suppressed);
        return suppressed;
    }
    sc_suppressed_free(suppressed);
    return NULL;
}

/* Frees the results of earlier comparisons, which are kept by frame and by stack. */
static void forget_seen(struct sc_suppressed *suppressed)
{
    sc_table_free(&suppressed->seen);
    sc_table_free(&suppressed->known);
    sc_scratch_free(&suppressed->kept);
}

void sc_suppressed_free(struct sc_suppressed *suppressed)
{
    if (!suppressed)
        return;
    forget_seen(suppressed);
    sc_scratch_free(&suppressed->reasons);
    free(suppressed->text);
    free(suppressed);
}

/* Says which entries have expired and leave nothing out. */
void sc_suppressed_tell_expired(const struct sc_suppressed *suppressed)
{
    for (unsigned i = 0; i < suppressed->count; i++) {
        const struct sc_part *name = &suppressed->entries[i].name;
        if (suppressed->entries[i].is_expired)
            sc_say("%s: %.*s has expired: it leaves nothing out", suppressed->path,
                   (int)name->length, name->bytes);
    }
}

/* A stack without what was inlined, which the library does not see either. */
struct matched {
    struct sc_scratch *scratch;
    const struct sc_frame **frames;
};

/* Returns what a pattern of this kind is compared with, or NULL if the frame has no such word. */
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

/* Returns the stack as suppressions see it: the process itself does not know inlined functions. */
static struct sc_suppression_stack stack_of(struct matched *matched, const struct sc_frames *stack)
{
    unsigned count = 0;
    matched->frames = sc_scratch_take(matched->scratch, stack->count * sizeof *matched->frames);
    for (size_t i = 0; i < stack->count; i++)
        if (!stack->frames[i].is_inlined)
            matched->frames[count++] = &stack->frames[i];
    return (struct sc_suppression_stack){count, word_of, matched};
}

/* ---- the entries that a frame is for ---- */

/* Returns the digest of all that patterns may look at. */
static struct sc_digest digest_frame(const struct sc_frame *frame)
{
    const char *const words[] = {frame->symbol, frame->function, frame->module, frame->file};
    struct sc_digester digester;
    sc_digest_begin(&digester);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        sc_digest_number(&digester, words[i] != NULL);
        sc_digest_word(&digester, words[i] ? words[i] : "");
    }
    sc_digest_number(&digester, frame->line);
    sc_digest_number(&digester, frame->is_python);
    return sc_digest_end(&digester);
}

/* Finds the entries whose first pattern fits one of the frame's words, which frames with other ids
 * may have as well. */
static const struct entries *find_entries(struct sc_suppressed *suppressed,
                                          const struct sc_suppression_stack *stack, unsigned index)
{
    const struct matched *matched = stack->context;
    struct sc_digest digest = digest_frame(matched->frames[index]);
    struct sc_node *node = sc_table_find(&suppressed->seen, &digest);
    if (node)
        return &((struct seen *)(void *)node)->entries;
    struct seen *seen = sc_scratch_take(&suppressed->kept, sizeof *seen);
    seen->node.digest = digest;
    for (unsigned i = 0; i < suppressed->count; i++)
        if (sc_suppressions_matches(suppressed->first_patterns[i], stack, index))
            mark(&seen->entries, i);
    sc_table_add(&suppressed->seen, &seen->node);
    return &seen->entries;
}

/* Returns the entries whose first pattern fits the frame; kept, as frames come again and again. */
static const struct entries *entries_of(struct sc_suppressed *suppressed,
                                        const struct sc_suppression_stack *stack, unsigned index)
{
    const struct matched *matched = stack->context;
    struct sc_digest digest = {{matched->frames[index]->id}};
    struct sc_node *node = sc_table_find(&suppressed->known, &digest);
    if (node)
        return ((struct known *)(void *)node)->entries;
    if (suppressed->known.count == SEEN_MAX)
        forget_seen(suppressed);
    struct known *known = sc_scratch_take(&suppressed->kept, sizeof *known);
    known->node.digest = digest;
    known->entries = find_entries(suppressed, stack, index);
    sc_table_add(&suppressed->known, &known->node);
    return known->entries;
}

/* Adds, for each frame of the stack, the entries whose first pattern matches it: only these may
 * cover the hazard. */
static void add_entries(struct sc_suppressed *suppressed, const struct sc_suppression_stack *stack,
                        struct entries *candidates)
{
    for (unsigned i = 0; i < stack->count; i++) {
        const struct entries *entries = entries_of(suppressed, stack, i);
        for (unsigned word = 0; word < WORDS; word++)
            candidates->bits[word] |= entries->bits[word];
    }
}

/* Returns the entry's reason as a text; made once for each. */
static const char *reason_of(struct sc_suppressed *suppressed, unsigned index)
{
    const struct sc_part *reason = &suppressed->entries[index].reason;
    if (!suppressed->reason_texts[index])
        suppressed->reason_texts[index] =
            sc_scratch_print(&suppressed->reasons, "%.*s", (int)reason->length, reason->bytes);
    return suppressed->reason_texts[index];
}

/* Returns why the hazard is suppressed, or NULL if it is not. */
const char *sc_suppressed_reason(struct sc_suppressed *suppressed, struct sc_scratch *scratch,
                                 const struct sc_shown *hazard)
{
    struct matched copy_frames = {scratch, NULL}, event_frames = copy_frames;
    struct sc_suppression_stack copy = stack_of(&copy_frames, &hazard->copy.stack);
    struct sc_suppression_stack event = stack_of(&event_frames, &hazard->event.stack);
    struct entries candidates = suppressed->of_all;
    add_entries(suppressed, &copy, &candidates);
    add_entries(suppressed, &event, &candidates);
    for (unsigned i = 0; i < suppressed->count; i++) {
        const struct sc_suppression *entry = &suppressed->entries[i];
        if (has(&candidates, i) && sc_suppressions_covers(entry, hazard->code, &copy, &event))
            return reason_of(suppressed, i);
    }
    return NULL;
}
