#include "report/command/shown_runs.h"

#include "report/command/called.h"
#include "report/command/fields.h"
#include "report/command/shown_postmortems.h"
#include "report/userfaultfd.h"
#include "track/no_verdicts.h"

#include <stdio.h>
#include <string.h>

#define NUMBER "%" JSON_INTEGER_FORMAT

struct making {
    struct sc_scratch *scratch;
    const struct sc_frame_makers *makers;
    struct sc_run run;
    size_t capacity; /* of run.notes */
};

static const char *plural(json_int_t count)
{
    return count == 1 ? "" : "s";
}

static const char *text_of(const json_t *string)
{
    return json_is_string(string) ? json_string_value(string) : "?";
}

/* Adds a note to the run. */
static struct sc_note *add(struct making *making, const char *words)
{
    struct sc_run *run = &making->run;
    if (run->note_count == making->capacity) {
        size_t capacity = making->capacity > 0 ? 2 * making->capacity : 8;
        struct sc_note *larger = sc_scratch_take(making->scratch, capacity * sizeof *larger);
        if (run->note_count > 0)
            memcpy(larger, run->notes, run->note_count * sizeof *larger);
        run->notes = larger;
        making->capacity = capacity;
    }
    struct sc_note *note = &run->notes[run->note_count++];
    note->words = words;
    return note;
}

/* Adds a list as "WORDS: one, another"; nothing if it is empty. */
static void add_list(struct making *making, const char *words, const json_t *list)
{
    size_t index;
    json_t *entry;
    json_array_foreach(list, index, entry) words =
        sc_scratch_print(making->scratch, "%s%s %s", words, index > 0 ? "," : ":", text_of(entry));
    if (json_array_size(list) > 0)
        add(making, words);
}

/* ---- what ran ---- */

/* Returns how many arguments are shown. A program that writes a title over its arguments may leave
 * hundreds of empty ones at the end. */
static size_t arguments_shown(const json_t *command)
{
    size_t count = json_array_size(command);
    while (count > 1 && text_of(json_array_get(command, count - 1))[0] == '\0')
        count--;
    return count;
}

/* Returns the command line, as far as it is shown. */
static const char *command_of(struct sc_scratch *scratch, const json_t *run)
{
    const json_t *command = json_object_get(run, "command");
    size_t count = arguments_shown(command), size = 1, used = 0;
    for (size_t i = 0; i < count; i++)
        size += strlen(text_of(json_array_get(command, i))) + 1;
    char *words = sc_scratch_take(scratch, size);
    for (size_t i = 0; i < count; i++)
        used += (size_t)sprintf(words + used, "%s%s", i > 0 ? " " : "",
                                text_of(json_array_get(command, i)));
    return words;
}

static const char missing_run[] = "the line that says what ran is missing";

/* Returns what stands for the run: its command and process. */
static const char *title_of(struct sc_scratch *scratch, const json_t *entry)
{
    const json_t *run = json_object_get(entry, "run");
    if (!json_is_object(run))
        return json_object_get(entry, "unreadable") ? "it could not be read" : missing_run;
    const json_t *merged = json_object_get(entry, "merged");
    const char *ranks = sc_field_string(merged, "ranks", NULL);
    if (merged)
        return sc_scratch_print(scratch, "%s (" NUMBER " run%s%s%s)", command_of(scratch, run),
                                sc_field_number(merged, "runs"),
                                plural(sc_field_number(merged, "runs")), ranks ? ", ranks " : "",
                                ranks ? ranks : "");
    const char *host = sc_field_string(run, "host", "?");
    return sc_scratch_print(scratch, "%s (pid " NUMBER "%s%s)", command_of(scratch, run),
                            sc_field_number(run, "pid"), host[0] != '\0' ? " on " : "", host);
}

/* Returns the run's name where two runs are compared: without what differs in each run. */
static const char *name_of(struct sc_scratch *scratch, const json_t *entry)
{
    const json_t *run = json_object_get(entry, "run");
    const char *rank = sc_field_string(run, "rank", NULL);
    if (!json_is_object(run))
        return title_of(scratch, entry);
    return sc_scratch_print(scratch, "%s%s%s%s", rank ? "rank " : "", rank ? rank : "",
                            rank ? ": " : "", command_of(scratch, run));
}

/* ---- what came of it ---- */

/* Adds the run's counts in words, as its first note. */
static void add_counts(struct making *making, const json_t *summary)
{
    json_int_t hazards = sc_field_number(summary, "hazards");
    json_int_t operations = sc_field_number(summary, "operations");
    json_int_t suppressed = sc_field_number(summary, "suppressed");
    json_int_t advisories = sc_field_number(summary, "advisories");
    const char *words =
        sc_scratch_print(making->scratch, NUMBER " hazard%s in " NUMBER " operation%s", hazards,
                         plural(hazards), operations, plural(operations));
    if (advisories > 0)
        words = sc_scratch_print(making->scratch, "%s, " NUMBER " advisory note%s", words,
                                 advisories, plural(advisories));
    if (suppressed > 0)
        words = sc_scratch_print(making->scratch, "%s, " NUMBER " suppressed", words, suppressed);
    if (json_is_integer(json_object_get(summary, "exit_status")))
        words = sc_scratch_print(making->scratch, "%s, exit status " NUMBER, words,
                                 sc_field_number(summary, "exit_status"));
    making->run.counts = words;
    add(making, words);
}

/* Adds a count of the summary, unless it is 0. */
static void add_noted(struct making *making, const json_t *summary, const char *field,
                      const char *words)
{
    json_int_t count = sc_field_number(summary, field);
    if (count > 0)
        add(making, sc_scratch_print(making->scratch, "%s: " NUMBER, words, count));
}

/* Adds counts of what the library did that is no hazard, but may change the program's timing. */
static void add_what_was_noted(struct making *making, const json_t *summary)
{
    add_noted(making, summary, "taken_early",
              "small copies that waited for work that may write their source, as the driver would "
              "not");
    add_noted(making, summary, "driver_late",
              "sources of batches that were copied in the call, as the driver promises and does "
              "not do");
    add_noted(making, summary, "shared_memory",
              "memory opened from other processes or handed to them, whose work there is not seen");
    if (!json_object_get(summary, "unjudged")) /* which counts it as well */
        add_noted(making, summary, "beside_unjudged",
                  "not looked at, for want of room: whether graphs lack work that ran beside their "
                  "captures (SC305)");
}

/* Returns words for a reason why there was no verdict; the reason's own name if this version does
 * not know it. */
static const char *words_of(const char *reason)
{
    static const char *const rows[][2] = {
#define X(reason, name, words) {name, words},
        SC_NO_VERDICT_REASONS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i][0], reason) == 0)
            return rows[i][1];
    return reason;
}

/* Adds how many operations were not watched, so that an access too early could not be seen, by the
 * reason why. */
static void add_unguarded(struct making *making, const json_t *summary)
{
    json_t *reasons = json_object_get(json_object_get(summary, "unguarded"), "by_reason");
    const char *reason;
    json_t *counts;
    json_object_foreach(reasons, reason, counts)
    {
        json_int_t operations = sc_field_number(counts, "operations");
        json_int_t bytes = sc_field_number(counts, "bytes");
        add(making, sc_scratch_print(making->scratch,
                                     "not watched: " NUMBER " operation%s, " NUMBER " byte%s: %s",
                                     operations, plural(operations), bytes, plural(bytes),
                                     words_of(reason)));
    }
}

/* Adds what got no verdict, by the reason why. What is not watched is among them, and shown
 * already. */
static void add_unjudged(struct making *making, const json_t *summary)
{
    json_t *unwatched = json_object_get(json_object_get(summary, "unguarded"), "by_reason");
    json_t *reasons = json_object_get(json_object_get(summary, "unjudged"), "by_reason");
    const char *reason;
    json_t *uses;
    json_object_foreach(reasons, reason, uses)
    {
        json_int_t shown = sc_field_number(json_object_get(unwatched, reason), "operations");
        json_int_t left = json_integer_value(uses) - shown;
        if (left > 0)
            add(making, sc_scratch_print(making->scratch, "not judged: " NUMBER " use%s: %s", left,
                                         plural(left), words_of(reason)));
    }
}

/* Returns in words why there is (no) userfaultfd; a later version's state as it is. */
static const char *words_of_state(const char *name)
{
    for (unsigned i = 0; i < SC_USERFAULTFD_STATE_COUNT; i++)
        if (strcmp(sc_userfaultfd_name((enum sc_userfaultfd_state)i), name) == 0)
            return sc_userfaultfd_words((enum sc_userfaultfd_state)i);
    return name;
}

/* Adds how often pages of buffers in flight were protected, and by which mechanism, if the user
 * has asked for one. */
static void add_guard(struct making *making, const json_t *summary)
{
    const json_t *guard = json_object_get(summary, "guard");
    const char *option = sc_field_string(guard, "option", "on");
    const char *state = sc_field_string(guard, "userfaultfd_state", "unasked");
    bool is_had = strcmp(state, "unasked") == 0 || strcmp(state, "opened") == 0;
    json_int_t mprotect = sc_field_number(guard, "mprotect");
    if (strcmp(option, "uffd") != 0 && strcmp(option, "mprotect") != 0)
        return;
    add(making,
        sc_scratch_print(making->scratch,
                         "guarded: " NUMBER " range%s by mprotect, " NUMBER " by userfaultfd%s%s",
                         mprotect, plural(mprotect), sc_field_number(guard, "userfaultfd"),
                         is_had ? "" : "; no userfaultfd: ", is_had ? "" : words_of_state(state)));
}

/* Adds how many operations had no page protection for want of time (guard_budget), and at which
 * calls most. */
static void add_budget(struct making *making, const json_t *summary)
{
    enum { SITES_SHOWN = 5 };
    const json_t *budget = json_object_get(json_object_get(summary, "guard"), "budget");
    json_int_t operations = sc_field_number(budget, "operations");
    json_int_t guarded = sc_field_number(budget, "guarded");
    size_t index;
    json_t *site;
    if (guarded == operations)
        return;
    add(making, sc_scratch_print(making->scratch,
                                 "guard_budget=%s: " NUMBER " of " NUMBER " operation%s guarded",
                                 sc_field_string(budget, "share", "?"), guarded, operations,
                                 plural(operations)));
    json_array_foreach(json_object_get(budget, "sites"), index, site)
    {
        json_int_t of_site = sc_field_number(site, "operations");
        json_int_t guarded_of_site = sc_field_number(site, "guarded");
        if (index >= SITES_SHOWN || guarded_of_site == of_site)
            break;
        struct sc_note *note =
            add(making, sc_scratch_print(making->scratch,
                                         "of these " NUMBER " of " NUMBER " guarded of this call",
                                         guarded_of_site, of_site));
        sc_frames_shown(&note->stack, making->scratch, making->makers,
                        json_object_get(site, "stack"));
    }
}

/* Adds the options that were not understood. */
static void add_ignored(struct making *making, const json_t *summary)
{
    size_t index;
    json_t *entry;
    json_array_foreach(json_object_get(summary, "options_ignored"), index, entry) add(
        making, sc_scratch_print(making->scratch, "an option was not understood and ignored: %s",
                                 text_of(entry)));
}

/* Returns what is said of a run without a summary: where lines could not be read, the summary may
 * be one of them. */
static const char *words_without_summary(const struct making *making)
{
    if (making->run.replaced)
        return "no summary: the process went on as another program";
    return making->run.bad_line_count > 0
               ? "no summary: the run did not end normally, or its summary could not be read"
               : "no summary: the run did not end normally";
}

/* ---- of several runs ---- */

/* Adds which of the merged runs have something in common: "2 of 10000 runs did not end normally:
 * ranks 17, 4711; the report of the first is r17.jsonl". */
static void add_alike(struct making *making, const json_t *merged, const char *key,
                      const char *words)
{
    const json_t *alike = json_object_get(merged, key);
    const char *ranks = sc_field_string(alike, "ranks", NULL);
    if (!alike)
        return;
    add(making,
        sc_scratch_print(making->scratch,
                         NUMBER " of " NUMBER " run%s %s%s%s%s; the report of the first is %s",
                         sc_field_number(alike, "runs"), sc_field_number(merged, "runs"),
                         plural(sc_field_number(merged, "runs")), words, ranks ? ": rank" : "",
                         ranks && strpbrk(ranks, ",-") ? "s "
                         : ranks                       ? " "
                                                       : "",
                         ranks ? ranks : "", sc_field_string(alike, "file", "?")));
}

/* Adds the exit statuses of merged runs, if they differ. */
static void add_statuses(struct making *making, const json_t *merged)
{
    json_t *statuses = json_object_get(merged, "exit_statuses");
    const char *status, *words = NULL;
    json_t *runs;
    json_object_foreach(statuses, status, runs)
    {
        words = sc_scratch_print(making->scratch, "%s%s %s of " NUMBER, words ? words : "",
                                 words ? "," : "exit status", status, json_integer_value(runs));
    }
    if (json_object_size(statuses) > 1)
        add(making, words);
}

/* Adds what only merged runs have. */
static void add_merged(struct making *making, const json_t *entry)
{
    const json_t *merged = json_object_get(entry, "merged");
    const char *missing = sc_field_string(merged, "missing_ranks", NULL);
    if (!merged)
        return;
    if (!making->run.ended)
        add(making, sc_scratch_print(making->scratch,
                                     NUMBER " hazards in " NUMBER " operations of those that ended",
                                     sc_field_number(merged, "hazards"),
                                     sc_field_number(merged, "operations")));
    add_statuses(making, merged);
    add_alike(making, merged, "not_ended", "did not end normally");
    add_alike(making, merged, "in_doubt", "cannot be read, or not all of it");
    add_alike(making, merged, "lost", "lost the context");
    if (missing)
        add(making, sc_scratch_print(making->scratch, "no report here of ranks %s", missing));
}

/* Adds what the summary line says; without one, that the run did not end normally. Unused
 * suppressions are named only if there was something to suppress. */
static void add_summary(struct making *making, const json_t *entry)
{
    const json_t *summary = json_object_get(entry, "summary");
    making->run.ended = json_is_object(summary);
    if (!making->run.ended) {
        if (!json_object_get(entry, "unreadable") && !json_object_get(entry, "merged"))
            add(making, words_without_summary(making));
        return;
    }
    add_counts(making, summary);
    add_what_was_noted(making, summary);
    add_unguarded(making, summary);
    add_unjudged(making, summary);
    add_guard(making, summary);
    add_budget(making, summary);
    add_ignored(making, summary);
    add_list(making, "suppressions that have expired",
             json_object_get(summary, "suppressions_expired"));
    if (sc_field_number(summary, "hazards") + sc_field_number(summary, "suppressed") > 0)
        add_list(making, "suppressions not used", json_object_get(summary, "suppressions_unused"));
}

/* ---- what was not looked for ---- */

/* Adds calls that passed the library by. */
static void add_misses(struct making *making, const json_t *entry)
{
    size_t index;
    json_t *miss;
    json_array_foreach(json_object_get(entry, "missed"), index, miss)
    {
        json_int_t count = sc_field_number(miss, "count");
        struct sc_frames stack;
        sc_frames_shown(&stack, making->scratch, making->makers, json_object_get(miss, "stack"));
        const char *words =
            sc_scratch_print(making->scratch, "%s passed the library by, %s" NUMBER " time%s",
                             sc_called_words(making->scratch, miss, &stack),
                             count > 1 ? "at least " : "", count, plural(count));
        add(making, words)->stack = stack;
    }
}

/* Adds that allocations have failed. The last line about it says how many. */
static void add_oom(struct making *making, const json_t *entry)
{
    const json_t *oom = json_object_get(entry, "oom");
    json_int_t count = sc_field_number(oom, "count");
    struct sc_frames stack;
    if (!oom)
        return;
    sc_frames_shown(&stack, making->scratch, making->makers, json_object_get(oom, "stack"));
    const char *words = sc_scratch_print(
        making->scratch,
        "there was no memory for %s of " NUMBER " bytes (%s), and so %s" NUMBER " time%s",
        sc_called_words(making->scratch, oom, &stack), sc_field_number(oom, "size"),
        sc_field_string(oom, "verdict", "?"), count > 1 ? "at least " : "", count, plural(count));
    add(making, words)->stack = stack;
}

/* Adds that CUPTI was wanted and told of no calls. */
static void add_cupti(struct making *making, const json_t *entry)
{
    const json_t *cupti = json_object_get(entry, "cupti");
    const char *state = sc_field_string(cupti, "state", "?");
    if (cupti)
        add(making, sc_scratch_print(making->scratch, "coverage not checked%s: CUPTI is %s",
                                     strcmp(state, "yielded") == 0 ? " to the end" : "", state));
}

/* Adds a note of a lost context, with its stack (a callback). */
static void add_of_postmortem(void *context, const char *words, json_t *stack)
{
    struct making *making = context;
    struct sc_note *note = add(making, words);
    sc_frames_shown(&note->stack, making->scratch, making->makers, stack);
}

/* Adds what was known when the context was lost. The first note stands for the loss. */
static void add_postmortem(struct making *making, const json_t *entry)
{
    const json_t *postmortem = json_object_get(entry, "postmortem");
    size_t first = making->run.note_count;
    if (!postmortem)
        return;
    sc_shown_postmortems_make(making->scratch, making->makers, postmortem, add_of_postmortem,
                              making);
    making->run.lost = &making->run.notes[first];
    making->run.lost_ns = sc_field_number(json_object_get(postmortem, "call"), "time_ns");
}

/* ---- what could not be read ---- */

/* Takes the report's lines that could not be read, and how many more there are. */
static void take_bad_lines(struct making *making, const json_t *entry)
{
    size_t index;
    json_t *line;
    const json_t *lines = json_object_get(entry, "unread");
    struct sc_run *run = &making->run;
    run->bad_lines =
        sc_scratch_take(making->scratch, (json_array_size(lines) + 1) * sizeof *run->bad_lines);
    json_array_foreach(lines, index, line)
    {
        run->bad_lines[run->bad_line_count++] = (struct sc_bad_line){
            sc_field_number(line, "line"), sc_field_string(line, "problem", "?")};
    }
    run->bad_lines_more = sc_field_number(entry, "bad_lines") - (json_int_t)run->bad_line_count;
}

/* Words which lines could not be read: "2 lines could not be read: line 3: not JSON; line 7: the
 * last line is cut". */
static const char *words_of_bad_lines(const struct making *making)
{
    const struct sc_run *run = &making->run;
    json_int_t count = (json_int_t)run->bad_line_count + run->bad_lines_more;
    const char *words =
        sc_scratch_print(making->scratch, NUMBER " line%s could not be read", count, plural(count));
    for (size_t i = 0; i < run->bad_line_count; i++)
        words =
            sc_scratch_print(making->scratch, "%s%s line " NUMBER ": %s", words, i > 0 ? ";" : ":",
                             run->bad_lines[i].number, run->bad_lines[i].problem);
    return run->bad_lines_more > 0 ? sc_scratch_print(making->scratch, "%s; ...", words) : words;
}

/* Adds a note that says why hazards of the run may be missing. The first one, which must be the
 * most serious, is also the run's `doubt`. */
static void add_doubt(struct making *making, const char *words)
{
    add(making, words);
    if (!making->run.doubt)
        making->run.doubt = words;
}

/* Adds what could not be read, so that a run without hazards is not taken for clean. */
static void add_doubts(struct making *making, const json_t *entry)
{
    const char *unreadable = sc_field_string(entry, "unreadable", NULL);
    if (unreadable)
        add_doubt(making, sc_scratch_print(making->scratch, "%s: %s",
                                           json_is_object(json_object_get(entry, "run"))
                                               ? "the file could not be read to its end"
                                               : "the file could not be read",
                                           unreadable));
    if (making->run.bad_line_count > 0)
        add_doubt(making, words_of_bad_lines(making));
    if (json_is_true(json_object_get(entry, "lines_missing")))
        add_doubt(making, "there were, or may have been, hazards of which no line tells");
    if (!json_is_object(json_object_get(entry, "run")) && !making->run.doubt)
        making->run.doubt = missing_run;
}

/* Makes the words and notes that are shown of a run. */
struct sc_run sc_shown_runs_make(struct sc_scratch *scratch, const struct sc_frame_makers *makers,
                                 json_t *entry)
{
    const json_t *line = json_object_get(entry, "run");
    struct making making = {.scratch = scratch, .makers = makers};
    making.run = (struct sc_run){
        .record = entry,
        .file = sc_field_string(entry, "file", "?"),
        .title = title_of(scratch, entry),
        .name = name_of(scratch, entry),
        .pid = sc_field_number(line, "pid"),
        .replaced = json_is_true(json_object_get(entry, "replaced")),
        .reached = !json_is_true(json_object_get(line, "unreached")),
    };
    take_bad_lines(&making, entry);
    add_doubts(&making, entry);
    add_summary(&making, entry);
    add_merged(&making, entry);
    if (!making.run.reached)
        add(&making,
            "CUDA was used, but no call of it came through the library: nothing was looked for");
    add_list(&making, "loaded by the driver, not preloaded; neither protected nor looked for",
             json_object_get(line, "protections_off"));
    add_misses(&making, entry);
    add_cupti(&making, entry);
    add_oom(&making, entry);
    add_postmortem(&making, entry);
    return making.run;
}
