#define _GNU_SOURCE 1
#include "report/command/elements.h"

#include "report/command/parse.h"

#include <stdlib.h>
#include <string.h>

enum { VALUE_MAX = 16 * 1024 * 1024 };

struct reading {
    FILE *stream;
    bool keeps; /* the value that is read */
    char *text; /* of it */
    size_t length, capacity;
    struct sc_pieces pieces; /* frames that elements share */
};

static int peek(const struct reading *reading)
{
    int byte;
    do
        byte = getc_unlocked(reading->stream);
    while (byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r');
    return ungetc(byte, reading->stream);
}

static bool skip(const struct reading *reading, int wanted)
{
    bool is_there = peek(reading) == wanted;
    if (is_there)
        getc_unlocked(reading->stream);
    return is_there;
}

static bool keep(struct reading *reading, int byte)
{
    if (!reading->keeps)
        return true;
    if (reading->length == reading->capacity) {
        size_t capacity = reading->capacity > 0 ? 2 * reading->capacity : 4096;
        char *larger = capacity <= VALUE_MAX ? realloc(reading->text, capacity) : NULL;
        if (!larger)
            return false;
        reading->text = larger;
        reading->capacity = capacity;
    }
    reading->text[reading->length++] = (char)byte;
    return true;
}

/* Behind the quote. */
static bool read_string(struct reading *reading)
{
    int byte;
    while ((byte = getc_unlocked(reading->stream)) != EOF && keep(reading, byte)) {
        if (byte == '"')
            return true;
        if (byte == '\\' && !keep(reading, byte = getc_unlocked(reading->stream)))
            return false;
    }
    return false;
}

static bool ends_value(int byte)
{
    return byte == EOF || byte == ',' || byte == '}' || byte == ']';
}

/* Up to what ends it, which is not read. */
static bool read_value(struct reading *reading, bool keeps)
{
    size_t depth = 0;
    reading->keeps = keeps;
    reading->length = 0;
    for (int byte = peek(reading); depth > 0 || !ends_value(byte); byte = peek(reading)) {
        getc_unlocked(reading->stream);
        if (byte == EOF || !keep(reading, byte) || (byte == '"' && !read_string(reading)))
            return false;
        depth += byte == '{' || byte == '[';
        depth -= byte == '}' || byte == ']';
    }
    return true;
}

static bool take_element(struct reading *reading, bool take(void *, const json_t *), void *whom)
{
    json_t *element = read_value(reading, true)
                          ? sc_parse_line(reading->text, reading->length, &reading->pieces)
                          : NULL;
    bool is_taken = element && take(whom, element);
    json_decref(element);
    return is_taken;
}

static bool take_elements(struct reading *reading, bool take(void *, const json_t *), void *whom)
{
    if (!skip(reading, '['))
        return false;
    if (skip(reading, ']'))
        return true;
    while (take_element(reading, take, whom)) {
        if (skip(reading, ']'))
            return true;
        if (!skip(reading, ','))
            return false;
    }
    return false;
}

/* With the colon. */
static bool read_key(struct reading *reading, const char *key, bool *is_it)
{
    reading->keeps = true;
    reading->length = 0;
    if (!skip(reading, '"') || !read_string(reading) || !skip(reading, ':'))
        return false;
    size_t length = reading->length - 1; /* without the quote that ends it */
    *is_it = length == strlen(key) && memcmp(reading->text, key, length) == 0;
    return true;
}

static bool read_members(struct reading *reading, const char *key,
                         bool take(void *, const json_t *), void *whom)
{
    bool is_it, has_array = false;
    do {
        if (!read_key(reading, key, &is_it) ||
            !(is_it ? take_elements(reading, take, whom) : read_value(reading, false)))
            return false;
        has_array = has_array || is_it;
    } while (skip(reading, ','));
    return has_array && skip(reading, '}') && peek(reading) == EOF;
}

bool sc_elements_each(FILE *stream, const char *key, bool take(void *whom, const json_t *element),
                      void *whom)
{
    struct reading reading = {.stream = stream};
    bool is_whole = skip(&reading, '{') && read_members(&reading, key, take, whom);
    sc_pieces_free(&reading.pieces);
    free(reading.text);
    return is_whole;
}
