/* JSON into a struct sc_text. These functions write commas and escapes; nesting is the caller's.
 *
 * `key` is NULL for an element of an array and for the outermost value. A string need not be UTF-8:
 * each stray byte becomes the four characters \xNN. Pure: safe in a signal handler.
 */
#ifndef SC_REPORT_JSON_H
#define SC_REPORT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_text;

void sc_json_open(struct sc_text *text, const char *key, char bracket); /* '{' or '[' */
void sc_json_close(struct sc_text *text, char bracket);                 /* '}' or ']' */

void sc_json_null(struct sc_text *text, const char *key);
void sc_json_true(struct sc_text *text, const char *key);
void sc_json_string(struct sc_text *text, const char *key, const char *value); /* NULL: null */
void sc_json_bytes(struct sc_text *text, const char *key, const char *bytes, size_t count);
/* More than INT64_MAX is INT64_MAX: readers take no other number. */
void sc_json_number(struct sc_text *text, const char *key, uint64_t value);
void sc_json_signed(struct sc_text *text, const char *key, int64_t value);
void sc_json_hex(struct sc_text *text, const char *key, uint64_t value); /* the string "0x1f" */

#endif
