#include "report/command/formats/drawing.h"

#include "report/command/formats/escape.h"
#include "report/command/say.h"

#include <string.h>

/* Begins an SVG drawing. `title` and `shows` are what is read to those who cannot see it. */
void sc_drawing_begin(FILE *out, int width, int height, const char *id, const char *title,
                      const char *shows)
{
    fprintf(out,
            "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"%s-title %s-desc\">"
            "<title id=\"%s-title\">",
            width, height, id, id, id);
    sc_escape_markup(out, title);
    fprintf(out, "</title><desc id=\"%s-desc\">", id);
    sc_escape_markup(out, shows);
    fputs("</desc>", out);
}

void sc_drawing_end(FILE *out)
{
    fputs("</svg>\n", out);
}

/* Cuts a label to what fits, and not within a character. */
static const char *cut(struct sc_scratch *scratch, const char *text, size_t bytes_max)
{
    char *label = sc_scratch_print(scratch, "%s", sc_say_plain(text));
    size_t length = strnlen(label, bytes_max + 1);
    if (length <= bytes_max)
        return label;
    for (length = bytes_max; length > 0 && ((unsigned char)label[length] & 0xc0) == 0x80;)
        length--;
    label[length] = '\0';
    return label;
}

/* Draws a text, cut to `bytes_max` so that it fits. `more`: further attributes. */
void sc_drawing_put_text(FILE *out, struct sc_scratch *scratch, int x, int y, const char *more,
                         const char *text, size_t bytes_max)
{
    fprintf(out, "<text x=\"%d\" y=\"%d\"%s>", x, y, more);
    sc_escape_markup(out, cut(scratch, text, bytes_max));
    fputs("</text>", out);
}
