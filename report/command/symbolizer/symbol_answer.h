/* The answer for one address (its function and places in the source), as bytes that one process
 * sends to another.
 *
 * The process that reads a damaged file may send anything: what is not an answer is rejected. */
#ifndef SC_REPORT_COMMAND_SYMBOLIZER_SYMBOL_ANSWER_H
#define SC_REPORT_COMMAND_SYMBOLIZER_SYMBOL_ANSWER_H

#include "report/command/symbolizer/source_lines.h"

#include <stdbool.h>
#include <stddef.h>

/* Longer names and paths are left out, so an answer has at most SC_SYMBOL_ANSWER_MAX bytes. */
enum {
    SC_SYMBOL_NAME_MAX = 64 * 1024,
    SC_SYMBOL_PATH_MAX = 4096,
    SC_SYMBOL_ANSWER_MAX =
        (SC_SOURCE_PLACES_MAX + 1) * (SC_SYMBOL_NAME_MAX + 2 * SC_SYMBOL_PATH_MAX + 64),
};

struct sc_symbol_answer {
    const char *name; /* of the function, mangled; NULL: not known */
    size_t place_count;
    struct sc_source_place places[SC_SOURCE_PLACES_MAX];
};

/* Encodes the answer into `bytes`, of SC_SYMBOL_ANSWER_MAX. Returns how many bytes it has. */
size_t sc_symbol_answer_put(char *bytes, const struct sc_symbol_answer *answer);

/* Decodes an answer from `bytes`; its words stay there. Returns false, and stores an empty answer,
 * if the bytes are none. */
bool sc_symbol_answer_take(const char *bytes, size_t size, struct sc_symbol_answer *answer);

#endif
