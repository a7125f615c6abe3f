/* JSON into a struct sc_text. These functions write commas and escapes; nesting is the caller's.
 *
 * A string need not be UTF-8: each stray byte becomes the four characters \xNN. Pure: safe in a
 * signal handler.
 */
#ifndef SC_REPORT_JSON_H
#define SC_REPORT_JSON_H

#include <stddef.h>

struct sc_text;

/* Writes what `members` shows: brackets, and between blanks `key:value`, or a value alone for an
 * element of an array. A value is a bracket that opens, `true`, `null`, or a directive of
 * sc_text_format: %s is a string, or null where there is none, and %#lx the string "0x1f". More
 * than INT64_MAX is INT64_MAX, since readers take no larger number. A key may be a %s as well.
 *
 *     sc_json_put(text, "{name:%s sizes:[%lu %lu]}", name, first, second); */
void sc_json_put(struct sc_text *text, const char *members, ...)
    __attribute__((format(printf, 2, 3)));

/* A string of `count` bytes. `key` is NULL for an element of an array. */
void sc_json_bytes(struct sc_text *text, const char *key, const char *bytes, size_t count);

#endif
