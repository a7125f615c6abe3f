/* JUnit's XML: a test case that passes for each run, and one that fails for each hazard and for
 * each line that could not be read.
 */
#include "report/command/formats/escape.h"
#include "report/command/formats/formats.h"

#include <string.h>

static void put_attribute(FILE *out, const char *name, const char *value)
{
    fprintf(out, " %s=\"", name);
    sc_escape_markup(out, value);
    fputc('"', out);
}

static void open_case(FILE *out, const char *class_name, const char *name)
{
    fputs("    <testcase", out);
    put_attribute(out, "classname", class_name);
    put_attribute(out, "name", name);
    fputs(" time=\"0\">\n", out);
}

static void put_skipped(FILE *out, const char *why)
{
    fputs("      <skipped", out);
    put_attribute(out, "message", why);
    fputs("/>\n", out);
}

static void put_line(FILE *out, const char *indent, const char *words)
{
    fputs(indent, out);
    sc_escape_markup(out, words);
    fputc('\n', out);
}

/* What fails the test case of the run; NULL: nothing. */
static const char *failure_of(const struct sc_run *run)
{
    if (run->doubt)
        return run->doubt;
    return run->ended || run->replaced ? NULL : "the run did not end normally";
}

static bool is_skipped(const struct sc_run *run)
{
    return !run->reached && !failure_of(run);
}

static void put_failure(FILE *out, const char *type, const char *why)
{
    fputs("      <failure", out);
    put_attribute(out, "type", type);
    put_attribute(out, "message", why);
    fputs("/>\n", out);
}

static void print_run(FILE *out, struct sc_model *model, const struct sc_run *run)
{
    open_case(out, "safecopy.runs",
              sc_scratch_print(&model->scratch, "%s: %s", run->file, run->title));
    if (failure_of(run))
        put_failure(out, "run", failure_of(run));
    else if (is_skipped(run))
        put_skipped(out, "nothing was looked for: no call came through the library");
    fputs("      <system-out>\n", out);
    for (size_t i = 0; i < run->note_count; i++)
        put_line(out, "", run->notes[i].words);
    fputs("      </system-out>\n    </testcase>\n", out);
}

static size_t count_unread(const struct sc_run *run)
{
    return run->bad_line_count + (run->bad_lines_more > 0);
}

static void print_unread_case(FILE *out, const char *name, const char *problem)
{
    open_case(out, "safecopy.unread", name);
    put_failure(out, "unread", problem);
    fputs("    </testcase>\n", out);
}

/* What such a line tells nobody knows: it may be a hazard. */
static void print_unread(FILE *out, struct sc_model *model, const struct sc_run *run)
{
    for (size_t i = 0; i < run->bad_line_count; i++)
        print_unread_case(out,
                          sc_scratch_print(&model->scratch, "%s: line %" JSON_INTEGER_FORMAT,
                                           run->file, run->bad_lines[i].number),
                          run->bad_lines[i].problem);
    if (run->bad_lines_more > 0)
        print_unread_case(out,
                          sc_scratch_print(&model->scratch,
                                           "%s: %" JSON_INTEGER_FORMAT " more lines", run->file,
                                           run->bad_lines_more),
                          "they could not be read");
}

static void print_call(FILE *out, const struct sc_call *call)
{
    put_line(out, "", call->words);
    for (size_t i = 0; i < call->stack.count; i++)
        put_line(out, "  ", call->stack.frames[i].words);
}

static void print_failure(FILE *out, const struct sc_shown *hazard)
{
    fputs("      <failure", out);
    put_attribute(out, "type", hazard->code);
    put_attribute(out, "message", hazard->title);
    fprintf(out, ">\n");
    print_call(out, &hazard->event);
    print_call(out, &hazard->copy);
    if (hazard->freed.api)
        print_call(out, &hazard->freed);
    for (size_t i = 0; i < hazard->origin_count; i++)
        put_line(out, "", hazard->origins[i].words);
    if (hazard->timing)
        put_line(out, "", hazard->timing);
    put_line(out, "", hazard->outcome);
    put_line(out, "What to do: ", hazard->advice);
    fputs("      </failure>\n", out);
}

/* What skips the test case; NULL: it fails. */
static const char *excuse_of(const struct sc_shown *hazard)
{
    if (hazard->suppression)
        return hazard->suppression;
    bool is_old = hazard->news && strcmp(hazard->news, "unchanged") == 0;
    return is_old ? "unchanged since the baseline" : NULL;
}

static void print_hazard(FILE *out, struct sc_model *model, const struct sc_shown *hazard)
{
    const char *excuse = excuse_of(hazard);
    const char *class_name =
        sc_scratch_print(&model->scratch, "safecopy.%s %s", hazard->code, hazard->name);
    open_case(out, class_name, hazard->title);
    if (excuse)
        put_skipped(out, excuse);
    else
        print_failure(out, hazard);
    fputs("    </testcase>\n", out);
}

struct counts {
    size_t tests, failures, skipped;
};

static struct counts count(struct sc_model *model)
{
    struct counts counts = {.tests = model->reader->run_count + model->count};
    for (size_t i = 0; i < model->reader->run_count; i++) {
        const struct sc_run *run = sc_model_run(model, i);
        counts.tests += count_unread(run);
        counts.skipped += is_skipped(run);
        counts.failures += count_unread(run) + (failure_of(run) != NULL);
    }
    for (size_t i = 0; i < model->count; i++) {
        bool is_excused = sc_model_is_excused(model, i);
        counts.skipped += is_excused;
        counts.failures += !is_excused;
    }
    return counts;
}

void sc_as_junit(FILE *out, struct sc_model *model)
{
    struct counts counts = count(model);
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuites name=\"safecopy\" tests=\"%zu\" failures=\"%zu\" errors=\"0\">\n"
            "  <testsuite name=\"safecopy\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" "
            "skipped=\"%zu\" time=\"0\">\n",
            counts.tests, counts.failures, counts.tests, counts.failures, counts.skipped);
    for (size_t i = 0; i < model->reader->run_count; i++) {
        const struct sc_run *run = sc_model_run(model, i);
        print_run(out, model, run);
        print_unread(out, model, run);
    }
    for (size_t i = 0; i < model->count; i++)
        print_hazard(out, model, sc_model_hazard(model, i));
    fputs("  </testsuite>\n</testsuites>\n", out);
}
