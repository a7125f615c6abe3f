#include "report/command/wrapped.h"

#include <stdbool.h>

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\n';
}

/* Writes text in lines of a limited width. */
void sc_wrapped_put(FILE *out, const char *text, size_t length)
{
    const char *end = text + length;
    size_t column = 0;
    while (text < end) {
        const char *word = text;
        while (text < end && !is_blank(*text))
            text++;
        size_t width = (size_t)(text - word);
        if (width > 0 && column > 0) {
            bool fits = column + 1 + width <= SC_WRAPPED_WIDTH;
            fputc(fits ? ' ' : '\n', out);
            column = fits ? column + 1 : 0;
        }
        fwrite(word, 1, width, out);
        column += width;
        text += text < end;
    }
    fputc('\n', out);
}
