/* Parses JSON into jansson's values, several times as fast as jansson does. */
#ifndef SC_REPORT_COMMAND_PARSE_H
#define SC_REPORT_COMMAND_PARSE_H

#include "report/command/pieces.h"

#include <jansson.h>
#include <stddef.h>

/* Parses an object or an array that nothing follows, as json_loadb with JSON_REJECT_DUPLICATES
 * does. Returns NULL if the text is anything else, or there is no memory. The text need not end
 * with a NUL. */
json_t *sc_parse(const char *text, size_t size);

/* Does the same as sc_parse. Objects in arrays that equal those of earlier lines are not parsed
 * again but shared (pieces.h), so they must not be changed. */
json_t *sc_parse_line(const char *text, size_t size, struct sc_pieces *pieces);

/* Parses a text that sc_pieces_pack has made of a parsed line. The result equals that line's. */
json_t *sc_parse_packed(const char *text, size_t size);

#endif
