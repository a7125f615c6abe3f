/* Writes hazards and memory as logs and metrics of OpenTelemetry, in the JSON of OTLP 1
 * (opentelemetry-proto: logs/v1/logs.proto, metrics/v1/metrics.proto): 64-bit numbers are strings,
 * enumerations numbers.
 *
 * Times in a report are CLOCK_MONOTONIC. They are converted to the time of day only if the reader
 * knows the difference; else a record has only the time at which it was read. */
#ifndef SC_REPORT_COMMAND_OTLP_H
#define SC_REPORT_COMMAND_OTLP_H

#include "report/command/scratch.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct sc_shown;

struct sc_otlp_clock {
    int64_t now_ns;    /* since 1970 */
    int64_t offset_ns; /* a time since 1970 minus the time in the report */
    bool is_known;     /* offset_ns is valid */
};

/* Returns the clock for reports from a machine of which it is not known when it was started.
 * SOURCE_DATE_EPOCH in the environment sets the time of day, in seconds. */
struct sc_otlp_clock sc_otlp_clock_unknown(void);

/* Returns the clock for reports of processes on this machine since its last start. */
struct sc_otlp_clock sc_otlp_clock_own(void);

/* ---- logs ---- */

enum sc_otlp_severity {
    SC_OTLP_INFO = 9,
    SC_OTLP_WARN = 13,
    SC_OTLP_ERROR = 17,
    SC_OTLP_FATAL = 21
};

/* Makes a LogRecord of a hazard. */
json_t *sc_otlp_hazard(const struct sc_otlp_clock *clock, struct sc_scratch *scratch,
                       const struct sc_shown *hazard);

/* Makes a log record of another event in a report. `time_ns`: as in the report, or 0. */
json_t *sc_otlp_event(const struct sc_otlp_clock *clock, enum sc_otlp_severity severity,
                      const char *name, const char *words, json_int_t time_ns);

/* ---- metrics ---- */

/* Metrics by name, to which data points are added. All zero is empty. */
struct sc_otlp_metrics {
    json_t *by_name;
};

/* Adds the metric of how many hazards of the code the process has had; sc_otlp_put_operations that
 * of its operations. */
void sc_otlp_put_hazards(struct sc_otlp_metrics *metrics, const struct sc_otlp_clock *clock,
                         const char *code, json_int_t count);
void sc_otlp_put_operations(struct sc_otlp_metrics *metrics, const struct sc_otlp_clock *clock,
                            json_int_t count);

/* Adds metrics from a report's member `memory`, which may be anything. */
void sc_otlp_put_memory(struct sc_otlp_metrics *metrics, const struct sc_otlp_clock *clock,
                        const json_t *memory);

/* ---- whole messages ---- */

/* Makes a Resource that describes the process, from its run line, which may be anything. */
json_t *sc_otlp_resource(const json_t *run);

/* Make ResourceLogs of an array of log records, and ResourceMetrics. They take over their
 * arguments. */
json_t *sc_otlp_resource_logs(json_t *resource, json_t *records);
json_t *sc_otlp_resource_metrics(json_t *resource, struct sc_otlp_metrics *metrics);

/* Returns the text {"resourceLogs":[...]} or {"resourceMetrics":[...]}, a message to a collector or
 * a line of a file: ASCII without control characters, which the caller frees. Takes over the array.
 * NULL: no memory. */
char *sc_otlp_message(const char *member, json_t *array);

#endif
