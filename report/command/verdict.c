#include "report/command/verdict.h"

#include "report/command/fields.h"
#include "report/command/reader.h"
#include "report/command/regular_file.h"

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

static bool report_fails(const char *path, enum sc_certainty certainty)
{
    struct sc_reader reader = {.quiet = true, .brief = true};
    int error;
    FILE *stream = sc_regular_file_stream(path, 0, &error);
    if (!stream)
        return false;
    sc_reader_add(&reader, path, stream);
    fclose(stream);
    bool fails = reader_fails(&reader, certainty);
    sc_reader_free(&reader);
    return fails;
}

bool sc_verdict_is_failure(char *const *paths, enum sc_certainty certainty)
{
    for (; *paths; paths++)
        if (report_fails(*paths, certainty))
            return true;
    return false;
}
