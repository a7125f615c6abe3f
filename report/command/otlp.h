/* Writes hazards and memory as OpenTelemetry's logs and metrics, in the JSON of OTLP 1
 * (opentelemetry-proto: logs/v1/logs.proto, metrics/v1/metrics.proto): 64-bit numbers are strings,
 * enumerations numbers.
 *
 * A report has times of CLOCK_MONOTONIC. They are times of the day only where the reader knows the
 * difference; else a record has none but when it was observed. */
#ifndef SC_REPORT_COMMAND_OTLP_H
#define SC_REPORT_COMMAND_OTLP_H

#include "report/command/scratch.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct sc_shown;

struct sc_otlp_clock {
    int64_t now_ns;    /* since 1970 */
    int64_t offset_ns; /* of a time of the report from one since 1970 */
    bool is_known;     /* the offset is */
};

/* The clock for reports of which it is not known when their machine was started. SOURCE_DATE_EPOCH
 * in the environment is taken for the time of the day, in seconds. */
struct sc_otlp_clock sc_otlp_clock_unknown(void);

/* Of a process of this machine, since its last start. */
struct sc_otlp_clock sc_otlp_clock_own(void);

/* ---- logs ---- */

enum sc_otlp_severity {
    SC_OTLP_INFO = 9,
    SC_OTLP_WARN = 13,
    SC_OTLP_ERROR = 17,
    SC_OTLP_FATAL = 21
};

/* A LogRecord of a hazard. */
json_t *sc_otlp_hazard(const struct sc_otlp_clock *clock, struct sc_scratch *scratch,
                       const struct sc_shown *hazard);

/* A log record of something else that a report tells. `time_ns`: as the report has it, or 0. */
json_t *sc_otlp_event(const struct sc_otlp_clock *clock, enum sc_otlp_severity severity,
                      const char *name, const char *words, json_int_t time_ns);

/* ---- metrics ---- */

/* Metrics by name, in which points are put. All zero is none. */
struct sc_otlp_metrics {
    json_t *by_name;
};

/* Adds the metric of how many hazards of the code there have been since the process began. */
void sc_otlp_put_hazards(struct sc_otlp_metrics *metrics, const struct sc_otlp_clock *clock,
                         const char *code, json_int_t count);
void sc_otlp_put_operations(struct sc_otlp_metrics *metrics, const struct sc_otlp_clock *clock,
                            json_int_t count);

/* A member `memory` of a report, or anything else. */
void sc_otlp_put_memory(struct sc_otlp_metrics *metrics, const struct sc_otlp_clock *clock,
                        const json_t *memory);

/* ---- whole messages ---- */

/* The process, from its run line, or anything else: a Resource. */
json_t *sc_otlp_resource(const json_t *run);

/* Make ResourceLogs of an array of records, and ResourceMetrics. They take over what they are
 * given. */
json_t *sc_otlp_resource_logs(json_t *resource, json_t *records);
json_t *sc_otlp_resource_metrics(json_t *resource, struct sc_otlp_metrics *metrics);

/* The text {"resourceLogs":[...]} or {"resourceMetrics":[...]}: a message to a collector, or a line
 * of a file. Takes over the array. ASCII without control characters. The caller frees it. NULL: out
 * of memory. */
char *sc_otlp_message(const char *member, json_t *array);

#endif
