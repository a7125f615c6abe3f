/* Writes JSON into a script element of an HTML page: no text in it ends the element or begins a
 * comment. Text is escaped as everywhere (report/plain.h). */
#ifndef SC_REPORT_COMMAND_FORMATS_PAGE_JSON_H
#define SC_REPORT_COMMAND_FORMATS_PAGE_JSON_H

#include <jansson.h>
#include <stdio.h>

/* Writes a value in one line. NULL is written as null. */
void sc_page_json_put(FILE *out, const json_t *value);

/* Adds a text of any bytes as the member `key`; nothing if it is NULL. sc_page_json_append adds one
 * to an array. */
void sc_page_json_add(json_t *object, const char *key, const char *text);
void sc_page_json_append(json_t *array, const char *text);

#endif
