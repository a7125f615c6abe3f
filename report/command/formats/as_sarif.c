/* SARIF 2.1.0 (OASIS): one run of the tool, a result a hazard. */
#define _GNU_SOURCE 1
#include "report/command/command.h"
#include "report/command/formats/formats.h"
#include "report/command/formats/source_place.h"
#include "report/command/say.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA                                                                                     \
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

/* ---- strings ---- */

static json_t *string_of(const char *text)
{
    json_t *string = json_string(sc_say_plain(text));
    return string ? string : json_string("?");
}

/* Brackets would be links of a message. */
static json_t *message_of(struct sc_scratch *scratch, const char *text)
{
    char *escaped = sc_scratch_take(scratch, 2 * strlen(text) + 1), *at = escaped;
    for (; *text != '\0'; text++) {
        if (strchr("[]\\", *text))
            *at++ = '\\';
        *at++ = *text;
    }
    return json_pack("{s:o}", "text", string_of(escaped));
}

static json_t *uri_of(struct sc_scratch *scratch, const char *path)
{
    char *uri = sc_scratch_take(scratch, 3 * strlen(path) + sizeof "file://");
    char *at = stpcpy(uri, path[0] == '/' ? "file://" : "");
    for (; *path != '\0'; path++) {
        unsigned char byte = (unsigned char)*path;
        if (byte < 0x80 && (isalnum(byte) || strchr("/-._~", byte)))
            *at++ = (char)byte;
        else
            at += sprintf(at, "%%%02X", byte);
    }
    return json_string(uri);
}

/* ---- places ---- */

static json_t *physical_location(struct sc_scratch *scratch, const struct sc_frame *frame)
{
    if (!frame->file)
        return json_pack("{s:{s:o}}", "address", "fullyQualifiedName", string_of(frame->words));
    const char *path = sc_source_place_path(scratch, frame);
    json_t *artifact = json_pack("{s:o}", "uri", uri_of(scratch, path));
    if (path[0] != '/')
        json_object_set_new(artifact, "uriBaseId", json_string("%SRCROOT%"));
    json_t *place = json_pack("{s:o}", "artifactLocation", artifact);
    if (frame->line > 0)
        json_object_set_new(place, "region", json_pack("{s:I}", "startLine", frame->line));
    return place;
}

static json_t *location_of(struct sc_scratch *scratch, const struct sc_frame *frame,
                           const char *words)
{
    json_t *location = json_pack("{s:o}", "physicalLocation", physical_location(scratch, frame));
    if (frame->function)
        json_object_set_new(location, "logicalLocations",
                            json_pack("[{s:o,s:s}]", "fullyQualifiedName",
                                      string_of(frame->function), "kind", "function"));
    if (words)
        json_object_set_new(location, "message", message_of(scratch, words));
    return location;
}

/* Services want a place for each result. */
static json_t *locations_of(struct sc_scratch *scratch, const struct sc_shown *hazard)
{
    const struct sc_frames *stack = &hazard->event.stack;
    const struct sc_frame *frame = sc_source_place_of(hazard);
    if (!frame)
        frame = stack->user ? stack->user : stack->count > 0 ? &stack->frames[0] : NULL;
    if (frame)
        return json_pack("[o]", location_of(scratch, frame, NULL));
    return json_pack("[{s:[{s:o,s:s}]}]", "logicalLocations", "fullyQualifiedName",
                     string_of(hazard->event.api), "kind", "function");
}

static json_t *related_locations(struct sc_scratch *scratch, const struct sc_shown *hazard)
{
    const struct sc_frame *frame = hazard->copy.stack.user;
    json_t *location = frame ? location_of(scratch, frame, hazard->copy.api) : NULL;
    json_object_set_new(location, "id", json_integer(1));
    return location ? json_pack("[o]", location) : json_array();
}

/* ---- flows ---- */

static const char *importance_of(const struct sc_frame *frame)
{
    static const char *const words[] = {
        [SC_FRAME_RUNTIME] = "unimportant",
        [SC_FRAME_LIBRARY] = "important",
        [SC_FRAME_USER] = "essential",
    };
    return words[frame->kind];
}

/* From the outermost frame to the call. */
static json_t *thread_flow(struct sc_scratch *scratch, const struct sc_call *call, const char *name)
{
    json_t *steps = json_array();
    for (size_t i = call->stack.count; i > 0; i--) {
        const struct sc_frame *frame = &call->stack.frames[i - 1];
        json_t *location = location_of(scratch, frame, i == 1 ? call->words : NULL);
        json_array_append_new(steps, json_pack("{s:o,s:s}", "location", location, "importance",
                                               importance_of(frame)));
    }
    if (call->stack.count == 0)
        json_array_append_new(
            steps, json_pack("{s:{s:o}}", "location", "message", message_of(scratch, call->words)));
    return json_pack("{s:s,s:o,s:o}", "id", name, "message", message_of(scratch, call->words),
                     "locations", steps);
}

static json_t *code_flows(struct sc_scratch *scratch, const struct sc_shown *hazard)
{
    json_t *flows = json_array();
    json_array_append_new(flows, thread_flow(scratch, &hazard->copy, "copy"));
    if (hazard->freed.api)
        json_array_append_new(flows, thread_flow(scratch, &hazard->freed, "free"));
    json_array_append_new(flows, thread_flow(scratch, &hazard->event, "event"));
    return json_pack("[{s:o}]", "threadFlows", flows);
}

/* ---- results ---- */

static json_t *properties_of(const struct sc_shown *hazard)
{
    json_t *properties = json_pack("{s:o,s:o,s:s}", "certainty", string_of(hazard->certainty),
                                   "action", string_of(hazard->action), "outcome", hazard->outcome);
    if (hazard->label)
        json_object_set_new(properties, "label", string_of(hazard->label));
    if (hazard->timing)
        json_object_set_new(properties, "timing", json_string(hazard->timing));
    return properties;
}

static json_t *result_of(struct sc_scratch *scratch, const struct sc_shown *hazard)
{
    const char *words =
        sc_scratch_print(scratch, "%s. What to do: %s.", hazard->title, hazard->advice);
    json_t *result =
        json_pack("{s:o,s:s,s:o,s:o,s:o,s:o,s:{s:s},s:I,s:o}", "ruleId", string_of(hazard->code),
                  "level", "error", "message", message_of(scratch, words), "locations",
                  locations_of(scratch, hazard), "relatedLocations",
                  related_locations(scratch, hazard), "codeFlows", code_flows(scratch, hazard),
                  "partialFingerprints", "safecopyHazard/v1", hazard->fingerprint,
                  "occurrenceCount", hazard->occurrences, "properties", properties_of(hazard));
    if (hazard->news)
        json_object_set_new(result, "baselineState", json_string(hazard->news));
    if (hazard->suppression)
        json_object_set_new(result, "suppressions",
                            json_pack("[{s:s,s:o}]", "kind", "external", "justification",
                                      string_of(hazard->suppression)));
    return result;
}

/* ---- the tool and its runs ---- */

static json_t *rules(void)
{
    static const char *const rows[][3] = {
#define SC_HAZARD(code, name, subject, advice) {#code, name, advice},
#include "track/hazard.def"
    };
    json_t *array = json_array();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        json_array_append_new(array, json_pack("{s:s,s:s,s:{s:s},s:{s:s}}", "id", rows[i][0],
                                               "name", rows[i][1], "shortDescription", "text",
                                               rows[i][1], "help", "text", rows[i][2]));
    return array;
}

static json_t *tool(void)
{
    return json_pack("{s:{s:s,s:s,s:o}}", "driver", "name", "libsafecopy", "semanticVersion",
                     SC_COMMAND_VERSION, "rules", rules());
}

static json_t *invocation_of(struct sc_scratch *scratch, const struct sc_run *run)
{
    json_t *notes = json_array();
    for (size_t i = 0; i < run->note_count; i++)
        json_array_append_new(notes, json_pack("{s:s,s:o}", "level", "note", "message",
                                               message_of(scratch, run->notes[i].words)));
    return json_pack("{s:b,s:o,s:o}", "executionSuccessful", run->ended, "commandLine",
                     string_of(run->title), "toolExecutionNotifications", notes);
}

/* ---- the whole ---- */

/* Writes an element of an array and gives it back. */
static void print_element(FILE *out, json_t *element, bool is_first)
{
    fputs(is_first ? "\n" : ",\n", out);
    json_dumpf(element, out, JSON_COMPACT);
    json_decref(element);
}

void sc_as_sarif(FILE *out, struct sc_model *model)
{
    struct sc_scratch *scratch = &model->scratch;
    fputs("{\"$schema\":\"" SCHEMA "\",\"version\":\"2.1.0\",\"runs\":[{\"tool\":", out);
    json_t *description = tool();
    json_dumpf(description, out, JSON_COMPACT);
    json_decref(description);
    fputs(",\n\"columnKind\":\"utf16CodeUnits\",\n\"invocations\":[", out);
    for (size_t i = 0; i < model->reader->run_count; i++)
        print_element(out, invocation_of(scratch, sc_model_run(model, i)), i == 0);
    fputs("],\n\"results\":[", out);
    for (size_t i = 0; i < model->count; i++)
        print_element(out, result_of(scratch, sc_model_hazard(model, i)), i == 0);
    fputs("]}]}\n", out);
}
