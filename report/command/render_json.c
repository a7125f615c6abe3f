#define _GNU_SOURCE 1
#include "report/command/render.h"

#include "report/command/say.h"

#include <stdlib.h>
#include <string.h>

static void name_frames(json_t *side, struct sc_symbols *symbols)
{
    size_t index;
    json_t *frame;
    json_array_foreach(json_object_get(side, "stack"), index, frame)
    {
        char *name = sc_render_name(frame, symbols);
        if (name && json_is_object(frame))
            json_object_set_new(frame, "symbol", json_string(name));
        free(name);
    }
}

/* An element of an array that is a member of the outermost object: two levels down. The text has no
 * newlines but those of its layout. */
static void print_element(FILE *out, json_t *element, bool is_first)
{
    char *text = element ? json_dumps(element, JSON_INDENT(2)) : strdup("null");
    char *rest = text;
    fputs(is_first ? "" : ",", out);
    for (const char *line; (line = strsep(&rest, "\n")) != NULL;)
        fprintf(out, "\n    %s", sc_say_plain(line));
    free(text);
}

static void print_runs(FILE *out, const struct sc_reader *reader, struct sc_symbols *symbols)
{
    size_t at;
    json_t *miss;
    for (size_t i = 0; i < reader->run_count; i++) {
        json_t *entry = sc_reader_run(reader, i);
        json_array_foreach(json_object_get(entry, "missed"), at, miss) name_frames(miss, symbols);
        print_element(out, entry, i == 0);
        json_decref(entry);
        sc_say_forget();
    }
}

static void print_hazards(FILE *out, const struct sc_findings *findings, struct sc_symbols *symbols)
{
    struct sc_finding **sorted = sc_findings_sort(findings);
    for (size_t i = 0; sorted && i < findings->count; i++) {
        json_t *hazard = sc_finding_read(sorted[i]);
        name_frames(json_object_get(hazard, "copy"), symbols);
        name_frames(json_object_get(hazard, "event"), symbols);
        name_frames(json_object_get(hazard, "freed"), symbols);
        print_element(out, hazard, i == 0);
        json_decref(hazard);
        sc_say_forget();
    }
    free(sorted);
}

void sc_render_json(FILE *out, const struct sc_reader *reader, struct sc_symbols *symbols)
{
    fputs("{\n  \"runs\": [", out);
    print_runs(out, reader, symbols);
    fputs(reader->run_count > 0 ? "\n  ],\n  \"hazards\": [" : "],\n  \"hazards\": [", out);
    print_hazards(out, &reader->findings, symbols);
    fputs(reader->findings.count > 0 ? "\n  ]\n}\n" : "]\n}\n", out);
}
