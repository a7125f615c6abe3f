#define _GNU_SOURCE 1
#include "report/command/doctor/came_up.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Lines of this many bytes are not looked at, as `safecopy report` does not. */
enum { LINE_MAX_BYTES = 16 << 20 };

static const char *keep(struct sc_scratch *scratch, const json_t *text)
{
    return json_is_string(text) ? sc_scratch_print(scratch, "%s", json_string_value(text)) : NULL;
}

static void take_run(struct sc_came_up_facts *facts, struct sc_scratch *scratch, const json_t *line)
{
    facts->has_run = true;
    facts->is_unreached = json_is_true(json_object_get(line, "unreached"));
    facts->version = keep(scratch, json_object_get(line, "version"));
    facts->program = keep(scratch, json_array_get(json_object_get(line, "command"), 0));
}

static void take_cupti(struct sc_came_up_facts *facts, struct sc_scratch *scratch,
                       const json_t *cupti)
{
    facts->cupti_state = keep(scratch, json_object_get(cupti, "state"));
    facts->cupti_library = keep(scratch, json_object_get(cupti, "library"));
    facts->cupti_detail = keep(scratch, json_object_get(cupti, "detail"));
}

static void take_summary(struct sc_came_up_facts *facts, struct sc_scratch *scratch,
                         const json_t *line)
{
    json_int_t hazards = json_integer_value(json_object_get(line, "hazards"));
    facts->has_summary = true;
    facts->hazard_count = hazards > 0 ? (size_t)hazards : 0;
    take_cupti(facts, scratch, json_object_get(line, "cupti"));
}

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

/* Most lines are of no interest, and need not be parsed. */
static bool may_matter(const char *text)
{
    return strncmp(text, "{\"type\":\"run\"", 13) == 0 ||
           strncmp(text, "{\"type\":\"cupti\"", 15) == 0 ||
           strncmp(text, "{\"type\":\"summary\"", 17) == 0;
}

static void read_lines(struct sc_came_up_facts *facts, struct sc_scratch *scratch, FILE *stream)
{
    char *text = NULL;
    size_t room = 0;
    ssize_t length;
    while ((length = getline(&text, &room, stream)) > 0 && length < LINE_MAX_BYTES)
        if (may_matter(text))
            take_line(facts, scratch, text, (size_t)length);
    free(text);
}

void sc_came_up_read(struct sc_came_up_facts *facts, struct sc_scratch *scratch, const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
    bool is_file = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    FILE *stream = is_file ? fdopen(fd, "r") : NULL;
    *facts = (struct sc_came_up_facts){0};
    if (stream) {
        read_lines(facts, scratch, stream);
        fclose(stream);
    } else if (fd >= 0) {
        close(fd);
    }
}
