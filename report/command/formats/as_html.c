/* One page without any reference to the network. What there is to say stands in it as JSON, of
 * which its script makes the overview and a card a hazard when the reader comes to it. Without a
 * script the hazards are a list. All text from outside is escaped, and the page allows no script
 * and no style but its own.
 */
#define _GNU_SOURCE 1
#include "report/command/embed.h"
#include "report/command/formats/formats.h"
#include "report/command/formats/memory_section.h"
#include "report/command/formats/page_hazards.h"
#include "report/command/formats/page_overview.h"
#include "report/command/formats/page_parts.h"
#include "report/command/mistake.h"
#include "report/command/shown.h"

SC_EMBED(sc_as_html_style, "report/command/formats/page.css");
SC_EMBED(sc_as_html_script, "report/command/formats/page.js");
SC_EMBED(sc_as_html_body, "report/command/formats/page.html");

/* Of page.js and page.css, in base 64 (tests/unit/test_page.py --write). */
#define SCRIPT_SHA256 "w9hIW2NvKb+gwqyoUJQ6X7tO3pYnWKuHMkBSiTtcwaM="
#define STYLE_SHA256 "6UMuk9iMBfcFf+CLuHeH41A1xTaAYTANbUMPmnPFBF4="

enum { PLACES_MAX = 10000, LISTED_MAX = 200 };

/* Writes the head of the page. The policy forbids all but our own style and script, by their
 * hashes: what a report contains is never run. */
static void print_head(FILE *out, const char *title)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
          "img-src data:; style-src 'sha256-" STYLE_SHA256 "'; script-src 'sha256-" SCRIPT_SHA256
          "'; base-uri 'none'; form-action 'none'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<link rel=\"icon\" href=\"data:,\">\n",
          out);
    sc_page_part_put(out, "<title>", title, " - safecopy</title>\n");
    fprintf(out, "<style>%s</style>\n</head>\n<body>\n", sc_as_html_style);
    sc_page_part_put(out, "<header>\n<p class=\"brand\">safecopy</p>\n<h1>", title,
                     "</h1>\n</header>\n");
}

/* Returns the page's title. Where nothing was found it begins with that, and with what may be
 * missing. */
static const char *title_of(struct sc_model *model)
{
    if (model->count > 0 || model->left_out > 0)
        return sc_model_headline(model);
    return model->reader->unread ? "No hazards in what could be read" : "No hazards were found";
}

/* ---- without a script ---- */

/* Lists a run and its notes for browsers without scripts. */
static void list_run(FILE *out, const struct sc_run *run)
{
    sc_page_part_put(out, "<li>", run->file, ": ");
    sc_page_part_put(out, "", run->title, "<ul>");
    for (size_t i = 0; i < run->note_count; i++)
        sc_page_part_put(out, "<li>", run->notes[i].words, "</li>");
    fputs("</ul></li>\n", out);
}

/* Lists a hazard for browsers without scripts. Of its sentence every second piece is code. */
static void list_hazard(FILE *out, struct sc_model *model, const struct sc_shown *hazard)
{
    const struct sc_mistake mistake = sc_mistake_make(model, hazard);
    sc_page_part_put(out, "<li><strong>", hazard->code, "</strong> ");
    for (size_t i = 0; i < mistake.piece_count; i++)
        sc_page_part_put(out, i % 2 == 1 ? "<code>" : "", mistake.pieces[i],
                         i % 2 == 1 ? "</code>" : "");
    sc_page_part_put(out, "<br>", hazard->certainty, ", ");
    sc_page_part_put(out, "", hazard->count, "; ");
    sc_page_part_put(out, "", hazard->outcome, "<br>What to do: ");
    sc_page_part_put(out, "", hazard->advice, "</li>\n");
}

/* Lists the first runs and hazards, for browsers in which the page's script does not run. */
static void print_lists(FILE *out, struct sc_model *model)
{
    size_t runs = model->reader->run_count, i = 0;
    fputs("<noscript>\n<p>This page shows more with its script.</p>\n<h2>Runs</h2>\n<ul>\n", out);
    for (; i < runs && i < LISTED_MAX; i++)
        list_run(out, sc_model_run(model, i));
    fprintf(out, "</ul>\n<p>%zu more</p>\n<h2>Places</h2>\n<ol>\n", runs - i);
    for (i = 0; i < model->count && i < LISTED_MAX; i++)
        list_hazard(out, model, sc_model_hazard(model, i));
    fprintf(out, "</ol>\n<p>%zu more</p>\n</noscript>\n", model->count - i);
}

/* ---- the whole ---- */

/* Writes the report as one HTML page that needs no other file. The script shows the data that
 * stands in it as JSON. */
void sc_as_html(FILE *out, struct sc_model *model)
{
    size_t shown = model->count < PLACES_MAX ? model->count : PLACES_MAX;
    print_head(out, title_of(model));
    fputs(sc_as_html_body, out);
    print_lists(out, model);
    sc_memory_section_write(out, model);
    fputs("<script type=\"application/json\" id=\"report\">{", out);
    sc_page_overview_write(out, model, shown);
    sc_page_hazards_write(out, model, shown);
    fprintf(out, "}</script>\n<script>%s</script>\n</body>\n</html>\n", sc_as_html_script);
}
