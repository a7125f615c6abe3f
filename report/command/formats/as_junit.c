/* JUnit's XML: a test case that passes for each run, and one that fails for each hazard. */
#include "report/command/fields.h"
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

/* No test case of a hazard can fail for these. */
static bool has_lost_hazards(const struct sc_model *model, const struct sc_run *run)
{
    const json_t *summary = json_object_get(run->record, "summary");
    return sc_reader_has_lost_hazards(model->reader) && sc_field_number(summary, "hazards") > 0;
}

/* What fails the test case of the run; NULL: nothing. */
static const char *failure_of(const struct sc_model *model, const struct sc_run *run)
{
    if (has_lost_hazards(model, run))
        return "hazards were counted, and their lines are missing";
    return run->ended || run->replaced ? NULL : "the run did not end normally";
}

static void put_run_failure(FILE *out, const char *why)
{
    fputs("      <failure", out);
    put_attribute(out, "type", "run");
    put_attribute(out, "message", why);
    fputs("/>\n", out);
}

static void print_run(FILE *out, struct sc_model *model, const struct sc_run *run)
{
    open_case(out, "safecopy.runs",
              sc_scratch_print(&model->scratch, "%s: %s", run->file, run->title));
    if (!run->reached)
        put_skipped(out, "nothing was looked for: no call came through the library");
    else if (failure_of(model, run))
        put_run_failure(out, failure_of(model, run));
    fputs("      <system-out>\n", out);
    for (size_t i = 0; i < run->note_count; i++)
        put_line(out, "", run->notes[i].words);
    fputs("      </system-out>\n    </testcase>\n", out);
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
        counts.skipped += !run->reached;
        counts.failures += run->reached && failure_of(model, run);
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
    for (size_t i = 0; i < model->reader->run_count; i++)
        print_run(out, model, sc_model_run(model, i));
    for (size_t i = 0; i < model->count; i++)
        print_hazard(out, model, sc_model_hazard(model, i));
    fputs("  </testsuite>\n</testsuites>\n", out);
}
