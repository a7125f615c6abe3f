/* What is known of an address, as bytes that go from one process to another.
 *
 * The process that reads a damaged file may send anything: what is not an answer is refused.
 */
#ifndef SC_REPORT_COMMAND_SYMBOLIZER_SYMBOL_ANSWER_H
#define SC_REPORT_COMMAND_SYMBOLIZER_SYMBOL_ANSWER_H

#include "report/command/symbolizer/source_lines.h"

#include <stdbool.h>
#include <stddef.h>

/* Longer words are left out. The bytes of an answer are never more than the last of these. */
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

/* Puts the answer into `bytes`, of SC_SYMBOL_ANSWER_MAX. Returns how many bytes these are. */
size_t sc_symbol_answer_put(char *bytes, const struct sc_symbol_answer *answer);

/* Takes the answer out of `bytes`, where its words stay. False, and an empty answer: there is
 * none. */
bool sc_symbol_answer_take(const char *bytes, size_t size, struct sc_symbol_answer *answer);

#endif
