/* Parses JSON into jansson's values, several times as fast as jansson itself. */
#ifndef SC_REPORT_COMMAND_PARSE_H
#define SC_REPORT_COMMAND_PARSE_H

#include "report/command/pieces.h"

#include <jansson.h>
#include <stddef.h>

/* Parses an object or an array with nothing behind it, as json_loadb with JSON_REJECT_DUPLICATES
 * does. NULL: it is anything else, or out of memory. The text needs no NUL. */
json_t *sc_parse(const char *text, size_t size);

/* The same. Objects in arrays that lines have alike are parsed once: nobody may change these. */
json_t *sc_parse_line(const char *text, size_t size, struct sc_pieces *pieces);

/* Parses a text that sc_pieces_pack has made of one which was parsed before; the result is the same
 * as then. */
json_t *sc_parse_packed(const char *text, size_t size);

#endif
