/* One page without any reference to the network: a card a hazard, with a search that needs no
 * server. All text from outside is escaped, and the page allows no script but its own.
 */
#define _GNU_SOURCE 1
#include "report/command/baseline.h"
#include "report/command/embed.h"
#include "report/command/formats/formats.h"
#include "report/command/formats/memory_section.h"
#include "report/command/formats/moment.h"
#include "report/command/formats/page_parts.h"
#include "report/command/shown.h"

#include <string.h>

SC_EMBED(sc_as_html_style, "report/command/formats/page.css");
SC_EMBED(sc_as_html_script, "report/command/formats/page.js");

/* Of page.js, in base 64 (tests/unit/test_formats.py). */
#define SCRIPT_SHA256 "An+VVDjgZFAMMOzgHHvq9uAzcAGH2zlun1lu2cNA3cE="

enum { CARDS_MAX = 1000, RUNS_MAX = 200 };

/* ---- the head ---- */

static void print_head(FILE *out, const char *title)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
          "style-src 'unsafe-inline'; script-src 'sha256-" SCRIPT_SHA256
          "'; base-uri 'none'; form-action 'none'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
          out);
    sc_page_part_put(out, "<title>", title, " - safecopy</title>\n");
    fprintf(out, "<style>\n%s</style>\n</head>\n<body>\n", sc_as_html_style);
    sc_page_part_put(out, "<h1>", title, "</h1>\n");
}

static void print_run(FILE *out, const struct sc_run *run)
{
    sc_page_part_put(out, "<li>", run->file, ": ");
    sc_page_part_put(out, "", run->title, "<ul>");
    for (size_t i = 0; i < run->note_count; i++)
        sc_page_part_put(out, "<li>", run->notes[i].words, "</li>");
    fputs("</ul></li>\n", out);
}

static void print_runs(FILE *out, struct sc_model *model)
{
    size_t count = model->reader->run_count;
    fputs("<ul class=\"runs\">\n", out);
    for (size_t i = 0; i < count && i < RUNS_MAX; i++)
        print_run(out, sc_model_run(model, i));
    if (count > RUNS_MAX)
        fprintf(out, "<li>and %zu more run%s</li>\n", count - RUNS_MAX,
                count - RUNS_MAX == 1 ? "" : "s");
    fputs("</ul>\n", out);
}

/* ---- filters ---- */

static bool is_first_of_code(const struct sc_model *model, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(model->chosen[i].finding->code, model->chosen[index].finding->code) == 0)
            return false;
    return true;
}

static void print_codes(FILE *out, const struct sc_model *model, size_t shown)
{
    fputs("<select name=\"code\" aria-label=\"code\"><option value=\"\">all codes</option>", out);
    for (size_t i = 0; i < shown; i++)
        if (is_first_of_code(model, i))
            sc_page_part_put(out, "<option>", model->chosen[i].finding->code, "</option>");
    fputs("</select>\n", out);
}

static void print_filters(FILE *out, const struct sc_model *model, size_t shown)
{
    fputs("<form id=\"filters\" hidden>\n<input name=\"search\" type=\"search\" "
          "placeholder=\"search: function, file, call\" aria-label=\"search\">\n",
          out);
    print_codes(out, model, shown);
    fputs("<select name=\"certainty\" aria-label=\"certainty\"><option value=\"\">observed and "
          "latent</option><option>observed</option><option>latent</option></select>\n"
          "<span id=\"shown\"></span>\n</form>\n",
          out);
}

/* ---- cards ---- */

static void print_excerpt(FILE *out, struct sc_model *model, const struct sc_frame *frame)
{
    struct sc_excerpt excerpt = sc_model_excerpt(model, frame);
    if (excerpt.count == 0)
        return;
    fputs("<pre>", out);
    for (size_t i = 0; i < excerpt.count; i++) {
        size_t number = excerpt.first + i;
        bool is_it = (json_int_t)number == frame->line;
        fprintf(out, "<span%s><b>%5zu </b>", is_it ? " class=\"it\"" : "", number);
        sc_page_part_put(out, "", excerpt.lines[i], "</span>");
    }
    fputs("</pre>\n", out);
}

static void print_side(FILE *out, struct sc_model *model, const struct sc_call *call)
{
    const struct sc_frame *user = call->stack.user, *library = call->stack.library;
    sc_page_part_put(out, "<section>\n<h3>", call->api, "</h3>\n");
    if (user)
        sc_page_part_put(out, "<p class=\"place\">", sc_frames_shown_place(&model->scratch, user),
                         "</p>\n");
    print_excerpt(out, model, user);
    if (library)
        sc_page_part_put(out, "<p class=\"place library\">in ",
                         sc_frames_shown_place(&model->scratch, library), "</p>\n");
    sc_page_part_put(out, "<p>", call->words, "</p>\n");
    sc_page_part_put_stack(out, &call->stack);
    fputs("</section>\n", out);
}

static void print_facts(FILE *out, const struct sc_shown *hazard)
{
    sc_page_part_put(out, "<p class=\"facts\"><span class=\"badge\">", hazard->certainty,
                     "</span> ");
    if (hazard->news)
        fprintf(out, "<span class=\"badge %s\">%s</span> ", hazard->news, hazard->news);
    if (hazard->suppression)
        sc_page_part_put(out, "<span class=\"badge\">suppressed: ", hazard->suppression,
                         "</span> ");
    sc_page_part_put(out, "", hazard->count, "; ");
    bool is_healed = strncmp(hazard->outcome, "healed", strlen("healed")) == 0;
    sc_page_part_put(out, is_healed ? "<span class=\"healed\">" : "<span>", hazard->outcome,
                     "</span>");
    if (hazard->label)
        sc_page_part_put(out, "; during <code>", hazard->label, "</code>");
    if (hazard->timing)
        sc_page_part_put(out, "; ", hazard->timing, "");
    fputs("</p>\n", out);
}

static void open_card(FILE *out, const struct sc_shown *hazard, size_t index)
{
    bool is_observed = strcmp(hazard->certainty, "observed") == 0;
    fprintf(out, "<article class=\"card%s\" id=\"h%zu\"", is_observed ? " observed" : "", index);
    sc_page_part_put(out, " data-code=\"", hazard->code, "\"");
    sc_page_part_put(out, " data-certainty=\"", hazard->certainty, "\">\n");
    fprintf(out, "<h2><a href=\"#h%zu\">", index);
    sc_page_part_put(out, "", hazard->code, "</a> ");
    sc_page_part_put(out, "", hazard->name, "</h2>\n");
}

static void print_card(FILE *out, struct sc_model *model, size_t index)
{
    const struct sc_shown *hazard = sc_model_hazard(model, index);
    open_card(out, hazard, index);
    print_facts(out, hazard);
    fputs("<div class=\"sides\">\n", out);
    print_side(out, model, &hazard->event);
    print_side(out, model, &hazard->copy);
    if (hazard->freed.api)
        print_side(out, model, &hazard->freed);
    fputs("</div>\n", out);
    for (size_t i = 0; i < hazard->origin_count; i++) {
        sc_page_part_put(out, "<p>", hazard->origins[i].words, "</p>\n");
        sc_page_part_put_stack(out, &hazard->origins[i].stack);
    }
    fputs("<figure>", out);
    sc_moment_draw(out, &model->scratch, hazard);
    sc_page_part_put(out, "</figure>\n<p class=\"advice\"><strong>What to do:</strong> ",
                     hazard->advice, ".</p>\n</article>\n");
}

static void print_grown(void *out, const char *title, size_t now, size_t before)
{
    fprintf(out, "<li>unchanged, but at %zu places here and %zu in the baseline: ", now, before);
    sc_page_part_put(out, "", title, "</li>\n");
}

static void print_fixed(void *out, const char *title)
{
    sc_page_part_put(out, "<li>fixed since the baseline: ", title, "</li>\n");
}

void sc_as_html(FILE *out, struct sc_model *model)
{
    size_t shown = model->count < CARDS_MAX ? model->count : CARDS_MAX;
    print_head(out, sc_model_headline(model));
    print_runs(out, model);
    sc_memory_section_link(out, model);
    print_filters(out, model, shown);
    fputs("<main>\n", out);
    for (size_t i = 0; i < shown; i++)
        print_card(out, model, i);
    fputs("</main>\n", out);
    sc_memory_section_write(out, model);
    fputs("<ul>\n", out);
    for (size_t i = 0; i < model->open_module_count; i++)
        sc_page_part_put(out, "<li>not compared with the baseline: ", sc_model_open_words(model, i),
                         "</li>\n");
    if (model->knows_fixed) {
        sc_baseline_each_grown(model->baseline, print_grown, out);
        sc_baseline_each_fixed(model->baseline, print_fixed, out);
    }
    fputs("</ul>\n", out);
    if (shown < model->count)
        fprintf(out, "<footer>%zu more place%s left out here.</footer>\n", model->count - shown,
                model->count - shown == 1 ? " is" : "s are");
    fprintf(out, "<script>\n%s</script>\n</body>\n</html>\n", sc_as_html_script);
}
