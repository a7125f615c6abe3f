/* JSON into jansson's values, several times as fast as jansson reads it itself. */
#ifndef SC_REPORT_COMMAND_PARSE_H
#define SC_REPORT_COMMAND_PARSE_H

#include "report/command/pieces.h"

#include <jansson.h>
#include <stddef.h>

/* Takes what json_loadb takes with JSON_REJECT_DUPLICATES, and gives the same: an object or an
 * array and nothing behind it. NULL for anything else, and when out of memory. The text needs no
 * NUL. */
json_t *sc_parse(const char *text, size_t size);

/* The same. Objects in arrays that lines have alike are parsed once: nobody may change these. */
json_t *sc_parse_line(const char *text, size_t size, struct sc_pieces *pieces);

/* What sc_pieces_pack has made of a text that was parsed, as it was then. */
json_t *sc_parse_packed(const char *text, size_t size);

#endif
