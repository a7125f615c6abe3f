#define _GNU_SOURCE 1
#include "report/command/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *sc_reader_string(const json_t *object, const char *key, const char *otherwise)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value != NULL ? value : otherwise;
}

json_int_t sc_reader_number(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

bool sc_reader_init(struct sc_reader *reader)
{
    *reader = (struct sc_reader){.runs = json_array(), .hazards = json_object()};
    return reader->runs != NULL && reader->hazards != NULL;
}

void sc_reader_free(struct sc_reader *reader)
{
    json_decref(reader->runs);
    json_decref(reader->hazards);
}

enum { MISSES_MAX = 256 }; /* as many as a report tells apart */

/* The state of reading one file, which may hold several runs: the first four are of one run. */

struct reading {
    struct sc_reader *reader;
    const char *name;
    json_t *run;     /* an element of reader->runs */
    json_t *hazards; /* key -> the last line of equal hazards, "certainty" the strongest */
    size_t good_lines, bad_lines;
    size_t line_number;
    bool is_report;
};

static void complain(struct reading *reading, const char *what)
{
    reading->bad_lines++;
    if (!reading->reader->quiet)
        fprintf(stderr, "safecopy: %s:%zu: %s; passed over\n", reading->name, reading->line_number,
                what);
}

static void put_key_of(FILE *key, const json_t *side)
{
    size_t index;
    json_t *frame;
    const json_t *stack = json_object_get(side, "stack");
    if (json_array_size(stack) == 0)
        fprintf(key, "|%s", sc_reader_string(side, "api", ""));
    json_array_foreach(stack, index, frame)
    {
        fprintf(key, "|%s+%s", sc_reader_string(frame, "module", ""),
                sc_reader_string(frame, "offset", ""));
        if (json_object_get(frame, "file") != NULL)
            fprintf(key, "%s:%lld", sc_reader_string(frame, "file", ""),
                    (long long)sc_reader_number(frame, "line"));
    }
}

/* What makes two hazards equal: code and both stacks. Addresses differ between runs, offsets in
 * modules do not. The caller frees it. */
static char *key_of(const json_t *hazard)
{
    char *bytes = NULL;
    size_t size;
    FILE *key = open_memstream(&bytes, &size);
    if (key == NULL)
        return NULL;
    fputs(sc_reader_string(hazard, "code", ""), key);
    put_key_of(key, json_object_get(hazard, "copy"));
    fputs(" <- ", key);
    put_key_of(key, json_object_get(hazard, "event"));
    if (fclose(key) != 0) {
        free(bytes);
        return NULL;
    }
    return bytes;
}

static void keep_strongest(json_t *hazard, const json_t *other)
{
    if (strcmp(sc_reader_string(other, "certainty", ""), "observed") == 0)
        json_object_set_new(hazard, "certainty", json_string("observed"));
}

static json_int_t remaining_ns(const json_t *timing)
{
    return sc_reader_number(timing, "remaining_ns");
}

static void keep_longest(json_t *hazard, json_t *timing)
{
    const json_t *known = json_object_get(hazard, "timing");
    if (timing != NULL && (known == NULL || remaining_ns(timing) > remaining_ns(known)))
        json_object_set(hazard, "timing", timing);
}

static bool is_hazard(const json_t *line)
{
    return json_is_string(json_object_get(line, "code")) &&
           json_is_object(json_object_get(line, "copy")) &&
           json_is_object(json_object_get(line, "event")) && sc_reader_number(line, "count") > 0;
}

static void take_hazard(struct reading *reading, json_t *hazard)
{
    char *key = key_of(hazard);
    if (key == NULL)
        return;
    const json_t *before = json_object_get(reading->hazards, key);
    if (before != NULL) {
        keep_strongest(hazard, before);
        keep_longest(hazard, json_object_get(before, "timing"));
    }
    json_object_set_nocheck(reading->hazards, key, hazard);
    reading->reader->hazardous = true;
    free(key);
}

static bool is_timing(const json_t *line)
{
    return json_is_string(json_object_get(line, "code")) &&
           json_is_integer(json_object_get(line, "remaining_ns"));
}

static bool is_of(const json_t *timing, const json_t *hazard)
{
    const json_t *copy = json_object_get(hazard, "copy");
    const json_t *event = json_object_get(hazard, "event");
    return json_equal(json_object_get(timing, "code"), json_object_get(hazard, "code")) &&
           json_equal(json_object_get(timing, "stream"), json_object_get(copy, "stream")) &&
           json_equal(json_object_get(timing, "seq"), json_object_get(copy, "seq")) &&
           json_equal(json_object_get(timing, "event_time_ns"), json_object_get(event, "time_ns"));
}

/* Of one that is not the last of its equals any more there is nothing left to add it to. */
static void take_timing(struct reading *reading, json_t *timing)
{
    const char *key;
    json_t *hazard;
    json_object_foreach(reading->hazards, key, hazard)
    {
        if (is_of(timing, hazard))
            keep_longest(hazard, timing);
    }
}

static bool is_miss(const json_t *line)
{
    return json_is_string(json_object_get(line, "api")) && sc_reader_number(line, "count") > 0;
}

static bool are_equal_misses(const json_t *a, const json_t *b)
{
    return json_equal(json_object_get(a, "api"), json_object_get(b, "api")) &&
           json_equal(json_object_get(a, "stack"), json_object_get(b, "stack"));
}

/* Of equal ones the last is kept, which counts them all. */
static void take_miss(struct reading *reading, json_t *miss)
{
    size_t index;
    json_t *known, *misses = json_object_get(reading->run, "missed");
    if (misses == NULL) {
        json_object_set_new(reading->run, "missed", json_array());
        misses = json_object_get(reading->run, "missed");
    }
    json_array_foreach(misses, index, known)
    {
        if (are_equal_misses(known, miss)) {
            json_array_set(misses, index, miss);
            return;
        }
    }
    if (json_array_size(misses) < MISSES_MAX)
        json_array_append(misses, miss);
}

/* Adds one run's hazards to those of all runs. */
static void merge(struct sc_reader *reader, json_t *hazards)
{
    const char *key;
    json_t *hazard;
    json_object_foreach(hazards, key, hazard)
    {
        const json_t *known = json_object_get(reader->hazards, key);
        json_int_t count = sc_reader_number(hazard, "count");
        json_int_t all = 0;
        if (__builtin_add_overflow(count, sc_reader_number(known, "count"), &all))
            all = count;
        if (known != NULL) {
            keep_strongest(hazard, known);
            keep_longest(hazard, json_object_get(known, "timing"));
        }
        json_object_set_new(hazard, "count", json_integer(all));
        json_object_set_new(hazard, "runs", json_integer(sc_reader_number(known, "runs") + 1));
        json_object_set_nocheck(reader->hazards, key, hazard);
    }
}

static void begin_run(struct reading *reading)
{
    reading->good_lines = reading->bad_lines = 0;
    reading->hazards = json_object();
    reading->run = json_pack("{s:s,s:n,s:n}", "file", reading->name, "run", "summary");
    if (reading->run == NULL) /* a name that is not UTF-8 */
        reading->run = json_pack("{s:s,s:n,s:n}", "file", "?", "run", "summary");
}

static void end_run(struct reading *reading)
{
    if (reading->good_lines > 0) {
        merge(reading->reader, reading->hazards);
        json_object_set_new(reading->run, "bad_lines",
                            json_integer((json_int_t)reading->bad_lines));
        json_array_append(reading->reader->runs, reading->run);
        reading->is_report = true;
    }
    json_decref(reading->run);
    json_decref(reading->hazards);
}

/* A process goes on in its file when exec has replaced it, and reports may be strung together. */
static void take_run(struct reading *reading, json_t *run)
{
    if (reading->good_lines > 0) {
        end_run(reading);
        begin_run(reading);
    }
    json_object_set(reading->run, "run", run);
}

static void take_line(struct reading *reading, json_t *line)
{
    const char *type = sc_reader_string(line, "type", "");
    if (strcmp(type, "hazard") == 0 && is_hazard(line)) {
        take_hazard(reading, line);
    } else if (strcmp(type, "timing") == 0 && is_timing(line)) {
        take_timing(reading, line);
    } else if (strcmp(type, "run") == 0) {
        take_run(reading, line);
    } else if (strcmp(type, "summary") == 0) {
        json_object_set(reading->run, type, line);
        if (sc_reader_number(line, "hazards") > 0)
            reading->reader->hazardous = true;
    } else if (strcmp(type, "coverage") == 0 && is_miss(line)) {
        take_miss(reading, line);
    } else if (strcmp(type, "cupti") == 0) {
        json_object_set(reading->run, type, line);
    } else {
        complain(reading, "not a line of a report");
        return;
    }
    reading->good_lines++;
}

static void read_line(struct reading *reading, const char *bytes, size_t size, bool is_whole)
{
    json_error_t error;
    if (size == 0 && is_whole)
        return;
    json_t *line = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &error);
    if (json_is_object(line))
        take_line(reading, line);
    else
        complain(reading, is_whole ? "not JSON" : "the last line is cut");
    json_decref(line);
}

static void read_lines(struct reading *reading, const char *bytes, size_t size)
{
    const char *end = bytes + size;
    while (bytes < end) {
        const char *newline = memchr(bytes, '\n', (size_t)(end - bytes));
        const char *stop = newline != NULL ? newline : end;
        reading->line_number++;
        read_line(reading, bytes, (size_t)(stop - bytes), newline != NULL);
        bytes = newline != NULL ? newline + 1 : end;
    }
}

bool sc_reader_add(struct sc_reader *reader, const char *name, const char *bytes, size_t size)
{
    struct reading reading = {.reader = reader, .name = name};
    begin_run(&reading);
    read_lines(&reading, bytes, size);
    end_run(&reading);
    return reading.is_report;
}

static char *load_stream(FILE *stream, size_t *size)
{
    char *bytes = NULL;
    size_t capacity = 0;
    *size = 0;
    for (;;) {
        if (*size == capacity) {
            capacity = capacity == 0 ? 65536 : 2 * capacity;
            char *grown = realloc(bytes, capacity);
            if (grown == NULL)
                break;
            bytes = grown;
        }
        size_t count = fread(bytes + *size, 1, capacity - *size, stream);
        *size += count;
        if (count == 0 && !ferror(stream))
            return bytes;
        if (ferror(stream))
            break;
    }
    free(bytes);
    return NULL;
}

char *sc_reader_load(const char *path, size_t *size)
{
    bool is_input = strcmp(path, "-") == 0;
    FILE *stream = is_input ? stdin : fopen(path, "rbe");
    char *bytes = stream != NULL ? load_stream(stream, size) : NULL;
    if (bytes == NULL)
        fprintf(stderr, "safecopy: cannot read %s: %s\n", path, strerror(errno));
    if (stream != NULL && !is_input)
        fclose(stream);
    return bytes;
}
