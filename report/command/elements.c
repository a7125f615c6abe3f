#define _GNU_SOURCE 1
#include "report/command/elements.h"

#include "report/command/parse.h"

#include <stdlib.h>
#include <string.h>

enum { VALUE_MAX = 16 * 1024 * 1024, BLOCK = 64 * 1024 };

struct reading {
    FILE *stream;
    const unsigned char *at, *end; /* of the block, what is not read yet */
    bool keeps;                    /* the value that is read */
    char *text;                    /* of it */
    size_t length, capacity;
    unsigned char block[BLOCK];
};

/* Reads the next block of the file. Returns false at its end. */
static bool fill(struct reading *reading)
{
    reading->at = reading->block;
    reading->end = reading->block + fread(reading->block, 1, BLOCK, reading->stream);
    return reading->at < reading->end;
}

/* Returns the next byte, which stays the next one, or EOF. */
static inline int look(struct reading *reading)
{
    return reading->at < reading->end || fill(reading) ? *reading->at : EOF;
}

/* Returns the next byte that is no blank, which stays to be read, or EOF if there is none. */
static int peek(struct reading *reading)
{
    int byte;
    while ((byte = look(reading)) == ' ' || byte == '\t' || byte == '\n' || byte == '\r')
        reading->at++;
    return byte;
}

/* Passes over the byte if it is the wanted one. Returns whether it was. */
static bool skip(struct reading *reading, int wanted)
{
    bool is_there = peek(reading) == wanted;
    reading->at += is_there;
    return is_there;
}

/* Makes room for more of the value that is read. Returns false if it is too large. */
static bool make_room(struct reading *reading, size_t count)
{
    size_t capacity = reading->capacity > 0 ? reading->capacity : 4096;
    while (capacity - reading->length < count)
        capacity *= 2;
    if (capacity == reading->capacity)
        return true;
    char *larger = capacity <= VALUE_MAX ? realloc(reading->text, capacity) : NULL;
    if (!larger)
        return false;
    reading->text = larger;
    reading->capacity = capacity;
    return true;
}

/* Reads what the block has before `end`. */
static bool read_to(struct reading *reading, const unsigned char *end)
{
    size_t count = (size_t)(end - reading->at);
    if (reading->keeps) {
        if (!make_room(reading, count))
            return false;
        memcpy(reading->text + reading->length, reading->at, count);
        reading->length += count;
    }
    reading->at = end;
    return true;
}

/* Reads one byte of a value. Returns false for a control character, which JSON does not have there,
 * so that a hole in a sparse file, which reads as up to terabytes of NULs, ends the reading. */
static bool read_byte(struct reading *reading)
{
    return look(reading) >= ' ' && read_to(reading, reading->at + 1);
}

/* Returns the first byte of the block that is a quote, a backslash or a control character, or the
 * end. */
static const unsigned char *end_of_plain(const struct reading *reading)
{
    const unsigned char *at = reading->at;
    while (at < reading->end && *at >= ' ' && *at != '"' && *at != '\\')
        at++;
    return at;
}

/* Reads a string whose opening quote was read. */
static bool read_string(struct reading *reading)
{
    while (look(reading) != EOF && read_to(reading, end_of_plain(reading))) {
        int stop = look(reading);
        if (!read_byte(reading))
            return false;
        if (stop == '"')
            return true;
        if (stop == '\\' && !read_byte(reading))
            return false;
    }
    return false;
}

/* Does the byte end a number or a word of JSON? */
static bool ends_value(int byte)
{
    return byte == EOF || byte == ',' || byte == '}' || byte == ']';
}

/* Reads a value, up to the comma or bracket after it, into reading->text. What is nested
 * `kept_depth` levels deep or deeper is skipped; with 0 the whole value is. */
static bool read_value(struct reading *reading, size_t kept_depth)
{
    size_t depth = 0;
    reading->length = 0;
    for (int byte = peek(reading); depth > 0 || !ends_value(byte); byte = peek(reading)) {
        depth -= byte == '}' || byte == ']';
        reading->keeps = depth < kept_depth;
        if (!read_byte(reading) || (byte == '"' && !read_string(reading)))
            return false;
        depth += byte == '{' || byte == '[';
    }
    return true;
}

/* Whom each element of an array is given to. */
struct taking {
    sc_elements_take *take;
    void *whom;
    const char *key; /* of the array */
};

/* Parses an element of the array and passes it to the caller's function. Objects and arrays nested
 * in the element are left empty, since nobody needs them and they may be large. */
static bool take_element(struct reading *reading, const struct taking *taking)
{
    json_t *element = read_value(reading, 2) ? sc_parse(reading->text, reading->length) : NULL;
    bool is_taken = element && taking->take(taking->whom, taking->key, element);
    json_decref(element);
    return is_taken;
}

/* Reads an array, and has each element taken. Returns false if it is no array, or one was refused.
 */
static bool take_elements(struct reading *reading, const struct taking *taking)
{
    if (!skip(reading, '['))
        return false;
    if (skip(reading, ']'))
        return true;
    while (take_element(reading, taking)) {
        if (skip(reading, ']'))
            return true;
        if (!skip(reading, ','))
            return false;
    }
    return false;
}

/* Reads a member's key with the colon after it. *key is that one of `keys` which it is, or NULL. */
static bool read_key(struct reading *reading, const char *const *keys, const char **key)
{
    reading->keeps = true;
    reading->length = 0;
    if (!skip(reading, '"') || !read_string(reading) || !skip(reading, ':'))
        return false;
    size_t length = reading->length - 1; /* without the quote that ends it */
    while (*keys && (strlen(*keys) != length || memcmp(reading->text, *keys, length) != 0))
        keys++;
    *key = *keys;
    return true;
}

/* Reads the members of the outermost object: arrays with these keys are taken, all others
 * skipped. */
static bool read_members(struct reading *reading, const char *const *keys, struct taking *taking)
{
    bool has_first = false;
    do {
        if (!read_key(reading, keys, &taking->key) ||
            !(taking->key ? take_elements(reading, taking) : read_value(reading, 0)))
            return false;
        has_first = has_first || taking->key == keys[0];
    } while (skip(reading, ','));
    return has_first && skip(reading, '}') && peek(reading) == EOF;
}

/* Reads JSON as it comes, so that a large file need not be in memory. Returns false if it is not
 * what was expected. */
bool sc_elements_each(FILE *stream, const char *const *keys, sc_elements_take *take, void *whom)
{
    struct reading reading = {.stream = stream};
    struct taking taking = {take, whom, NULL};
    bool is_whole = skip(&reading, '{') && read_members(&reading, keys, &taking);
    free(reading.text);
    return is_whole;
}
