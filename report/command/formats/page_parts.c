#include "report/command/formats/page_parts.h"

#include "report/command/formats/escape.h"

/* Writes text from a report between two pieces of HTML, escaped. */
void sc_page_part_put(FILE *out, const char *open, const char *text, const char *close)
{
    fputs(open, out);
    sc_escape_markup(out, text);
    fputs(close, out);
}

/* Writes a stack that can be unfolded; nothing without frames. */
void sc_page_part_put_stack(FILE *out, const struct sc_frames *stack)
{
    static const char *const kinds[] = {
        [SC_FRAME_RUNTIME] = "runtime",
        [SC_FRAME_LIBRARY] = "library",
        [SC_FRAME_USER] = "user",
    };
    if (stack->count == 0)
        return;
    fprintf(out, "<details><summary>%zu frame%s</summary><ol class=\"stack\" start=\"0\">\n",
            stack->count, stack->count == 1 ? "" : "s");
    for (size_t i = 0; i < stack->count; i++) {
        fprintf(out, "<li class=\"%s\">", kinds[stack->frames[i].kind]);
        sc_page_part_put(out, "", stack->frames[i].words, "</li>\n");
    }
    fputs("</ol></details>\n", out);
}
