#define _GNU_SOURCE 1
#include "report/command/doctor/show.h"

#include "report/command/formats/json_writer.h"
#include "report/command/say.h"
#include "report/version.h"

#include <string.h>
#include <sys/wait.h>

enum { SCHEMA = 1 };

static const char *name_of(enum sc_level level)
{
    static const char *const names[] = {
        [SC_LEVEL_OK] = "ok", [SC_LEVEL_NOTE] = "note", [SC_LEVEL_PROBLEM] = "problem"};
    return names[level];
}

/* ---- text ---- */

/* Prints one finding and its remedy. */
static void print_finding(FILE *out, const struct sc_finding *finding)
{
    fprintf(out, "  %-7s  %s\n", name_of(finding->level), sc_say_plain(finding->text));
    if (finding->remedy)
        fprintf(out, "           remedy: %s\n", sc_say_plain(finding->remedy));
}

/* Prints the diagnosis for people, with a headline for each section, and how many problems there
 * are. */
void sc_show_text(FILE *out, const struct sc_diagnosis *diagnosis)
{
    const char *section = "";
    for (size_t i = 0; i < diagnosis->count; i++) {
        const struct sc_finding *finding = &diagnosis->findings[i];
        if (strcmp(section, finding->section) != 0)
            fprintf(out, "%s\n", finding->section);
        section = finding->section;
        print_finding(out, finding);
    }
    if (diagnosis->problem_count == 0)
        fputs("no problem was found\n", out);
    else
        fprintf(out, "%zu problem%s found\n", diagnosis->problem_count,
                diagnosis->problem_count == 1 ? " was" : "s were");
    sc_say_forget();
}

/* ---- JSON ---- */

static void put_member(FILE *out, const char *before, const char *key, const char *text)
{
    fprintf(out, "%s\"%s\": ", before, key);
    if (text)
        sc_json_writer_put_string(out, text);
    else
        fputs("null", out);
}

/* Writes one finding as JSON. */
static void put_finding(FILE *out, const struct sc_finding *finding, bool is_first)
{
    put_member(out, is_first ? "\n    {" : ",\n    {", "section", finding->section);
    put_member(out, ", ", "id", finding->id);
    put_member(out, ", ", "level", name_of(finding->level));
    put_member(out, ",\n     ", "text", finding->text);
    put_member(out, ",\n     ", "remedy", finding->remedy);
    fputc('}', out);
}

/* Puts how the tried program has ended, as JSON. */
static void put_trial(FILE *out, const struct sc_trial_facts *trial)
{
    bool has_ended = trial->error == 0;
    fputs("\n    \"exit_status\": ", out);
    if (has_ended && WIFEXITED(trial->wait_status))
        fprintf(out, "%d", WEXITSTATUS(trial->wait_status));
    else
        fputs("null", out);
    fputs(", \"signal\": ", out);
    if (has_ended && WIFSIGNALED(trial->wait_status))
        fprintf(out, "%d", WTERMSIG(trial->wait_status));
    else
        fputs("null", out);
    fprintf(out, ",\n    \"programs\": %zu, \"reached\": %zu, \"reports\": %zu\n  ",
            trial->process_count, trial->reached_count, trial->report_count);
}

/* Writes the chain of files that the program runs by (scripts, interpreters) as JSON. */
static void put_program(FILE *out, const struct sc_program_facts *program)
{
    fputs("[", out);
    for (size_t i = 0; i < program->count; i++) {
        fputs(i > 0 ? ", " : "", out);
        sc_json_writer_put_string(out, program->files[i].path);
    }
    fputs("]", out);
}

/* Prints the diagnosis as JSON (report/command/doctor/schema.json). `program` and `trial` are NULL
 * without a program. */
void sc_show_json(FILE *out, const struct sc_diagnosis *diagnosis,
                  const struct sc_program_facts *program, const struct sc_trial_facts *trial)
{
    fprintf(out, "{\n  \"schema\": %d, \"version\": \"%s\",\n  \"problems\": %zu,\n  ", SCHEMA,
            SC_VERSION, diagnosis->problem_count);
    fputs("\"findings\": [", out);
    for (size_t i = 0; i < diagnosis->count; i++)
        put_finding(out, &diagnosis->findings[i], i == 0);
    fputs("\n  ],\n  \"program\": ", out);
    if (program)
        put_program(out, program);
    else
        fputs("null", out);
    fputs(",\n  \"trial\": ", out);
    if (trial) {
        fputc('{', out);
        put_trial(out, trial);
        fputc('}', out);
    } else {
        fputs("null", out);
    }
    fputs("\n}\n", out);
}
