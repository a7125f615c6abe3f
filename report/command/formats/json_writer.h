/* Writes JSON that is safe to print on a terminal: characters that would control the terminal are
 * written as \u001b. */
#ifndef SC_REPORT_COMMAND_FORMATS_JSON_WRITER_H
#define SC_REPORT_COMMAND_FORMATS_JSON_WRITER_H

#include <jansson.h>
#include <stdio.h>

/* Writes a string with its quotes. Bytes that are not UTF-8 are written as `\xff`. */
void sc_json_writer_put_string(FILE *out, const char *text);

/* Writes a value over several lines, all but the first of which are indented by `depth` times two
 * blanks. NULL is written as null. */
void sc_json_writer_put(FILE *out, const json_t *value, unsigned depth);

#endif
