#define _GNU_SOURCE 1
#include "report/command/render.h"

#include "report/command/fields.h"
#include "report/command/say.h"
#include "track/hazard.h"
#include "track/unguarded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a report says may only be printed as these give it. */

static const char *string_or(const json_t *object, const char *key, const char *otherwise)
{
    const char *value = sc_field_string(object, key, NULL);
    return value ? sc_say_plain(value) : otherwise;
}

static const char *string_of(const json_t *object, const char *key)
{
    return string_or(object, key, "?");
}

static const char *text_of(const json_t *string)
{
    return json_is_string(string) ? sc_say_plain(json_string_value(string)) : "?";
}

char *sc_render_name(const json_t *frame, struct sc_symbols *symbols)
{
    const char *module = sc_field_string(frame, "module", NULL);
    const char *name = sc_field_string(frame, "symbol", NULL);
    uint64_t offset = strtoull(sc_field_string(frame, "offset", "0"), NULL, 16);
    if (offset > 0) {
        const char *found = sc_symbols_find(symbols, module, offset);
        name = found ? found : name;
    }
    return name ? sc_symbols_demangle(name) : NULL;
}

static void print_source_line(FILE *out, const json_t *frame, struct sc_symbols *symbols)
{
    const char *module = sc_field_string(frame, "module", NULL);
    uint64_t offset = strtoull(sc_field_string(frame, "offset", "0"), NULL, 16);
    int number = 0;
    const char *file = module ? sc_symbols_line(symbols, module, offset, &number) : NULL;
    if (file && number > 0)
        fprintf(out, " at %s:%d\n", sc_say_plain(file), number);
    else
        fputc('\n', out);
}

static void print_frame(FILE *out, const json_t *frame, size_t index, struct sc_symbols *symbols)
{
    const char *file = string_or(frame, "file", NULL);
    if (file) {
        fprintf(out, "      #%zu %s %s", index, string_of(frame, "function"), file);
        if (json_is_integer(json_object_get(frame, "line")))
            fprintf(out, ":%" JSON_INTEGER_FORMAT, sc_field_number(frame, "line"));
        fputc('\n', out);
        return;
    }
    char *name = sc_render_name(frame, symbols);
    const char *module = string_or(frame, "module", NULL);
    fprintf(out, "      #%zu %s (%s%s%s)", index, name ? sc_say_plain(name) : "?",
            module ? module : "", module ? "+" : "", string_of(frame, "offset"));
    print_source_line(out, frame, symbols);
    free(name);
}

static void print_stack(FILE *out, const json_t *side, struct sc_symbols *symbols)
{
    size_t index;
    json_t *frame;
    const json_t *stack = json_object_get(side, "stack");
    json_array_foreach(stack, index, frame) print_frame(out, frame, index, symbols);
}

struct words {
    const char *code, *advice;
    enum sc_hazard_subject subject;
};

static const struct words *words_of_hazard(const json_t *hazard)
{
    static const struct words table[] = {
#define SC_HAZARD(code, name, subject, advice) {#code, advice, subject},
#include "track/hazard.def"
    };
    static const struct words unknown = {"", "see docs/hazards.md", SC_OF_COPY};
    const char *code = string_of(hazard, "code");
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(table[i].code, code) == 0)
            return &table[i];
    return &unknown;
}

static const char *plural(json_int_t count)
{
    return count == 1 ? "" : "s";
}

/* Those of captures have none. */
static bool has_buffer(const json_t *hazard)
{
    return strcmp(string_of(json_object_get(hazard, "buffer"), "kind"), "none") != 0;
}

/* A source that was found changed by a later driver call (docs/hazards.md, SC201). */
static const char *relation(const json_t *hazard)
{
    bool found_later = json_is_true(json_object_get(hazard, "found_later"));
    if (words_of_hazard(hazard)->subject == SC_OF_NODE)
        return "launched a graph with a node of";
    return found_later ? "found changed the source of" : "came before the end of";
}

/* "cudaMemcpyAsync (cuMemcpyHtoDAsync_v2)", where it is known what the program called. */
static void print_api(FILE *out, const json_t *side)
{
    const char *runtime = string_or(side, "runtime_api", NULL);
    fprintf(out, runtime ? "%s (%s)" : "%s%s", runtime ? runtime : "", string_of(side, "api"));
}

static void print_event(FILE *out, const json_t *hazard)
{
    const json_t *event = json_object_get(hazard, "event");
    const json_t *buffer = json_object_get(hazard, "buffer");
    fputs("    ", out);
    print_api(out, event);
    fprintf(out, " (thread %" JSON_INTEGER_FORMAT ")", sc_field_number(event, "thread"));
    if (has_buffer(hazard))
        fprintf(out, ", on %s memory at %s, %" JSON_INTEGER_FORMAT " bytes",
                string_of(buffer, "kind"), string_of(buffer, "address"),
                sc_field_number(buffer, "size"));
    fputc('\n', out);
}

static void print_freed(FILE *out, const json_t *hazard, struct sc_symbols *symbols)
{
    const json_t *freed = json_object_get(hazard, "freed");
    if (!json_is_object(freed))
        return;
    fputs("    freed before by ", out);
    print_api(out, freed);
    fprintf(out, " (thread %" JSON_INTEGER_FORMAT ")\n", sc_field_number(freed, "thread"));
    print_stack(out, freed, symbols);
}

static void print_copy(FILE *out, const json_t *hazard)
{
    const json_t *copy = json_object_get(hazard, "copy");
    fprintf(out, "    %s ", has_buffer(hazard) ? relation(hazard) : "came in the capture begun by");
    print_api(out, copy);
    if (has_buffer(hazard))
        fprintf(out, " %s, %" JSON_INTEGER_FORMAT " bytes at %s", string_of(copy, "direction"),
                sc_field_number(copy, "size"), string_of(copy, "address"));
    fprintf(out, " (stream %s, device %" JSON_INTEGER_FORMAT ", thread %" JSON_INTEGER_FORMAT ")\n",
            string_of(copy, "stream"), sc_field_number(copy, "device"),
            sc_field_number(copy, "thread"));
}

/* "1.3 ms" */
static void print_time(FILE *out, double ns)
{
    if (ns >= 1e9)
        fprintf(out, "%.1f s", ns / 1e9);
    else if (ns >= 1e6)
        fprintf(out, "%.1f ms", ns / 1e6);
    else
        fprintf(out, "%.1f us", ns / 1e3);
}

/* What the copy did on the device, seen from the event. */
static void print_timing(FILE *out, const json_t *hazard)
{
    const json_t *timing = json_object_get(hazard, "timing");
    if (!json_is_object(timing))
        return;
    double start = (double)sc_field_number(timing, "device_start_ns");
    double end = (double)sc_field_number(timing, "device_end_ns");
    double remaining = (double)sc_field_number(timing, "remaining_ns");
    fputs(remaining > 0 ? "    the copy had " : "    the copy had been over for ", out);
    print_time(out, remaining > 0 ? remaining : -remaining);
    fputs(remaining > 0 ? " left to run" : "", out);
    if (remaining > end - start) {
        fputs(", and was to begin in ", out);
        print_time(out, remaining - (end - start));
    }
    fputs("; it took ", out);
    print_time(out, end - start);
    fputc('\n', out);
}

static void print_hazard(FILE *out, const json_t *hazard, struct sc_symbols *symbols)
{
    const json_t *copy = json_object_get(hazard, "copy");
    const json_t *event = json_object_get(hazard, "event");
    json_int_t count = sc_field_number(hazard, "count"), runs = sc_field_number(hazard, "runs");
    const char *code = string_of(hazard, "code");
    bool is_least = json_is_true(json_object_get(hazard, "count_is_least"));
    fprintf(out, "%s %s, %s, %s%" JSON_INTEGER_FORMAT " time%s", code, string_of(hazard, "name"),
            string_of(hazard, "certainty"), is_least ? "at least " : "", count, plural(count));
    if (runs > 1)
        fprintf(out, " in %" JSON_INTEGER_FORMAT " runs", runs);
    fprintf(out, ": %s\n", string_of(hazard, "action"));
    print_event(out, hazard);
    print_stack(out, event, symbols);
    print_copy(out, hazard);
    print_stack(out, copy, symbols);
    print_timing(out, hazard);
    print_freed(out, hazard, symbols);
    fprintf(out, "    What to do: %s.\n\n", words_of_hazard(hazard)->advice);
}

static void print_command(FILE *out, const json_t *run)
{
    size_t index;
    json_t *argument;
    json_array_foreach(json_object_get(run, "command"), index, argument)
        fprintf(out, "%s%s", index > 0 ? " " : "", text_of(argument));
}

static void print_ignored(FILE *out, const json_t *summary)
{
    size_t index;
    json_t *entry;
    json_array_foreach(json_object_get(summary, "options_ignored"), index, entry)
        fprintf(out, "    an option was not understood and ignored: %s\n", text_of(entry));
}

static void print_coverage(FILE *out, const json_t *entry, struct sc_symbols *symbols)
{
    size_t index;
    json_t *miss;
    json_array_foreach(json_object_get(entry, "missed"), index, miss)
    {
        json_int_t count = sc_field_number(miss, "count");
        fputs("    ", out);
        print_api(out, miss);
        fprintf(out, " passed the library by, %s%" JSON_INTEGER_FORMAT " time%s\n",
                count > 1 ? "at least " : "", count, plural(count));
        print_stack(out, miss, symbols);
    }
    const json_t *cupti = json_object_get(entry, "cupti");
    if (cupti)
        fprintf(out, "    coverage not checked%s: CUPTI is %s\n",
                strcmp(string_of(cupti, "state"), "yielded") == 0 ? " to the end" : "",
                string_of(cupti, "state"));
}

static void print_taken_early(FILE *out, const json_t *summary)
{
    json_int_t count = sc_field_number(summary, "taken_early");
    if (count > 0)
        fprintf(out,
                "    small copies that waited for work that may write their source, as the driver "
                "would not: %" JSON_INTEGER_FORMAT "\n",
                count);
}

/* Reasons that this version does not know are shown by their names. */
static const char *words_of(const char *reason)
{
    static const char *const rows[][2] = {
#define X(reason, name, words) {name, words},
        SC_UNGUARDED_REASONS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i][0], reason) == 0)
            return rows[i][1];
    return reason;
}

static void print_unguarded(FILE *out, const json_t *summary)
{
    json_t *reasons = json_object_get(json_object_get(summary, "unguarded"), "by_reason");
    const char *reason;
    json_t *counts;
    json_object_foreach(reasons, reason, counts)
    {
        json_int_t operations = sc_field_number(counts, "operations");
        json_int_t bytes = sc_field_number(counts, "bytes");
        fprintf(out,
                "    not watched: %" JSON_INTEGER_FORMAT " operation%s, %" JSON_INTEGER_FORMAT
                " byte%s: %s\n",
                operations, plural(operations), bytes, plural(bytes),
                sc_say_plain(words_of(reason)));
    }
}

static void print_run(FILE *out, const json_t *entry, struct sc_symbols *symbols)
{
    const json_t *run = json_object_get(entry, "run");
    const json_t *summary = json_object_get(entry, "summary");
    json_int_t bad = sc_field_number(entry, "bad_lines");
    fprintf(out, "%s: ", string_of(entry, "file"));
    if (json_is_object(run)) {
        print_command(out, run);
        fprintf(out, " (pid %" JSON_INTEGER_FORMAT " on %s)\n", sc_field_number(run, "pid"),
                string_of(run, "host"));
    } else {
        fprintf(out, "the line that says what ran is missing\n");
    }
    if (json_is_object(summary)) {
        json_int_t hazards = sc_field_number(summary, "hazards");
        fprintf(out, "    %" JSON_INTEGER_FORMAT " hazard%s in %" JSON_INTEGER_FORMAT " operations",
                hazards, plural(hazards), sc_field_number(summary, "operations"));
        if (json_is_integer(json_object_get(summary, "exit_status")))
            fprintf(out, ", exit status %" JSON_INTEGER_FORMAT,
                    sc_field_number(summary, "exit_status"));
        fprintf(out, "\n");
        print_taken_early(out, summary);
        print_unguarded(out, summary);
        print_ignored(out, summary);
    } else {
        fprintf(out, "    no summary: the run did not end normally\n");
    }
    if (json_is_true(json_object_get(run, "unreached")))
        fprintf(out,
                "    CUDA was used, but no call of it came through the library: nothing was looked "
                "for\n");
    print_coverage(out, entry, symbols);
    if (bad > 0)
        fprintf(out, "    %" JSON_INTEGER_FORMAT " line%s could not be read\n", bad, plural(bad));
}

void sc_render_text(FILE *out, const struct sc_reader *reader, struct sc_symbols *symbols)
{
    size_t count = reader->findings.count;
    for (size_t i = 0; i < reader->run_count; i++) {
        json_t *entry = sc_reader_run(reader, i);
        print_run(out, entry, symbols);
        json_decref(entry);
        sc_say_forget();
    }
    struct sc_finding **sorted = sc_findings_sort(&reader->findings);
    fprintf(out, "%zu place%s with hazards\n\n", count, count == 1 ? "" : "s");
    for (size_t i = 0; sorted && i < count; i++) {
        json_t *hazard = sc_finding_read(sorted[i]);
        print_hazard(out, hazard, symbols);
        json_decref(hazard);
        sc_say_forget();
    }
    free(sorted);
}
