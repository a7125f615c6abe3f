#define _GNU_SOURCE 1
#include "report/command/formats/escape.h"

#include "report/command/say.h"

#include <stdbool.h>
#include <string.h>

/* Returns the entity for a byte that has a meaning in markup, or NULL for a byte that is written as
 * it is. */
static const char *entity_of(char byte)
{
    switch (byte) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

/* Is it U+FFFE or U+FFFF, which XML does not have? */
static bool is_no_character(const char *text)
{
    return strncmp(text, "\xef\xbf\xbe", 3) == 0 || strncmp(text, "\xef\xbf\xbf", 3) == 0;
}

/* Writes text where HTML or XML stands. What is no character of XML is replaced. */
void sc_escape_markup(FILE *out, const char *text)
{
    text = sc_say_plain(text);
    for (size_t plain; text[plain = strcspn(text, "&<>\"'\xef")] != '\0'; text++) {
        const char *entity = entity_of(text[plain]);
        fwrite_unlocked(text, 1, plain, out);
        text += plain;
        if (entity)
            fputs_unlocked(entity, out);
        else if (is_no_character(text))
            text += fprintf(out, "???") - 1;
        else
            putc_unlocked(*text, out);
    }
    fputs_unlocked(text, out);
}

/* Returns the length of the longest run of this byte in the text: a span of code in Markdown ends
 * at as many backquotes as it began with, so it must begin with more than that. */
static size_t longest_run(const char *text, char byte)
{
    size_t longest = 0, run = 0;
    for (; *text != '\0'; text++) {
        run = *text == byte ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

/* Writes the byte `count` times. */
static void put_run(FILE *out, char byte, size_t count)
{
    while (count-- > 0)
        fputc(byte, out);
}

/* Writes text as code in Markdown, between as many backquotes as it needs. A blank inside of each
 * end is taken away again, if there is something between. */
void sc_escape_markdown(FILE *out, const char *text)
{
    text = sc_say_plain(text[0] != '\0' ? text : "?");
    size_t fence = longest_run(text, '`') + 1;
    bool is_padded = fence > 1;
    put_run(out, '`', fence);
    fputs(is_padded ? " " : "", out);
    fputs(text, out);
    fputs(is_padded ? " " : "", out);
    put_run(out, '`', fence);
}

/* Writes text with the harmful characters as %XX, as GitHub's commands want it. */
void sc_escape_percent(FILE *out, const char *text, const char *harmful)
{
    for (text = sc_say_plain(text); *text != '\0'; text++) {
        if (*text == '%' || strchr(harmful, *text))
            fprintf(out, "%%%02X", (unsigned char)*text);
        else
            fputc(*text, out);
    }
}
