#define _GNU_SOURCE 1
#include "report/command/otlp.h"

#include "report/command/fields.h"
#include "report/command/say.h"
#include "report/command/shown.h"
#include "report/version.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CUMULATIVE = 2, ARGUMENTS_MAX = 64 };

/* ---- time ---- */

static int64_t now_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Returns a clock for reports whose own times cannot be converted to dates. It has the present
 * time, or that of SOURCE_DATE_EPOCH if a build sets it. */
struct sc_otlp_clock sc_otlp_clock_unknown(void)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    long long seconds = epoch ? strtoll(epoch, NULL, 10) : 0;
    bool is_set = seconds > 0 && seconds < INT64_MAX / 1000000000;
    return (struct sc_otlp_clock){.now_ns = is_set ? seconds * INT64_C(1000000000)
                                                   : now_of(CLOCK_REALTIME)};
}

/* Returns how this machine's times are converted: for reports that are being written here and
 * now. */
struct sc_otlp_clock sc_otlp_clock_own(void)
{
    int64_t now = now_of(CLOCK_REALTIME);
    return (struct sc_otlp_clock){
        .now_ns = now, .offset_ns = now - now_of(CLOCK_MONOTONIC), .is_known = true};
}

/* Returns the time of day of an event, from the machine's own clock, or 0 if it is not known. */
static int64_t time_of(const struct sc_otlp_clock *clock, json_int_t time_ns)
{
    int64_t time;
    if (!clock->is_known || time_ns <= 0 ||
        __builtin_add_overflow(time_ns, clock->offset_ns, &time) || time <= 0)
        return 0;
    return time;
}

/* ---- values ---- */

/* Returns a number as OpenTelemetry's JSON has it: 64-bit numbers are strings there. */
static json_t *number_of(int64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, number);
    return json_string(text);
}

/* Makes a JSON string of the text. Text that is no UTF-8 is made printable first, as in all other
 * output. */
static json_t *text_of(const char *text)
{
    json_t *string = json_string(text);
    return string ? string : json_string(sc_say_plain(text));
}

/* Adds an attribute of the type to the list. */
static void put(json_t *attributes, const char *key, const char *type, json_t *value)
{
    json_array_append_new(attributes, json_pack("{s:s,s:{s:o}}", "key", key, "value", type, value));
}

/* Adds the text as an attribute, or nothing if it is NULL or empty. */
static void put_text(json_t *attributes, const char *key, const char *text)
{
    if (text && text[0] != '\0')
        put(attributes, key, "stringValue", text_of(text));
}

static void put_number(json_t *attributes, const char *key, int64_t number)
{
    put(attributes, key, "intValue", number_of(number));
}

/* ---- the process ---- */

/* Adds the program's name and its arguments. */
static void put_command(json_t *attributes, const json_t *run)
{
    const json_t *command = json_object_get(run, "command");
    const char *own_name = getenv("OTEL_SERVICE_NAME");
    const char *program = json_string_value(json_array_get(command, 0));
    json_t *values = json_array();
    put_text(attributes, "service.name",
             own_name && own_name[0] != '\0' ? own_name
             : program                       ? basename(program)
                                             : "unknown_service");
    for (size_t i = 0; i < json_array_size(command) && i < ARGUMENTS_MAX; i++) {
        const char *word = json_string_value(json_array_get(command, i));
        json_array_append_new(values,
                              json_pack("{s:o}", "stringValue", text_of(word ? word : "?")));
    }
    put(attributes, "process.command_args", "arrayValue", json_pack("{s:o}", "values", values));
}

/* Adds which process it was, and on which host. */
static void put_process(json_t *attributes, const json_t *run)
{
    const char *host = sc_field_string(run, "host", "");
    char instance[320];
    snprintf(instance, sizeof instance, "%.255s:%" JSON_INTEGER_FORMAT ":%" JSON_INTEGER_FORMAT,
             host, sc_field_number(run, "pid"), sc_field_number(run, "started"));
    put_text(attributes, "service.instance.id", instance);
    put_text(attributes, "host.name", host);
    put_number(attributes, "process.pid", sc_field_number(run, "pid"));
}

/* Makes what identifies the process that the records come from. */
json_t *sc_otlp_resource(const json_t *run)
{
    json_t *attributes = json_array();
    put_command(attributes, run);
    if (json_is_integer(json_object_get(run, "pid")))
        put_process(attributes, run);
    put_text(attributes, "safecopy.rank", sc_field_string(run, "rank", NULL));
    put_text(attributes, "safecopy.version", sc_field_string(run, "version", NULL));
    return json_pack("{s:o}", "attributes", attributes);
}

/* ---- logs ---- */

/* Returns the frame of a log record, to which attributes are added. */
static json_t *make_record(const struct sc_otlp_clock *clock, enum sc_otlp_severity severity,
                           const char *name, const char *words, int64_t time_ns)
{
    static const char *const texts[] = {[SC_OTLP_INFO] = "INFO",
                                        [SC_OTLP_WARN] = "WARN",
                                        [SC_OTLP_ERROR] = "ERROR",
                                        [SC_OTLP_FATAL] = "FATAL"};
    json_t *record =
        json_pack("{s:o,s:i,s:s,s:s,s:{s:o}}", "observedTimeUnixNano", number_of(clock->now_ns),
                  "severityNumber", (int)severity, "severityText", texts[severity], "eventName",
                  name, "body", "stringValue", text_of(words));
    if (time_ns > 0)
        json_object_set_new(record, "timeUnixNano", number_of(time_ns));
    return record;
}

/* Makes a log record of an event: when it was, how grave, and in words. */
json_t *sc_otlp_event(const struct sc_otlp_clock *clock, enum sc_otlp_severity severity,
                      const char *name, const char *words, json_int_t time_ns)
{
    return make_record(clock, severity, name, words, time_of(clock, time_ns));
}

/* Returns how grave the hazard is: less if it is suppressed or may be meant. */
static enum sc_otlp_severity severity_of(const struct sc_shown *hazard)
{
    if (hazard->suppression || json_is_true(json_object_get(hazard->record, "advisory")))
        return SC_OTLP_INFO;
    return strcmp(hazard->certainty, "observed") == 0 ? SC_OTLP_ERROR : SC_OTLP_WARN;
}

/* Returns the stack as one text, a frame a line; NULL without frames. */
static const char *stack_of(struct sc_scratch *scratch, const struct sc_frames *stack)
{
    const char *words = NULL;
    for (size_t i = 0; i < stack->count; i++)
        words = sc_scratch_print(scratch, "%s%s%s", words ? words : "", words ? "\n" : "",
                                 stack->frames[i].words);
    return words;
}

/* Adds the call of one side of a hazard: function, place, thread and stack. */
static void put_call(json_t *attributes, struct sc_scratch *scratch, const char *side,
                     const struct sc_call *call)
{
    put_text(attributes, sc_scratch_print(scratch, "safecopy.%s.call", side), call->api);
    if (call->stack.user)
        put_text(attributes, sc_scratch_print(scratch, "safecopy.%s.place", side),
                 sc_frames_shown_place(scratch, call->stack.user));
    put_text(attributes, sc_scratch_print(scratch, "safecopy.%s.thread", side), call->thread_words);
    put_text(attributes, sc_scratch_print(scratch, "safecopy.%s.stack", side),
             stack_of(scratch, &call->stack));
}

/* Adds how often the hazard was, in how many runs and on which ranks. */
static void put_counts(json_t *attributes, const struct sc_shown *hazard)
{
    put_number(attributes, "safecopy.count", hazard->occurrences);
    if (json_is_integer(json_object_get(hazard->record, "runs")))
        put_number(attributes, "safecopy.runs", sc_field_number(hazard->record, "runs"));
    put_text(attributes, "safecopy.ranks", sc_field_string(hazard->record, "ranks", NULL));
}

/* Makes a log record of a hazard. */
json_t *sc_otlp_hazard(const struct sc_otlp_clock *clock, struct sc_scratch *scratch,
                       const struct sc_shown *hazard)
{
    json_t *attributes = json_array();
    json_t *record = make_record(clock, severity_of(hazard), "safecopy.hazard", hazard->title,
                                 time_of(clock, hazard->event.time_ns));
    put_text(attributes, "safecopy.code", hazard->code);
    put_text(attributes, "safecopy.name", hazard->name);
    put_text(attributes, "safecopy.certainty", hazard->certainty);
    put_text(attributes, "safecopy.action", hazard->action);
    put_counts(attributes, hazard);
    put_text(attributes, "safecopy.label", hazard->label);
    put_text(attributes, "safecopy.suppressed", hazard->suppression);
    put_text(attributes, "safecopy.advice", hazard->advice);
    put_text(attributes, "safecopy.direction", hazard->direction);
    put_text(attributes, "safecopy.stream", hazard->stream);
    put_call(attributes, scratch, "event", &hazard->event);
    put_call(attributes, scratch, "copy", &hazard->copy);
    json_object_set_new(record, "attributes", attributes);
    return record;
}

/* ---- metrics ---- */

struct kind {
    const char *name, *unit, *words;
    bool is_sum, is_monotonic;
};

static const struct kind
    hazards_kind = {"safecopy.hazards", "{hazard}", "Hazards that were found.", true, true},
    operations_kind = {"safecopy.operations", "{operation}",
                       "Asynchronous operations that were looked at.", true, true},
    usage_kind = {"safecopy.memory.usage", "By", "Memory that the process holds, by kind.", true,
                  false},
    peak_kind = {"safecopy.memory.peak", "By", "The most that it held at one time.", false, false},
    device_usage_kind = {"hw.gpu.memory.usage", "By", "Memory of the device in use, by whomever.",
                         true, false},
    device_limit_kind = {"hw.gpu.memory.limit", "By", "Memory of the device.", true, false};

/* Returns the list of data points of a metric; the metric is added when it comes first. */
static json_t *points_of(struct sc_otlp_metrics *metrics, const struct kind *kind)
{
    if (!metrics->by_name)
        metrics->by_name = json_object();
    json_t *metric = json_object_get(metrics->by_name, kind->name);
    const char *type = kind->is_sum ? "sum" : "gauge";
    if (metric)
        return json_object_get(json_object_get(metric, type), "dataPoints");
    json_t *points = json_array(), *data = json_pack("{s:o}", "dataPoints", points);
    if (kind->is_sum) {
        json_object_set_new(data, "aggregationTemporality", json_integer(CUMULATIVE));
        json_object_set_new(data, "isMonotonic", json_boolean(kind->is_monotonic));
    }
    json_object_set_new(metrics->by_name, kind->name,
                        json_pack("{s:s,s:s,s:s,s:o}", "name", kind->name, "unit", kind->unit,
                                  "description", kind->words, type, data));
    return points;
}

/* Adds a value to a metric. Takes over the attributes. */
static void put_point(struct sc_otlp_metrics *metrics, const struct kind *kind, int64_t time_ns,
                      int64_t value, json_t *attributes)
{
    json_array_append_new(points_of(metrics, kind),
                          json_pack("{s:o,s:o,s:o}", "timeUnixNano", number_of(time_ns), "asInt",
                                    number_of(value), "attributes", attributes));
}

/* Adds the count of one hazard code to the metrics. */
void sc_otlp_put_hazards(struct sc_otlp_metrics *metrics, const struct sc_otlp_clock *clock,
                         const char *code, json_int_t count)
{
    json_t *attributes = json_array();
    put_text(attributes, "safecopy.code", code);
    put_point(metrics, &hazards_kind, clock->now_ns, count, attributes);
}

void sc_otlp_put_operations(struct sc_otlp_metrics *metrics, const struct sc_otlp_clock *clock,
                            json_int_t count)
{
    put_point(metrics, &operations_kind, clock->now_ns, count, json_array());
}

/* ---- memory ---- */

struct place {
    struct sc_otlp_metrics *metrics;
    const json_t *record;
    const char *name, *uuid; /* uuid NULL: not known, or of the host */
    int64_t time_ns;
};

/* Makes the attributes that say which device, or the host, a metric is of. */
static json_t *attributes_of(const struct place *place)
{
    json_t *attributes = json_array();
    put_text(attributes, "safecopy.place", place->name);
    put_text(attributes, "hw.id", place->uuid);
    return attributes;
}

/* Adds how full a device is, whoever fills it. */
static void put_whole_device(const struct place *place, const struct kind *kind, int64_t value)
{
    json_t *attributes = json_array();
    put_text(attributes, "hw.id", place->uuid ? place->uuid : place->name);
    put_text(attributes, "hw.type", "gpu");
    put_point(place->metrics, kind, place->time_ns, value, attributes);
}

/* Adds what the process holds at one place. */
static void put_place(const struct place *place)
{
    const json_t *record = place->record;
    const char *kind;
    json_t *counts;
    json_object_foreach(json_object_get(record, "kinds"), kind, counts)
    {
        json_t *attributes = attributes_of(place);
        put_text(attributes, "safecopy.kind", kind);
        put_point(place->metrics, &usage_kind, place->time_ns, sc_field_number(counts, "bytes"),
                  attributes);
    }
    put_point(place->metrics, &peak_kind, place->time_ns, sc_field_number(record, "peak_bytes"),
              attributes_of(place));
    json_int_t total = sc_field_number(record, "total_bytes");
    if (!json_is_integer(json_object_get(record, "free_bytes")) || total <= 0)
        return;
    json_int_t used;
    if (__builtin_sub_overflow(total, sc_field_number(record, "free_bytes"), &used) || used < 0)
        used = 0;
    put_whole_device(place, &device_usage_kind, used);
    put_whole_device(place, &device_limit_kind, total);
}

/* Adds what a line about memory tells. */
void sc_otlp_put_memory(struct sc_otlp_metrics *metrics, const struct sc_otlp_clock *clock,
                        const json_t *memory)
{
    int64_t time_ns = time_of(clock, sc_field_number(memory, "time_ns"));
    const json_t *host = json_object_get(memory, "host");
    size_t index;
    json_t *device;
    time_ns = time_ns > 0 ? time_ns : clock->now_ns;
    json_array_foreach(json_object_get(memory, "devices"), index, device)
    {
        char name[32];
        snprintf(name, sizeof name, "device %" JSON_INTEGER_FORMAT,
                 sc_field_number(device, "device"));
        put_place(
            &(struct place){metrics, device, name, sc_field_string(device, "uuid", NULL), time_ns});
    }
    if (json_is_object(host))
        put_place(&(struct place){metrics, host, "host", NULL, time_ns});
}

/* ---- whole messages ---- */

static json_t *make_scope(void)
{
    return json_pack("{s:s,s:s}", "name", "safecopy", "version", SC_VERSION);
}

/* Makes the message with all log records of a process. Takes over both values. */
json_t *sc_otlp_resource_logs(json_t *resource, json_t *records)
{
    return json_pack("{s:o,s:[{s:o,s:o}]}", "resource", resource, "scopeLogs", "scope",
                     make_scope(), "logRecords", records);
}

/* Makes the message with all metrics of a process. Takes over `resource`, and empties the
 * metrics. */
json_t *sc_otlp_resource_metrics(json_t *resource, struct sc_otlp_metrics *metrics)
{
    json_t *list = json_array(), *metric;
    const char *name;
    json_object_foreach(metrics->by_name, name, metric)
    {
        json_array_append(list, metric);
    }
    json_decref(metrics->by_name);
    metrics->by_name = NULL;
    return json_pack("{s:o,s:[{s:o,s:o}]}", "resource", resource, "scopeMetrics", "scope",
                     make_scope(), "metrics", list);
}

/* Escapes DEL (0x7f), the one control character that jansson leaves as it is. */
static char *escape_delete(char *text)
{
    char *escaped = NULL;
    size_t size;
    FILE *out = text && strchr(text, 0x7f) ? open_memstream(&escaped, &size) : NULL;
    if (!out)
        return text;
    for (const char *at = text; *at != '\0'; at++)
        if (*at == 0x7f)
            fputs("\\u007f", out);
        else
            fputc(*at, out);
    free(text);
    return fclose(out) == 0 ? escaped : NULL;
}

/* Returns a whole message as text. Returns NULL if memory runs out. The caller frees it. */
char *sc_otlp_message(const char *member, json_t *array)
{
    json_t *message = json_pack("{s:o}", member, array);
    char *text = json_dumps(message, JSON_COMPACT | JSON_ENSURE_ASCII);
    json_decref(message);
    return escape_delete(text);
}
