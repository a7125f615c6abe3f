#define _GNU_SOURCE 1
#include "report/command/formats/json_writer.h"

#include "report/command/eight_bytes.h"
#include "report/plain.h"

#include <stdbool.h>
#include <string.h>

/* ---- strings ---- */

/* Can the eight bytes stand in a JSON string as they are? A quick test that may say no too
 * often. */
static bool are_eight_plain(const char *at)
{
    uint64_t bytes = sc_eight_bytes_at(at);
    return sc_eight_bytes_are_ascii(bytes) && !sc_eight_bytes_may_have(bytes, 0x7f) &&
           !sc_eight_bytes_may_have(bytes, '"') && !sc_eight_bytes_may_have(bytes, '\\');
}

/* Can the byte stand in a JSON string as it is? */
static bool is_plain(char byte)
{
    return byte >= ' ' && byte < 0x7f && byte != '"' && byte != '\\';
}

/* Finds the first byte that is not plain ASCII or has to be escaped. */
static const char *end_of_plain(const char *at, const char *end)
{
    while (end - at >= 8 && are_eight_plain(at))
        at += 8;
    while (at < end && is_plain(*at))
        at++;
    return at;
}

/* Writes a character that JSON wants escaped. */
static void put_ascii(FILE *out, char byte)
{
    static const char letters[] = "\"\\\b\f\n\r\t", escapes[] = "\"\\bfnrt";
    const char *found = strchr(letters, byte);
    if (found)
        fprintf(out, "\\%c", escapes[found - letters]);
    else
        fprintf(out, "\\u%04x", (unsigned char)byte);
}

/* Writes a character as \uXXXX; JSON has two of these for what is past U+FFFF. */
static void put_code(FILE *out, uint32_t code)
{
    if (code > 0xffff)
        fprintf(out, "\\u%04x", 0xd800 + ((code - 0x10000) >> 10));
    fprintf(out, "\\u%04x", code > 0xffff ? 0xdc00 + ((code - 0x10000) & 0x3ff) : code);
}

/* Writes a character that is not plain ASCII. Returns its length. */
static size_t put_character(FILE *out, const char *text, size_t count)
{
    uint32_t code;
    size_t length = sc_plain_character(text, count, &code);
    if (length == 1)
        put_ascii(out, *text);
    else if (length == 0)
        fprintf(out, "\\\\x%02x", (unsigned char)*text);
    else if (sc_plain_is_harmless(code))
        fwrite_unlocked(text, 1, length, out);
    else
        put_code(out, code);
    return length > 0 ? length : 1;
}

/* Writes a JSON string; runs of bytes that need no escape are written at once. */
void sc_json_writer_put_string(FILE *out, const char *text)
{
    const char *end = text + strlen(text);
    putc_unlocked('"', out);
    for (;;) {
        const char *stop = end_of_plain(text, end);
        fwrite_unlocked(text, 1, (size_t)(stop - text), out);
        if (stop == end)
            break;
        text = stop + put_character(out, stop, (size_t)(end - stop));
    }
    putc_unlocked('"', out);
}

/* ---- values ---- */

/* Begins a line, indented as deep as its value lies. */
static void begin_line(FILE *out, unsigned depth)
{
    static const char blanks[] = "\n                              ";
    unsigned at_once = (sizeof blanks - 2) / 2;
    fwrite_unlocked(blanks, 1, 1 + 2 * (depth < at_once ? depth : at_once), out);
    for (; depth > at_once; depth--)
        fputs_unlocked("  ", out);
}

/* Writes an object, a member a line, indented by its depth. */
static void put_object(FILE *out, const json_t *object, unsigned depth)
{
    const char *key, *before = "{";
    json_t *value, *members = (json_t *)(uintptr_t)object; /* nothing of it is changed */
    json_object_foreach(members, key, value)
    {
        fputs_unlocked(before, out);
        begin_line(out, depth + 1);
        sc_json_writer_put_string(out, key);
        fputs_unlocked(": ", out);
        sc_json_writer_put(out, value, depth + 1);
        before = ",";
    }
    if (*before == ',')
        begin_line(out, depth);
    fputs_unlocked(*before == ',' ? "}" : "{}", out);
}

/* Writes an array, an element a line, indented by its depth. */
static void put_array(FILE *out, const json_t *array, unsigned depth)
{
    size_t index, count = json_array_size(array);
    json_t *value;
    putc_unlocked('[', out);
    json_array_foreach(array, index, value)
    {
        fputs_unlocked(index > 0 ? "," : "", out);
        begin_line(out, depth + 1);
        sc_json_writer_put(out, value, depth + 1);
    }
    if (count > 0)
        begin_line(out, depth);
    putc_unlocked(']', out);
}

/* Writes a JSON value over several lines, indented by its depth; NULL: null. No string in it can
 * steer a terminal. */
void sc_json_writer_put(FILE *out, const json_t *value, unsigned depth)
{
    if (json_is_object(value))
        put_object(out, value, depth);
    else if (json_is_array(value))
        put_array(out, value, depth);
    else if (json_is_string(value))
        sc_json_writer_put_string(out, json_string_value(value));
    else if (json_is_integer(value))
        fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (value)
        json_dumpf(value, out, JSON_ENCODE_ANY);
    else
        fputs_unlocked("null", out);
}
