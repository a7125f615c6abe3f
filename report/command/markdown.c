#define _GNU_SOURCE 1
#include "report/command/markdown.h"

#include <stdbool.h>
#include <string.h>

struct writing {
    FILE *out;
    const char *at, *end;
    bool is_in_block, is_in_span;
};

/* Does the text that is left begin with the word? */
static bool begins(const struct writing *writing, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(writing->end - writing->at) >= length && memcmp(writing->at, word, length) == 0;
}

/* Returns where the next line begins. */
static const char *end_of_line(const struct writing *writing)
{
    const char *newline = memchr(writing->at, '\n', (size_t)(writing->end - writing->at));
    return newline ? newline + 1 : writing->end;
}

/* Finds where the words of a link "[words](target)" end. Returns NULL if it is none. */
static const char *end_of_words(const struct writing *writing)
{
    const char *close = memmem(writing->at, (size_t)(writing->end - writing->at), "](", 2);
    const char *other =
        close ? memchr(writing->at + 1, '[', (size_t)(close - writing->at - 1)) : NULL;
    return other ? NULL : close;
}

static void put_text(struct writing *writing, const char *end);

/* Writes a link's words, and its target if that is in the web. */
static void put_link(struct writing *writing, const char *words_end)
{
    const char *target = words_end + 2;
    const char *target_end = memchr(target, ')', (size_t)(writing->end - target));
    writing->at++;
    put_text(writing, words_end);
    if (strncmp(target, "http", 4) == 0 && target_end)
        fprintf(writing->out, " (%.*s)", (int)(target_end - target), target);
    writing->at = target_end ? target_end + 1 : writing->end;
}

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\n';
}

/* Does the star begin or end emphasis? One between two blanks multiplies. */
static bool is_emphasis(const struct writing *writing)
{
    bool is_alone =
        writing->at + 1 < writing->end && is_blank(writing->at[-1]) && is_blank(writing->at[1]);
    return *writing->at == '*' && !writing->is_in_span && !is_alone;
}

/* Writes text with links and emphasis made plain. A link may go on in the next line, so that line
 * is taken, too. */
static void put_text(struct writing *writing, const char *end)
{
    while (writing->at < end) {
        const char *words_end =
            *writing->at == '[' && !writing->is_in_span ? end_of_words(writing) : NULL;
        if (words_end) {
            put_link(writing, words_end);
            continue;
        }
        if (*writing->at == '`')
            writing->is_in_span = !writing->is_in_span;
        else if (!is_emphasis(writing))
            fputc(*writing->at, writing->out);
        writing->at++;
    }
}

/* Writes one line of Markdown as plain text. */
static void put_line(struct writing *writing)
{
    const char *end = end_of_line(writing);
    if (begins(writing, "```")) {
        writing->is_in_block = !writing->is_in_block;
        writing->at = end;
    } else if (writing->is_in_block) {
        fprintf(writing->out, "%s%.*s", *writing->at == '\n' ? "" : "    ",
                (int)(end - writing->at), writing->at);
        writing->at = end;
    } else if (begins(writing, "| ---")) {
        writing->at = end;
    } else {
        if (*writing->at == '#')
            writing->at += strspn(writing->at, "# ");
        put_text(writing, end);
    }
}

/* Prints Markdown (pages of our documentation) as plain text for a terminal. */
void sc_markdown_put_plain(FILE *out, const char *text, size_t length)
{
    struct writing writing = {.out = out, .at = text, .end = text + length};
    while (writing.at < writing.end)
        put_line(&writing);
}
