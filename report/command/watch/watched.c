#define _GNU_SOURCE 1
#include "report/command/watch/watched.h"

#include "report/command/fields.h"
#include "report/command/findings.h"
#include "report/command/line_problem.h"
#include "report/command/parse.h"
#include "report/command/say.h"
#include "report/command/shown.h"
#include "report/command/shown_hazards.h"
#include "report/command/shown_memory.h"
#include "report/command/shown_postmortems.h"
#include "report/version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As many as a report tells apart, and codes that there may be. */
enum { HAZARDS_MAX = 4096, TALLIES_MAX = 64 };

/* ---- hazards ---- */

struct sc_watch_counted {
    struct sc_node node; /* by code and stacks */
    struct sc_watch_counted *next;
    json_int_t count;
};

/* Frees which hazards were counted. */
static void forget_counted(struct sc_watched *watched)
{
    while (watched->first) {
        struct sc_watch_counted *counted = watched->first;
        watched->first = counted->next;
        free(counted);
    }
    sc_table_free(&watched->counted);
    watched->counted = (struct sc_table){0};
}

void sc_watched_free(struct sc_watched *watched)
{
    forget_counted(watched);
    json_decref(watched->run);
    free(watched->program);
    free(watched->program_build);
    free(watched->tallies);
    free(watched->newest);
    *watched = (struct sc_watched){0};
}

/* Finds, or adds, the count of a code. Returns NULL if there are too many, or memory runs out. */
static struct sc_watch_tally *find_tally(struct sc_watched *watched, const char *code)
{
    for (size_t i = 0; i < watched->tally_count; i++)
        if (strcmp(watched->tallies[i].code, code) == 0)
            return &watched->tallies[i];
    if (watched->tally_count == TALLIES_MAX)
        return NULL;
    struct sc_watch_tally *more =
        realloc(watched->tallies, (watched->tally_count + 1) * sizeof *more);
    if (!more)
        return NULL;
    watched->tallies = more;
    more += watched->tally_count++;
    *more = (struct sc_watch_tally){0};
    snprintf(more->code, sizeof more->code, "%s", code);
    return more;
}

/* Adds a stack as its text is, since only equal ones of one report are compared. */
static void digest_stack(struct sc_digester *digester, const json_t *side)
{
    char *text = json_dumps(json_object_get(side, "stack"), JSON_COMPACT | JSON_ENCODE_ANY);
    sc_digest_word(digester, sc_field_string(side, "api", ""));
    sc_digest_word(digester, text ? text : "");
    free(text);
}

/* Finds, or adds, the count of a hazard, whose later lines say how often it came until then. */
static struct sc_watch_counted *find_counted(struct sc_watched *watched, const json_t *hazard)
{
    struct sc_digester digester;
    sc_digest_begin(&digester);
    sc_digest_word(&digester, sc_field_string(hazard, "code", ""));
    digest_stack(&digester, json_object_get(hazard, "copy"));
    digest_stack(&digester, json_object_get(hazard, "event"));
    const struct sc_digest digest = sc_digest_end(&digester);
    struct sc_node *node = sc_table_find(&watched->counted, &digest);
    if (node || watched->counted.count >= HAZARDS_MAX)
        return (struct sc_watch_counted *)(void *)node;
    struct sc_watch_counted *counted = calloc(1, sizeof *counted);
    if (!counted)
        return NULL;
    counted->node.digest = digest;
    counted->next = watched->first;
    watched->first = counted;
    sc_table_add(&watched->counted, &counted->node);
    return counted;
}

/* Takes a hazard's line, which has the count of that hazard so far, into the count of its code.
 * Suppressed hazards and advisories do not count. */
static void count_hazard(struct sc_watched *watched, const json_t *hazard)
{
    bool is_one =
        !sc_finding_suppression(hazard) && !json_is_true(json_object_get(hazard, "advisory"));
    json_int_t count = sc_field_number(hazard, "count"), sum;
    struct sc_watch_counted *counted = is_one ? find_counted(watched, hazard) : NULL;
    struct sc_watch_tally *tally =
        counted ? find_tally(watched, sc_field_string(hazard, "code", "")) : NULL;
    if (!tally || count <= counted->count)
        return;
    if (!__builtin_add_overflow(tally->count, count - counted->count, &sum))
        tally->count = sum;
    counted->count = count;
}

/* ---- runs ---- */

/* Notes the builds of a line's modules. */
static void note_modules(struct sc_watch_makers *makers, const json_t *line)
{
    size_t index;
    json_t *module;
    json_array_foreach(json_object_get(line, "modules"), index, module)
    {
        const char *path = sc_field_string(module, "path", NULL);
        if (path)
            sc_builds_note(&makers->builds, path, sc_field_string(module, "build_id", ""));
    }
}

/* Notes the program's own module, the first of a run line. */
static void note_program(struct sc_watched *watched, const json_t *line)
{
    const json_t *module = json_array_get(json_object_get(line, "modules"), 0);
    const char *path = sc_field_string(module, "path", NULL);
    free(watched->program);
    free(watched->program_build);
    watched->program = path ? strdup(path) : NULL;
    watched->program_build = path ? strdup(sc_field_string(module, "build_id", "")) : NULL;
}

/* Records the modules of the process. Those that a line lists later belong to the program that runs
 * then. */
static void take_modules(struct sc_watched *watched, struct sc_watch_makers *makers,
                         const json_t *line)
{
    if (watched->program && watched->program_build)
        sc_builds_note(&makers->builds, watched->program, watched->program_build);
    note_modules(makers, line);
    const struct sc_builds *builds = sc_builds_end_run(&makers->builds);
    if (builds)
        watched->builds = builds;
}

/* Begins to count anew: what was counted belongs to the program before, which exec has replaced. */
static void begin_program(struct sc_watched *watched)
{
    for (size_t i = 0; i < watched->tally_count; i++) {
        watched->tallies[i].before = sc_watched_sum(&watched->tallies[i]);
        watched->tallies[i].count = 0;
    }
    forget_counted(watched);
    watched->has_ended = watched->has_status = watched->has_lost = false;
}

/* Processes the first line of a program, which may have replaced the one before in the same
 * process. */
static void take_run(struct sc_watched *watched, struct sc_watch_makers *makers, json_t *line)
{
    begin_program(watched);
    note_program(watched, line);
    take_modules(watched, makers, line);
    json_decref(watched->run);
    watched->run = json_copy(line);
    json_object_del(watched->run, "modules");
    json_object_del(watched->run, "options");
}

/* Returns what all devices hold, in all. */
static uint64_t bytes_of(const json_t *memory)
{
    uint64_t sum = 0;
    size_t index;
    json_t *device;
    json_array_foreach(json_object_get(memory, "devices"), index, device)
    {
        sc_shown_memory_add(&sum, sc_shown_memory_bytes(device, "bytes"));
    }
    return sum;
}

/* Takes what the process holds from a memory or summary line. */
static void take_memory(struct sc_watched *watched, const json_t *memory)
{
    if (!json_is_object(memory))
        return;
    watched->knows_memory = true;
    watched->device_bytes = bytes_of(memory);
    watched->host_bytes = sc_shown_memory_bytes(json_object_get(memory, "host"), "bytes");
}

/* Processes the summary: the process has ended, and these are its last counts. */
static void take_summary(struct sc_watched *watched, const json_t *summary)
{
    const json_t *status = json_object_get(summary, "exit_status");
    const char *code;
    json_t *count;
    json_object_foreach(json_object_get(summary, "by_code"), code, count)
    {
        struct sc_watch_tally *tally = find_tally(watched, code);
        if (tally && tally->count < json_integer_value(count))
            tally->count = json_integer_value(count);
    }
    watched->has_ended = true;
    watched->has_status = json_is_integer(status);
    watched->exit_status = json_integer_value(status);
    watched->operations = sc_field_number(summary, "operations");
    take_memory(watched, json_object_get(summary, "memory"));
}

/* ---- lines ---- */

/* Was the report written by a later version? */
static bool is_later(const struct sc_watched *watched)
{
    unsigned major, minor, patch;
    const char *version = sc_field_string(watched->run, "version", "");
    return sscanf(version, "%3u.%3u.%3u", &major, &minor, &patch) == 3 &&
           10000 * major + 100 * minor + patch > SAFECOPY_VERSION;
}

/* Takes a line by its type. Returns what kind of news it is. */
static enum sc_watch_news take_type(struct sc_watched *watched, struct sc_watch_makers *makers,
                                    const char *type, json_t *line)
{
    if (strcmp(type, "run") == 0) {
        take_run(watched, makers, line);
        return SC_WATCH_RUN;
    }
    if (strcmp(type, "hazard") == 0) {
        count_hazard(watched, line);
        return SC_WATCH_HAZARD;
    }
    if (strcmp(type, "summary") == 0) {
        take_summary(watched, line);
        return SC_WATCH_SUMMARY;
    }
    if (strcmp(type, "memory") == 0) {
        take_memory(watched, json_object_get(line, "memory"));
        return SC_WATCH_MEMORY;
    }
    if (strcmp(type, "modules") == 0)
        take_modules(watched, makers, line);
    if (strcmp(type, "postmortem") == 0)
        watched->has_lost = true;
    return strcmp(type, "postmortem") == 0 ? SC_WATCH_POSTMORTEM
           : strcmp(type, "oom") == 0      ? SC_WATCH_OOM
                                           : SC_WATCH_NOTHING;
}

/* Returns whether the line is wrong. A later version may write lines that this one knows nothing
 * of. */
static bool is_bad(const struct sc_watched *watched, const char *type, const json_t *line)
{
    if (type && sc_line_problem_knows_type(type))
        return sc_line_problem_find(line, is_later(watched)) ||
               (strcmp(type, "run") == 0 && sc_field_number(line, "schema") > SC_REPORT_SCHEMA);
    return !type || !is_later(watched);
}

/* Parses the line. Frames of hazards are stored once, and named once. */
static json_t *parse(struct sc_watch_makers *makers, const char *line, size_t size)
{
    static const char begin[] = "{\"type\":\"hazard\"";
    bool is_hazard = size >= sizeof begin && memcmp(line, begin, sizeof begin - 1) == 0;
    return is_hazard ? sc_parse_line(line, size, &makers->pieces) : sc_parse(line, size);
}

/* Takes a line of a report. Returns what kind of news it is; *record is the parsed line, to be
 * released. */
enum sc_watch_news sc_watched_take(struct sc_watched *watched, struct sc_watch_makers *makers,
                                   const char *line, size_t size, json_t **record)
{
    *record = line ? parse(makers, line, size) : NULL;
    const char *type = sc_field_string(*record, "type", NULL);
    if (json_is_object(*record) && !is_bad(watched, type, *record))
        return take_type(watched, makers, type, *record);
    json_decref(*record);
    *record = NULL;
    watched->bad_lines++;
    return SC_WATCH_BAD;
}

/* ---- what is shown ---- */

/* Makes what is shown of a hazard's line; lives until the next look. */
const struct sc_shown *sc_watched_show(const struct sc_watched *watched,
                                       struct sc_watch_makers *makers, json_t *record)
{
    struct sc_shown *hazard = sc_scratch_take(&makers->scratch, sizeof *hazard);
    makers->frames.builds = watched->builds;
    *hazard = sc_shown_hazards_make(&makers->scratch, &makers->frames, record);
    sc_shown_hazards_describe(&makers->scratch, hazard);
    return hazard;
}

struct loss {
    struct sc_scratch *scratch;
    const char *words;
};

/* Takes the first note of a lost context (a callback). */
static void take_loss(void *context, const char *words, json_t *stack)
{
    struct loss *loss = context;
    (void)stack;
    if (!loss->words)
        loss->words = sc_scratch_print(loss->scratch, "%s", words);
}

/* Returns in words how the context was lost. */
const char *sc_watched_loss(const struct sc_watched *watched, struct sc_watch_makers *makers,
                            const json_t *record)
{
    struct loss loss = {.scratch = &makers->scratch};
    makers->frames.builds = watched->builds;
    sc_shown_postmortems_make(&makers->scratch, &makers->frames, record, take_loss, &loss);
    return loss.words ? loss.words : "the context was lost";
}

/* Returns how many hazards the process has had, in all. */
json_int_t sc_watched_hazards(const struct sc_watched *watched)
{
    json_int_t all = 0, sum;
    for (size_t i = 0; i < watched->tally_count; i++)
        if (!__builtin_add_overflow(all, sc_watched_sum(&watched->tallies[i]), &sum))
            all = sum;
    return all;
}

/* Returns how the process is named on the screen: rank, program, pid and host. */
const char *sc_watched_name(const struct sc_watched *watched, struct sc_scratch *scratch)
{
    const json_t *run = watched->run;
    const char *rank = sc_field_string(run, "rank", NULL);
    const char *host = sc_field_string(run, "host", "");
    const char *program = json_string_value(json_array_get(json_object_get(run, "command"), 0));
    if (!run)
        return "?";
    return sc_scratch_print(scratch, "%s%s%s%s (pid %" JSON_INTEGER_FORMAT "%s%s)",
                            rank ? "rank " : "", rank ? rank : "", rank ? " " : "",
                            program ? basename(program) : "?", sc_field_number(run, "pid"),
                            host[0] != '\0' ? " on " : "", host);
}

/* Returns the counts by code in words. */
const char *sc_watched_codes(const struct sc_watched *watched, struct sc_scratch *scratch)
{
    const char *words = "";
    for (size_t i = 0; i < watched->tally_count; i++) {
        const struct sc_watch_tally *tally = &watched->tallies[i];
        if (sc_watched_sum(tally) > 0)
            words =
                sc_scratch_print(scratch, "%s%s%s %" JSON_INTEGER_FORMAT, words,
                                 words[0] != '\0' ? ", " : "", tally->code, sc_watched_sum(tally));
    }
    return words;
}
