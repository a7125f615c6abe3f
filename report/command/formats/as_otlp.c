/* Logs and metrics as OpenTelemetry's file exporter writes them: a line of JSON for each process,
 * of one kind in a file. The collector's otlpjsonfile receiver reads them.
 */
#define _GNU_SOURCE 1
#include "report/command/fields.h"
#include "report/command/formats/formats.h"
#include "report/command/otlp.h"
#include "report/command/shown.h"

#include <stdlib.h>

/* Writes a message of one element as a line of JSON. */
static void put_line(FILE *out, const char *member, json_t *element)
{
    char *text = sc_otlp_message(member, json_pack("[o]", element));
    if (text)
        fprintf(out, "%s\n", text);
    free(text);
}

/* ---- logs ---- */

/* Writes a hazard as a log record, in a message of its own, since hazards of one process need not
 * follow each other. */
static void put_hazard(FILE *out, struct sc_model *model, const struct sc_otlp_clock *clock,
                       size_t index)
{
    const struct sc_shown *hazard = sc_model_hazard(model, index);
    json_t *record = sc_otlp_hazard(clock, &model->scratch, hazard);
    json_t *run = sc_reader_run(model->reader, hazard->run);
    json_t *resource = sc_otlp_resource(json_object_get(run, "run"));
    put_line(out, "resourceLogs", sc_otlp_resource_logs(resource, json_pack("[o]", record)));
    json_decref(run);
}

/* Writes why hazards of the run may not be known, and whether it lost its context. */
static void put_run(FILE *out, const struct sc_otlp_clock *clock, const struct sc_run *run)
{
    json_t *records = json_array();
    if (!run->ended && !run->replaced)
        json_array_append_new(records, sc_otlp_event(clock, SC_OTLP_WARN, "safecopy.not_ended",
                                                     "the run did not end normally", 0));
    if (run->doubt)
        json_array_append_new(
            records, sc_otlp_event(clock, SC_OTLP_WARN, "safecopy.in_doubt", run->doubt, 0));
    if (run->lost)
        json_array_append_new(records, sc_otlp_event(clock, SC_OTLP_FATAL, "safecopy.postmortem",
                                                     run->lost->words, run->lost_ns));
    if (json_array_size(records) == 0) {
        json_decref(records);
        return;
    }
    json_t *resource = sc_otlp_resource(json_object_get(run->record, "run"));
    put_line(out, "resourceLogs", sc_otlp_resource_logs(resource, records));
}

/* Writes runs and hazards as OpenTelemetry's log records, one JSON object a line. A report does
 * not say what time of day it was, so the clock is unknown. */
void sc_as_otlp_logs(FILE *out, struct sc_model *model)
{
    const struct sc_otlp_clock clock = sc_otlp_clock_unknown();
    for (size_t i = 0; i < model->reader->run_count; i++)
        put_run(out, &clock, sc_model_run(model, i));
    for (size_t i = 0; i < model->count; i++)
        put_hazard(out, model, &clock, i);
}

/* ---- metrics ---- */

/* Returns what the run held last: by its summary, or else by its last memory line. */
static const json_t *memory_of(const json_t *run)
{
    const json_t *last = json_object_get(json_object_get(run, "summary"), "memory");
    return last ? last : json_object_get(json_object_get(run, "memory"), "memory");
}

/* Writes the counts and the memory of one run as a line of OpenTelemetry's metrics; nothing if
 * there are none. */
static void put_metrics(FILE *out, const struct sc_otlp_clock *clock, const json_t *run)
{
    struct sc_otlp_metrics metrics = {0};
    const json_t *summary = json_object_get(run, "summary");
    const char *code;
    json_t *count;
    json_object_foreach(sc_reader_run_counts(run), code, count)
    {
        sc_otlp_put_hazards(&metrics, clock, code, json_integer_value(count));
    }
    if (json_is_object(summary))
        sc_otlp_put_operations(&metrics, clock, sc_field_number(summary, "operations"));
    sc_otlp_put_memory(&metrics, clock, memory_of(run));
    if (!metrics.by_name)
        return;
    json_t *resource = sc_otlp_resource(json_object_get(run, "run"));
    put_line(out, "resourceMetrics", sc_otlp_resource_metrics(resource, &metrics));
}

void sc_as_otlp_metrics(FILE *out, struct sc_model *model)
{
    const struct sc_otlp_clock clock = sc_otlp_clock_unknown();
    for (size_t i = 0; i < model->reader->run_count; i++)
        put_metrics(out, &clock, sc_model_run(model, i)->record);
}
