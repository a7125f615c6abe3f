#include "report/command/verdict.h"

#include "report/command/fields.h"
#include "report/command/reader.h"
#include "report/command/regular_file.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* A summary counts what is not suppressed. */
static bool summary_fails(const struct sc_reader *reader, size_t run, enum sc_certainty certainty)
{
    json_t *record = sc_reader_run(reader, run);
    const char *counter = certainty == SC_OBSERVED ? "observed" : "hazards";
    bool fails = sc_field_number(json_object_get(record, "summary"), counter) > 0;
    json_decref(record);
    return fails;
}

static bool finding_fails(const struct sc_finding *finding, enum sc_certainty certainty)
{
    return !finding->is_suppressed &&
           (certainty == SC_LATENT || strcmp(finding->certainty, "observed") == 0);
}

/* A process that was killed has left lines of its hazards, and no summary. */
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

static enum sc_verdict judge(const char *path, enum sc_certainty certainty)
{
    struct sc_reader reader = {.quiet = true, .brief = true};
    int error;
    FILE *stream = sc_regular_file_stream(path, 0, &error);
    if (!stream)
        return SC_VERDICT_UNREAD;
    sc_reader_add(&reader, path, stream);
    fclose(stream);
    enum sc_verdict verdict = reader_fails(&reader, certainty) ? SC_VERDICT_HAZARD
                              : reader.unread                  ? SC_VERDICT_UNREAD
                                                               : SC_VERDICT_CLEAN;
    sc_reader_free(&reader);
    return verdict;
}

enum sc_verdict sc_verdict_find(char *const *paths, enum sc_certainty certainty)
{
    enum sc_verdict gravest = SC_VERDICT_CLEAN;
    for (; *paths && gravest != SC_VERDICT_HAZARD; paths++) {
        enum sc_verdict verdict = judge(*paths, certainty);
        gravest = verdict > gravest ? verdict : gravest;
    }
    return gravest;
}
