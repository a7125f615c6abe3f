#define _GNU_SOURCE 1
#include "report/command/say.h"

#include "common/text.h"
#include "report/command/eight_bytes.h"
#include "report/command/progress.h"
#include "report/plain.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns how many bytes at the start of the text are printable ASCII: nearly all text is, so this
 * saves decoding it. */
static size_t skip_ascii(const char *text, size_t count)
{
    size_t i = 0;
    while (count - i >= 8 && sc_eight_bytes_are_ascii(sc_eight_bytes_at(text + i)) &&
           !sc_eight_bytes_may_have(sc_eight_bytes_at(text + i), 0x7f))
        i += 8;
    while (i < count && text[i] >= ' ' && text[i] < 0x7f)
        i++;
    return i;
}

/* Can the text be shown as it is, without control characters that a terminal would obey? */
static bool is_plain(const char *text, size_t count)
{
    uint32_t code;
    for (size_t i = 0, length; (i += skip_ascii(text + i, count - i)) < count; i += length) {
        length = sc_plain_character(text + i, count - i, &code);
        if (length == 0 || !sc_plain_is_harmless(code))
            return false;
    }
    return true;
}

/* A copy as it may be shown. */
struct copy {
    struct copy *next;
    char text[];
};

/* Returns a copy with harmful characters made visible. */
static struct copy *copy_plain(const char *text, size_t count)
{
    size_t size = count * SC_PLAIN_GROWTH + 1;
    struct copy *copy = malloc(sizeof *copy + size);
    if (!copy)
        return NULL;
    struct sc_text shown = sc_text_in(copy->text, size);
    sc_plain_put(&shown, text, count);
    return copy;
}

static struct copy *copies;

/* Returns the text as it may be shown on a terminal; a copy lives until sc_say_forget. */
const char *sc_say_plain(const char *text)
{
    size_t count = strlen(text);
    if (is_plain(text, count))
        return text;
    struct copy *copy = copy_plain(text, count);
    if (!copy)
        return "?";
    copy->next = copies;
    copies = copy;
    return copy->text;
}

/* Frees the copies that sc_say_plain has made; their texts must not be used any more. */
void sc_say_forget(void)
{
    while (copies) {
        struct copy *copy = copies;
        copies = copy->next;
        free(copy);
    }
}

static void (*taker)(const char *text);

/* Gives all complaints to `take` instead of stderr; NULL: to stderr again. */
void sc_say_to(void take(const char *text))
{
    taker = take;
}

/* Shows a line on stderr, over what shows progress there. */
static void show(const char *text)
{
    struct copy *shown = text ? copy_plain(text, strlen(text)) : NULL;
    sc_progress_hide();
    fprintf(stderr, "safecopy: %s\n", shown ? shown->text : "out of memory");
    free(shown);
}

/* Prints a line, on stderr or to the function that takes messages. */
void sc_say(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    if (taker && text)
        taker(text);
    else
        show(text);
    free(text);
}
