#include "report/command/verdict.h"

#include "common/hazard_words.h"
#include "report/command/fields.h"
#include "report/command/reader.h"
#include "report/command/regular_file.h"
#include "report/path.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- hazards ---- */

/* Does the summary of a run count a hazard of this certainty? It counts what is not suppressed. */
static bool summary_fails(const struct sc_reader *reader, size_t run, enum sc_certainty certainty)
{
    json_t *record = sc_reader_run(reader, run);
    const char *counter = certainty == SC_OBSERVED ? "observed" : "hazards";
    bool fails = sc_field_number(json_object_get(record, "summary"), counter) > 0;
    json_decref(record);
    return fails;
}

/* Does the finding make the run fail: is it as sure as strict counts, and neither suppressed nor
 * advisory? */
static bool finding_fails(const struct sc_finding *finding, enum sc_certainty certainty)
{
    return !finding->is_suppressed && !finding->is_advisory &&
           (certainty == SC_LATENT || strcmp(finding->certainty, "observed") == 0);
}

/* Is there a hazard of this certainty in the report? A process that was killed has left lines of
 * its hazards, and no summary. */
static bool reader_fails(const struct sc_reader *reader, enum sc_certainty certainty)
{
    for (size_t i = 0; i < reader->run_count; i++)
        if (summary_fails(reader, i, certainty))
            return true;
    for (const struct sc_finding *finding = reader->findings.first; finding;
         finding = finding->next)
        if (finding_fails(finding, certainty))
            return true;
    return false;
}

/* The processes whose runs were read. */
struct seen {
    struct process {
        int64_t pid, started;
    } * processes;
    size_t count, capacity;
};

struct judging {
    const struct sc_run_roll *roll;
    struct sc_scratch *scratch;
    struct seen seen;
    const char *doubt; /* the first */
    bool is_judged;
};

/* Returns which process the report is of. */
static struct process process_of(const json_t *record)
{
    const json_t *run = json_object_get(record, "run");
    return (struct process){sc_field_number(run, "pid"), sc_field_number(run, "started")};
}

/* Records a process whose report was read. */
static void note_seen(struct judging *judging, struct process process)
{
    struct seen *seen = &judging->seen;
    if (seen->count == seen->capacity) {
        size_t capacity = seen->capacity > 0 ? 2 * seen->capacity : 64;
        struct process *larger =
            sc_scratch_take(judging->scratch, capacity * sizeof *seen->processes);
        if (seen->count > 0)
            memcpy(larger, seen->processes, seen->count * sizeof *larger);
        seen->processes = larger;
        seen->capacity = capacity;
    }
    seen->processes[seen->count++] = process;
}

/* Compares processes, for sorting and bsearch. */
static int compare(const void *a, const void *b)
{
    const struct process *one = a, *other = b;
    if (one->pid != other->pid)
        return one->pid < other->pid ? -1 : 1;
    return (one->started > other->started) - (one->started < other->started);
}

/* ---- what the reports leave open ---- */

/* Does the process live? It may have begun since the notes of the run were read. */
static bool lives(const struct judging *judging, struct process process)
{
    return sc_run_roll_has_living(judging->roll, process.pid, process.started) ||
           (process.started != 0 &&
            sc_path_find_start((int32_t)process.pid) == (uint64_t)process.started);
}

/* Was the process killed by another process of the run? Then it is no reason for doubt that its
 * report has no end. */
static bool was_killed(const struct judging *judging, struct process process)
{
    struct sc_run_note note;
    for (size_t at = 0; sc_run_roll_next(judging->roll, &at, &note);)
        if (note.what == SC_ROLL_KILLED && note.pid == process.pid &&
            (int64_t)note.started == process.started)
            return true;
    return false;
}

/* Returns why a run of the file is in doubt, or NULL if it is not. `is_unread`: lines of the file
 * are. */
static const char *doubt_of_run(const struct judging *judging, const json_t *record,
                                const char *file, bool is_unread)
{
    const char *unreadable = sc_field_string(record, "unreadable", NULL);
    const json_t *line = json_array_get(json_object_get(record, "unread"), 0);
    if (unreadable)
        return sc_scratch_print(judging->scratch, "%s: %s", file, unreadable);
    if (is_unread && line)
        return sc_scratch_print(judging->scratch, "%s:%lld: %s", file,
                                (long long)sc_field_number(line, "line"),
                                sc_field_string(line, "problem", "?"));
    if (is_unread && !json_is_object(json_object_get(record, "run")))
        return sc_scratch_print(judging->scratch, "%s: the line that says what ran is missing",
                                file);
    if (json_is_object(json_object_get(record, "summary")) || json_object_get(record, "replaced") ||
        lives(judging, process_of(record)) || was_killed(judging, process_of(record)))
        return NULL;
    return sc_scratch_print(judging->scratch, "%s: a run did not end normally", file);
}

/* Looks in a report's runs for what makes its verdict doubtful. */
static void look_for_doubt(struct judging *judging, const struct sc_reader *reader,
                           const char *file)
{
    for (size_t i = 0; i < reader->run_count; i++) {
        json_t *record = sc_reader_run(reader, i);
        const json_t *run = json_object_get(record, "run");
        judging->is_judged =
            judging->is_judged || (run && !json_is_true(json_object_get(run, "unreached")));
        note_seen(judging, process_of(record));
        if (!judging->doubt)
            judging->doubt = doubt_of_run(judging, record, file, reader->unread);
        json_decref(record);
    }
    if (reader->unread && !judging->doubt)
        judging->doubt = sc_scratch_print(judging->scratch, "%s: it cannot be read", file);
}

/* Has the report a hazard of this certainty? Also notes what makes it doubtful. */
static bool judge(struct judging *judging, const char *path, enum sc_certainty certainty)
{
    struct sc_reader reader = {.quiet = true, .brief = true};
    int error;
    FILE *stream = sc_regular_file_stream(path, 0, &error);
    if (!stream) {
        sc_reader_add_unreadable(&reader, path, sc_regular_file_error(error));
    } else {
        sc_reader_add(&reader, path, stream);
        fclose(stream);
    }
    bool fails = reader_fails(&reader, certainty);
    if (!fails)
        look_for_doubt(judging, &reader, path);
    sc_reader_free(&reader);
    return fails;
}

/* ---- what processes have noted, and the reports do not have ---- */

/* Is there a report of the process that has left the note? */
static bool was_seen(const struct judging *judging, const struct sc_run_note *note)
{
    const struct process sought = {note->pid, (int64_t)note->started};
    return judging->seen.count > 0 &&
           bsearch(&sought, judging->seen.processes, judging->seen.count, sizeof sought, compare);
}

/* Has the process ended, and has another one then written its report to the same path? That
 * happens if report_path has no %p: the report of the first process is overwritten. */
static bool has_handed_on(const struct sc_run_roll *roll, const struct sc_run_note *before)
{
    struct sc_run_note note;
    bool has_ended = false, is_taken = false;
    for (size_t at = 0; sc_run_roll_next(roll, &at, &note);) {
        bool is_own = note.pid == before->pid && note.started == before->started;
        has_ended = has_ended || (is_own && note.what == SC_ROLL_ENDED);
        is_taken = is_taken ||
                   (!is_own && note.what == SC_ROLL_REPORT && strcmp(note.path, before->path) == 0);
    }
    return has_ended && is_taken;
}

/* Returns why the outcome of a process is in doubt, by the note that it has left for the command
 * (its report may be missing); NULL: it is not. */
static const char *doubt_of_note(struct judging *judging, const struct sc_run_note *note)
{
    struct stat status;
    if (note->what == SC_ROLL_LOST)
        return sc_scratch_print(judging->scratch,
                                "process %d could not write its report, or not all of it",
                                (int)note->pid);
    if (note->what != SC_ROLL_REPORT)
        return NULL;
    bool is_there = lstat(note->path, &status) == 0;
    bool is_device = is_there && S_ISCHR(status.st_mode);
    judging->is_judged = judging->is_judged || is_device;
    if (is_device) /* /dev/null keeps nothing: the notes speak */
        return NULL;
    if (!is_there || !S_ISREG(status.st_mode))
        return sc_scratch_print(judging->scratch, "%s: the report of process %d is not there",
                                note->path, (int)note->pid);
    if (was_seen(judging, note) || has_handed_on(judging->roll, note))
        return NULL;
    return sc_scratch_print(judging->scratch, "%s: the run of process %d is not in it", note->path,
                            (int)note->pid);
}

/* Checks whether all processes that noted a report have one among those that were read. */
static void look_at_notes(struct judging *judging)
{
    struct sc_run_note note;
    if (judging->roll->is_unread)
        judging->doubt = "what processes have noted cannot be read";
    else if (judging->roll->lacks)
        judging->doubt = "a process could not note what it had to say (its file-size limit?)";
    if (judging->seen.count > 0)
        qsort(judging->seen.processes, judging->seen.count, sizeof *judging->seen.processes,
              compare);
    for (size_t at = 0; !judging->doubt && sc_run_roll_next(judging->roll, &at, &note);)
        judging->doubt = doubt_of_note(judging, &note);
}

/* Returns the verdict on a run: whether it fails, or cannot be judged, and why. */
struct sc_verdict sc_verdict_find(char *const *paths, enum sc_certainty certainty,
                                  const struct sc_run_roll *roll, struct sc_scratch *scratch)
{
    struct judging judging = {
        .roll = roll, .scratch = scratch, .is_judged = sc_run_roll_says(roll, SC_ROLL_WATCHED)};
    for (; *paths; paths++)
        if (judge(&judging, *paths, certainty))
            return (struct sc_verdict){.fails = true, .is_judged = true};
    if (!judging.doubt)
        look_at_notes(&judging);
    return (struct sc_verdict){.doubt = judging.doubt, .is_judged = judging.is_judged};
}
