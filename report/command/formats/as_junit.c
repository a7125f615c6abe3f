/* JUnit's XML: a test case that passes for each run, and one that fails for each hazard and for
 * each line that could not be read.
 *
 * Dashboards know a test by its name: it has no number that another run, or another build, would
 * not have. What a name lacks stands in the failure or in <system-out>.
 */
#define _GNU_SOURCE 1
#include "report/command/fingerprint.h"
#include "report/command/formats/escape.h"
#include "report/command/formats/formats.h"
#include "report/command/short_name.h"
#include "report/command/shown.h"
#include "report/command/table.h"

#include <stdlib.h>
#include <string.h>

/* Writes an attribute of XML, escaped. */
static void put_attribute(FILE *out, const char *name, const char *value)
{
    fprintf(out, " %s=\"", name);
    sc_escape_markup(out, value);
    fputc('"', out);
}

/* ---- names ---- */

/* A name that a test case has. */
struct name {
    struct sc_node node;
    struct name *next;
    unsigned count;
};

struct junit {
    FILE *out;
    struct sc_model *model;
    struct sc_table table; /* of struct name */
    struct name *names;
};

/* Returns how often the name was used until now: test cases must differ in their names. */
static unsigned count_name(struct junit *junit, const char *name)
{
    struct sc_digester digester;
    sc_digest_begin(&digester);
    sc_digest_word(&digester, name);
    struct sc_digest digest = sc_digest_end(&digester);
    struct name *known = (struct name *)(void *)sc_table_find(&junit->table, &digest);
    if (!known) {
        known = calloc(1, sizeof *known);
        if (!known)
            return 1;
        *known = (struct name){.node.digest = digest, .next = junit->names};
        junit->names = known;
        sc_table_add(&junit->table, &known->node);
    }
    return ++known->count;
}

/* Returns a name that no test case had before: the same one again gets a number. */
static const char *distinct(struct junit *junit, const char *name)
{
    unsigned count = count_name(junit, name);
    return count == 1 ? name : sc_scratch_print(&junit->model->scratch, "%s #%u", name, count);
}

/* Frees the names of test cases. */
static void forget_names(struct junit *junit)
{
    sc_table_free(&junit->table);
    while (junit->names) {
        struct name *name = junit->names;
        junit->names = name->next;
        free(name);
    }
}

/* Names a call, as "cudaMemcpyAsync in upload_frame (frees)". */
static const char *name_of_call(struct sc_scratch *scratch, const struct sc_call *call)
{
    const struct sc_frame *user = sc_fingerprint_frame(call);
    if (!user)
        return call->called;
    const char *path = user->is_python ? user->file : user->module;
    const char *file = path ? basename(path) : "?";
    if (!user->function)
        return sc_scratch_print(scratch, "%s in %s", call->called, file);
    return sc_scratch_print(scratch, "%s in %s (%s)", call->called,
                            sc_short_name(scratch, user->function), file);
}

/* Names the hazard. The fingerprint is part of the name, since the callers may differ where the
 * other parts do not. */
static const char *name_of_hazard(struct sc_scratch *scratch, const struct sc_shown *hazard)
{
    return sc_scratch_print(scratch, "%s; %s [%.8s]", name_of_call(scratch, &hazard->event),
                            name_of_call(scratch, &hazard->copy),
                            sc_fingerprint_make(scratch, hazard));
}

/* ---- elements ---- */

/* Begins a test case. Its time is 0, since nothing was timed. */
static void open_case(FILE *out, const char *class_name, const char *name)
{
    fputs("    <testcase", out);
    put_attribute(out, "classname", class_name);
    put_attribute(out, "name", name);
    fputs(" time=\"0\">\n", out);
}

/* Marks the test case as skipped, with the reason. */
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

/* Returns why the test case of the run fails, or NULL if it does not. */
static const char *failure_of(const struct sc_run *run)
{
    if (run->doubt)
        return run->doubt;
    return run->ended || run->replaced ? NULL : "the run did not end normally";
}

/* Did the library look at nothing in this run, without that being a failure? */
static bool is_skipped(const struct sc_run *run)
{
    return !run->reached && !failure_of(run);
}

/* Marks the test case as failed, with the reason. */
static void put_failure(FILE *out, const char *type, const char *why)
{
    fputs("      <failure", out);
    put_attribute(out, "type", type);
    put_attribute(out, "message", why);
    fputs("/>\n", out);
}

/* Writes a test case for the run itself: failed if it is in doubt or lost its context, skipped if
 * nothing was looked at. */
static void print_run(struct junit *junit, const struct sc_run *run)
{
    FILE *out = junit->out;
    open_case(out, "safecopy.runs", distinct(junit, run->name));
    if (failure_of(run))
        put_failure(out, "run", failure_of(run));
    else if (is_skipped(run))
        put_skipped(out, "nothing was looked for: no call came through the library");
    fputs("      <system-out>\n", out);
    put_line(out, "", sc_scratch_print(&junit->model->scratch, "%s: %s", run->file, run->title));
    for (size_t i = 0; i < run->note_count; i++)
        put_line(out, "", run->notes[i].words);
    fputs("      </system-out>\n    </testcase>\n", out);
}

/* Returns how many test cases the run's unreadable lines make: one each, and one for all that are
 * not named. */
static size_t count_unread(const struct sc_run *run)
{
    return run->bad_line_count + (run->bad_lines_more > 0);
}

/* Writes a failed test case for a line that could not be read: what stood there may have been a
 * hazard. */
static void print_unread_case(struct junit *junit, const struct sc_run *run, const char *problem)
{
    const char *name =
        sc_scratch_print(&junit->model->scratch, "%s: a line that could not be read", run->name);
    open_case(junit->out, "safecopy.unread", distinct(junit, name));
    put_failure(junit->out, "unread", problem);
    fputs("    </testcase>\n", junit->out);
}

/* Writes a failed test case for each line that could not be read: nobody knows what it says, and it
 * may be a hazard. */
static void print_unread(struct junit *junit, const struct sc_run *run)
{
    struct sc_scratch *scratch = &junit->model->scratch;
    for (size_t i = 0; i < run->bad_line_count; i++)
        print_unread_case(junit, run,
                          sc_scratch_print(scratch, "%s: line %" JSON_INTEGER_FORMAT ": %s",
                                           run->file, run->bad_lines[i].number,
                                           run->bad_lines[i].problem));
    if (run->bad_lines_more > 0)
        print_unread_case(
            junit, run,
            sc_scratch_print(scratch, "%s: %" JSON_INTEGER_FORMAT " more lines could not be read",
                             run->file, run->bad_lines_more));
}

static void print_call(FILE *out, const struct sc_call *call)
{
    put_line(out, "", call->words);
    for (size_t i = 0; i < call->stack.count; i++)
        put_line(out, "  ", call->stack.frames[i].words);
}

/* Writes a hazard as the failure of its test case, with stacks and advice as text. */
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

/* Returns why the test case of the hazard is skipped, or NULL if it fails. */
static const char *excuse_of(struct sc_scratch *scratch, const struct sc_shown *hazard)
{
    if (hazard->suppression)
        return hazard->suppression;
    if (hazard->grown)
        return sc_scratch_print(scratch, "unchanged since the baseline, but %s", hazard->grown);
    if (json_is_true(json_object_get(hazard->record, "advisory")))
        return "an advisory";
    bool is_old = hazard->news && strcmp(hazard->news, "unchanged") == 0;
    return is_old ? "unchanged since the baseline" : NULL;
}

/* Writes a test case for a hazard: failed, or skipped if it is suppressed, known or may be
 * meant. */
static void print_hazard(struct junit *junit, const struct sc_shown *hazard)
{
    FILE *out = junit->out;
    struct sc_scratch *scratch = &junit->model->scratch;
    const char *excuse = excuse_of(scratch, hazard);
    const char *class_name =
        sc_scratch_print(scratch, "safecopy.%s %s", hazard->code, hazard->name);
    open_case(out, class_name, distinct(junit, name_of_hazard(scratch, hazard)));
    if (excuse)
        put_skipped(out, excuse);
    else
        print_failure(out, hazard);
    fputs("    </testcase>\n", out);
}

struct counts {
    size_t tests, failures, skipped;
};

/* Counts the test cases, which stand at the head of the file. */
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

/* Writes what could not be compared with the baseline. */
static void print_open(FILE *out, struct sc_model *model)
{
    if (model->open_module_count == 0)
        return;
    fputs("    <system-err>\n", out);
    for (size_t i = 0; i < model->open_module_count; i++)
        put_line(out, "not compared with the baseline: ", sc_model_open_words(model, i));
    fputs("    </system-err>\n", out);
}

/* Writes the report as JUnit's XML, which CI systems show: a test case for each run and each
 * hazard. */
void sc_as_junit(FILE *out, struct sc_model *model)
{
    struct counts counts = count(model);
    struct junit junit = {.out = out, .model = model};
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuites name=\"safecopy\" tests=\"%zu\" failures=\"%zu\" errors=\"0\">\n"
            "  <testsuite name=\"safecopy\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" "
            "skipped=\"%zu\" time=\"0\">\n",
            counts.tests, counts.failures, counts.tests, counts.failures, counts.skipped);
    for (size_t i = 0; i < model->reader->run_count; i++) {
        const struct sc_run *run = sc_model_run(model, i);
        print_run(&junit, run);
        print_unread(&junit, run);
    }
    for (size_t i = 0; i < model->count; i++)
        print_hazard(&junit, sc_model_hazard(model, i));
    print_open(out, model);
    fputs("  </testsuite>\n</testsuites>\n", out);
    forget_names(&junit);
}
