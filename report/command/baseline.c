#define _GNU_SOURCE 1
#include "report/command/baseline.h"

#include "report/command/elements.h"
#include "report/command/fields.h"
#include "report/command/fingerprint.h"
#include "report/command/given_reports.h"
#include "report/command/input.h"
#include "report/command/progress.h"
#include "report/command/reader.h"
#include "report/command/regular_file.h"
#include "report/command/say.h"
#include "report/command/shown.h"
#include "report/command/shown_hazards.h"
#include "report/command/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIPE_MAX_BYTES (UINT64_C(1) << 30)

/* What is wrong has been said. */
enum { REFUSED = -EUNATCH };

struct sc_baseline_hazard {
    struct sc_node node;
    struct sc_baseline_hazard *next;
    bool is_there_still;
    size_t places; /* at least as many as there were */
    size_t places_now;
    bool lacks_lines; /* a place of these */
    char title[];
};

struct sc_baseline {
    struct sc_table table;
    struct sc_baseline_hazard *first, **last; /* in the order of the files */
    struct sc_table places;                   /* those of reports */
    struct sc_scratch scratch;                /* with the nodes of these */
    struct sc_namings namings;
    struct sc_memory_sites memory;
    bool is_partial;
    bool is_older; /* the file at hand: its fingerprints are made in another way */
};

/* Makes an empty baseline, the hazards of earlier reports to compare with. NULL: no memory. */
struct sc_baseline *sc_baseline_new(void)
{
    struct sc_baseline *baseline = calloc(1, sizeof *baseline);
    if (baseline)
        baseline->last = &baseline->first;
    return baseline;
}

void sc_baseline_free(struct sc_baseline *baseline)
{
    while (baseline && baseline->first) {
        struct sc_baseline_hazard *known = baseline->first;
        baseline->first = known->next;
        free(known);
    }
    if (baseline) {
        sc_table_free(&baseline->table);
        sc_table_free(&baseline->places);
        sc_scratch_free(&baseline->scratch);
        sc_namings_free(&baseline->namings);
        sc_memory_sites_free(&baseline->memory);
    }
    free(baseline);
}

/* Returns the key by which a hazard of the baseline is found. */
static struct sc_digest digest_of(const char *fingerprint)
{
    struct sc_digester digester;
    sc_digest_begin(&digester);
    sc_digest_word(&digester, fingerprint);
    return sc_digest_end(&digester);
}

/* Returns the baseline's hazard with this fingerprint; NULL: it is new. */
static struct sc_baseline_hazard *find(const struct sc_baseline *baseline,
                                       const struct sc_digest *digest)
{
    return (struct sc_baseline_hazard *)(void *)sc_table_find(&baseline->table, digest);
}

/* Finds, or adds, the hazard of this fingerprint. Returns NULL if memory runs out. */
static struct sc_baseline_hazard *find_or_add(struct sc_baseline *baseline, const char *fingerprint,
                                              const char *title)
{
    struct sc_digest digest = digest_of(fingerprint);
    struct sc_baseline_hazard *known = find(baseline, &digest);
    if (known)
        return known;
    known = calloc(1, sizeof *known + strlen(title) + 1);
    if (!known)
        return NULL;
    known->node.digest = digest;
    strcpy(known->title, title);
    if (!sc_table_add(&baseline->table, &known->node)) {
        free(known);
        return NULL;
    }
    *baseline->last = known;
    baseline->last = &known->next;
    return known;
}

/* Adds a hazard of the baseline, or another place of one. */
static void keep(struct sc_baseline *baseline, const char *fingerprint, const char *title,
                 bool is_another_place)
{
    struct sc_baseline_hazard *known = find_or_add(baseline, fingerprint, title);
    if (known)
        known->places += is_another_place;
}

/* ---- what json wrote ---- */

/* Counts a run of the baseline. If it did not end, or was not read completely, the baseline is
 * partial: a hazard that it lacks is not known to be new. */
static bool take_run(struct sc_baseline *baseline, const json_t *run)
{
    baseline->memory.runs[SC_MEMORY_BEFORE]++;
    bool is_over = json_is_object(json_object_get(run, "summary")) ||
                   json_is_true(json_object_get(run, "replaced"));
    const json_t *bad_lines = json_object_get(run, "bad_lines");
    bool is_whole = json_is_integer(bad_lines) && json_integer_value(bad_lines) == 0 &&
                    !json_object_get(run, "unreadable") && !json_object_get(run, "lines_missing");
    baseline->is_partial = baseline->is_partial || !is_over || !is_whole;
    return true;
}

/* Adds a hazard that an earlier report printed as JSON. Returns false if it cannot be compared, for
 * it has no fingerprint or one of another version. */
static bool take_hazard(struct sc_baseline *baseline, const json_t *hazard)
{
    const char *fingerprint = sc_field_string(hazard, "fingerprint", NULL);
    sc_progress_show("hazards of the baseline read", baseline->table.count);
    if (fingerprint && sc_field_number(hazard, "fingerprint_version") != SC_FINGERPRINT_VERSION) {
        baseline->is_older = true;
        return false;
    }
    if (fingerprint)
        keep(baseline, fingerprint, sc_field_string(hazard, "title", fingerprint), true);
    return fingerprint != NULL;
}

/* Notes a build of a module from the baseline, and whether functions in it were known by name when
 * the baseline was made. */
static bool take_build(struct sc_baseline *baseline, const json_t *build)
{
    const char *path = sc_field_string(build, "module", NULL);
    const json_t *build_id = json_object_get(build, "build_id");
    struct sc_naming *naming =
        path ? sc_namings_find(&baseline->namings, path,
                               json_is_null(build_id) ? "" : json_string_value(build_id))
             : NULL;
    if (naming) {
        naming->has_names = naming->has_names || json_is_true(json_object_get(build, "names"));
        naming->has_offsets =
            naming->has_offsets || json_is_true(json_object_get(build, "offsets"));
    }
    return path != NULL;
}

/* Adds the memory that one site in the code held in the baseline. Returns false if it is
 * malformed. */
static bool take_memory(struct sc_baseline *baseline, const json_t *site)
{
    return sc_memory_sites_read(&baseline->memory, SC_MEMORY_BEFORE, site);
}

static const char hazards_key[] = "hazards", runs_key[] = "runs", builds_key[] = "builds",
                  memory_key[] = "memory";

/* Takes one element of an array of the baseline's JSON, by the array's key. */
static bool take_element(void *baseline, const char *key, const json_t *element)
{
    return (key == hazards_key  ? take_hazard
            : key == runs_key   ? take_run
            : key == memory_key ? take_memory
                                : take_build)(baseline, element);
}

/* ---- reports ---- */

/* Is the hazard at a place that no report of the baseline had yet? Several may have the same
 * one. */
static bool is_another_place(struct sc_baseline *baseline, const struct sc_shown *hazard)
{
    const struct sc_digest digest = sc_fingerprint_place(hazard);
    if (sc_table_find(&baseline->places, &digest))
        return false;
    struct sc_node *node = sc_scratch_take(&baseline->scratch, sizeof *node);
    node->digest = digest;
    sc_table_add(&baseline->places, node);
    return true;
}

/* Reads a report as a baseline. 1; 0 if it is no report, or -errno if it cannot be read. */
static int keep_report(struct sc_baseline *baseline, const char *path, FILE *stream,
                       struct sc_frame_makers makers)
{
    struct sc_reader reader = {.symbols = makers.symbols, .brief = true};
    struct sc_model model;
    int result = sc_reader_add(&reader, path, stream);
    makers.namings = &baseline->namings;
    if (!sc_model_init(&model, &reader, makers, NULL) && result > 0)
        result = -ENOMEM;
    for (size_t i = 0; result > 0 && i < model.count; i++) {
        const struct sc_shown *hazard = sc_model_bare_hazard(&model, i);
        sc_fingerprint_note_namings(hazard);
        keep(baseline, sc_fingerprint_make(&model.scratch, hazard),
             sc_shown_hazards_title(&model.scratch, hazard), is_another_place(baseline, hazard));
    }
    for (size_t i = 0; result > 0 && i < reader.run_count; i++) {
        const struct sc_memory memory = sc_shown_memory_of_process(&model, sc_model_run(&model, i));
        sc_memory_sites_add(&baseline->memory, SC_MEMORY_BEFORE, &memory);
    }
    baseline->is_partial = baseline->is_partial || sc_reader_is_partial(&reader);
    sc_model_free(&model);
    sc_reader_free(&reader);
    return result;
}

/* Reads what --format json wrote, or else a report. Returns what keep_report does, or REFUSED. */
static int add_stream(struct sc_baseline *baseline, const char *path, FILE *stream,
                      const struct sc_frame_makers *makers)
{
    static const char *const keys[] = {hazards_key, runs_key, builds_key, memory_key, NULL};
    bool was_partial = baseline->is_partial;
    if (sc_elements_each(stream, keys, take_element, baseline))
        return 1;
    baseline->is_partial = was_partial;
    if (baseline->is_older) {
        sc_say("%s has fingerprints of another version of safecopy, which name no hazard here; "
               "write it anew with `safecopy report --format json` of its reports, or name these",
               path);
        return REFUSED;
    }
    rewind(stream);
    return keep_report(baseline, path, stream, *makers);
}

/* Copies what comes out of a pipe into a temporary file, since a baseline is read twice. Returns
 * NULL if the copy fails or is larger than PIPE_MAX_BYTES. */
static FILE *keep_pipe(FILE *pipe)
{
    char block[64 * 1024];
    uint64_t left = PIPE_MAX_BYTES;
    FILE *kept = tmpfile();
    for (size_t size; kept && (size = fread(block, 1, sizeof block, pipe)) > 0; left -= size) {
        if (size <= left && fwrite(block, 1, size, kept) == size)
            continue;
        fclose(kept);
        return NULL;
    }
    if (kept)
        rewind(kept);
    return kept;
}

/* Opens a baseline. One that comes through a pipe is copied first, as it is read twice. */
static FILE *open_file(const char *path)
{
    int error;
    FILE *stream = sc_input_open(path, &error);
    if (!stream)
        sc_say("cannot read %s: %s", path, sc_regular_file_error(error));
    if (!stream || fseeko(stream, 0, SEEK_CUR) == 0)
        return stream;
    FILE *kept = keep_pipe(stream);
    if (!kept)
        sc_say("cannot read %s: there is no room in %s for what comes, or it is more than 1 GB",
               path, P_tmpdir);
    fclose(stream);
    return kept;
}

/* Reads a file into the baseline. Prints a message and returns false if that fails. */
bool sc_baseline_add(struct sc_baseline *baseline, const char *path,
                     const struct sc_frame_makers *makers)
{
    FILE *stream = open_file(path);
    if (!stream)
        return false;
    int result = add_stream(baseline, path, stream, makers);
    fclose(stream);
    return result != REFUSED &&
           sc_given_reports_tell(path, result, "a report, nor what --format json wrote of one");
}

/* ---- asking ---- */

/* Finds a hazard in the baseline, and notes that it is still there. */
struct sc_baseline_hazard *sc_baseline_find(struct sc_baseline *baseline, const char *fingerprint)
{
    struct sc_digest digest = digest_of(fingerprint);
    struct sc_baseline_hazard *known = find(baseline, &digest);
    if (known)
        known->is_there_still = true;
    return known;
}

/* Counts one more place of the hazard in the present reports. Whether it has source lines decides
 * if places can be compared: without, a rebuilt program has other places. */
void sc_baseline_note_place(struct sc_baseline_hazard *hazard, bool has_lines)
{
    hazard->places_now++;
    hazard->lacks_lines = hazard->lacks_lines || !has_lines;
}

/* May the baseline lack hazards, since a run did not end or was not read completely? */
bool sc_baseline_is_partial(const struct sc_baseline *baseline)
{
    return baseline->is_partial;
}

/* Returns the memory that the baseline's call stacks held, to which the present runs are added. */
struct sc_memory_sites *sc_baseline_memory(struct sc_baseline *baseline)
{
    return &baseline->memory;
}

/* Returns by which builds the baseline's frames are named, to find those that cannot be
 * compared. */
const struct sc_namings *sc_baseline_namings(const struct sc_baseline *baseline)
{
    return &baseline->namings;
}

/* Is the hazard at more places now than in the baseline? Only if all places have source lines:
 * else offsets of another build would count as places. */
static bool has_grown(const struct sc_baseline_hazard *hazard)
{
    return hazard->places_now > hazard->places && !hazard->lacks_lines;
}

/* Returns how an unchanged hazard has grown, or NULL if it has not. */
const char *sc_baseline_grown_words(const struct sc_baseline_hazard *hazard,
                                    struct sc_scratch *scratch)
{
    return has_grown(hazard) ? sc_scratch_print(scratch,
                                                "at %zu places here and %zu in the baseline, so "
                                                "one may be new",
                                                hazard->places_now, hazard->places)
                             : NULL;
}

/* Calls `take` for each hazard that is at more places than in the baseline. */
void sc_baseline_each_grown(const struct sc_baseline *baseline,
                            void take(void *whom, const char *title, size_t now, size_t before),
                            void *whom)
{
    for (const struct sc_baseline_hazard *known = baseline->first; known; known = known->next)
        if (has_grown(known))
            take(whom, known->title, known->places_now, known->places);
}

/* Calls `take` for each hazard of the baseline that was not found any more. */
void sc_baseline_each_fixed(const struct sc_baseline *baseline,
                            void take(void *whom, const char *title), void *whom)
{
    for (const struct sc_baseline_hazard *known = baseline->first; known; known = known->next)
        if (!known->is_there_still)
            take(whom, known->title);
}
