/* SARIF 2.1.0 (OASIS): one run of the tool, a result a hazard. */
#define _GNU_SOURCE 1
#include "report/command/fingerprint.h"
#include "report/command/formats/formats.h"
#include "report/command/formats/json_writer.h"
#include "report/command/formats/source_place.h"
#include "report/command/say.h"
#include "report/command/shown.h"
#include "report/version.h"

#include <ctype.h>
#include <string.h>

#define SCHEMA                                                                                     \
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

/* ---- strings ---- */

/* Writes a JSON string, control characters made visible. */
static void put_string(FILE *out, const char *text)
{
    sc_json_writer_put_string(out, sc_say_plain(text));
}

/* Writes a member with a text. `before` is all that stands between the last value and this one. */
static void put_member(FILE *out, const char *before, const char *text)
{
    fputs_unlocked(before, out);
    put_string(out, text);
}

/* Writes a message. Brackets in it are escaped, since they would be links. */
static void put_message(FILE *out, struct sc_scratch *scratch, const char *before, const char *text)
{
    char *escaped = sc_scratch_take(scratch, 2 * strlen(text) + 1), *at = escaped;
    for (; *text != '\0'; text++) {
        if (*text == '[' || *text == ']' || *text == '\\')
            *at++ = '\\';
        *at++ = *text;
    }
    fputs_unlocked(before, out);
    put_member(out, "{\"text\":", escaped);
    putc_unlocked('}', out);
}

/* Writes a path as a URI: other bytes than a path's usual ones are escaped. */
static void put_uri(FILE *out, const char *path)
{
    fputs_unlocked(path[0] == '/' ? "\"file://" : "\"", out);
    for (; *path != '\0'; path++) {
        unsigned char byte = (unsigned char)*path;
        if (byte < 0x80 && (isalnum(byte) || strchr("/-._~", byte)))
            putc_unlocked(byte, out);
        else
            fprintf(out, "%%%02X", byte);
    }
    putc_unlocked('"', out);
}

/* ---- places ---- */

/* Writes the place of a frame: its file and line, or its address if these are not known. */
static void put_physical_location(FILE *out, struct sc_scratch *scratch,
                                  const struct sc_frame *frame)
{
    if (!frame->file) {
        put_member(out, "{\"address\":{\"fullyQualifiedName\":", frame->words);
        fputs_unlocked("}}", out);
        return;
    }
    const char *path = sc_source_place_path(scratch, frame);
    fputs_unlocked("{\"artifactLocation\":{\"uri\":", out);
    put_uri(out, path);
    fputs_unlocked(path[0] != '/' ? ",\"uriBaseId\":\"%SRCROOT%\"}" : "}", out);
    if (frame->line > 0)
        fprintf(out, ",\"region\":{\"startLine\":%" JSON_INTEGER_FORMAT "}", frame->line);
    putc_unlocked('}', out);
}

/* Writes a function's name as a logical location. */
static void put_function(FILE *out, const char *before, const char *function)
{
    put_member(out, before, function);
    fputs_unlocked(",\"kind\":\"function\"}]", out);
}

/* Writes a place with words about it, without the brace that ends it. */
static void put_location(FILE *out, struct sc_scratch *scratch, const struct sc_frame *frame,
                         const char *words)
{
    fputs_unlocked("{\"physicalLocation\":", out);
    put_physical_location(out, scratch, frame);
    if (frame->function)
        put_function(out, ",\"logicalLocations\":[{\"fullyQualifiedName\":", frame->function);
    if (words)
        put_message(out, scratch, ",\"message\":", words);
}

/* Writes the hazard's locations. There is one at least, since services want a place for each
 * result. */
static void put_locations(FILE *out, struct sc_scratch *scratch, const struct sc_shown *hazard)
{
    const struct sc_frames *stack = &hazard->event.stack;
    const struct sc_frame *frame = sc_source_place_of(hazard);
    if (!frame)
        frame = stack->user ? stack->user : stack->count > 0 ? &stack->frames[0] : NULL;
    if (frame)
        put_location(out, scratch, frame, NULL);
    else
        put_function(out, "{\"logicalLocations\":[{\"fullyQualifiedName\":", hazard->event.api);
    fputs_unlocked("}]", out);
}

/* Writes the user's frame of a call as a place that has to do with the hazard. */
static void put_related(FILE *out, struct sc_scratch *scratch, const struct sc_call *call,
                        const char *words, unsigned *id)
{
    if (!call->stack.user)
        return;
    if (++*id > 1)
        putc_unlocked(',', out);
    put_location(out, scratch, call->stack.user, words);
    fprintf(out, ",\"id\":%u}", *id);
}

/* Writes the other calls of the hazard: the operation that was hurt, and where buffer and stream
 * were made. */
static void put_related_locations(FILE *out, struct sc_scratch *scratch,
                                  const struct sc_shown *hazard)
{
    unsigned id = 0;
    put_related(out, scratch, &hazard->copy, hazard->copy.api, &id);
    for (size_t i = 0; i < hazard->origin_count; i++)
        put_related(out, scratch, &hazard->origins[i], hazard->origins[i].words, &id);
    putc_unlocked(']', out);
}

/* ---- flows ---- */

/* Returns how important a frame of this kind is in SARIF's words: the user's code most. */
static const char *importance_of(const struct sc_frame *frame)
{
    static const char *const words[] = {
        [SC_FRAME_RUNTIME] = "},\"importance\":\"unimportant\"}",
        [SC_FRAME_LIBRARY] = "},\"importance\":\"important\"}",
        [SC_FRAME_USER] = "},\"importance\":\"essential\"}",
    };
    return words[frame->kind];
}

/* Writes a call's stack as a path, from the outermost frame to the call. */
static void put_thread_flow(FILE *out, struct sc_scratch *scratch, const struct sc_call *call,
                            const char *before)
{
    put_message(out, scratch, before, call->words);
    fputs_unlocked(",\"locations\":[", out);
    for (size_t i = call->stack.count; i > 0; i--) {
        const struct sc_frame *frame = &call->stack.frames[i - 1];
        fputs_unlocked(i < call->stack.count ? ",{\"location\":" : "{\"location\":", out);
        put_location(out, scratch, frame, i == 1 ? call->words : NULL);
        fputs_unlocked(importance_of(frame), out);
    }
    if (call->stack.count == 0) {
        put_message(out, scratch, "{\"location\":{\"message\":", call->words);
        fputs_unlocked("}}", out);
    }
    fputs_unlocked("]}", out);
}

/* Writes the calls in the order in which they were made. */
static void put_code_flows(FILE *out, struct sc_scratch *scratch, const struct sc_shown *hazard)
{
    put_thread_flow(out, scratch, &hazard->copy, "{\"id\":\"copy\",\"message\":");
    if (hazard->freed.api)
        put_thread_flow(out, scratch, &hazard->freed, ",{\"id\":\"free\",\"message\":");
    put_thread_flow(out, scratch, &hazard->event, ",{\"id\":\"event\",\"message\":");
}

/* ---- results ---- */

/* Writes what SARIF has no member for. */
static void put_properties(FILE *out, const struct sc_shown *hazard)
{
    put_member(out, ",\"properties\":{\"certainty\":", hazard->certainty);
    put_member(out, ",\"action\":", hazard->action);
    put_member(out, ",\"outcome\":", hazard->outcome);
    if (hazard->label)
        put_member(out, ",\"label\":", hazard->label);
    if (hazard->timing)
        put_member(out, ",\"timing\":", hazard->timing);
    if (hazard->grown)
        put_member(out, ",\"grown\":", hazard->grown);
    putc_unlocked('}', out);
}

/* Writes one hazard with all its places. */
static void put_result(FILE *out, struct sc_scratch *scratch, const struct sc_shown *hazard)
{
    const char *words =
        sc_scratch_print(scratch, "%s. What to do: %s.", hazard->title, hazard->advice);
    put_member(out, "{\"ruleId\":", hazard->code);
    bool is_advisory = json_is_true(json_object_get(hazard->record, "advisory"));
    fprintf(out, ",\"level\":\"%s\"", is_advisory ? "note" : "error");
    put_message(out, scratch, ",\"message\":", words);
    fputs_unlocked(",\"locations\":[", out);
    put_locations(out, scratch, hazard);
    fputs_unlocked(",\"relatedLocations\":[", out);
    put_related_locations(out, scratch, hazard);
    fputs_unlocked(",\"codeFlows\":[{\"threadFlows\":[", out);
    put_code_flows(out, scratch, hazard);
    put_member(out, "]}],\"partialFingerprints\":{\"safecopyHazard/v3\":",
               sc_fingerprint_make(scratch, hazard));
    fprintf(out, "},\"occurrenceCount\":%" JSON_INTEGER_FORMAT, hazard->occurrences);
    put_properties(out, hazard);
    if (hazard->news)
        put_member(out, ",\"baselineState\":", hazard->grown ? "updated" : hazard->news);
    if (hazard->suppression) {
        put_member(out, ",\"suppressions\":[{\"kind\":\"external\",\"justification\":",
                   hazard->suppression);
        fputs_unlocked("}]", out);
    }
    putc_unlocked('}', out);
}

/* ---- the tool and its runs ---- */

/* Writes what there is to know of each code. */
static void put_tool(FILE *out)
{
    static const char *const rows[][3] = {
#define SC_HAZARD(code, name, subject, advice) {#code, name, advice},
#include "common/hazard.def"
    };
    fputs("{\"driver\":{\"name\":\"libsafecopy\",\"semanticVersion\":\"" SC_VERSION
          "\",\"rules\":[",
          out);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        put_member(out, i > 0 ? ",{\"id\":" : "{\"id\":", rows[i][0]);
        put_member(out, ",\"name\":", rows[i][1]);
        put_member(out, ",\"shortDescription\":{\"text\":", rows[i][1]);
        put_member(out, "},\"help\":{\"text\":", rows[i][2]);
        fputs("}}", out);
    }
    fputs("]}}", out);
}

/* Writes a note on the run; one that casts doubt on it is an error. */
static void put_note(FILE *out, struct sc_scratch *scratch, const struct sc_run *run,
                     const struct sc_note *note)
{
    fputs(note->words == run->doubt ? "{\"level\":\"error\"" : "{\"level\":\"note\"", out);
    put_message(out, scratch, ",\"message\":", note->words);
    fputs("}", out);
}

/* Writes a line of the report that could not be read, as an error at its place. */
static void put_bad_line(FILE *out, struct sc_scratch *scratch, const struct sc_run *run,
                         const struct sc_bad_line *line)
{
    put_message(out, scratch, ",{\"level\":\"error\",\"message\":", line->problem);
    fputs(",\"locations\":[{\"physicalLocation\":{\"artifactLocation\":{\"uri\":", out);
    put_uri(out, run->file);
    fprintf(out, "},\"region\":{\"startLine\":%" JSON_INTEGER_FORMAT "}}}]}", line->number);
}

/* Writes what could not be compared with the baseline. It concerns all runs, and stands with the
 * first. */
static void put_open(FILE *out, struct sc_model *model, bool is_first)
{
    for (size_t i = 0; i < model->open_module_count; i++) {
        fputs(i > 0 || !is_first ? ",{\"level\":\"warning\"" : "{\"level\":\"warning\"", out);
        put_message(out, &model->scratch, ",\"message\":",
                    sc_scratch_print(&model->scratch, "not compared with the baseline: %s",
                                     sc_model_open_words(model, i)));
        fputs("}", out);
    }
}

/* Writes a run: its command, its notes, and the lines that could not be read. If there are such
 * lines, there is a note about them before. */
static void put_invocation(FILE *out, struct sc_model *model, size_t index)
{
    struct sc_scratch *scratch = &model->scratch;
    const struct sc_run *run = sc_model_run(model, index);
    fprintf(out, "{\"executionSuccessful\":%s", run->ended && !run->doubt ? "true" : "false");
    put_member(out, ",\"commandLine\":", run->title);
    fputs(",\"toolExecutionNotifications\":[", out);
    for (size_t i = 0; i < run->note_count; i++) {
        fputs(i > 0 ? "," : "", out);
        put_note(out, scratch, run, &run->notes[i]);
    }
    for (size_t i = 0; i < run->bad_line_count; i++)
        put_bad_line(out, scratch, run, &run->bad_lines[i]);
    if (index == 0)
        put_open(out, model, run->note_count + run->bad_line_count == 0);
    fputs("]}", out);
}

/* ---- the whole ---- */

/* Writes the report as SARIF 2.1.0 for code scanning: runs as invocations, hazards as results. */
void sc_as_sarif(FILE *out, struct sc_model *model)
{
    struct sc_scratch *scratch = &model->scratch;
    fputs("{\"$schema\":\"" SCHEMA "\",\"version\":\"2.1.0\",\"runs\":[{\"tool\":", out);
    put_tool(out);
    fputs(",\n\"columnKind\":\"utf16CodeUnits\",\n\"invocations\":[", out);
    for (size_t i = 0; i < model->reader->run_count; i++) {
        fputs(i > 0 ? ",\n" : "\n", out);
        put_invocation(out, model, i);
    }
    fputs("],\n\"results\":[", out);
    for (size_t i = 0; i < model->count; i++) {
        fputs(i > 0 ? ",\n" : "\n", out);
        put_result(out, scratch, sc_model_hazard(model, i));
    }
    fputs("]}]}\n", out);
}
