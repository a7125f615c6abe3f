#define _GNU_SOURCE 1
#include "report/command/source_call.h"

#include <ctype.h>
#include <string.h>

/* A place in the excerpt. */
struct point {
    const struct sc_excerpt *excerpt;
    size_t line, at;
};

static bool is_of_word(char byte)
{
    return isalnum((unsigned char)byte) || byte == '_';
}

/* Finds the words in a line, not within other words. */
bool sc_source_call_find_words(struct sc_source_span *span, const struct sc_excerpt *excerpt,
                               size_t line, const char *words)
{
    const char *text = excerpt->lines[line];
    size_t length = strlen(words);
    for (const char *found = text; length > 0 && (found = strstr(found, words)); found++) {
        bool begins = found == text || !is_of_word(found[-1]) || !is_of_word(words[0]);
        bool ends = !is_of_word(found[length]) || !is_of_word(words[length - 1]);
        if (!begins || !ends)
            continue;
        size_t from = (size_t)(found - text);
        *span = (struct sc_source_span){line, from, from + length};
        return true;
    }
    return false;
}

/* Returns the byte there, '\n' at the end of a line, and NUL after the last one. */
static char byte_at(const struct point *point)
{
    if (point->line >= point->excerpt->count)
        return '\0';
    char byte = point->excerpt->lines[point->line][point->at];
    return byte == '\0' ? '\n' : byte;
}

/* Goes on by one byte, over the ends of lines too. */
static void step(struct point *point)
{
    if (byte_at(point) == '\n')
        *point = (struct point){point->excerpt, point->line + 1, 0};
    else
        point->at++;
}

/* Goes on after a string or a character that begins here. */
static void pass_quoted(struct point *point)
{
    char quote = byte_at(point), byte;
    step(point);
    while ((byte = byte_at(point)) != quote && byte != '\n' && byte != '\0') {
        if (byte == '\\')
            step(point);
        step(point);
    }
    if (byte == quote)
        step(point);
}

/* Goes on to the comma or the bracket that ends an argument, or to the end. '<' and '>' are not
 * counted as brackets, since they may be comparisons. */
static void pass_argument(struct point *point)
{
    int depth = 0;
    for (char byte; (byte = byte_at(point)) != '\0';) {
        if (byte == '"' || byte == '\'') {
            pass_quoted(point);
            continue;
        }
        if (depth == 0 && strchr(",)]}", byte))
            return;
        depth += strchr("([{", byte) ? 1 : strchr(")]}", byte) ? -1 : 0;
        step(point);
    }
}

/* Returns what stands between two points, with one blank for each row of blanks and ends of lines.
 */
static const char *words_between(struct sc_scratch *scratch, struct point from,
                                 const struct point *to)
{
    char *words = sc_scratch_take(scratch, 1024);
    size_t length = 0;
    for (; (from.line < to->line || from.at < to->at) && length < 1000; step(&from)) {
        char byte = byte_at(&from);
        bool is_blank = byte == ' ' || byte == '\n';
        if (!is_blank)
            words[length++] = byte;
        else if (length > 0 && words[length - 1] != ' ')
            words[length++] = ' ';
    }
    words[length - (length > 0 && words[length - 1] == ' ')] = '\0';
    return words;
}

/* Returns what lies between two points, as far as it is in the first line. */
static struct sc_source_span span_between(const struct point *from, const struct point *to)
{
    const char *text = from->excerpt->lines[from->line];
    size_t end = to->line == from->line ? to->at : strlen(text);
    while (end > from->at && text[end - 1] == ' ')
        end--;
    return (struct sc_source_span){from->line, from->at, end};
}

/* Reads the arguments of the call; `point` is after the bracket. Returns false if the call goes on
 * after the excerpt. */
static bool take_arguments(struct sc_source_call *call, struct sc_scratch *scratch,
                           struct point point)
{
    for (char byte = ','; byte == ','; step(&point)) {
        while (byte_at(&point) == ' ' || byte_at(&point) == '\n')
            step(&point);
        struct point begin = point;
        pass_argument(&point);
        byte = byte_at(&point);
        if (byte == '\0')
            return false;
        if (call->count == SC_SOURCE_ARGUMENTS_MAX || begin.line >= begin.excerpt->count)
            continue;
        call->spans[call->count] = span_between(&begin, &point);
        call->arguments[call->count] = words_between(scratch, begin, &point);
        call->count += call->arguments[call->count][0] != '\0';
    }
    return true;
}

/* Finds the call of the function and its arguments: debug information names a line of the call,
 * which may have begun before. */
bool sc_source_call_find(struct sc_source_call *call, struct sc_scratch *scratch,
                         const struct sc_excerpt *excerpt, size_t line, const char *name)
{
    struct sc_source_span span;
    for (size_t back = 0; line < excerpt->count && back <= line; back++) {
        if (!sc_source_call_find_words(&span, excerpt, line - back, name))
            continue;
        struct point point = {excerpt, span.line, span.to};
        while (byte_at(&point) == ' ')
            step(&point);
        if (byte_at(&point) != '(')
            continue;
        step(&point);
        *call = (struct sc_source_call){.line = span.line};
        return take_arguments(call, scratch, point);
    }
    return false;
}
