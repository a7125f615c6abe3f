#define _GNU_SOURCE 1
#include "report/command/mistake.h"

#include "report/command/fields.h"
#include "report/command/mistake_hint.h"
#include "report/command/short_name.h"
#include "report/command/shown_memory.h"

#include <string.h>

enum { NO = -1, CALL_BYTES_MAX = 60 };

/* ---- arguments ---- */

struct arguments {
    const char *name;
    int destination, source, stream;
};

/* Returns the function's name without version: "cuMemcpyHtoDAsync" of "cuMemcpyHtoDAsync_v2_ptsz".
 */
static const char *bare_name(struct sc_scratch *scratch, const char *name)
{
    static const char *const suffixes[] = {"_v2", "_v3", "_ptsz", "_ptds"};
    char *bare = sc_scratch_print(scratch, "%s", name);
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        char *found = strstr(bare, suffixes[i]);
        if (found && found != bare)
            *found = '\0';
    }
    return bare;
}

/* Returns which arguments of the function are its destination, source and stream. */
static struct arguments arguments_of(const char *name)
{
    static const struct arguments rows[] = {
#define SC_ARGUMENTS(name, destination, source, stream) {name, destination, source, stream},
#include "report/command/call_arguments.def"
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i];
    return (struct arguments){name, NO, NO, NO};
}

/* Returns which argument of the operation the memory is. Of a copy on the device either may be. */
static int memory_of(const struct arguments *row, const struct sc_shown *hazard)
{
    const json_t *buffer = json_object_get(hazard->record, "buffer");
    bool is_device = strcmp(sc_field_string(buffer, "kind", "?"), "device") == 0;
    if (strcmp(hazard->direction, "H2D") == 0)
        return is_device ? row->destination : row->source;
    if (strcmp(hazard->direction, "D2H") == 0)
        return is_device ? row->source : row->destination;
    return row->source == NO ? row->destination : NO;
}

/* Returns an argument of the call as the source has it; NULL: the call was not found in the
 * source. */
static const char *argument(const struct sc_mistake_side *side, int index)
{
    bool is_there = side->is_found && index != NO && (size_t)index < side->source.count;
    return is_there ? side->source.arguments[index] : NULL;
}

/* Marks an argument of the call in its line of source. */
static void mark_memory(struct sc_mistake_side *side, int index)
{
    side->memory = argument(side, index);
    side->is_marked = side->memory != NULL;
    if (side->is_marked)
        side->mark = side->source.spans[index];
}

/* Returns the name that a reader knows a variable by: "staging" of "camera->staging". */
static const char *last_part(const char *name)
{
    const char *last = name;
    for (const char *at = name; *at != '\0'; at++)
        if ((at[0] == '.' || at[0] == '>' || at[0] == '&' || at[0] == '*') && at[1] != '\0')
            last = at + 1;
    return last;
}

/* Marks the memory's name, or the last part of it ("staging" of "camera->staging"), where it
 * occurs in the line of the event. */
static void mark_name(struct sc_mistake_side *side, const char *name)
{
    const char *const names[] = {name, name ? last_part(name) : NULL};
    for (size_t i = 0; i < 2 && name && side->excerpt.count > 0 && !side->is_marked; i++) {
        side->is_marked =
            sc_source_call_find_words(&side->mark, &side->excerpt, side->line, names[i]);
        side->memory = side->is_marked ? names[i] : NULL;
    }
}

/* ---- sides ---- */

/* Finds a call in the lines of source around it. */
static struct sc_mistake_side make_side(struct sc_model *model, const struct sc_call *call)
{
    const struct sc_frame *user = call->api ? call->stack.user : NULL;
    struct sc_mistake_side side = {.call = call->api ? call : NULL};
    if (!user)
        return side;
    side.excerpt = sc_model_excerpt(model, user);
    side.line = side.excerpt.count > 0 ? (size_t)user->line - side.excerpt.first : 0;
    const char *name = bare_name(&model->scratch, call->called);
    side.is_found = side.excerpt.count > 0 && sc_source_call_find(&side.source, &model->scratch,
                                                                  &side.excerpt, side.line, name);
    side.stream = argument(&side, arguments_of(name).stream);
    return side;
}

/* Marks the memory that the hazard is about wherever the source names it. */
static void mark_sides(struct sc_model *model, const struct sc_shown *hazard,
                       struct sc_mistake *mistake)
{
    struct arguments row = arguments_of(bare_name(&model->scratch, hazard->copy.called));
    mark_memory(&mistake->copy, memory_of(&row, hazard));
    row = arguments_of(bare_name(&model->scratch, hazard->event.called));
    if (row.source == NO)
        mark_memory(&mistake->event, row.destination);
    if (!mistake->event.is_marked)
        mark_name(&mistake->event, mistake->copy.memory);
    if (mistake->freed.call)
        mark_memory(&mistake->freed, 0);
}

/* ---- the sentence ---- */

struct sentence {
    struct sc_scratch *scratch;
    struct sc_mistake *mistake;
    const struct sc_shown *hazard;
};

/* Adds to the last piece, or begins the next one. */
static void put(struct sentence *sentence, bool is_code, const char *text)
{
    struct sc_mistake *mistake = sentence->mistake;
    bool is_next = mistake->piece_count % 2 == is_code;
    const char **piece = &mistake->pieces[mistake->piece_count - (is_next ? 0 : 1)];
    if (text[0] == '\0' || (is_next && mistake->piece_count == SC_MISTAKE_PIECES_MAX))
        return;
    if (is_next || mistake->piece_count == 0)
        mistake->pieces[mistake->piece_count++] = text;
    else
        *piece = sc_scratch_print(sentence->scratch, "%s%s", *piece, text);
}

/* Appends words to the sentence. */
static void put_words(struct sentence *sentence, const char *text)
{
    put(sentence, false, text);
}

/* Appends code to the sentence. Pieces alternate between words and code, so before the first comes
 * an empty piece. */
static void put_code(struct sentence *sentence, const char *text)
{
    if (sentence->mistake->piece_count == 0)
        sentence->mistake->pieces[sentence->mistake->piece_count++] = "";
    put(sentence, true, text);
}

/* Returns the call as the source has it: "free(staging)", or "cudaMemcpyAsync(..., staging, ...)"
 * where it is long. */
static const char *call_in_source(struct sc_scratch *scratch, const struct sc_mistake_side *side)
{
    const char *name = bare_name(scratch, side->call->called), *words = "";
    for (size_t i = 0; side->is_found && i < side->source.count; i++)
        words = sc_scratch_print(scratch, "%s%s%s", words, i > 0 ? ", " : "",
                                 side->source.arguments[i]);
    if (!side->is_found)
        return name;
    if (strlen(words) < CALL_BYTES_MAX)
        return sc_scratch_print(scratch, "%s(%s)", name, words);
    return sc_scratch_print(scratch, "%s(..., %s%s", name, side->memory ? side->memory : ")",
                            side->memory ? ", ...)" : "");
}

/* Returns the function's name without its arguments. */
static const char *function_of(struct sc_scratch *scratch, const struct sc_frame *frame)
{
    char *name = sc_scratch_print(scratch, "%s", sc_short_name(scratch, frame->function));
    char *bracket = strchr(name, '(');
    if (bracket && bracket != name)
        *bracket = '\0';
    return name;
}

static const char *file_and_line(struct sc_scratch *scratch, const struct sc_frame *frame)
{
    return sc_scratch_print(scratch, "%s:%" JSON_INTEGER_FORMAT, basename(frame->file),
                            frame->line);
}

/* Adds where in the user's code that was. */
static void put_place(struct sentence *sentence, const struct sc_frame *frame)
{
    if (!frame)
        return;
    if (frame->file && frame->line > 0)
        put_words(sentence, sc_scratch_print(sentence->scratch, " at %s",
                                             file_and_line(sentence->scratch, frame)));
    else {
        put_words(sentence, " in ");
        put_code(sentence, frame->function ? function_of(sentence->scratch, frame)
                                           : sc_frames_shown_place(sentence->scratch, frame));
    }
}

/* Adds a read or write, with the name of the memory that was read or written if the source has one.
 */
static void put_touch(struct sentence *sentence, const char *alone, const char *with_name)
{
    const char *name = sentence->mistake->event.memory;
    put_words(sentence, name ? with_name : alone);
    if (name)
        put_code(sentence, name);
}

/* Adds the call or access that came too early. */
static void put_event(struct sentence *sentence)
{
    const struct sc_mistake_side *event = &sentence->mistake->event;
    const struct sc_frame *user = event->call->stack.user;
    const char *called = event->call->called;
    if (strcmp(called, "exit") == 0) {
        put_words(sentence, "At exit");
        return;
    }
    if (strcmp(called, "memory write") == 0)
        put_touch(sentence, "Write", "Write to ");
    else if (strcmp(called, "memory read") == 0)
        put_touch(sentence, "Read", "Read of ");
    else if (strcmp(called, "return") == 0)
        put_words(sentence, "Return");
    else
        put_code(sentence, call_in_source(sentence->scratch, event));
    put_place(sentence, user);
}

/* Do the two frames lie in one source file? */
static bool is_of_one_file(const struct sc_frame *one, const struct sc_frame *other)
{
    return other && one->file && other->file && strcmp(one->file, other->file) == 0;
}

/* Puts where the operation was issued: "upload_frame:62", or "upload_frame at upload.c:62" in
 * another file than the event. */
static void put_operation(struct sentence *sentence, const struct sc_call *call)
{
    struct sc_scratch *scratch = sentence->scratch;
    const struct sc_frame *user = call->stack.user, *event = sentence->hazard->event.stack.user;
    if (!user) {
        put_code(sentence, bare_name(scratch, call->called));
        return;
    }
    bool has_line = user->file && user->line > 0;
    bool is_brief = user->function && has_line && is_of_one_file(user, event);
    if (is_brief)
        put_code(sentence, sc_scratch_print(scratch, "%s:%" JSON_INTEGER_FORMAT,
                                            function_of(scratch, user), user->line));
    else if (user->function)
        put_code(sentence, function_of(scratch, user));
    else
        put_code(sentence, bare_name(scratch, call->called));
    if (!is_brief && (has_line || !user->function))
        put_place(sentence, user);
}

/* Returns how many blocks of memory the hazard is about, with their size. */
static const char *blocks_in_words(struct sentence *sentence)
{
    const json_t *buffer = json_object_get(sentence->hazard->record, "buffer");
    json_int_t blocks = sc_field_number(buffer, "blocks");
    uint64_t bytes = (uint64_t)sc_field_number(buffer, "size");
    return sc_scratch_print(sentence->scratch, "%" JSON_INTEGER_FORMAT " block%s (%s)", blocks,
                            blocks == 1 ? "" : "s", sc_shown_memory_size(sentence->scratch, bytes));
}

/* Appends what the letter stands for in the sentence of a hazard code. */
static void put_part(struct sentence *sentence, char letter)
{
    const struct sc_shown *hazard = sentence->hazard;
    bool reads = strcmp(hazard->direction, "H2D") == 0;
    switch (letter) {
    case 'C':
        put_operation(sentence, &hazard->copy);
        break;
    case 'F':
        put_operation(sentence, hazard->freed.api ? &hazard->freed : &hazard->event);
        break;
    case 'V':
        put_words(sentence, reads ? "reading" : "writing into");
        break;
    case 'U':
        put_words(sentence, reads ? "reads" : "writes into");
        break;
    default:
        put_words(sentence, blocks_in_words(sentence));
    }
}

/* Returns the sentence for the hazard's code, in which $ and a letter stand for a part. */
static const char *template_of(const struct sc_shown *hazard)
{
    static const struct {
        const char *code, *observed, *latent;
    } rows[] = {
#define SC_MISTAKE(code, observed, latent) {#code, observed, latent},
#include "report/command/mistakes.def"
    };
    bool is_other = hazard->subject == SC_OF_NEIGHBOUR
                        ? json_is_true(json_object_get(hazard->record, "advisory"))
                        : strcmp(hazard->certainty, "latent") == 0;
    if (hazard->is_found_later)
        return " found the source of $C overwritten in flight";
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].code, hazard->code) == 0)
            return is_other && rows[i].latent ? rows[i].latent : rows[i].observed;
    return " against $C";
}

/* Writes the sentence that says what went wrong, from a template: $ and a letter stand for a
 * part. */
static void put_sentence(struct sentence *sentence)
{
    const char *at = template_of(sentence->hazard);
    put_event(sentence);
    for (const char *dollar; (dollar = strchr(at, '$')); at = dollar + 2) {
        put_words(sentence, sc_scratch_print(sentence->scratch, "%.*s", (int)(dollar - at), at));
        put_part(sentence, dollar[1]);
    }
    put_words(sentence, at);
}

/* Makes the sentence that says what the program did wrong, by the names that its source has. */
struct sc_mistake sc_mistake_make(struct sc_model *model, const struct sc_shown *hazard)
{
    struct sc_mistake mistake = {
        .event = make_side(model, &hazard->event),
        .copy = make_side(model, &hazard->copy),
        .freed = make_side(model, &hazard->freed),
    };
    struct sentence sentence = {&model->scratch, &mistake, hazard};
    mark_sides(model, hazard, &mistake);
    put_sentence(&sentence);
    sc_mistake_hint_make(&mistake, &model->scratch, hazard);
    return mistake;
}
