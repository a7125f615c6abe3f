/* Appends JSON to a struct sc_text. The functions write commas and escapes; the caller has to match
 * brackets.
 *
 * A byte that is not UTF-8 becomes the four characters \xNN. Pure: safe in a signal handler. */
#ifndef SC_REPORT_JSON_H
#define SC_REPORT_JSON_H

#include <stddef.h>

struct sc_text;

/* Appends JSON as `members` describes it: brackets, and between them, separated by blanks,
 * `key:value`, or a value alone as an element of an array. A value is an opening bracket, `true`,
 * `null`, a word in single quotes, or a directive of sc_text_format. %s is a string, or null for a
 * NULL pointer; %#lx is the string "0x1f". %lu beyond INT64_MAX is written as INT64_MAX, since
 * readers take no larger number. %hhd is true or false. A key may be a %s, too.
 *
 * A member `key?:` is left out if its value is nothing: NULL or an empty string, 0 or false. The
 * value of a member `key~:` is null if it is NULL, an empty string or a negative number.
 *
 *     sc_json_put(text, "{name:%s size?:%lu sizes:[%lu %lu]}", name, size, first, second); */
void sc_json_put(struct sc_text *text, const char *members, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends a string of `count` bytes as the member `key`, or, if `key` is NULL, as an element of an
 * array. */
void sc_json_bytes(struct sc_text *text, const char *key, const char *bytes, size_t count);

#endif
