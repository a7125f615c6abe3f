#define _GNU_SOURCE 1
#include "report/command/doctor/came_up.h"

#include "report/command/input.h"
#include "report/command/regular_file.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* Returns a copy of the JSON string, which lives longer than the line; NULL if it is none. */
static const char *keep(struct sc_scratch *scratch, const json_t *text)
{
    return json_is_string(text) ? sc_scratch_print(scratch, "%s", json_string_value(text)) : NULL;
}

/* Reads what the report's first line says of the process. */
static void take_run(struct sc_came_up_facts *facts, struct sc_scratch *scratch, const json_t *line)
{
    facts->has_run = true;
    facts->is_unreached = json_is_true(json_object_get(line, "unreached"));
    facts->version = keep(scratch, json_object_get(line, "version"));
    facts->program = keep(scratch, json_array_get(json_object_get(line, "command"), 0));
}

/* Takes whether CUPTI works from a line of the trial's report. */
static void take_cupti(struct sc_came_up_facts *facts, struct sc_scratch *scratch,
                       const json_t *cupti)
{
    facts->cupti_state = keep(scratch, json_object_get(cupti, "state"));
    facts->cupti_library = keep(scratch, json_object_get(cupti, "library"));
    facts->cupti_detail = keep(scratch, json_object_get(cupti, "detail"));
}

/* Reads what the report's last line says. */
static void take_summary(struct sc_came_up_facts *facts, struct sc_scratch *scratch,
                         const json_t *line)
{
    json_int_t hazards = json_integer_value(json_object_get(line, "hazards"));
    facts->has_summary = true;
    facts->hazard_count = hazards > 0 ? (size_t)hazards : 0;
    take_cupti(facts, scratch, json_object_get(line, "cupti"));
}

/* Takes what one line of the trial's report says: how the library came up, CUPTI, or the end. */
static void take_line(struct sc_came_up_facts *facts, struct sc_scratch *scratch, const char *text,
                      size_t length)
{
    json_t *line = json_loadb(text, length, 0, NULL);
    const char *type = json_string_value(json_object_get(line, "type"));
    if (type && strcmp(type, "run") == 0)
        take_run(facts, scratch, line);
    else if (type && strcmp(type, "cupti") == 0)
        take_cupti(facts, scratch, line);
    else if (type && strcmp(type, "summary") == 0)
        take_summary(facts, scratch, line);
    json_decref(line);
}

/* May the line be one that is looked for? Most are not, and need not be parsed. */
static bool may_matter(const struct sc_input *input)
{
    static const char *const starts[] = {"{\"type\":\"run\"", "{\"type\":\"cupti\"",
                                         "{\"type\":\"summary\""};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (!input->is_cut && input->length > strlen(starts[i]) &&
            memcmp(input->line, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

/* Reads the few lines that matter; all others are only skipped. */
static void read_lines(struct sc_came_up_facts *facts, struct sc_scratch *scratch, FILE *stream)
{
    struct sc_input input;
    bool can_read = sc_input_init(&input, stream);
    while (can_read && sc_input_next(&input) > 0) {
        if (may_matter(&input))
            take_line(facts, scratch, input.line, input.length);
        else if (input.length == 0 || input.line[0] != '{')
            sc_input_refuse(&input);
    }
    sc_input_free(&input);
}

/* Reads from a report whether the library has come up in its process. */
void sc_came_up_read(struct sc_came_up_facts *facts, struct sc_scratch *scratch, const char *path)
{
    int error;
    FILE *stream = sc_regular_file_stream(path, O_NOFOLLOW, &error);
    *facts = (struct sc_came_up_facts){0};
    if (!stream)
        return;
    read_lines(facts, scratch, stream);
    fclose(stream);
}
